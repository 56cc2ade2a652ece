"""A loop that turns the crank of a run: prepare, commit, call the model, record, commit, carry out the calls.

The order is what makes a crash harmless: what was accepted is stored before anything is sent, and what the model said
before anything is carried out. The steps themselves call nobody; `loop` and `aloop` do what they ask for.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import inspect
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from muntin.artifacts import Window
from muntin.capabilities import Capabilities
from muntin.compaction.extractive import ExtractiveSummarizer
from muntin.compaction.plan import Committed, Outcome, Summarized
from muntin.compaction.request import SummaryRequest
from muntin.exceptions import (
    CannotCompact,
    ContextOverflow,
    LoopStopped,
    MuntinError,
    ResponseError,
    ToolUnavailable,
    UnknownRequest,
)
from muntin.items import AssistantTurn, Image, Text, ToolCall
from muntin.request import Request
from muntin.run import Run
from muntin.stores import Store
from muntin.wording import INTERRUPTED

__all__ = [
    "Answered",
    "ApprovalNeeded",
    "CompactionDone",
    "LoopEvent",
    "Retrying",
    "Sending",
    "ToolDone",
    "aloop",
    "loop",
]

FAILED_COMPACTIONS: Final = 3
"""Compactions in a row that may come to nothing before the loop asks for no more until one is needed."""

REPAIRS: Final = 2
"""Answers in a row without content, or prose in a file transaction, that are answered by a reminder."""

Output: TypeAlias = str | Text | Image | Sequence[str | Text | Image] | Window
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


class _Do(NamedTuple):
    """Calls to be made, at once where the driver can; each comes back as a result or as its exception."""

    calls: list[Callable[[], Any]]


_Steps: TypeAlias = Generator[LoopEvent | _Do, Any, None]


def loop(
    run: Run,
    capabilities: Capabilities | Callable[[], Capabilities],
    call_model: Callable[[Request], Response],
    call_tool: Callable[[ToolCall], Output],
    *,
    store: Store | None = None,
    params: Mapping[str, Any] | None = None,
    summarizer: Callable[[SummaryRequest], Summarized] | None = None,
    needs_approval: Callable[[ToolCall], bool] = lambda _: False,
    retryable: Callable[[Exception], bool] | None = None,
    retries: int = 3,
    max_requests: int = 200,
    clock: Callable[[], float] = time.time,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[LoopEvent]:
    """Work on a run until the model has nothing more to call, event by event. The run stays open: finish it.

    It compacts when the window fills up, retries requests that fail, reminds the model once or twice after an empty
    answer or prose in a file transaction, checks each call when it is carried out, and gives its error to the model
    where a tool fails. Calls that were open when it begins are carried out if they were approved since, and are
    otherwise said to have been interrupted, since nobody knows how far they came.

    Args:
        run: The run.
        capabilities: What the agent can do, or a function that says what it can do now.
        call_model: Sends a request and gives the response, as `Run.record` takes it.
        call_tool: Carries a call out and gives its output, as `Run.tool_result` takes it.
        store: Where to commit; without one everything stays in memory.
        params: Body parameters of each request.
        summarizer: Answers summary requests; by default sentences are picked without a model.
        needs_approval: Whether a person has to decide on a call.
        retryable: Whether a failed request may succeed when it is made again; by default as `Failure.retryable` says.
        retries: How often it is made again.
        max_requests: Requests until the loop gives up.
        clock: Seconds since the epoch, for the forecast.
        sleep: Waits some seconds between tries.

    Raises:
        ContextOverflow: The request does not fit, whatever is compacted.
        LoopStopped: `max_requests` were made, or the model kept answering with nothing.
    """
    crank = _Crank(
        run, capabilities, call_model, call_tool, store, params, summarizer or ExtractiveSummarizer(), needs_approval,
        retryable, retries, max_requests, clock, sleep,
    )  # fmt: skip
    steps = crank.steps()
    answer: Any = None
    while (step := _next(steps, answer)) is not None:
        answer = None
        if isinstance(step, _Do):
            answer = [_outcome(call) for call in step.calls]
        else:
            yield step


async def aloop(
    run: Run,
    capabilities: Capabilities | Callable[[], Capabilities],
    call_model: Callable[[Request], Awaitable[Response]],
    call_tool: Callable[[ToolCall], Awaitable[Output]],
    *,
    store: Store | None = None,
    params: Mapping[str, Any] | None = None,
    summarizer: Callable[[SummaryRequest], Summarized | Awaitable[Summarized]] | None = None,
    needs_approval: Callable[[ToolCall], bool] = lambda _: False,
    retryable: Callable[[Exception], bool] | None = None,
    retries: int = 3,
    max_requests: int = 200,
    clock: Callable[[], float] = time.time,
    sleep: Callable[[float], Awaitable[None]] | None = None,
) -> AsyncIterator[LoopEvent]:
    """As `loop`, for asynchronous callables; the calls of one turn are carried out at the same time.

    A cancellation leaves the run open, and its calls without a result: loop again to go on.
    """
    import asyncio  # noqa: PLC0415  (not every process that loops is asynchronous)

    async def outcome(call: Callable[[], Any]) -> Any:
        try:
            result = call()
            return await result if inspect.isawaitable(result) else result
        except Exception as reason:  # noqa: BLE001  (the steps decide what becomes of it)
            return reason

    crank = _Crank(
        run, capabilities, call_model, call_tool, store, params, summarizer or ExtractiveSummarizer(), needs_approval,
        retryable, retries, max_requests, clock, sleep or asyncio.sleep,
    )  # fmt: skip
    steps = crank.steps()
    answer: Any = None
    while (step := _next(steps, answer)) is not None:
        answer = None
        if isinstance(step, _Do):
            answer = await asyncio.gather(*map(outcome, step.calls))
        else:
            yield step


def _next(steps: _Steps, answer: Any) -> LoopEvent | _Do | None:
    try:
        return steps.send(answer)
    except StopIteration:
        return None


def _outcome(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as reason:  # noqa: BLE001  (the steps decide what becomes of it)
        return reason


@dataclasses.dataclass(slots=True)
class _Crank:
    """What a loop was given, and the steps that follow from it."""

    run: Run
    capabilities: Capabilities | Callable[[], Capabilities]
    call_model: Callable[[Request], Any]
    call_tool: Callable[[ToolCall], Any]
    store: Store | None
    params: Mapping[str, Any] | None
    summarizer: Callable[[SummaryRequest], Any]
    needs_approval: Callable[[ToolCall], bool]
    retryable: Callable[[Exception], bool] | None
    retries: int
    max_requests: int
    clock: Callable[[], float]
    sleep: Callable[[float], Any]
    failures: int = 0

    def steps(self) -> _Steps:
        """All steps until nothing is called any more, or a person has to decide."""
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

    # --- requests ---------------------------------------------------------------------------------------------------
    def _answered(self) -> Generator[LoopEvent | _Do, Any, AssistantTurn]:
        """One request, made again where it fails, and the answer to it."""
        run, attempt = self.run, 0
        while True:
            request = yield from self._fitting()
            yield from self._commit()
            yield Sending(request)
            (response,) = yield _Do([functools.partial(self.call_model, request)])
            try:
                if isinstance(response, Exception):
                    raise response
                turn = run.record(request, response)
            except Exception as reason:
                with contextlib.suppress(UnknownRequest):  # a stream that was given up has said so already
                    run.fail(request, reason)
                failure = request.adapter.failure(reason)
                if failure.kind == "overflow" and not attempt and (yield from self._compacted()):
                    attempt += 1  # the provider counts more than was estimated; once is enough to know
                    yield Retrying(reason, attempt)
                    continue
                attempt += 1
                again = self.retryable(reason) if self.retryable else failure.retryable
                if isinstance(reason, MuntinError) or attempt > self.retries or not again:
                    yield from self._commit()
                    raise
                yield Retrying(reason, attempt)
                yield _Do([functools.partial(self.sleep, max(failure.wait, min(2.0**attempt, 30.0)))])
                continue
            yield from self._commit()
            yield Answered(request, turn)
            return turn

    def _prepared(self) -> Request:
        return self.run.prepare(self._now(), params=self.params, now=self.clock())

    def _fitting(self) -> Generator[LoopEvent | _Do, Any, Request]:
        """A request that fits, after a compaction where the window is full or fills up."""
        try:
            request = self._prepared()
        except ContextOverflow as overflow:
            if not overflow.compactable or not (yield from self._compacted()):
                raise
            return self._prepared()
        if request.usage.state == "compact" and self.failures < FAILED_COMPACTIONS and (yield from self._compacted()):
            self.run.fail(request, "compacted before it was sent")
            return self._prepared()
        return request

    def _compacted(self) -> Generator[LoopEvent | _Do, Any, bool]:
        session = self.run.session
        try:
            plan = session.plan_compaction()
        except CannotCompact:
            self.failures += 1
            return False
        while summary := plan.next_request():
            (answer,) = yield _Do([functools.partial(self.summarizer, summary)])
            if isinstance(answer, Exception):
                plan.fail(repr(answer))
            else:
                with contextlib.suppress(ResponseError):  # the plan has failed then, and is rejected
                    plan.feed(summary, answer)
        outcome = session.commit_compaction(plan)
        yield CompactionDone(outcome)
        done = isinstance(outcome, Committed)
        self.failures = 0 if done else self.failures + 1
        return done

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

    def _carry_out(self, calls: Sequence[ToolCall]) -> Generator[LoopEvent | _Do, Any, tuple[ToolCall, ...]]:
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
        outputs = yield _Do([functools.partial(self.call_tool, call) for call in allowed])
        for call, output in zip(allowed, outputs, strict=True):
            failed = isinstance(output, Exception)
            run.tool_result(call.id, f"{type(output).__name__}: {output}" if failed else output, is_error=failed)
            yield ToolDone(call, output, is_error=failed)
        return waiting

    # --- around -----------------------------------------------------------------------------------------------------
    def _now(self) -> Capabilities:
        return self.capabilities if isinstance(self.capabilities, Capabilities) else self.capabilities()

    def _commit(self) -> Generator[_Do, Any, None]:
        if self.store is not None:
            (refusal,) = yield _Do([functools.partial(self.store.commit, self.run.session)])
            if isinstance(refusal, Exception):
                raise refusal
