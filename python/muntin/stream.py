"""An answer while it arrives: put together, counted, and then committed or given up.

A fragment is in memory only: what was not committed may be lost in a crash, what was committed never is.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any, Literal

from muntin.engine import Engine
from muntin.exceptions import ResponseError, StateError, StreamBroken
from muntin.items import AssistantTurn, Text
from muntin.providers.base import decoded
from muntin.request import Request

__all__ = ["Stream"]


class Stream:
    """The streamed answer to one request. Made by `Run.stream`; for one thread."""

    __slots__ = ("_accumulator", "_counter", "_engine", "_news", "_request", "_run", "_settled")

    def __init__(self, engine: Engine, run: int, request: Request) -> None:
        self._engine = engine
        self._run = run
        self._request = request
        self._accumulator = request.adapter.accumulator()
        self._counter = request.adapter.tokenizer.stream()
        self._news: list[str] = []
        self._settled = False

    def __repr__(self) -> str:
        return f"Stream({self._request.id!r}, {'finished' if self.finished else 'arriving'})"

    @property
    def finished(self) -> bool:
        """Whether the provider said that the answer is complete.

        It may be so before the last event. Bedrock and servers of chat completions send the usage behind it, the latter
        only where `params` ask for it with `stream_options: {"include_usage": true}`. So feed all events until the
        provider closes the stream, and commit then.
        """
        return self._accumulator.finished

    @property
    def tokens(self) -> int:
        """Tokens of the answer until now, by the best estimate. O(what arrived since it was asked for last)."""
        if self._news:
            self._counter.append("".join(self._news))
            self._news.clear()
        return self._request.adapter.costs.streamed(self._counter.tokens)

    def feed(self, event: Mapping[str, Any] | bytes | str) -> str:
        """Take the next event, and give back the part of the answer that it brings.

        Args:
            event: A decoded event, or one line of the stream of server-sent events; lines without data are passed over.

        Raises:
            ResponseError: It is not of the provider's form.
            StreamBroken: It says that the provider broke the answer off.
            StateError: The answer was committed or given up.
        """
        self._require_open()
        if not isinstance(event, Mapping):
            line = _line(event)
            if line.startswith((b"event:", b"id:", b"retry:", b":")) or not line:
                return ""
            line = line.removeprefix(b"data:").strip()
            if line == b"[DONE]":
                return ""
            event = decoded(line, "the event")
        try:
            news = self._accumulator.feed(event)
        except ResponseError as reason:
            broken = StreamBroken(str(reason))
            broken.body = event
            raise broken from reason
        except (AttributeError, LookupError, TypeError, ValueError) as reason:
            raise ResponseError(
                f"no event of {self._request.adapter.provider}: {_shown(event)} ({reason!r})"
            ) from reason
        if news:
            self._news.append(news)
        return news

    def commit(self) -> AssistantTurn:
        """Accept the whole answer; as `Run.record`.

        Raises:
            StreamBroken: The answer is not complete: feed the rest, or keep its text with `abort(keep="text")`.
            ResponseError: It is not of the provider's form.
            UnknownRequest: The request is settled already.
            StateError: The answer was committed or given up.
        """
        self._require_open()
        if not self.finished:
            raise StreamBroken(
                f"the answer to {self._request.id!r} is not complete; feed the rest, or abort(keep='text')"
            )
        turn = self._engine.record(self._run, self._request, self._response())
        self._settled = True
        return turn

    def abort(self, *, keep: Literal["nothing", "text"] = "nothing", error: object = "aborted") -> AssistantTurn | None:
        """Give the rest of the answer up.

        Args:
            keep: `text` accepts the text that has come as an interrupted turn, without calls and reasoning, which may
                be cut; `nothing` lets the request fail. Where no text has come it fails either way.
            error: Why, for the journal.

        Returns:
            The turn that was accepted, if any.

        Raises:
            UnknownRequest: The request is settled already.
            StateError: The answer was committed or given up.
        """
        self._require_open()
        text = ""
        if keep == "text":
            with contextlib.suppress(ResponseError):  # what comes to no answer has no text either
                text = self._request.adapter.read(self._response()).turn.text
        turn = None
        if text.strip():
            turn = self._engine.record(self._run, self._request, AssistantTurn((Text(text),), "interrupted"))
        else:
            self._engine.fail(self._run, self._request, error)
        self._settled = True
        return turn

    def _response(self) -> Mapping[str, Any]:
        try:
            return self._accumulator.response()
        except (AttributeError, LookupError, TypeError, ValueError) as reason:
            raise ResponseError(
                f"the events of {self._request.id!r} come to no answer of {self._request.adapter.provider}: {reason!r}"
            ) from reason

    def _require_open(self) -> None:
        if self._settled:
            raise StateError(f"the answer to {self._request.id!r} was committed or given up already")


def _line(event: Any) -> bytes:
    """A line of a stream as bytes without the white space around it.

    Raises:
        ResponseError: It is neither text nor bytes, or text that has no UTF-8 form.
    """
    if isinstance(event, str):
        try:
            return event.encode().strip()
        except UnicodeEncodeError as reason:
            raise ResponseError(f"the event has no UTF-8 form: {_shown(event)} ({reason})") from reason
    if isinstance(event, bytes | bytearray | memoryview):
        return bytes(event).strip()
    raise ResponseError(
        f"an event is a dict, or a line as bytes or text, not {type(event).__name__}; pass an SDK's by its model_dump()"
    )


def _shown(event: object) -> str:
    text = repr(event)
    return text if len(text) <= 200 else f"{text[:197]}..."
