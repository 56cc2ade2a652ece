"""The chunks of a streamed Gemini response, put together to the response that they come to.

Chunks: https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent, with `alt=sse`. Texts are
joined unless one of them carries a signature, which belongs to its part alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from muntin.exceptions import ResponseError

__all__ = ["GeminiStream"]

_JOINED = frozenset({"text", "thought"})


class GeminiStream:
    """Takes chunks in their order; see `muntin.providers.base.Accumulator`. Only the first candidate is kept."""

    def __init__(self) -> None:
        self._parts: list[dict[str, Any]] = []
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
        news = ""
        for candidate in event.get("candidates") or ():
            if candidate.get("index", 0):
                continue
            for part in (candidate.get("content") or {}).get("parts") or ():
                news += self._take(part)
            self._finish = candidate.get("finishReason") or self._finish
        return news

    def response(self) -> dict[str, Any]:
        """The response as far as it has come."""
        if not self._parts and self._finish is None:
            return {**self._whole, "candidates": []} if self.finished else {**self._whole, "candidates": [{}]}
        candidate = {"content": {"role": "model", "parts": self._parts}, "finishReason": self._finish}
        return {**self._whole, "candidates": [candidate]}

    def _take(self, part: Mapping[str, Any]) -> str:
        last = self._parts[-1] if self._parts else {}
        same = part.keys() | last.keys() <= _JOINED and bool(part.get("thought")) == bool(last.get("thought"))
        if same and "text" in part and "text" in last:
            last["text"] += part["text"]
        else:
            self._parts.append(dict(part))
        call = part.get("functionCall")
        if call is None:
            return str(part.get("text") or "")
        if call.get("partialArgs") or call.get("willContinue"):
            raise ResponseError("the arguments of a call came in pieces; leave streamFunctionCallArguments off")
        return str(call["name"]) + msgspec.json.encode(call.get("args") or {}).decode()
