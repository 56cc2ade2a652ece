"""The lines of a streamed Ollama answer, put together to the answer that they come to.

Lines: https://github.com/ollama/ollama/blob/main/docs/api.md, one JSON object each. Calls come whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from muntin.exceptions import ResponseError
from muntin.providers.pieces import Pieces

__all__ = ["OllamaStream"]

_TEXTS = ("thinking", "content")


class OllamaStream:
    """Takes lines in their order; see `muntin.providers.base.Accumulator`."""

    def __init__(self) -> None:
        self._pieces = Pieces()
        self._calls: list[Mapping[str, Any]] = []
        self._last: dict[str, Any] = {}

    @property
    def finished(self) -> bool:
        """Whether the server said that the answer is complete."""
        return bool(self._last.get("done"))

    def feed(self, event: Mapping[str, Any]) -> str:
        """Take one line; the part of the answer that it brings, for counting."""
        if event.get("error"):
            raise ResponseError(f"the server broke the stream off: {event['error']!r}")
        message = event.get("message") or {}
        news = [self._pieces.add(key, message.get(key) or "") for key in _TEXTS]
        for call in message.get("tool_calls") or ():
            self._calls.append(call)
            function = call["function"]
            news += function["name"], msgspec.json.encode(function.get("arguments") or {}).decode()
        self._last = {key: value for key, value in event.items() if key != "message"}
        return "".join(news)

    def response(self) -> dict[str, Any]:
        """The answer as far as it has come; the counts come with the last line."""
        texts = {key: self._pieces.text(key) for key in _TEXTS}
        return {**self._last, "message": {"role": "assistant", **texts, "tool_calls": self._calls}}
