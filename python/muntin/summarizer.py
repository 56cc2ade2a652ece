"""A summariser by a model: any callable, with a limit of time, retries where the line broke, and a way to stop it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import inspect
import queue
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, Self, TypeAlias

from muntin.compaction.plan import Summarized
from muntin.compaction.request import SummaryRequest
from muntin.endpoint import Endpoint, is_passing
from muntin.exceptions import EndpointError
from muntin.providers import Adapter

__all__ = ["LLMSummarizer", "is_transport"]

_TRANSPORT: Final = frozenset({"TransportError", "APIConnectionError"})
"""Names by which HTTP clients and SDKs call errors of the line; none of them is imported."""

Outcome: TypeAlias = tuple[bool, Summarized | BaseException | None]


def is_transport(error: BaseException) -> bool:
    """Whether a request broke down on the line, so that nobody answered; an answer with an error status is none."""
    if hasattr(error, "status_code") or hasattr(error, "code"):
        return False
    return isinstance(error, OSError) or any(base.__name__ in _TRANSPORT for base in type(error).__mro__)


def _is_being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


class LLMSummarizer:
    """Sends summary requests by a function of yours. To be called from any thread, or awaited by `ask`.

    Args:
        send: Sends one request and gives the response as it came, or finished text; asynchronous for `ask`.
        timeout: Seconds that one request may take, retries included. A function that hangs is left behind on its
            thread, and what it gives later is dropped.
        retries: How often a request is sent again.
        retryable: Whether an error is one after which it may be.
        pause: Seconds before the first retry; twice as long before each further one, and as long as an endpoint asks.
        asend: The same, asynchronous, for `ask`; by default `send` itself.

    Attributes:
        adapter: What the requests have to be rendered for, as `plan_compaction` takes it; None for the session's own.
    """

    adapter: Adapter | None = None

    def __init__(
        self,
        send: Callable[[SummaryRequest], Summarized | Awaitable[Summarized]],
        *,
        timeout: float = 120.0,
        retries: int = 2,
        retryable: Callable[[BaseException], bool] = is_transport,
        pause: float = 1.0,
        asend: Callable[[SummaryRequest], Summarized | Awaitable[Summarized]] | None = None,
    ) -> None:
        self._send = send
        self._asend = asend or send
        self._timeout = timeout
        self._retries = retries
        self._retryable = retryable
        self._pause = pause
        self._lock = threading.Lock()
        self._cancelled = False
        self._waiting: set[queue.SimpleQueue[Outcome]] = set()
        self._asking: set[tuple[asyncio.AbstractEventLoop, asyncio.Task[Summarized]]] = set()

    @classmethod
    def over_http(
        cls,
        url: str,
        adapter: Adapter,
        *,
        headers: Mapping[str, str] | None = None,
        timeout: float = 120.0,
        retries: int = 2,
        pause: float = 1.0,
    ) -> Self:
        """One that sends to an API over HTTP, called or awaited. Needs `pip install 'muntin[http]'`.

        Give its `adapter` to `plan_compaction`; the loops do so by themselves. It is tried again where the line broke,
        and after an answer that says that too many came at once or that the server is down; a failure of any other
        kind is an `EndpointError` at once, so that a request that is too long is paid for once.

        Args:
            url: The API's root, below which `adapter.path` is added, or the whole address.
            adapter: The wire format and model of the summaries.
            headers: Credentials, beside the format's own headers. They stand in no message.
            timeout: As above.
            retries: As above.
            pause: As above.

        Raises:
            InputError: The URL is none of `http` or `https`.
        """
        endpoint = Endpoint(url, adapter, headers or {}, timeout)

        async def asend(request: SummaryRequest) -> bytes:
            return await endpoint.apost(request.body)

        made = cls(
            lambda request: endpoint.post(request.body),
            asend=asend,
            timeout=timeout,
            retries=retries,
            retryable=is_passing,
            pause=pause,
        )
        made.adapter = adapter
        return made

    def cancel(self) -> None:
        """Stop: a call that waits raises `concurrent.futures.CancelledError` at once, and so does every later one."""
        with self._lock:
            self._cancelled = True
            for waiting in self._waiting:
                waiting.put((False, None))
            for loop, task in self._asking:
                loop.call_soon_threadsafe(task.cancel)

    def __call__(self, request: SummaryRequest, /) -> Summarized:
        """The answer to one request.

        Raises:
            TimeoutError: It took too long.
            CancelledError: Of `concurrent.futures`: it was cancelled.
        """
        done: queue.SimpleQueue[Outcome] = queue.SimpleQueue()
        with self._lock:
            if self._cancelled:
                raise concurrent.futures.CancelledError
            self._waiting.add(done)
        try:
            return self._answer(request, done)
        finally:
            with self._lock:
                self._waiting.discard(done)

    async def ask(self, request: SummaryRequest) -> Summarized:
        """The answer to one request, by an asynchronous function; to be given to `aloop` as its summariser.

        Raises:
            TimeoutError: It took too long.
            CancelledError: Of `concurrent.futures`: it was cancelled.
        """
        task = asyncio.ensure_future(self._asked(request))
        asking = (asyncio.get_running_loop(), task)
        with self._lock:
            self._asking.add(asking)
            if self._cancelled:
                task.cancel()
        try:
            return await task
        except asyncio.CancelledError:
            # Whoever waits was cancelled, and with it the task; or the task alone was.
            if self._cancelled and not _is_being_cancelled():
                raise concurrent.futures.CancelledError from None
            raise
        finally:
            with self._lock:
                self._asking.discard(asking)

    async def _asked(self, request: SummaryRequest) -> Summarized:
        async with asyncio.timeout(self._timeout):
            for attempt in range(self._retries + 1):
                try:
                    answer = self._asend(request)
                    return await answer if inspect.isawaitable(answer) else answer
                except Exception as reason:
                    if attempt == self._retries or not self._retryable(reason):
                        raise
                    pause = self._pause_after(reason, attempt)
                await asyncio.sleep(pause)
        raise TimeoutError  # a negative number of retries

    def _pause_after(self, reason: BaseException, attempt: int) -> float:
        pause: float = self._pause * 2**attempt
        return max(pause, float(reason.failure.wait)) if isinstance(reason, EndpointError) else pause

    def _answer(self, request: SummaryRequest, done: queue.SimpleQueue[Outcome]) -> Summarized:
        deadline = time.monotonic() + self._timeout
        for attempt in range(self._retries + 1):
            # One queue for all attempts, so that a cancellation is never missed; their answers do not mix, since one
            # is left behind at the deadline only.
            threading.Thread(target=self._attempt, args=(request, done), daemon=True).start()
            answer, reason = self._next(done, deadline)
            if reason is None:
                return answer
            if attempt == self._retries or not self._retryable(reason):
                raise reason
            pause = self._pause_after(reason, attempt)
            if time.monotonic() + pause > deadline:
                raise reason
            self._rest(done, pause)
        raise TimeoutError  # a negative number of retries

    @staticmethod
    def _rest(done: queue.SimpleQueue[Outcome], pause: float) -> None:
        """Wait before the next attempt; only a cancellation can come in between."""
        with contextlib.suppress(queue.Empty):
            done.get(timeout=pause)
            raise concurrent.futures.CancelledError

    def _next(self, done: queue.SimpleQueue[Outcome], deadline: float) -> tuple[Summarized, BaseException | None]:
        try:
            finished, answer = done.get(timeout=max(deadline - time.monotonic(), 0.0))
        except queue.Empty:
            raise TimeoutError(f"no summary within {self._timeout:g} s") from None
        if not finished and answer is None:
            raise concurrent.futures.CancelledError
        if isinstance(answer, BaseException):
            return "", answer
        return answer or "", None

    def _attempt(self, request: SummaryRequest, done: queue.SimpleQueue[Outcome]) -> None:
        try:
            answer = self._send(request)
            if inspect.isawaitable(answer):
                if inspect.iscoroutine(answer):
                    answer.close()
                raise TypeError("an asynchronous function is awaited by LLMSummarizer.ask")
            done.put((True, answer))
        except BaseException as reason:  # noqa: BLE001  (it is raised where the answer is waited for)
            done.put((False, reason))
