"""A loop that turns the crank of a run: prepare, commit, call the model, record, commit, carry out the calls.

The order is what makes a crash harmless: what was accepted is stored before anything is sent, and what the model said
before anything is carried out. A summary is written in the background while the run goes on; only a full window waits
for it. The steps are in `muntin.crank` and call nobody; `loop` and `aloop` do what they ask for.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from typing import Any

from muntin.capabilities import Capabilities
from muntin.compaction.extractive import ExtractiveSummarizer
from muntin.compaction.plan import Summarized
from muntin.compaction.request import SummaryRequest
from muntin.crank import Begin, Crank, Do, Finish, Handle, Keep, LoopEvent, Response, Step, Steps
from muntin.items import ToolCall
from muntin.outputs import ToolOutput
from muntin.request import Request
from muntin.run import Run
from muntin.stores import Store

__all__ = ["aloop", "loop"]


def loop(
    run: Run,
    capabilities: Capabilities | Callable[[], Capabilities],
    call_model: Callable[[Request], Response],
    call_tool: Callable[[ToolCall], ToolOutput],
    *,
    store: Store | None = None,
    params: Mapping[str, Any] | Callable[[], Mapping[str, Any] | None] | None = None,
    summarizer: Callable[[SummaryRequest], Summarized] | None = None,
    background: bool = True,
    by_cost: bool = False,
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
        call_model: Sends a request and gives the response, as `Run.record` takes it; or takes it as a stream and gives
            what `Run.stream(request).commit()` returns.
        call_tool: Carries a call out and gives its output, as `Run.tool_result` takes it. Where it has answered the
            call itself, by `Run.tool_pending` for example, that stands.
        store: Where to commit; without one everything stays in memory.
        params: Body parameters of each request, or a function that gives those of the next one: another provider takes
            others.
        summarizer: Answers summary requests; by default sentences are picked without a model. Where it fails and the
            window is full, old results are cleared, or sentences are picked, all the same.
        background: Whether it is asked in a thread of its own while the run goes on, when the window fills up. The loop
            waits for it only when the window is full, and at its own end.
        by_cost: Clear old results, or compact, also where the window is not full yet but it is cheaper.
        needs_approval: Whether a person has to decide on a call.
        retryable: Whether a failed request may succeed when it is made again; by default as `Failure.retryable` says.
        retries: How often it is made again, after as many seconds as the provider asks for, and at least 2, 4, 8 and so
            on up to 30.
        max_requests: Requests until the loop gives up.
        clock: Seconds since the epoch, for the forecast.
        sleep: Waits some seconds between tries.

    Raises:
        ContextOverflow: The request does not fit, whatever is cleared and compacted.
        LoopStopped: `max_requests` were made, or the model kept answering with nothing.
    """
    crank = Crank(
        run, capabilities, call_model, call_tool, store, params, summarizer or ExtractiveSummarizer(), background,
        by_cost, needs_approval, retryable, retries, max_requests, clock, sleep,
    )  # fmt: skip
    steps = crank.steps()
    answer: Any = None
    with contextlib.closing(steps), contextlib.closing(_Helper()) as helper:
        while (step := _next(steps, answer)) is not None:
            match step:
                case Do(calls):
                    answer = [_outcome(call) for call in calls]
                case Keep(call):
                    answer = _outcome(call)
                case Begin(call):
                    answer = helper.begin(call)
                case Finish(handle):
                    answer = _outcome(handle.result)
                case _:
                    answer = None
                    yield step


async def aloop(
    run: Run,
    capabilities: Capabilities | Callable[[], Capabilities],
    call_model: Callable[[Request], Awaitable[Response]],
    call_tool: Callable[[ToolCall], Awaitable[ToolOutput]],
    *,
    store: Store | None = None,
    params: Mapping[str, Any] | Callable[[], Mapping[str, Any] | None] | None = None,
    summarizer: Callable[[SummaryRequest], Summarized | Awaitable[Summarized]] | None = None,
    background: bool = True,
    by_cost: bool = False,
    needs_approval: Callable[[ToolCall], bool] = lambda _: False,
    retryable: Callable[[Exception], bool] | None = None,
    retries: int = 3,
    max_requests: int = 200,
    clock: Callable[[], float] = time.time,
    sleep: Callable[[float], Awaitable[None]] | None = None,
) -> AsyncIterator[LoopEvent]:
    """As `loop`, for asynchronous callables; the calls of one turn are carried out at the same time.

    The event loop is never held up: commits, and a summarizer that is no coroutine function, run in threads. A
    cancellation leaves the run open, and its calls without a result: loop again to go on.
    """
    import asyncio  # noqa: PLC0415  (not every process that loops is asynchronous)

    async def outcome(call: Callable[[], Any], *, thread: bool = False) -> Any:
        try:
            result = await asyncio.to_thread(call) if thread else call()
            return await result if inspect.isawaitable(result) else result
        except Exception as reason:  # noqa: BLE001  (the steps decide what becomes of it)
            return reason

    crank = Crank(
        run, capabilities, call_model, call_tool, store, params, summarizer or ExtractiveSummarizer(), background,
        by_cost, needs_approval, retryable, retries, max_requests, clock, sleep or asyncio.sleep,
    )  # fmt: skip
    steps = crank.steps()
    begun: asyncio.Task[Any] | None = None
    answer: Any = None
    try:
        while (step := _next(steps, answer)) is not None:
            match step:
                case Do(calls):
                    answer = await asyncio.gather(*map(outcome, calls))
                case Keep(call):
                    answer = await outcome(call, thread=True)
                case Begin(call):
                    answer = begun = asyncio.ensure_future(outcome(call, thread=not _is_async(call)))
                case Finish(handle):
                    answer = await handle
                case _:
                    answer = None
                    yield step
    finally:
        steps.close()
        if begun:
            begun.cancel()


class _Helper:
    """One thread for what goes on beside a synchronous loop; it is there only if something does."""

    def __init__(self) -> None:
        self._pool: Any = None

    def begin(self, call: Callable[[], Any]) -> Handle:
        from concurrent.futures import Future, ThreadPoolExecutor  # noqa: PLC0415  (few loops need them)

        self._pool = self._pool or ThreadPoolExecutor(1, "muntin-summary")
        future: Future[Any] = self._pool.submit(_outcome, call)
        return future

    def close(self) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)


def _is_async(call: Callable[[], Any]) -> bool:
    function = call.func if isinstance(call, functools.partial) else call
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


def _next(steps: Steps, answer: Any) -> Step | None:
    try:
        return steps.send(answer)
    except StopIteration:
        return None


def _outcome(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as reason:  # noqa: BLE001  (the steps decide what becomes of it)
        return reason
