"""What a request holds that is billed, whichever wire format it is in: an outline of plain parts, in their order.

Reading is lenient: whoever made the body, the provider decides what is wrong with it, and what is not understood is
counted as its JSON text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from muntin.counting.media import Media

__all__ = ["Kind", "Message", "Outline", "Part", "Schema", "Shape", "json_text"]

Kind: TypeAlias = Literal["text", "call", "result", "reasoning", "sealed", "media", "other"]


class Part(NamedTuple):
    """One part of a message.

    Attributes:
        kind: `call` has the tool's name and its arguments as text; `result` stands before the parts of a result, with
            the tool's name where the format gives it; `sealed` is reasoning that only the provider can read; `other`
            is JSON that only the provider understands.
        text: The text.
        name: Of a tool.
        media: The image, document, sound or film.
    """

    kind: Kind
    text: str = ""
    name: str = ""
    media: Media | None = None


class Message(NamedTuple):
    """One message: who says it and what; `name` is the name that chat completions may give a speaker."""

    role: str
    parts: tuple[Part, ...]
    name: str = ""


class Shape(NamedTuple):
    """A tool as the model is told of it; one that the provider hosts has only its JSON text."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = {}
    hosted: str = ""


class Schema(NamedTuple):
    """The schema that the answer has to follow."""

    name: str
    description: str
    schema: Mapping[str, Any]


class Outline(NamedTuple):
    """A request.

    Attributes:
        system: System text that stands apart from the messages.
        messages: In their order; system text among them has its role.
        tools: In their order.
        choice: `any` where some tool has to be called, the tool's name after a colon where a certain one has to be
            (`tool:f`), `none` where none may be, else empty.
        schema: What the answer has to follow, if anything.
        parallel: Whether several tools may be called at once.
    """

    system: tuple[Part, ...] = ()
    messages: tuple[Message, ...] = ()
    tools: tuple[Shape, ...] = ()
    choice: str = ""
    schema: Schema | None = None
    parallel: bool = True

    @property
    def has_system(self) -> bool:
        """Whether system text stands before the messages or begins them."""
        return bool(self.system) or bool(self.messages and self.messages[0].role in ("system", "developer"))


def json_text(value: Any) -> str:
    """The JSON text of a value, or the text itself where it is one."""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def texts(content: Any) -> Iterator[Part]:
    """The parts of content that may be a text, a list of blocks or nothing; what each of them is, `part_of` says."""
    if isinstance(content, str):
        if content:
            yield Part("text", content)
    elif isinstance(content, Mapping):
        yield from parts_of(content)
    elif isinstance(content, Iterable):
        for block in content:
            yield from parts_of(block)


def parts_of(block: Any) -> Iterator[Part]:
    """The parts of one block, in the words of chat completions, Responses, Messages or Converse."""
    if isinstance(block, str):
        yield Part("text", block)
        return
    if not isinstance(block, Mapping):
        return
    kind = block.get("type") or next(iter(block), "")
    media = Media.of(block)
    if media is not None:
        yield Part("media", media=media)
        return
    match kind:
        case "text" | "input_text" | "output_text" | "summary_text" | "reasoning_text":
            yield Part("text", str(block.get("text") or ""))
        case "refusal":
            yield Part("text", str(block.get("refusal") or ""))
        case "tool_use":
            yield Part("call", json_text(block.get("input") or {}), str(block.get("name") or ""))
        case "tool_result":
            yield Part("result")
            yield from texts(block.get("content"))
        case "thinking":
            yield Part("reasoning", str(block.get("thinking") or ""))
        case "redacted_thinking" | "cachePoint" | "guardContent":
            pass  # the first is sealed; what it costs is known to the provider alone
        case "toolUse":
            call = block["toolUse"]
            yield Part("call", json_text(call.get("input") or {}), str(call.get("name") or ""))
        case "toolResult":
            yield Part("result")
            yield from texts(block["toolResult"].get("content"))
        case "json":
            yield Part("text", json_text(block["json"]))
        case "reasoningContent":
            yield Part("reasoning", str((block["reasoningContent"].get("reasoningText") or {}).get("text") or ""))
        case _:
            yield Part("other", json_text(block))
