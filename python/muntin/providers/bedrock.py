"""Amazon Bedrock Converse: one format for many vendors' models, blocks named by their key, cache points between them.

Formats and rules: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html. Roles
alternate, all results of a batch stand first in the very next user message, and tools must be declared as long as
calls are in view.
"""

from __future__ import annotations

import base64
import hashlib
import re
import urllib.parse
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from muntin.cacherules import cache_rules
from muntin.capabilities import Tool
from muntin.checks import Finding
from muntin.exceptions import InputError, ResponseError
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
from muntin.providers.arguments import counted_arguments, object_arguments
from muntin.providers.base import Adapter, Adopted, Buffer, Frame, Parsed, Part, Tools, Unit, decoded
from muntin.providers.bedrock_stream import BedrockStream
from muntin.providers.ids import wire_id, wire_name
from muntin.providers.pictures import CLAUDE, CROWDED, PDF, PICTURES, crowded, shown
from muntin.providers.shared import object_param
from muntin.usage import Usage
from muntin.wording import EMPTY_INPUT, EMPTY_RESULT, NO_TOOLS, worded

__all__ = ["Bedrock"]

USER: Final = 0
ASSISTANT: Final = 1
RESULTS: Final = 2

NAME: Final = "bedrock"
DOCUMENT: Final = "(see the document)"

KINDS: Final = PICTURES | {PDF}
"""Kinds of images and documents that it takes."""

DOCUMENTS: Final = 5
"""Documents that it takes in a request."""

SCHEMES: Final = ("s3://",)
"""Where it fetches images."""

_POINT: Final = b',{"cachePoint":{"type":"default"}}'
_LONG_POINT: Final = b',{"cachePoint":{"type":"default","ttl":"1h"}}'
_CHOICE: Final = b'"toolConfig":{"toolChoice":'
# Which models take cache points: https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
_CACHES = re.compile(r"amazon\.nova|claude-(?!3-(?:haiku|sonnet|opus)|3-5-sonnet-20240620|v2|instant)")
_APART = re.compile(r"(?:^|\.)(?:meta|mistral)\.")

_encode = msgspec.json.Encoder().encode
_FORMATS = {"image/png": "png", "image/jpeg": "jpeg", "image/jpg": "jpeg", "image/gif": "gif", "image/webp": "webp"}
_FINISH = {"end_turn": "stop", "stop_sequence": "stop", "tool_use": "tool_calls", "max_tokens": "length"}
_FINISH |= {"guardrail_intervened": "filter", "content_filtered": "filter"}


