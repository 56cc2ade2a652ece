"""What tools give back, as content: text and images, JSON values, and results of MCP servers.

MCP's shapes: https://modelcontextprotocol.io/specification/2025-06-18/server/tools#tool-result. They are taken as dicts
off the wire, or as the SDK's objects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import msgspec

from muntin.artifacts import Window
from muntin.exceptions import InputError
from muntin.items import Content, Image, Text, as_content

__all__ = ["Given", "ToolOutput", "given"]


@runtime_checkable
class Dumped(Protocol):
    """An object of an SDK that says what it is as a dict."""

    def model_dump(self, **kwargs: Any) -> dict[str, Any]:
        """Its fields."""
        ...


ToolOutput: TypeAlias = str | Text | Image | Window | Sequence[Any] | Mapping[str, Any] | float | Dumped | None
"""What a tool may give back; see `Run.tool_result`."""


class Given(NamedTuple):
    """An output as content, and whether it says of itself that the tool failed."""

    content: Content
    is_error: bool = False


_BLOCKS = frozenset({"text", "image", "audio", "resource", "resource_link"})


def given(output: Any) -> Given:
    """An output as content.

    Raises:
        InputError: It is bytes, or has no JSON form.

    Examples:
        >>> given({"b": 1, "a": [True, None]})
        Given(content=(Text(text='{"a":[true,null],"b":1}'),), is_error=False)
        >>> given({"content": [{"type": "text", "text": "no such file"}], "isError": True})
        Given(content=(Text(text='no such file'),), is_error=True)
    """
    if isinstance(output, Dumped):
        output = output.model_dump(mode="json", by_alias=True, exclude_none=True)
    if output is None:
        return Given(())
    if isinstance(output, bytes | bytearray | memoryview):
        raise InputError(
            f"a tool's output of {len(output)} bytes has no JSON form: decode text, give an Image, or keep it as a file"
        )
    if isinstance(output, str | Text | Image):
        return Given(as_content(output))
    if isinstance(output, Mapping):
        if _is_result(output):
            return Given(_of_result(output), output.get("isError") is True)
        return Given(_block(output) if _is_block(output) else _json(output))
    if isinstance(output, list | tuple):
        parts = [part.model_dump(mode="json", by_alias=True) if isinstance(part, Dumped) else part for part in output]
        if all(isinstance(part, str | Text | Image) or _is_block(part) for part in parts):
            return Given(tuple(one for part in parts for one in _content(part)))
        return Given(_json(parts))
    return Given(_json(output))


def _is_block(value: Any) -> bool:
    if not isinstance(value, Mapping) or len(value) < 2:
        return False
    kind = value.get("type")
    return isinstance(kind, str) and kind in _BLOCKS


def _is_result(value: Mapping[str, Any]) -> bool:
    """Whether a dict is a `CallToolResult` and no JSON of the tool's own."""
    content = value.get("content")
    if not isinstance(content, list) or not all(map(_is_block, content)):
        return False
    return bool(content) or "structuredContent" in value or "isError" in value


def _of_result(result: Mapping[str, Any]) -> Content:
    content = tuple(one for block in result["content"] for one in _block(block))
    structured = result.get("structuredContent")
    # Servers say it a second time as text, for clients that do not know it.
    if structured is None or any(_says(part, structured) for part in content):
        return content
    return (*content, *_json(structured))


def _says(part: Text | Image, structured: Any) -> bool:
    try:
        return isinstance(part, Text) and msgspec.json.decode(part.text) == structured
    except msgspec.DecodeError:
        return False


def _content(part: Any) -> Content:
    return _block(part) if isinstance(part, Mapping) else as_content(part)


def _block(block: Mapping[str, Any]) -> Content:
    match block:
        case {"type": "text", "text": str(text)}:
            return (Text(text),)
        case {"type": "image", "data": str(data), "mimeType": str(kind)}:
            return (Image(kind, data=data),)
        case {"type": "resource", "resource": {"blob": str(data), "mimeType": str(kind)}} if kind.startswith("image/"):
            return (Image(kind, data=data),)
        case {"type": "resource", "resource": {"text": str(text), **rest}}:
            return (Text(f"{rest['uri']}\n{text}" if "uri" in rest else text),)
        case {"type": "resource_link", "uri": str(uri), **rest}:
            said = (uri, rest.get("name"), rest.get("description"), rest.get("mimeType"))
            return (Text(" - ".join(part for part in said if isinstance(part, str) and part)),)
        case {"type": "audio", "data": str(data)}:
            return (Text(f"({block.get('mimeType', 'audio')}, {len(data)} characters of base64, cannot be shown)"),)
        case {"type": "resource", "resource": {"blob": str(data), **rest}}:
            media, where = rest.get("mimeType", "application/octet-stream"), rest.get("uri", "a resource")
            return (Text(f"({where}: {media}, {len(data)} characters of base64, cannot be shown)"),)
        case _:
            return _json(block)


def _json(value: Any) -> Content:
    """JSON text with sorted keys: the same value is the same bytes."""
    try:
        return (Text(msgspec.json.encode(value, order="deterministic").decode()),)
    except (TypeError, ValueError, RecursionError) as reason:
        raise InputError(
            f"a tool's output of type {type(value).__name__} has no JSON form ({reason}); give text, Text, Image, "
            "several of them, a JSON value or an MCP result"
        ) from reason
