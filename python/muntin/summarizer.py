"""A summariser by a model: any callable, with a limit of time, retries where the line broke, and a way to stop it."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import inspect
import queue
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeAlias

from muntin.compaction.plan import Summarized
from muntin.compaction.request import SummaryRequest

__all__ = ["LLMSummarizer", "is_transport"]

_TRANSPORT: Final = frozenset({"TransportError", "APIConnectionError"})
"""Names by which HTTP clients and SDKs call errors of the line; none of them is imported."""

Outcome: TypeAlias = tuple[bool, Summarized | BaseException | None]


def is_transport(error: BaseException) -> bool:
    """Whether a request broke down on the line, so that nobody answered; an answer with an error status is none."""
    if hasattr(error, "status_code") or hasattr(error, "code"):
        return False
    return isinstance(error, OSError) or any(base.__name__ in _TRANSPORT for base in type(error).__mro__)


class LLMSummarizer:
    """Sends summary requests by a function of yours. To be called from any thread, or awaited by `ask`.

    Args:
        send: Sends one request and gives the response as it came, or finished text; asynchronous for `ask`.
        timeout: Seconds that one request may take, retries included. A function that hangs is left behind on its
            thread, and what it gives later is dropped.
        retries: How often a request is sent again.
        retryable: Whether an error is one after which it may be.
        pause: Seconds before the first retry; twice as long before each further one.
    """

    def __init__(
        self,
        send: Callable[[SummaryRequest], Summarized | Awaitable[Summarized]],
        *,
        timeout: float = 120.0,
        retries: int = 2,
        retryable: Callable[[BaseException], bool] = is_transport,
        pause: float = 1.0,
    ) -> None:
        self._send = send
        self._timeout = timeout
        self._retries = retries
        self._retryable = retryable
        self._pause = pause
        self._lock = threading.Lock()
        self._cancelled = False
        self._waiting: set[queue.SimpleQueue[Outcome]] = set()

    def cancel(self) -> None:
        """Stop: a call that waits raises `concurrent.futures.CancelledError` at once, and so does every later one."""
        with self._lock:
            self._cancelled = True
            for waiting in self._waiting:
                waiting.put((False, None))

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
            CancelledError: Of `concurrent.futures`: it was cancelled before an attempt.
        """
        async with asyncio.timeout(self._timeout):
            for attempt in range(self._retries + 1):
                if self._cancelled:
                    raise concurrent.futures.CancelledError
                try:
                    answer = self._send(request)
                    return await answer if inspect.isawaitable(answer) else answer
                except Exception as reason:
                    if attempt == self._retries or not self._retryable(reason):
                        raise
                await asyncio.sleep(self._pause * 2**attempt)
        raise TimeoutError  # a negative number of retries

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
            pause = self._pause * 2**attempt
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