class Bedrock(Adapter):
    """The wire format of `POST /model/{modelId}/converse`. Bytes are base64, as over HTTP; boto3 takes them decoded."""

    provider = NAME
    owned = frozenset({"messages", "modelId", "system"})
    overflows = (
        re.compile(r"prompt is too long(?:: (?P<tokens>\d+) tokens > (?P<limit>\d+) maximum)?"),
        re.compile(r"input length and `?max_tokens`? exceed context limit: (?P<tokens>\d+) \+ \d+ > (?P<limit>\d+)"),
        re.compile(r"maximum context length is (?P<limit>\d+).*?resulted in (?P<tokens>\d+)", re.DOTALL),
        re.compile(r"[Ii]nput is too long|too many input tokens", re.IGNORECASE),
    )

    def __init__(self, name: str | Model) -> None:
        super().__init__(name)
        self.path = f"/model/{urllib.parse.quote(self.model.name, safe='')}/converse"
        user, opening = b'{"role":"user","content":[', self.costs.rules.message
        self.groups = (
            (user, b"]}", opening),
            (b'{"role":"assistant","content":[', b"]}", opening),
            (user, b"]}", opening),
        )
        if self.model.binds_reasoning:
            self.tail_mode = "sticky"
        self._caches = bool(_CACHES.search(self.model.name))
        self._caches_tools = self._caches and "amazon.nova" not in self.model.name
        self.markable = frozenset({USER}) if self._caches else frozenset()
        # One lifetime for all points, since longer ones must stand first.
        long = cache_rules(NAME, self.model.name).ttl(self.model.cache_ttl) == "1h"
        self._point = _LONG_POINT if long else _POINT
        # Such models refuse a message that holds text beside calls or results.
        self._apart = bool(_APART.search(self.model.name))
        self._noted = Unit(ASSISTANT, _encode({"text": "(noted)"}), self.count("(noted)"))
        self.opening = self.text_unit("(the conversation goes on)")
        self._nudge = self.text_unit("(go on)")
        self.no_tools = self.tools([Tool("no_tool_is_available", NO_TOOLS, {"type": "object", "properties": {}})])

    @property
    def stream_path(self) -> str:
        """The method that streams."""
        return f"{self.path}-stream"

    # --- rendering --------------------------------------------------------------------------------------------------
    def units(self, item: Item, *, reasoning: bool = True, call: ToolCall | None = None) -> list[Unit]:
        """The units of an item: blocks of a user or an assistant message."""
        del call
        match item:
            case UserInput(content):
                return [self._user(content)]
            case AssistantTurn(parts):
                return self._assistant(parts, reasoning=reasoning)
            case ToolResult(answered, content, is_error):
                return self._result(answered, content, is_error)
            case Attachment(images=images) | Guidance(images=images) if images:
                return [self._user((Text(worded(item)), *images))]
            case _:
                return [self.text_unit(worded(item))]

    def left_out(self, image: Image, view: Sequence[Image]) -> str:
        """Five documents at most, each once, since their names must differ; and many images have to be small ones."""
        if image.media_type != PDF:
            return CROWDED if crowded(image, view) else ""
        documents = [one.url for one in view if one.media_type == PDF]
        if image.url in documents:
            return "the same as above"
        return "one more than can be shown" if len(documents) >= DOCUMENTS else ""

    def text_unit(self, text: str) -> Unit:
        """A text block of a user message; what the application says stands in tags."""
        return Unit(USER, _encode({"text": text}), self.count(text))

    def front_part(self, segment: Segment, text: str) -> Part:
        """A text block of `system`."""
        return Part(segment, _encode({"text": text}), self.costs.rules.system + self.count(text))

    def tools(self, tools: Sequence[Tool]) -> Tools:
        """The tools. No description may be empty."""
        shapes = []
        for tool in tools:
            described = {"description": tool.description} if tool.description.strip() else {}
            shapes.append({"toolSpec": {"name": tool.name, **described, "inputSchema": {"json": tool.parameters}}})
        wire = msgspec.json.encode(shapes, order="sorted")
        return Tools(wire, self.tools_tokens(wire))

    def pieces(self, frame: Frame) -> list[Buffer]:
        """The head, tools, system and messages, with the cache points outside the kept bytes."""
        head, _, choice = frame.head.partition(_CHOICE)
        head = head.removesuffix(b",")
        pieces: list[Buffer] = [head]
        if frame.tools is not None:
            pieces += [b',"toolConfig":{"tools":', frame.tools.wire]
            if self._caches_tools and not frame.front:
                pieces[-1:] = [frame.tools.wire[:-1], self._point, b"]"]
            # The choice stands last in the head, where `fields` put it, closed by its object's own brace.
            pieces.append(b',"toolChoice":' + choice if choice else b"}")
        if frame.front:
            marks = (frame.front_marks or (len(frame.front),)) if self._caches else ()
            blocks = [
                part.wire + self._point if place in marks else part.wire for place, part in enumerate(frame.front, 1)
            ]
            pieces += [b',"system":[', b",".join(blocks), b"]"]
        pieces.append(b',"messages":[')
        start = 0
        for unit in frame.breakpoints:
            pieces += frame.history.slices(start, unit)
            pieces.append(self._point)
            start = unit
        pieces += frame.history.slices(start, frame.units)
        pieces += self.tail_pieces(frame)
        pieces.append(b"]}")
        return pieces

    def ending(self, group: int | None) -> Unit | None:
        """The conversation must end with a user message."""
        return self._nudge if group == ASSISTANT else None

    def bridge(self, before: int, group: int) -> Unit | None:
        """A word of the assistant's between results and what the user says, where they may not share a message."""
        return self._noted if before == RESULTS and group == USER else None

    def fields(self, params: Mapping[str, Any], max_tokens: int) -> dict[str, Any]:
        """Limit of the answer and parameters; the model is in the path.

        Raises:
            InputError: `toolConfig` holds more than a `toolChoice`.
        """
        rest = dict(params)
        config = rest.pop("toolConfig", {})
        if set(config) - {"toolChoice"}:
            raise InputError(
                f"params['toolConfig'] may hold a toolChoice only, not {sorted(config)}: tools come from capabilities"
            )
        fields = {**rest, "inferenceConfig": {"maxTokens": max_tokens, **object_param(params, "inferenceConfig")}}
        return {**fields, "toolConfig": config} if config else fields

    def max_tokens_of(self, params: Mapping[str, Any]) -> int | None:
        """`inferenceConfig.maxTokens`."""
        return object_param(params, "inferenceConfig").get("maxTokens")

    def _user(self, content: Content) -> Unit:
        blocks, tokens = self._rendered(content)
        if not blocks:
            return self.text_unit(EMPTY_INPUT)
        if any("document" in block for block in blocks) and not any("text" in block for block in blocks):
            blocks.append({"text": DOCUMENT})  # a document is not taken without a word
            tokens += self.count(DOCUMENT)
        return Unit(USER, b",".join(map(_encode, blocks)), tokens)

    def _rendered(self, content: Content) -> tuple[list[dict[str, Any]], int]:
        blocks: list[dict[str, Any]] = []
        tokens = 0
        for part in shown(content, KINDS, SCHEMES, CLAUDE):
            if isinstance(part, Image) and part.media_type == PDF:
                blocks.append({"document": _document(part)})
                tokens += self.image_tokens(part)
                continue
            if isinstance(part, Image) and (image := _image(part)):
                blocks.append({"image": image})
                tokens += self.image_tokens(part)
                continue
            text = f"[image {part.url or part.media_type}]" if isinstance(part, Image) else part.text
            if text.strip():
                blocks.append({"text": text})
                tokens += self.count(text)
        return blocks, tokens

    def _assistant(self, parts: Sequence[AssistantPart], *, reasoning: bool) -> list[Unit]:
        blocks: list[bytes] = []
        tokens = self.costs.calls(sum(isinstance(part, ToolCall) for part in parts))
        visible = False
        for part in parts:
            match part:
                case Text(text) if text.strip():
                    blocks.append(_encode({"text": text}))
                    tokens += self.count(text)
                    visible = True
                case ToolCall(call, name, arguments):
                    text, name = object_arguments(arguments), wire_name(name)
                    use = {"toolUseId": _id(call), "name": name, "input": msgspec.Raw(text.encode())}
                    blocks.append(_encode({"toolUse": use}))
                    tokens += self.costs.call(name, counted_arguments(arguments))
                    visible = True
                case Reasoning(text, signature, "bedrock", redacted) if reasoning and (signature or redacted):
                    thought = {"reasoningText": {"text": text, "signature": signature}}
                    blocks.append(_encode({"reasoningContent": {"redactedContent": redacted} if redacted else thought}))
                    tokens += 0 if redacted else self.count(text)
                case Opaque("bedrock", json):
                    blocks.append(json.encode())
                    tokens += self.read_tokens({"messages": [{"content": [msgspec.json.decode(json)]}]})
                    visible = True
                case _:
                    pass  # empty text, and parts that only another provider understands
        if not visible:
            return []
        calls = [block for block in blocks if block.startswith(b'{"toolUse"')] if self._apart else []
        if not calls or len(calls) == len(blocks):
            return [Unit(ASSISTANT, b",".join(blocks), tokens)]
        # Two messages of the assistant's in one unit, with a word of the user's between them.
        (opening, closing, _), between = self.groups[ASSISTANT], self.groups[USER][0] + self._nudge.wire + b"]},"
        said = b",".join(block for block in blocks if block not in calls)
        wire = said + closing + b"," + between + opening + b",".join(calls)
        return [Unit(ASSISTANT, wire, tokens + 2 * self.costs.rules.message + self._nudge.tokens)]

    def _result(self, call: str, content: Content, is_error: bool) -> list[Unit]:
        content = shown(content, KINDS, SCHEMES, CLAUDE)
        images = tuple(part for part in content if isinstance(part, Image)) if is_error else ()
        blocks, tokens = self._rendered(tuple(part for part in content if part not in images))
        if not blocks:
            blocks, tokens = [{"text": EMPTY_RESULT}], self.count(EMPTY_RESULT)
        result: dict[str, Any] = {"toolUseId": _id(call), "content": blocks}
        if is_error:
            result["status"] = "error"  # some models take text only in such a result, so its images follow it
        units = [
            Unit(RESULTS if self._apart else USER, _encode({"toolResult": result}), self.costs.rules.result + tokens)
        ]
        if images:
            units.append(self._user(images)._replace(deferred=True))
        return units

    # --- reading ----------------------------------------------------------------------------------------------------
    def parse(self, response: Mapping[str, Any] | bytes) -> Parsed:
        """The message of a response and its usage, over HTTP or as boto3 gives it."""
        whole = decoded(response, "the response")
        try:
            parts = [_part(block) for block in whole["output"]["message"]["content"]]
        except (AttributeError, KeyError, TypeError) as reason:
            raise ResponseError(
                f"no response: expected output.message.content, got keys {sorted(whole)} ({reason!r})"
            ) from reason
        finish = whole.get("stopReason") or "stop"
        return Parsed(AssistantTurn(tuple(parts), _FINISH.get(finish, finish)), _usage(whole.get("usage")))

    def accumulator(self) -> BedrockStream:
        """For the events of one streamed answer."""
        return BedrockStream()

    def adopt(self, body: Mapping[str, Any] | bytes) -> Adopted:
        """`system` becomes the system text; a message of results and text becomes several items."""
        whole = decoded(body, "the request body", InputError)
        messages = whole.get("messages")
        if not isinstance(messages, list | tuple):
            raise InputError(f"the request body has no list of messages, only keys {sorted(whole)}")
        items: list[Item] = []
        for place, message in enumerate(messages):
            try:
                if message["role"] == "assistant":
                    blocks = [block for block in message["content"] if "cachePoint" not in block]
                    items.append(AssistantTurn(tuple(map(_part, blocks))))
                else:
                    items += _adopted(message["content"])
            except (AttributeError, KeyError, TypeError) as reason:
                raise InputError(f"messages[{place}] is no message: {reason!r}") from reason
        system = "\n\n".join(block["text"] for block in whole.get("system") or () if "text" in block)
        specs = [tool["toolSpec"] for tool in (whole.get("toolConfig") or {}).get("tools") or () if "toolSpec" in tool]
        tools = tuple(Tool(s["name"], s.get("description", ""), s["inputSchema"]["json"]) for s in specs)
        return Adopted(system, tools, tuple(items))

    @staticmethod
    def findings(body: dict[str, Any]) -> list[Finding]:
        """By the rules of `muntin.checks.bedrock`."""
        from muntin.checks import bedrock as rules  # noqa: PLC0415  (few need them, and they cost start-up time)

        return rules.findings(body)


