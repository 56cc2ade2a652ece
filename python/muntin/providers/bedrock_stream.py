"""The events of a streamed Converse answer, put together to the response that they come to.

Events: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html, each under its name, as
boto3 gives them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from muntin.exceptions import ResponseError
from muntin.providers.base import object_arguments

__all__ = ["BedrockStream"]


class BedrockStream:
    """Takes events in their order; see `muntin.providers.base.Accumulator`."""

    def __init__(self) -> None:
        self._blocks: dict[int, dict[str, Any]] = {}
        self._inputs: dict[int, str] = {}
        self._whole: dict[str, Any] = {}
        self.finished = False

    def feed(self, event: Mapping[str, Any]) -> str:
        """Take one event; the part of the answer that it brings, for counting."""
        for name, data in event.items():
            match name:
                case "contentBlockStart":
                    start = data.get("start") or {}
                    self._blocks[data["contentBlockIndex"]] = dict(start)
                    return str((start.get("toolUse") or {}).get("name") or "")
                case "contentBlockDelta":
                    return self._delta(data["contentBlockIndex"], data["delta"])
                case "messageStop":
                    self._whole["stopReason"] = data["stopReason"]
                    self.finished = True
                case "metadata":
                    self._whole["usage"] = data.get("usage")
                case _ if name.endswith("Exception"):
                    raise ResponseError(f"the provider broke the stream off: {name}: {data!r}")
                case _:
                    pass  # beginnings and ends, and events that came later than this was written
        return ""

    def response(self) -> dict[str, Any]:
        """The response as far as it has come."""
        content = []
        for index, block in sorted(self._blocks.items()):
            use, text = block.get("toolUse"), self._inputs.get(index)
            # What the model wrote is kept as it wrote it, key order, cut end and all; arguments of the server's tools
            # are never mended, so a block that was cut off in them is none.
            if use and use.get("type") and text and object_arguments(text) != text:
                continue
            content.append({"toolUse": {**use, "input": msgspec.Raw(text.encode())}} if use and text else block)
        return {**self._whole, "output": {"message": {"role": "assistant", "content": [*filter(None, content)]}}}

    def _delta(self, index: int, delta: Mapping[str, Any]) -> str:
        block = self._blocks.setdefault(index, {})
        if "text" in delta:
            block["text"] = block.get("text", "") + delta["text"]
            return str(delta["text"])
        if use := delta.get("toolUse"):
            self._inputs[index] = self._inputs.get(index, "") + use["input"]
            return str(use["input"])
        if thought := delta.get("reasoningContent"):
            return self._thought(block.setdefault("reasoningContent", {}), thought)
        return ""

    @staticmethod
    def _thought(block: dict[str, Any], delta: Mapping[str, Any]) -> str:
        if "redactedContent" in delta:
            block["redactedContent"] = delta["redactedContent"]
            return ""
        whole = block.setdefault("reasoningText", {"text": ""})
        if "signature" in delta:
            whole["signature"] = delta["signature"]
        whole["text"] += delta.get("text") or ""
        return str(delta.get("text") or "")
