"""The events of a streamed Converse answer, put together to the response that they come to.

Events: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html, each under its name, as
boto3 gives them.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

import msgspec

from muntin.exceptions import ResponseError
from muntin.providers.arguments import object_arguments
from muntin.providers.pieces import Pieces

__all__ = ["BedrockStream"]


class BedrockStream:
    """Takes events in their order; see `muntin.providers.base.Accumulator`.

    An answer is finished with `messageStop`; its usage is in the event `metadata`, which comes after it.
    """

    def __init__(self) -> None:
        self._blocks: dict[int, dict[str, Any]] = {}
        self._pieces = Pieces()
        self._redacted: dict[int, list[bytes]] = {}
        self._results: dict[int, list[Any]] = {}
        self._whole: dict[str, Any] = {}
        self._finished = False

    @property
    def finished(self) -> bool:
        """Whether the model said why it stopped."""
        return self._finished

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
                    self._finished = True
                case "metadata":
                    self._whole["usage"] = data.get("usage")
                case _ if name.endswith("Exception"):
                    raise ResponseError(f"the provider broke the stream off: {name}: {data!r}")
                case _:
                    pass  # beginnings and ends, and events that came later than this was written
        return ""

    def response(self) -> dict[str, Any]:
        """The response as far as it has come."""
        content = [whole for index, block in sorted(self._blocks.items()) if (whole := self._block(index, block))]
        return {**self._whole, "output": {"message": {"role": "assistant", "content": content}}}

    def _block(self, index: int, block: dict[str, Any]) -> dict[str, Any] | None:
        if "text" in block:
            return {"text": self._pieces.text((index, "text"))}
        if "reasoningContent" in block:
            return {"reasoningContent": self._thought(index, block["reasoningContent"])}
        if result := block.get("toolResult"):  # of a tool of the server's
            return {"toolResult": {**result, "content": self._results.get(index, [])}}
        use, text = block.get("toolUse"), self._pieces.text((index, "input"))
        if not use or not text:
            return block
        # What the model wrote is kept as it wrote it, key order, cut end and all; arguments of the server's tools
        # are never mended, so a block that was cut off in them is none.
        if use.get("type") and object_arguments(text) != text:
            return None
        return {"toolUse": {**use, "input": msgspec.Raw(text.encode())}}

    def _thought(self, index: int, thought: dict[str, Any]) -> dict[str, Any]:
        if pieces := self._redacted.get(index):
            return {"redactedContent": b"".join(pieces)}
        return {"reasoningText": {"text": self._pieces.text((index, "thought")), **thought}}

    def _delta(self, index: int, delta: Mapping[str, Any]) -> str:
        block = self._blocks.setdefault(index, {})
        if "text" in delta:
            block["text"] = True
            return self._pieces.add((index, "text"), delta["text"])
        if use := delta.get("toolUse"):
            return self._pieces.add((index, "input"), use["input"])
        if results := delta.get("toolResult"):
            self._results.setdefault(index, []).extend(results)
        if image := delta.get("image"):
            block["image"] = {**block["image"], **image}
        if thought := delta.get("reasoningContent"):
            known = block.setdefault("reasoningContent", {})
            if "redactedContent" in thought:
                self._redacted.setdefault(index, []).append(_bytes(thought["redactedContent"]))
                return ""
            if "signature" in thought:
                known["signature"] = thought["signature"]
            return self._pieces.add((index, "thought"), thought.get("text") or "")
        return ""


def _bytes(data: str | bytes) -> bytes:
    """Bytes as boto3 has them; over HTTP each piece is base64 by itself."""
    return base64.b64decode(data, validate=True) if isinstance(data, str) else bytes(data)
