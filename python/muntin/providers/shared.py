"""What several wire formats write or read in the same way; no format knows another."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any

from muntin.capabilities import Tool
from muntin.exceptions import InputError
from muntin.items import Content, Image, Text, ToolCall
from muntin.providers.base import Buffer, Frame, Part

__all__ = [
    "adopted_functions",
    "answered",
    "any_arguments",
    "data_url",
    "image_of",
    "marked",
    "marked_front",
    "marked_units",
    "nested_functions",
    "object_param",
    "spoken",
]


def marked(message: Buffer, mark: bytes) -> list[Buffer]:
    """A message whose content is a list of parts, as buffers, with a mark in its last part."""
    return [message[:-3], mark, b"}]}"]


def marked_front(front: Iterable[Part], marks: Container[int], mark: bytes) -> bytes:
    """Segments 1 to 5 as messages, with a mark in those whose places, counted from 1, ask for one."""
    return b",".join(
        b"".join(marked(part.wire, mark)) if place in marks else part.wire for place, part in enumerate(front, 1)
    )


def marked_units(frame: Frame, mark: bytes) -> list[Buffer]:
    """The units of a request, with a mark in the last one before each breakpoint."""
    pieces: list[Buffer] = []
    start = 0
    for unit in frame.breakpoints:
        pieces += frame.history.slices(start, unit)
        pieces[-1:] = marked(pieces[-1], mark)
        start = unit
    return pieces + frame.history.slices(start, frame.units)


def spoken(content: Content) -> str:
    """All text of content that is not empty, in paragraphs."""
    return "\n\n".join(part.text for part in content if isinstance(part, Text) and part.text)


def data_url(image: Image) -> str:
    """The address of an image, or its data as one."""
    return image.url or f"data:{image.media_type};base64,{image.data}"


def image_of(url: str) -> Image:
    """The image behind an address; the inverse of `data_url`."""
    head, _, data = url.partition(";base64,")
    return Image(head[5:], data=data) if url.startswith("data:") and data else Image("image/*", url=url)


def any_arguments() -> dict[str, Any]:
    """The schema of a tool that does not say what it takes."""
    return {"type": "object", "properties": {}}


def nested_functions(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """Tools as chat completions have them: a function in an object of its own."""
    return [
        {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.parameters}}
        for t in tools
    ]


def adopted_functions(tools: Iterable[Mapping[str, Any]] | None) -> tuple[Tool, ...]:
    """The functions among such tools; hosted ones are left out."""
    return tuple(
        Tool(f["name"], f.get("description") or "", f.get("parameters") or any_arguments())
        for tool in tools or ()
        if (f := tool.get("function"))
    )


def answered(open_calls: list[ToolCall], call: str | None, name: str) -> str:
    """The id of the call that a result answers, which is then no longer open.

    Args:
        open_calls: The calls of the turn before that have no result yet.
        call: The id that the result names, if it does.
        name: The tool that it names; without one the first open call is meant.
    """
    for one in open_calls:
        if one.id == call if call else name in ("", one.name):
            open_calls.remove(one)
            return one.id
    return call or name


def object_param(params: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """An object among the parameters of a request; empty where there is none.

    Raises:
        InputError: It is something else.
    """
    value = params.get(key) or {}
    if not isinstance(value, Mapping):
        raise InputError(f"params[{key!r}] must be a JSON object, not {type(value).__name__}")
    return value
