"""The steps of a loop: what is done next, and what follows from what came of it. They call nobody.

A driver makes the calls that they ask for and gives the outcomes back, synchronously or not; see `muntin.agentloop`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from collections.abc import Callable, Generator, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

import msgspec

from muntin.artifacts import Window
from muntin.capabilities import Capabilities
from muntin.compaction.extractive import ExtractiveSummarizer
from muntin.compaction.outcome import Committed, Outcome
from muntin.compaction.plan import Plan
from muntin.compaction.request import SummaryRequest
from muntin.exceptions import (
    CannotCompact,
    CompactionInFlight,
    ContextOverflow,
    DuplicateResult,
    InputError,
    LoopStopped,
    MuntinError,
    PayloadOverflow,
    ResponseError,
    StreamBroken,
    ToolUnavailable,
    UnknownRequest,
)
from muntin.failures import Failure
from muntin.items import AssistantTurn, ToolCall
from muntin.outputs import given
from muntin.providers import Adapter
from muntin.request import Request
from muntin.run import Run
from muntin.stores import Store
from muntin.wording import INTERRUPTED

__all__ = [
    "Answered",
    "ApprovalNeeded",
    "Begin",
    "CompactionDone",
    "Crank",
    "Do",
    "Finish",
    "Handle",
    "Keep",
    "LoopEvent",
    "Response",
    "Retrying",
    "Sending",
    "Step",
    "Steps",
    "ToolDone",
]

REPAIRS: Final = 2
"""Answers in a row without content, or prose in a file transaction, that are answered by a reminder."""

Response: TypeAlias = Mapping[str, Any] | bytes | AssistantTurn


class Sending(msgspec.Struct, frozen=True):
    """A request is stored and about to be sent."""

    request: Request


class Answered(msgspec.Struct, frozen=True):
    """The model answered; the turn is stored."""

    request: Request
    turn: AssistantTurn


class ToolDone(msgspec.Struct, frozen=True):
    """A call has its result; `output` is what the tool gave, or why it was not carried out."""

    call: ToolCall
    output: Any
    is_error: bool


class ApprovalNeeded(msgspec.Struct, frozen=True):
    """Calls wait for a person's decision; the loop ends. Decide with `Run.approve` or `Run.deny` and loop again."""

    calls: tuple[ToolCall, ...]


class CompactionDone(msgspec.Struct, frozen=True):
    """A compaction was committed or rejected."""

    outcome: Outcome


class Retrying(msgspec.Struct, frozen=True):
    """A request came to nothing and is made again; `attempt` counts from 1."""

    error: Exception
    attempt: int


LoopEvent: TypeAlias = Sending | Answered | ToolDone | ApprovalNeeded | CompactionDone | Retrying


class Do(NamedTuple):
    """Calls to be made, at once where the driver can; each comes back as a result or as its exception."""

    calls: list[Callable[[], Any]]


class Handle(Protocol):
    """A call that was begun: a future of either kind."""

    def done(self) -> bool:
        """Whether its outcome is there."""
        ...


class Begin(NamedTuple):
    """A call to be made beside everything else; its handle comes back at once."""

    call: Callable[[], Any]


class Finish(NamedTuple):
    """A call that was begun, to be waited for; its result or exception comes back."""

    handle: Any


class Keep(NamedTuple):
    """Something to be written to a store; what comes back is as of one call."""

    call: Callable[[], Any]


class _Work(NamedTuple):
    """A compaction on its way: the plan, the request that is being answered, and what answers it."""

    plan: Plan
    request: SummaryRequest
    handle: Handle


Step: TypeAlias = LoopEvent | Do | Begin | Finish | Keep
Steps: TypeAlias = Generator[Step, Any, None]


