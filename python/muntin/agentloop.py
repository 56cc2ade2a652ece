"""A loop that turns the crank of a run: prepare, commit, call the model, record, commit, carry out the calls.

The order is what makes a crash harmless: what was accepted is stored before anything is sent, and what the model said
before anything is carried out. The steps themselves call nobody; `loop` and `aloop` do what they ask for.
"""

from __future__ import annotations

import contextlib
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
from muntin.exceptions import CannotCompact, ContextOverflow, LoopStopped, MuntinError, ToolUnavailable, UnknownRequest
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
    retryable: Callable[[Exception], bool] = lambda _: True,
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
        retryable: Whether a failed request may succeed when it is made again.
        retries: How often it is made again.
        max_requests: Requests until the loop gives up.
        clock: Seconds since the epoch, for the forecast.
        sleep: Waits some seconds between tries.

    Raises:
        ContextOverflow: The request does not fit, whatever is compacted.
        LoopStopped: `max_requests` were made, or the model kept answering with nothing.
    """
    steps = _steps(
        run, capabilities, call_model, call_tool, store, params, summarizer, needs_approval, retryable, retries,
        max_requests, clock, sleep,
    )  # fmt: skip
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
    retryable: Callable[[Exception], bool] = lambda _: True,
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

    steps = _steps(
        run, capabilities, call_model, call_tool, store, params, summarizer, needs_approval, retryable, retries,
        max_requests, clock, sleep or asyncio.sleep,
    )  # fmt: skip
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


def _one(call: Callable[[], Any]) -> Generator[_Do, Any, Any]:
    """Ask for one call; its result, or its exception raised."""
    (result,) = yield _Do([call])
    if isinstance(result, Exception):
        raise result
    return result


def _steps(
    run: Run,
    capabilities: Capabilities | Callable[[], Capabilities],
    call_model: Callable[[Request], Any],
    call_tool: Callable[[ToolCall], Any],
    store: Store | None,
    params: Mapping[str, Any] | None,
    summarizer: Callable[[SummaryRequest], Any] | None,
    needs_approval: Callable[[ToolCall], bool],
    retryable: Callable[[Exception], bool],
    retries: int,
    max_requests: int,
    clock: Callable[[], float],
    sleep: Callable[[float], Any],
) -> _Steps:
    def now() -> Capabilities:
        return capabilities if isinstance(capabilities, Capabilities) else capabilities()

    def commit() -> Generator[_Do, Any, None]:
        if (kept := store) is not None:
            yield from _one(lambda: kept.commit(run.session))

    view = _View(run, summarizer or ExtractiveSummarizer())
    asked = yield from _carry_out(run, _left_open(run), now, call_tool, lambda _: False)
    reminded = attempt = made = 0
    while not asked:
        if made == max_requests:
            raise LoopStopped(f"{made} requests were made in this loop and the model still calls; loop again to go on")
        request = yield from view.request(now, params, clock)
        yield from commit()
        yield Sending(request)
        try:
            response = yield from _one(lambda request=request: call_model(request))  # type: ignore[misc]
            turn = run.record(request, response)
        except Exception as reason:
            with contextlib.suppress(UnknownRequest):  # a stream that was given up has said so already
                run.fail(request, reason)
            attempt += 1
            if isinstance(reason, MuntinError) or attempt > retries or not retryable(reason):
                yield from commit()
                raise
            yield Retrying(reason, attempt)
            pause = min(2.0**attempt, 30.0)
            yield from _one(lambda seconds=pause: sleep(seconds))  # type: ignore[misc]
            continue
        attempt, made = 0, made + 1
        yield from commit()
        yield Answered(request, turn)
        if turn.tool_calls:
            reminded = 0
            asked = yield from _carry_out(run, turn.tool_calls, now, call_tool, needs_approval)
            continue
        kind = "" if turn.text.strip() else "empty_response"
        if run.in_transaction:
            kind = kind or "transaction_prose"
        if not kind:
            break
        reminded += 1
        if reminded > REPAIRS:
            raise LoopStopped(f"the model was reminded {REPAIRS} times after {kind!r} and gave the same again")
        run.repair(kind)
    if asked:
        yield ApprovalNeeded(asked)
    yield from commit()


def _left_open(run: Run) -> tuple[ToolCall, ...]:
    """The open calls of a run that goes on which a person has decided on since; the others were interrupted."""
    decided = []
    for call in run.session.open_calls:
        if run.decision(call):
            decided.append(call)
        else:
            run.tool_result(call.id, INTERRUPTED, is_error=True)
    return tuple(decided)


def _carry_out(
    run: Run,
    calls: Sequence[ToolCall],
    now: Callable[[], Capabilities],
    call_tool: Callable[[ToolCall], Any],
    needs_approval: Callable[[ToolCall], bool],
) -> Generator[LoopEvent | _Do, Any, tuple[ToolCall, ...]]:
    """Carry out what is allowed; the calls that wait for a decision."""
    for call in calls:
        if not run.decision(call) and needs_approval(call):
            run.request_approval(call)
    waiting = tuple(call for call in calls if run.decision(call) == "asked")
    allowed: list[ToolCall] = []
    for call in calls:
        if call in waiting:
            continue
        try:
            run.authorize(call, now())
            allowed.append(call)
        except ToolUnavailable as refusal:
            run.tool_result(call.id, f"not carried out: {refusal.reason}", is_error=True)
            yield ToolDone(call, refusal.reason, is_error=True)
    outputs = yield _Do([lambda call=call: call_tool(call) for call in allowed])  # type: ignore[misc]
    for call, output in zip(allowed, outputs or (), strict=True):
        failed = isinstance(output, Exception)
        run.tool_result(call.id, f"{type(output).__name__}: {output}" if failed else output, is_error=failed)
        yield ToolDone(call, output, is_error=failed)
    return waiting


class _View:
    """Prepares requests, and compacts when the window is full or fills up."""

    def __init__(self, run: Run, summarizer: Callable[[SummaryRequest], Any]) -> None:
        self._run = run
        self._summarizer = summarizer
        self._failures = 0

    def request(
        self, now: Callable[[], Capabilities], params: Mapping[str, Any] | None, clock: Callable[[], float]
    ) -> Generator[LoopEvent | _Do, Any, Request]:
        run = self._run
        try:
            request = run.prepare(now(), params=params, now=clock())
        except ContextOverflow as overflow:
            if not overflow.compactable or not (yield from self._compacted()):
                raise
            return run.prepare(now(), params=params, now=clock())
        if request.usage.state == "compact" and self._failures < FAILED_COMPACTIONS and (yield from self._compacted()):
            run.fail(request, "compacted before it was sent")
            request = run.prepare(now(), params=params, now=clock())
        return request

    def _compacted(self) -> Generator[LoopEvent | _Do, Any, bool]:
        session = self._run.session
        try:
            plan = session.plan_compaction()
        except CannotCompact:
            self._failures += 1
            return False
        while summary := plan.next_request():
            (answer,) = yield _Do([lambda summary=summary: self._summarizer(summary)])  # type: ignore[misc]
            if isinstance(answer, Exception):
                plan.fail(repr(answer))
            else:
                plan.feed(summary, answer)
        outcome = session.commit_compaction(plan)
        yield CompactionDone(outcome)
        done = isinstance(outcome, Committed)
        self._failures = 0 if done else self._failures + 1
        return done
