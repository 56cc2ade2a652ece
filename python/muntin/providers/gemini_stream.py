"""The chunks of a streamed Gemini response, put together to the response that they come to.

Chunks: https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent, with `alt=sse`. Texts are
joined unless one of them carries a signature, which belongs to its part alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from muntin.exceptions import ResponseError
from muntin.providers.pieces import Pieces

__all__ = ["GeminiStream"]

_JOINED = frozenset({"text", "thought"})


class GeminiStream:
    """Takes chunks in their order; see `muntin.providers.base.Accumulator`. Only the first candidate is kept."""

    def __init__(self) -> None:
        self._parts: list[dict[str, Any]] = []
        self._pieces = Pieces()
        self._whole: dict[str, Any] = {}
        self._finish: str | None = None

    @property
    def finished(self) -> bool:
        """Whether the model said why it stopped, or the prompt was blocked."""
        return self._finish is not None or bool((self._whole.get("promptFeedback") or {}).get("blockReason"))

    def feed(self, event: Mapping[str, Any]) -> str:
        """Take one chunk; the part of the answer that it brings, for counting."""
        if event.get("error"):
            raise ResponseError(f"the provider broke the stream off: {event['error']!r}")
        self._whole |= {key: event[key] for key in ("promptFeedback", "usageMetadata") if event.get(key)}
        news: list[str] = []
        for candidate in event.get("candidates") or ():
            if candidate.get("index", 0):
                continue
            news += map(self._take, (candidate.get("content") or {}).get("parts") or ())
            self._finish = candidate.get("finishReason") or self._finish
        return "".join(news)

    def response(self) -> dict[str, Any]:
        """The response as far as it has come."""
        if not self._parts and self._finish is None:
            return {**self._whole, "candidates": []} if self.finished else {**self._whole, "candidates": [{}]}
        parts = [
            {**part, "text": self._pieces.text(place)} if "text" in part else part
            for place, part in enumerate(self._parts)
        ]
        candidate = {"content": {"role": "model", "parts": parts}, "finishReason": self._finish}
        return {**self._whole, "candidates": [candidate]}

    def _take(self, part: Mapping[str, Any]) -> str:
        last = self._parts[-1] if self._parts else {}
        same = part.keys() | last.keys() <= _JOINED and bool(part.get("thought")) == bool(last.get("thought"))
        if not (same and "text" in part and "text" in last):
            self._parts.append(dict(part))
        text = self._pieces.add(len(self._parts) - 1, part["text"] or "") if "text" in part else ""
        call = part.get("functionCall")
        if call is None:
            return text
        if call.get("partialArgs") or call.get("willContinue"):
            raise ResponseError("the arguments of a call came in pieces; leave streamFunctionCallArguments off")
        return str(call["name"]) + msgspec.json.encode(call.get("args") or {}).decode()