def _id(call: str) -> str:
    return wire_id(call, more=".:")


def _image(image: Image) -> dict[str, Any] | None:
    """An image block; None for what Converse cannot show: another format, or an address that is not in S3."""
    kind = _FORMATS.get(image.media_type) or image.url.rpartition(".")[2].lower().replace("jpg", "jpeg")
    if kind not in _FORMATS.values() or (image.url and not image.url.startswith("s3://")):
        return None
    return {"format": kind, "source": {"s3Location": {"uri": image.url}} if image.url else {"bytes": image.data}}


def _document(document: Image) -> dict[str, Any]:
    """A document block; its name, which the model sees, is by its content, since names must differ."""
    given = document.url or document.data
    source = {"s3Location": {"uri": document.url}} if document.url else {"bytes": document.data}
    return {"format": "pdf", "name": f"document-{hashlib.sha256(given.encode()).hexdigest()[:8]}", "source": source}


def _read_document(block: Mapping[str, Any]) -> Text | Image:
    source = block["source"]
    if "text" in source:
        return Text(source["text"])
    if block.get("format", "pdf") != "pdf" or not source.keys() & {"bytes", "s3Location"}:
        return Text(f"[document {block['name']}]")
    if "s3Location" in source:
        return Image(PDF, url=source["s3Location"]["uri"])
    return Image(PDF, data=_base64(source["bytes"]))


