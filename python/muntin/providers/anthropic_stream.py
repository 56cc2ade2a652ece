"""The events of a streamed Anthropic message, put together to the message that they come to.

Events: https://docs.claude.com/en/docs/build-with-claude/streaming.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from muntin.exceptions import ResponseError
from muntin.providers.base import object_arguments

__all__ = ["AnthropicStream"]


class AnthropicStream:
    """Takes events in their order; see `muntin.providers.base.Accumulator`."""

    def __init__(self) -> None:
        self._message: dict[str, Any] = {}
        self._blocks: dict[int, dict[str, Any]] = {}
        self._inputs: dict[int, str] = {}
        self.finished = False

    def feed(self, event: Mapping[str, Any]) -> str:
        """Take one event; the part of the answer that it brings, for counting."""
        match event.get("type"):
            case "message_start":
                self._message = dict(event["message"])
            case "content_block_start":
                self._blocks[event["index"]] = dict(event["content_block"])
                return str(event["content_block"].get("name", ""))
            case "content_block_delta":
                return self._delta(event["index"], event["delta"])
            case "message_delta":
                self._message |= event.get("delta") or {}
                self._message["usage"] = {**(self._message.get("usage") or {}), **(event.get("usage") or {})}
            case "message_stop":
                self.finished = True
            case "error":
                raise ResponseError(f"the provider broke the stream off: {event.get('error')!r}")
            case _:
                pass  # pings, and events that came later than this was written
        return ""

    def response(self) -> dict[str, Any]:
        """The message as far as it has come."""
        content = []
        for index, block in sorted(self._blocks.items()):
            text = self._inputs.get(index)
            # What the model wrote is kept as it wrote it, key order, cut end and all; arguments of the server's tools
            # are never mended, so a block that was cut off in them is none.
            if text and block.get("type") != "tool_use" and object_arguments(text) != text:
                continue
            content.append({**block, "input": msgspec.Raw(text.encode())} if text else block)
        return {**self._message, "content": content}

    def _delta(self, index: int, delta: Mapping[str, Any]) -> str:
        block = self._blocks[index]
        match delta["type"]:
            case "text_delta" | "thinking_delta":
                key = "text" if delta["type"] == "text_delta" else "thinking"
                block[key] = block.get(key, "") + delta[key]
                return str(delta[key])
            case "input_json_delta":
                self._inputs[index] = self._inputs.get(index, "") + delta["partial_json"]
                return str(delta["partial_json"])
            case "signature_delta":
                block["signature"] = delta["signature"]
            case "citations_delta":
                block["citations"] = [*(block.get("citations") or ()), delta["citation"]]
            case _:
                pass
        return ""