@dataclasses.dataclass(slots=True)
class Crank:
    """What a loop was given, and the steps that follow from it."""

    run: Run
    capabilities: Capabilities | Callable[[], Capabilities]
    call_model: Callable[[Request], Any]
    call_tool: Callable[[ToolCall], Any]
    store: Store | None
    params: Mapping[str, Any] | Callable[[], Mapping[str, Any] | None] | None
    summarizer: Callable[[SummaryRequest], Any]
    background: bool
    by_cost: bool
    needs_approval: Callable[[ToolCall], bool]
    retryable: Callable[[Exception], bool] | None
    retries: int
    max_requests: int
    clock: Callable[[], float]
    sleep: Callable[[float], Any]
    work: _Work | None = None

    def steps(self) -> Steps:
        """All steps until nothing is called any more, or a person has to decide."""
        try:
            yield from self._steps()
        finally:
            if self.work:  # left by a break, an error or a cancellation: the next loop may plan anew
                self.work.plan.fail("the loop ended before the summary was there")

    def _steps(self) -> Steps:
        run = self.run
        asked = yield from self._carry_out(self._left_open())
        reminded = made = 0
        while not asked:
            if made == self.max_requests:
                raise LoopStopped(
                    f"{made} requests were made in this loop and the model still calls; loop again to go on"
                )
            made += 1
            turn = yield from self._answered()
            if turn.tool_calls:
                reminded = 0
                for call in turn.tool_calls:
                    if self.needs_approval(call):
                        run.request_approval(call)
                asked = yield from self._carry_out(turn.tool_calls)
                continue
            kind = "transaction_prose" if run.in_transaction else ""
            kind = kind if turn.text.strip() else "empty_response"
            if not kind:
                break
            reminded += 1
            if reminded > REPAIRS:
                raise LoopStopped(f"the model was reminded {REPAIRS} times after {kind!r} and gave the same again")
            run.repair(kind)
        if asked:
            yield ApprovalNeeded(asked)
        yield from self._commit()
        if self.work:  # it is paid for, and what comes next is the better for it
            yield from self._go_on(wait=True)
            yield from self._commit()

    # --- requests ---------------------------------------------------------------------------------------------------
    def _answered(self) -> Generator[Step, Any, AssistantTurn]:
        """One request, made again where it fails, and the answer to it."""
        run, attempt = self.run, 0
        while True:
            request = yield from self._fitting()
            yield from self._commit()
            yield Sending(request)
            (response,) = yield Do([functools.partial(self.call_model, request)])
            try:
                if isinstance(response, Exception):
                    raise response
                turn = run.record(request, response)
            except Exception as reason:
                with contextlib.suppress(UnknownRequest):  # a stream that was given up has said so already
                    run.fail(request, reason)
                failure = request.adapter.failure(reason)
                # The window is smaller than the policy says, or the estimate too low: where nothing says by how much,
                # as little is kept as the policy allows. Once is enough to know.
                if failure.kind == "overflow":
                    self._learn(failure)
                if failure.kind == "overflow" and not attempt and (yield from self._compacted(least_cost=True)):
                    attempt += 1
                    yield Retrying(reason, attempt)
                    continue
                attempt += 1
                again = self.retryable(reason) if self.retryable else failure.retryable
                # An answer that is of no known form will be so again; one that failed or broke off need not.
                failed = isinstance(reason, StreamBroken) or (
                    isinstance(reason, ResponseError) and reason.body is not None
                )
                if (isinstance(reason, MuntinError) and not failed) or attempt > self.retries or not again:
                    yield from self._commit()
                    raise
                yield Retrying(reason, attempt)
                yield Do([functools.partial(self.sleep, max(failure.wait, min(2.0**attempt, 30.0)))])
                continue
            yield from self._commit()
            yield Answered(request, turn)
            return turn

    def _learn(self, failure: Failure) -> None:
        """Plan with the window that a refusal has shown from now on."""
        session = self.run.session
        window = session.policy.window or session.adapter.model.window
        if 0 < failure.limit < window and not failure.per_minute:
            session.use(policy=msgspec.structs.replace(session.policy, window=failure.limit))

    def _prepared(self) -> Request:
        params = self.params() if callable(self.params) else self.params
        return self.run.prepare(self._now(), params=params, now=self.clock())

    def _fitting(self) -> Generator[Step, Any, Request]:
        """A request that fits: a full window waits for a compaction, one that fills up lets it begin."""
        yield from self._go_on()
        try:
            request = self._prepared()
        except PayloadOverflow:
            return (yield from self._lightened())
        except ContextOverflow as overflow:
            if not overflow.compactable:
                raise
            if (yield from self._compacted()):
                return self._prepared()
            return (yield from self._without_model(overflow))
        if self.by_cost and not self.work and (yield from self._cheaper()):
            self.run.fail(request, "made shorter before it was sent")
            return self._prepared()
        if request.usage.state != "compact" or self.work:
            return request
        if request.usage.tightest != "tokens":
            cleared = yield from self._cleared()
            if not cleared:
                return request
        elif self.background:
            yield from self._begin()
            return request
        elif not (yield from self._compacted()):
            return request
        self.run.fail(request, "made shorter before it was sent")
        return self._prepared()

    def _without_model(self, overflow: ContextOverflow) -> Generator[Step, Any, Request]:
        """What is left in a full window when the summariser fails: a view without old results, or picked sentences."""
        if (yield from self._cleared()):
            with contextlib.suppress(ContextOverflow):
                request = self._prepared()
                if request.usage.state == "ok":  # otherwise the next request but a few would break the prefix again
                    return request
                self.run.fail(request, "made shorter before it was sent")
        session = self.run.session
        try:
            plan = session.plan_compaction(now=self.clock(), force=True)
        except (CannotCompact, CompactionInFlight):
            raise overflow from None
        yield CompactionDone(session.commit_compaction(plan.run(ExtractiveSummarizer())))
        return self._prepared()

    def _lightened(self) -> Generator[Step, Any, Request]:
        """A request with fewer bytes and images: without old results first, then without what a summary covers."""
        for keep in (None, 0):
            if (yield from self._cleared(keep)):
                with contextlib.suppress(PayloadOverflow):
                    return self._prepared()
        yield from self._compacted(least_cost=True)
        return self._prepared()

    def _cleared(self, keep: int | None = None) -> Generator[Step, Any, bool]:
        outcome = self.run.session.clear_results(keep=keep, now=self.clock(), force=True)
        if isinstance(outcome, Committed):
            yield CompactionDone(outcome)
        return isinstance(outcome, Committed)

    def _cheaper(self) -> Generator[Step, Any, bool]:
        """Clear old results or compact where that costs less than to go on as it is; the lighter means first."""
        session, now = self.run.session, self.clock()
        outcome = session.clear_results(now=now)
        if isinstance(outcome, Committed):
            yield CompactionDone(outcome)
            return True
        return session.compaction_pays(now=now) and (yield from self._compacted(least_cost=True))

    def _compacted(self, *, least_cost: bool = False) -> Generator[Step, Any, bool]:
        """Whether a compaction was committed; one that is on its way already is waited for first."""
        if (yield from self._go_on(wait=True)):
            return True
        yield from self._begin(least_cost=least_cost)
        return (yield from self._go_on(wait=True))

    def _begin(self, *, least_cost: bool = False) -> Generator[Step, Any, None]:
        """Let a compaction begin, if there is one that may."""
        try:
            plan = self.run.session.plan_compaction(self._adapter(), now=self.clock(), least_cost=least_cost)
        except (CannotCompact, CompactionInFlight):
            return
        yield from self._commit()  # the attempt counts even if this process ends here
        yield from self._ask(plan)

    def _adapter(self) -> Adapter | None:
        """What the summariser says that its requests are for; a method, such as `ask`, is its object's."""
        adapter = getattr(getattr(self.summarizer, "__self__", self.summarizer), "adapter", None)
        return adapter if isinstance(adapter, Adapter) else None

    def _ask(self, plan: Plan) -> Generator[Step, Any, None]:
        request = plan.next_request()
        if request is not None:
            self.work = _Work(plan, request, (yield Begin(functools.partial(self.summarizer, request))))

    def _go_on(self, *, wait: bool = False) -> Generator[Step, Any, bool]:
        """Take what has come of a compaction on its way; whether it was committed."""
        while self.work and (wait or self.work.handle.done()):
            plan, request, handle = self.work
            self.work = None
            answer = yield Finish(handle)
            if isinstance(answer, Exception):
                plan.fail(repr(answer))
            else:
                with contextlib.suppress(ResponseError):  # the plan has failed then, and is rejected
                    plan.feed(request, answer)
            yield from self._ask(plan)
            if not self.work:
                outcome = self.run.session.commit_compaction(plan)
                yield CompactionDone(outcome)
                return isinstance(outcome, Committed)
        return False

    # --- calls ------------------------------------------------------------------------------------------------------
    def _left_open(self) -> tuple[ToolCall, ...]:
        """The open calls of a run that goes on which a person decides on; the others were interrupted."""
        decided = []
        for call in self.run.session.open_calls:
            if self.run.decision(call):
                decided.append(call)
            else:
                self.run.tool_result(call.id, INTERRUPTED, is_error=True)
        return tuple(decided)

    def _carry_out(self, calls: Sequence[ToolCall]) -> Generator[Step, Any, tuple[ToolCall, ...]]:
        """Carry out what is allowed; the calls that wait for a decision."""
        run = self.run
        waiting = tuple(call for call in calls if run.decision(call) == "asked")
        allowed: list[ToolCall] = []
        for call in calls:
            if call in waiting:
                continue
            try:
                run.authorize(call, self._now())
                allowed.append(call)
            except ToolUnavailable as refusal:
                run.tool_result(call.id, f"not carried out: {refusal.reason}", is_error=True)
                yield ToolDone(call, refusal.reason, is_error=True)
        outputs = yield Do([functools.partial(self.call_tool, call) for call in allowed])
        for call, output in zip(allowed, outputs, strict=True):
            shown, failed = output, False
            try:
                if isinstance(output, Exception):
                    shown, failed = f"{type(output).__name__}: {output}", True
                elif not isinstance(output, Window):
                    shown, failed = given(output)
                run.tool_result(call.id, shown, is_error=failed)
            except InputError as refusal:  # the tool has run, so what is wrong with its output is its result
                failed = True
                run.tool_result(call.id, f"the tool's output cannot be shown: {refusal}", is_error=True)
            except DuplicateResult:  # the tool has answered the call itself, or said that it goes on
                pass
            yield ToolDone(call, output, is_error=failed)
        return waiting

    # --- around -----------------------------------------------------------------------------------------------------
    def _now(self) -> Capabilities:
        return self.capabilities if isinstance(self.capabilities, Capabilities) else self.capabilities()

    def _commit(self) -> Generator[Keep, Any, None]:
        if self.store is not None:
            refusal = yield Keep(functools.partial(self.store.commit, self.run.session))
            if isinstance(refusal, Exception):
                raise refusal