def _read_image(block: Mapping[str, Any]) -> Image:
    source, kind = block["source"], f"image/{block['format']}"
    if "s3Location" in source:
        return Image(kind, url=source["s3Location"]["uri"])
    return Image(kind, data=_base64(source["bytes"]))


def _base64(data: str | bytes) -> str:
    """Base64 as over HTTP; boto3 has the bytes themselves."""
    return data if isinstance(data, str) else base64.b64encode(data).decode()


def _part(block: Mapping[str, Any]) -> AssistantPart:
    if "text" in block:
        return Text(block["text"])
    if use := block.get("toolUse"):
        if use.get("type"):  # the server's own tool
            return Opaque(NAME, msgspec.json.encode(block).decode())
        return ToolCall(use["toolUseId"], use["name"], msgspec.json.encode(use.get("input") or {}).decode())
    if thought := block.get("reasoningContent"):
        if "redactedContent" in thought:
            return Reasoning("", "", NAME, _base64(thought["redactedContent"]))
        said = thought["reasoningText"]
        return Reasoning(said.get("text") or "", said.get("signature") or "", NAME)
    return Opaque(NAME, msgspec.json.encode(block).decode())


def _adopted(blocks: Sequence[Mapping[str, Any]]) -> list[Item]:
    items: list[Item] = []
    content: list[Text | Image] = []
    for block in blocks:
        if result := block.get("toolResult"):
            parts = tuple(map(_content, result["content"]))
            items.append(ToolResult(result["toolUseId"], parts, result.get("status") == "error"))
        elif "cachePoint" not in block:
            content.append(_content(block))
    if content:
        items.append(UserInput(tuple(content)))
    return items


def _content(block: Mapping[str, Any]) -> Text | Image:
    if "image" in block:
        return _read_image(block["image"])
    if "document" in block:
        return _read_document(block["document"])
    return Text(block["text"] if "text" in block else msgspec.json.encode(block.get("json", block)).decode())


def _usage(usage: Mapping[str, Any] | None) -> Usage | None:
    """`inputTokens` leaves out what was read from the cache or written to it."""
    if not usage:
        return None
    cached = usage.get("cacheReadInputTokens") or 0
    written = usage.get("cacheWriteInputTokens") or 0
    return Usage(
        input=(usage.get("inputTokens") or 0) + cached + written,
        cached=cached,
        written=written,
        output=usage.get("outputTokens") or 0,
    )
