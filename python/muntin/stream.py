"""An answer while it arrives: put together, counted, and then committed or given up.

A fragment is in memory only: what was not committed may be lost in a crash, what was committed never is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from muntin.engine import Engine
from muntin.exceptions import ResponseError, StateError
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
        """Whether the provider said that the answer is complete."""
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
            ResponseError: It is not of the provider's form, or says that the provider broke the answer off.
            StateError: The answer was committed or given up.
        """
        self._require_open()
        if not isinstance(event, Mapping):
            line = event if isinstance(event, str) else bytes(event).decode()
            line = line.strip()
            if line.startswith(("event:", "id:", "retry:", ":")) or not line:
                return ""
            line = line.removeprefix("data:").strip()
            if line == "[DONE]":
                return ""
            event = decoded(line.encode(), "the event")
        try:
            news = self._accumulator.feed(event)
        except (KeyError, TypeError, AttributeError) as reason:
            raise ResponseError(f"no event of this provider: {event!r} ({reason!r})") from reason
        if news:
            self._news.append(news)
        return news

    def commit(self) -> AssistantTurn:
        """Accept the whole answer; as `Run.record`.

        Raises:
            ResponseError: The answer is not complete: feed the rest, or keep its text with `abort(keep="text")`.
            UnknownRequest: The request is settled already.
            StateError: The answer was committed or given up.
        """
        self._require_open()
        if not self.finished:
            raise ResponseError(
                f"the answer to {self._request.id!r} is not complete; feed the rest, or abort(keep='text')"
            )
        turn = self._engine.record(self._run, self._request, self._accumulator.response())
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
            text = self._request.adapter.read(self._accumulator.response()).turn.text
        turn = None
        if text.strip():
            turn = self._engine.record(self._run, self._request, AssistantTurn((Text(text),), "interrupted"))
        else:
            self._engine.fail(self._run, self._request, error)
        self._settled = True
        return turn

    def _require_open(self) -> None:
        if self._settled:
            raise StateError(f"the answer to {self._request.id!r} was committed or given up already")
