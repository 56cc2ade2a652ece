"""The chunks of a streamed chat completion, put together to the completion that they come to.

Chunks: https://platform.openai.com/docs/api-reference/chat/streaming. Only the first choice is kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muntin.exceptions import ResponseError

__all__ = ["OpenAIChatStream"]


class OpenAIChatStream:
    """Takes chunks in their order; see `muntin.providers.base.Accumulator`.

    Args:
        reasoning: The key under which the server sends reasoning, or empty.
        details: The key under which it sends sealed reasoning as a list, or empty.
    """

    def __init__(self, reasoning: str = "", details: str = "") -> None:
        self._texts = dict.fromkeys(filter(None, (reasoning, "content", "refusal")), "")
        self._details_key = details
        self._details: list[Any] = []
        self._calls: list[dict[str, Any]] = []
        self._open: dict[int | None, dict[str, Any]] = {}
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
        news = ""
        for choice in event.get("choices") or ():
            if choice.get("index", 0):
                continue
            delta = choice.get("delta") or {}
            for key in self._texts:
                part = delta.get(key) or ""
                self._texts[key] += part
                news += part
            self._details += delta.get(self._details_key) or ()
            for call in delta.get("tool_calls") or ():
                news += self._call(call)
            self._finish = choice.get("finish_reason") or self._finish
        return news

    def response(self) -> dict[str, Any]:
        """The completion as far as it has come."""
        message: dict[str, Any] = {key: text or None for key, text in self._texts.items()}
        if self._details:
            message[self._details_key] = self._details
        choice = {"message": {**message, "tool_calls": self._calls}, "finish_reason": self._finish}
        return {"choices": [choice], "usage": self._usage}

    def _call(self, delta: Mapping[str, Any]) -> str:
        function = delta.get("function") or {}
        named, index = delta.get("id") or "", delta.get("index")
        call = self._open.get(index)
        if call is None and index is None and not named and self._calls:
            call = self._calls[-1]  # it goes on without saying which
        # Some servers give every call the same index, or none: another id is another call.
        if call is None or (named and call["id"] and named != call["id"]):
            call = {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
            self._calls.append(call)
        self._open[index] = call
        call["id"] = call["id"] or named
        name, arguments = function.get("name") or "", function.get("arguments") or ""
        if name == call["function"]["name"]:
            name = ""  # repeated with each part
        call["function"]["name"] += name
        call["function"]["arguments"] += arguments
        return name + arguments
