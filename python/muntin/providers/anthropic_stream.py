"""The events of a streamed Anthropic message, put together to the message that they come to.

Events: https://docs.claude.com/en/docs/build-with-claude/streaming.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from muntin.exceptions import ResponseError
from muntin.providers.arguments import object_arguments
from muntin.providers.pieces import Pieces

__all__ = ["AnthropicStream"]


class AnthropicStream:
    """Takes events in their order; see `muntin.providers.base.Accumulator`."""

    def __init__(self) -> None:
        self._message: dict[str, Any] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._pieces = Pieces()
        self._finished = False

    @property
    def finished(self) -> bool:
        """Whether the message was said to be whole, which is the last of its events."""
        return self._finished

    def feed(self, event: Mapping[str, Any]) -> str:
        """Take one event; the part of the answer that it brings, for counting."""
        match event.get("type"):
            case "message_start":
                self._message = dict(event["message"])
            case "content_block_start":
                block = dict(event["content_block"])
                if "citations" in block:  # which more may be added to, and the event is the caller's
                    block["citations"] = list(block["citations"] or ())
                self._blocks[event["index"]] = block
                return str(block.get("name", ""))
            case "content_block_delta":
                return self._delta(event["index"], event["delta"])
            case "message_delta":
                self._message |= event.get("delta") or {}
                # What is null here, as in an SDK's dump, was said at the beginning.
                said = {key: value for key, value in (event.get("usage") or {}).items() if value is not None}
                self._message["usage"] = {**(self._message.get("usage") or {}), **said}
            case "message_stop":
                self._finished = True
            case "error":
                raise ResponseError(f"the provider broke the stream off: {event.get('error')!r}")
            case _:
                pass  # pings, and events that came later than this was written
        return ""

    def response(self) -> dict[str, Any]:
        """The message as far as it has come."""
        content = []
        for index, block in sorted(self._blocks.items()):
            whole = dict(block)
            for key in ("text", "thinking"):
                if piece := self._pieces.text((index, key)):
                    whole[key] = whole.get(key, "") + piece
            if text := self._pieces.text((index, "input")):
                # What the model wrote is kept as it wrote it, key order, cut end and all; arguments of the server's
                # tools are never mended, so a block that was cut off in them is none.
                if block.get("type") != "tool_use" and object_arguments(text) != text:
                    continue
                whole["input"] = msgspec.Raw(text.encode())
            content.append(whole)
        return {**self._message, "content": content}

    def _delta(self, index: int, delta: Mapping[str, Any]) -> str:
        block = self._blocks[index]
        match delta["type"]:
            case "text_delta":
                return self._pieces.add((index, "text"), delta["text"])
            case "thinking_delta":
                return self._pieces.add((index, "thinking"), delta["thinking"])
            case "input_json_delta":
                return self._pieces.add((index, "input"), delta["partial_json"])
            case "signature_delta":
                block["signature"] = delta["signature"]
            case "citations_delta":
                block.setdefault("citations", []).append(delta["citation"])
            case _:
                pass
        return ""
