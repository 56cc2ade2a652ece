"""Anthropic Messages: neighbouring units of one role share a message, system text stands apart, caching is asked for.

Formats and rules: https://docs.claude.com/en/api/messages. All results of a batch stand first in the very next user
message; text is never empty; at most four blocks carry `cache_control`, none of them thinking.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from muntin.capabilities import Tool
from muntin.checks import Finding
from muntin.exceptions import InputError, InvalidTool, ResponseError
from muntin.items import (
    AssistantPart,
    AssistantTurn,
    Attachment,
    Content,
    Guidance,
    Image,
    Item,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    UserInput,
)
from muntin.layout import Segment
from muntin.models import Model
from muntin.providers.anthropic_stream import AnthropicStream
from muntin.providers.arguments import counted_arguments, object_arguments
from muntin.providers.base import Adapter, Adopted, Buffer, Frame, Parsed, Part, Tools, Unit, decoded
from muntin.providers.ids import wire_id, wire_name
from muntin.providers.pictures import CLAUDE, CROWDED, PDF, PICTURES, WEB, crowded, shown
from muntin.usage import Usage
from muntin.wording import EMPTY_INPUT, EMPTY_RESULT, worded

__all__ = ["Anthropic"]

USER: Final = 0
ASSISTANT: Final = 1

KINDS: Final = PICTURES | {PDF}
"""Kinds of images and documents that it takes."""

_MARK: Final = b',"cache_control":{"type":"ephemeral"}}'
_LONG_MARK: Final = b',"cache_control":{"type":"ephemeral","ttl":"1h"}}'
_SHORT_TTL: Final = 300.0
_encode = msgspec.json.Encoder().encode
_FINISH = {"end_turn": "stop", "stop_sequence": "stop", "tool_use": "tool_calls", "max_tokens": "length"}
_FINISH |= {"refusal": "filter"}


class Anthropic(Adapter):
    """The wire format of `POST /v1/messages`."""

    provider = "anthropic"
    path = "/v1/messages"
    owned = frozenset({"messages", "model", "system", "tools"})
    # https://github.com/continuedev/continue/issues/6080, https://github.com/stackblitz/bolt.new/issues/7414
    overflows = (
        re.compile(r"prompt is too long(?:: (?P<tokens>\d+) tokens > (?P<limit>\d+) maximum)?"),
        re.compile(r"input length and `?max_tokens`? exceed context limit: (?P<tokens>\d+) \+ \d+ > (?P<limit>\d+)"),
    )
    markable = frozenset({USER})  # such a unit ends in a text, an image or a result, all of which may carry a mark

    def __init__(self, name: str | Model) -> None:
        super().__init__(name)
        if self.model.binds_reasoning:
            self.tail_mode = "sticky"
        # One lifetime for all marks, since longer ones must stand first.
        self._mark = _LONG_MARK if self.model.cache_ttl > _SHORT_TTL else _MARK
        opening = self.costs.rules.message
        self.groups = (
            (b'{"role":"user","content":[', b"]}", opening),
            (b'{"role":"assistant","content":[', b"]}", opening),
        )
        self.opening = self.text_unit("(the conversation goes on)")
        self._nudge = self.text_unit("(go on)")

    # --- rendering --------------------------------------------------------------------------------------------------
    def units(self, item: Item, *, reasoning: bool = True, call: ToolCall | None = None) -> list[Unit]:
        """The units of an item: blocks of a user or an assistant message."""
        del call
        match item:
            case UserInput(content):
                return [self._blocks(content, EMPTY_INPUT)]
            case AssistantTurn(parts):
                return self._assistant(parts, reasoning=reasoning)
            case ToolResult(answered, content, is_error):
                return self._result(answered, content, is_error)
            case Attachment(images=images) | Guidance(images=images) if images:
                return [self._blocks((Text(worded(item)), *images), EMPTY_INPUT)]
            case _:
                return [self.text_unit(worded(item))]

    def left_out(self, image: Image, view: Sequence[Image]) -> str:
        """Many images have to be small ones."""
        return CROWDED if crowded(image, view) else ""

    def text_unit(self, text: str) -> Unit:
        """A text block of a user message; what the application says stands in tags."""
        return Unit(USER, _encode({"type": "text", "text": text}), self.count(text))

    def front_part(self, segment: Segment, text: str) -> Part:
        """A text block of `system`."""
        return Part(segment, _encode({"type": "text", "text": text}), self.costs.rules.system + self.count(text))

    def tools(self, tools: Sequence[Tool]) -> Tools:
        """The tools, each with its JSON schema."""
        shapes = [{"name": t.name, "description": t.description, "input_schema": t.parameters} for t in tools]
        wire = msgspec.json.encode(shapes, order="sorted")
        return Tools(wire, self.tools_tokens(wire))

    def check_tools(self, tools: Sequence[Tool]) -> None:
        """Each schema is of draft 2020-12, and has no choice of schemas at its top."""
        from muntin.checks.schema import invalid  # noqa: PLC0415  (it costs start-up time)

        for tool in tools:
            union = next((key for key in ("oneOf", "allOf", "anyOf") if key in tool.parameters), "")
            place = union or invalid(tool.parameters)
            if place:
                mend = "put the choice into a property" if union else "write it as JSON Schema draft 2020-12 has it"
                raise InvalidTool(f"the schema of tool {tool.name!r} has {place!r}, which Anthropic refuses: {mend}")

    def pieces(self, frame: Frame) -> list[Buffer]:
        """The head, then tools, system and messages, with the cache marks outside the kept bytes."""
        pieces: list[Buffer] = [frame.head]
        if frame.tools is not None:
            wire = frame.tools.wire if frame.front else frame.tools.wire[:-2] + self._mark + b"]"
            pieces += [b',"tools":', wire]
        if frame.front:
            marks = frame.front_marks or (len(frame.front),)
            blocks = [
                part.wire[:-1] + self._mark if place in marks else part.wire
                for place, part in enumerate(frame.front, 1)
            ]
            pieces += [b',"system":[', b",".join(blocks), b"]"]
        pieces.append(b',"messages":[')
        start = 0
        for unit in frame.breakpoints:
            pieces += frame.history.slices(start, unit)
            pieces[-1] = pieces[-1][:-1]
            pieces.append(self._mark)
            start = unit
        pieces += frame.history.slices(start, frame.units)
        pieces += self.tail_pieces(frame)
        pieces.append(b"]}")
        return pieces

    def headers(self) -> dict[str, str]:
        """Content type and API version."""
        return {**super().headers(), "anthropic-version": "2023-06-01"}

    def ending(self, group: int | None) -> Unit | None:
        """The conversation must end with a user message."""
        return self._nudge if group == ASSISTANT else None

    def fields(self, params: Mapping[str, Any], max_tokens: int) -> dict[str, Any]:
        """Model, limit of the answer, parameters."""
        return {"model": self.model.name, "max_tokens": max_tokens, **params}

    def max_tokens_of(self, params: Mapping[str, Any]) -> int | None:
        """`max_tokens`."""
        return params.get("max_tokens")

    def _blocks(self, content: Content, empty: str) -> Unit:
        blocks, tokens = self._rendered(content)
        if not blocks:
            return self.text_unit(empty)
        return Unit(USER, b",".join(map(_encode, blocks)), tokens)

    def _rendered(self, content: Content) -> tuple[list[dict[str, Any]], int]:
        blocks: list[dict[str, Any]] = []
        tokens = 0
        for part in shown(content, KINDS, WEB, CLAUDE):
            if isinstance(part, Image):
                kind = "document" if part.media_type == PDF else "image"
                blocks.append({"type": kind, "source": _source(part)})
                tokens += self.image_tokens(part)
            elif part.text.strip():
                blocks.append({"type": "text", "text": part.text})
                tokens += self.count(part.text)
        return blocks, tokens

    def _assistant(self, parts: Sequence[AssistantPart], *, reasoning: bool) -> list[Unit]:
        blocks: list[bytes] = []
        tokens = 0
        visible = False
        for part in parts:
            match part:
                case Text(text) if text.strip():
                    blocks.append(_encode({"type": "text", "text": text}))
                    tokens += self.count(text)
                    visible = True
                case ToolCall(call, name, arguments):
                    text, name = object_arguments(arguments), wire_name(name)
                    block = {"type": "tool_use", "id": wire_id(call), "name": name, "input": msgspec.Raw(text.encode())}
                    blocks.append(_encode(block))
                    tokens += self.costs.call(name, counted_arguments(arguments))
                    visible = True
                case Reasoning(text, signature, "anthropic", redacted) if reasoning and (signature or redacted):
                    block = {"type": "redacted_thinking", "data": redacted}
                    if not redacted:
                        block = {"type": "thinking", "thinking": text, "signature": signature}
                    blocks.append(_encode(block))
                    tokens += 0 if redacted else self.count(text)
                case Opaque("anthropic", json):
                    blocks.append(json.encode())
                    tokens += self.read_tokens({"messages": [{"content": [msgspec.json.decode(json)]}]})
                    visible = True
                case _:
                    pass  # empty text, and parts that only another provider understands
        return [Unit(ASSISTANT, b",".join(blocks), tokens)] if visible else []

    def _result(self, call: str, content: Content, is_error: bool) -> list[Unit]:
        content = shown(content, KINDS, WEB, CLAUDE)
        images = tuple(part for part in content if isinstance(part, Image)) if is_error else ()
        blocks, tokens = self._rendered(tuple(part for part in content if part not in images))
        if not blocks:
            blocks, tokens = [{"type": "text", "text": EMPTY_RESULT}], self.count(EMPTY_RESULT)
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": wire_id(call), "content": blocks}
        if is_error:
            block["is_error"] = True  # such a result may hold text only, so its images follow it
        units = [Unit(USER, _encode(block), self.costs.rules.result + tokens)]
        if images:
            units.append(self._blocks(images, "")._replace(deferred=True))
        return units

    # --- reading ----------------------------------------------------------------------------------------------------
    def parse(self, response: Mapping[str, Any] | bytes) -> Parsed:
        """A message and its usage; the input of a call keeps the order of its keys."""
        whole = decoded(response, "the message")
        try:
            parts = [_part(block) for block in whole["content"]]
        except (KeyError, TypeError) as reason:
            raise ResponseError(
                f"no message: expected content blocks, got keys {sorted(whole)} ({reason!r})"
            ) from reason
        finish = whole.get("stop_reason") or "stop"
        return Parsed(AssistantTurn(tuple(parts), _FINISH.get(finish, finish)), _usage(whole.get("usage")))

    def accumulator(self) -> AnthropicStream:
        """For the events of one streamed answer."""
        return AnthropicStream()

    def adopt(self, body: Mapping[str, Any] | bytes) -> Adopted:
        """`system` becomes the system text; a message of results and text becomes several items."""
        whole = decoded(body, "the request body", InputError)
        messages = whole.get("messages")
        if not isinstance(messages, list | tuple):
            raise InputError(f"the request body has no list of messages, only keys {sorted(whole)}")
        items: list[Item] = []
        for place, message in enumerate(messages):
            try:
                content = message["content"]
                blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
                if message["role"] == "assistant":
                    items.append(AssistantTurn(tuple(map(_part, blocks))))
                else:
                    items += _adopted_blocks(blocks)
            except (KeyError, TypeError) as reason:
                raise InputError(f"messages[{place}] is no message: {reason!r}") from reason
        system = whole.get("system") or ""
        if not isinstance(system, str):
            system = "\n\n".join(block["text"] for block in system)
        tools = tuple(
            Tool(t["name"], t.get("description", ""), t["input_schema"])
            for t in whole.get("tools") or ()
            if "input_schema" in t
        )
        return Adopted(system, tools, tuple(items))

    @staticmethod
    def findings(body: dict[str, Any]) -> list[Finding]:
        """By the rules of `muntin.checks.anthropic`."""
        from muntin.checks import anthropic as rules  # noqa: PLC0415  (few need them, and they cost start-up time)

        return rules.findings(body)


def _source(image: Image) -> dict[str, str]:
    if image.url:
        return {"type": "url", "url": image.url}
    return {"type": "base64", "media_type": image.media_type, "data": image.data}


def _image(block: Mapping[str, Any]) -> Text | Image:
    source = block["source"]
    if source["type"] == "url":
        return Image(PDF if block["type"] == "document" else "image/*", url=source["url"])
    if source["type"] == "file":  # which the account has that it was uploaded to
        return Text(f"[image {source['file_id']}]")
    return Image(source["media_type"], data=source["data"])


def _document(block: Mapping[str, Any]) -> Text | Image:
    """A document: the file, its text, or its name where it is only referred to."""
    source = block["source"]
    if source["type"] == "text":
        return Text(source["data"])
    if source["type"] in ("base64", "url"):
        return _image(block)
    return Text(f"[document {block.get('title') or source.get('file_id') or 'left out'}]")


def _part(block: Mapping[str, Any]) -> AssistantPart:
    match block["type"]:
        case "text":
            return Text(block["text"])
        case "tool_use":
            return ToolCall(block["id"], block["name"], msgspec.json.encode(block["input"]).decode())
        case "thinking":
            return Reasoning(block["thinking"], block.get("signature") or "", "anthropic")
        case "redacted_thinking":
            return Reasoning("", "", "anthropic", block["data"])
        case _:
            return Opaque("anthropic", msgspec.json.encode(block).decode())


def _adopted_blocks(blocks: Sequence[Mapping[str, Any]]) -> list[Item]:
    items: list[Item] = []
    content: list[Text | Image] = []
    for block in blocks:
        match block["type"]:
            case "tool_result":
                inner = block.get("content") or ()
                inner = [{"type": "text", "text": inner}] if isinstance(inner, str) else inner
                parts = tuple(
                    _image(part)
                    if part["type"] == "image"
                    else _document(part)
                    if part["type"] == "document"
                    else Text(part.get("text") or msgspec.json.encode(part).decode())
                    for part in inner
                )
                items.append(ToolResult(block["tool_use_id"], parts, bool(block.get("is_error"))))
            case "image":
                content.append(_image(block))
            case "document":
                content.append(_document(block))
            case "text":
                content.append(Text(block["text"]))
            case _:
                content.append(Text(msgspec.json.encode(block).decode()))
    if content:
        items.append(UserInput(tuple(content)))
    return items


def _usage(usage: Mapping[str, Any] | None) -> Usage | None:
    """`input_tokens` leaves out what was read from the cache or written to it."""
    if not usage:
        return None
    cached = usage.get("cache_read_input_tokens") or 0
    written = usage.get("cache_creation_input_tokens") or 0
    return Usage(
        input=(usage.get("input_tokens") or 0) + cached + written,
        cached=cached,
        written=written,
        output=usage.get("output_tokens") or 0,
    )
