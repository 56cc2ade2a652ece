"""The chunks of a streamed chat completion, put together to the completion that they come to.

Chunks: https://platform.openai.com/docs/api-reference/chat/streaming. Only the first choice is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muntin.exceptions import ResponseError
from muntin.providers.pieces import Pieces

__all__ = ["OpenAIChatStream"]


class OpenAIChatStream:
    """Takes chunks in their order; see `muntin.providers.base.Accumulator`.

    An answer is finished with its `finish_reason`. Usage comes in a chunk after that, and only where the request says
    `"stream_options": {"include_usage": true}`.

    Args:
        reasoning: The key under which the server sends reasoning, or empty.
        details: The key under which it sends sealed reasoning as a list, or empty.
    """

    def __init__(self, reasoning: str = "", details: str = "") -> None:
        self._keys = [*filter(None, (reasoning, "content", "refusal"))]
        self._pieces = Pieces()
        self._details_key = details
        self._details: list[Any] = []
        self._calls: list[dict[str, str]] = []
        self._open: dict[int | None, int] = {}
        self._usage: Any = None
        self._finish: str | None = None

    @property
    def finished(self) -> bool:
        """Whether the model said why it stopped."""
        return self._finish is not None

    def feed(self, event: Mapping[str, Any]) -> str:
        """Take one chunk; the part of the answer that it brings, for counting."""
        if event.get("error"):
            raise ResponseError(f"the provider broke the stream off: {event['error']!r}")
        self._usage = event.get("usage") or self._usage
        news: list[str] = []
        for choice in event.get("choices") or ():
            if choice.get("index", 0):
                continue
            delta = choice.get("delta") or {}
            news += [self._pieces.add(key, _text(delta.get(key))) for key in self._keys]
            self._details += delta.get(self._details_key) or ()
            for call in delta.get("tool_calls") or ():
                news += self._call(call)
            self._finish = choice.get("finish_reason") or self._finish
        return "".join(news)

    def response(self) -> dict[str, Any]:
        """The completion as far as it has come."""
        message: dict[str, Any] = {key: self._pieces.text(key) or None for key in self._keys}
        if self._details:
            message[self._details_key] = self._details
        calls = [
            {
                "id": call["id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": self._pieces.text(i)},
            }
            for i, call in enumerate(self._calls)
        ]
        choice = {"message": {**message, "tool_calls": calls}, "finish_reason": self._finish}
        return {"choices": [choice], "usage": self._usage}

    def _call(self, delta: Mapping[str, Any]) -> list[str]:
        function = delta.get("function") or {}
        named, index = delta.get("id") or "", delta.get("index")
        place = self._open.get(index)
        if place is None and index is None and not named and self._calls:
            place = len(self._calls) - 1  # it goes on without saying which
        # Some servers give every call the same index, or none: another id is another call.
        known = self._calls[place]["id"] if place is not None else ""
        if place is None or (named and known and named != known):
            place = len(self._calls)
            self._calls.append({"id": "", "name": ""})
        self._open[index] = place
        call = self._calls[place]
        call["id"] = call["id"] or named
        name = function.get("name") or ""
        if name == call["name"]:
            name = ""  # repeated with each part
        call["name"] += name
        return [name, self._pieces.add(place, function.get("arguments") or "")]


def _text(piece: Any) -> Any:
    """A piece of text, also where it comes as a list of parts; those of Mistral's reasoning are none of the answer."""
    return "".join(part.get("text") or "" for part in piece) if isinstance(piece, list) else piece or ""
