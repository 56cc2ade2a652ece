"""The events of a streamed response, put together to the response that they come to.

Events: https://platform.openai.com/docs/api-reference/responses-streaming. An item counts as it is when it is done: the
sealed reasoning of one that was only added may be incomplete.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muntin.exceptions import ResponseError
from muntin.providers.pieces import Pieces

__all__ = ["OpenAIResponsesStream"]

_DELTAS = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "text",
    "response.function_call_arguments.delta": "arguments",
    "response.reasoning_summary_text.delta": "",
    "response.reasoning_text.delta": "",
}
"""Events that bring a part of the answer, and what of an unfinished item it is; thoughts come with the whole item."""


class OpenAIResponsesStream:
    """Takes events in their order; see `muntin.providers.base.Accumulator`."""

    def __init__(self) -> None:
        self._response: dict[str, Any] = {}
        self._items: dict[int, dict[str, Any]] = {}
        self._open: set[int] = set()
        self._pieces = Pieces()
        self._finished = False

    @property
    def finished(self) -> bool:
        """Whether the response came to its end, complete or not; the last of its events brings the usage."""
        return self._finished

    def feed(self, event: Mapping[str, Any]) -> str:
        """Take one event; the part of the answer that it brings, for counting."""
        kind = event.get("type")
        match kind:
            case "response.created" | "response.in_progress" | "response.queued":
                self._response = dict(event["response"])
            case "response.output_item.added":
                self._items[event["output_index"]] = dict(event["item"])
                self._open.add(event["output_index"])
                return str(event["item"].get("name") or "")
            case "response.output_item.done":
                self._items[event["output_index"]] = dict(event["item"])
                self._open.discard(event["output_index"])
            case "response.completed" | "response.incomplete":
                self._response = dict(event["response"])
                self._finished = True
            case "response.failed" | "error":
                error = (event.get("response") or event).get("error") or event
                raise ResponseError(f"the provider broke the stream off: {error!r}")
            case _ if kind in _DELTAS:
                key = _DELTAS[str(kind)]
                return self._pieces.add((event["output_index"], key), event["delta"]) if key else str(event["delta"])
            case _:
                pass  # what is said again when a part is done, and events that came later than this was written
        return ""

    def response(self) -> dict[str, Any]:
        """The response as far as it has come; some servers leave the output out of the last event."""
        output = [self._item(index, item) for index, item in sorted(self._items.items())]
        return {**self._response, "output": self._response.get("output") or output}

    def _item(self, index: int, item: dict[str, Any]) -> dict[str, Any]:
        if index not in self._open:
            return item
        if item.get("type") == "message":
            return {**item, "content": [{"type": "output_text", "text": self._pieces.text((index, "text"))}]}
        if item.get("type") == "function_call":
            return {**item, "arguments": self._pieces.text((index, "arguments"))}
        return item
