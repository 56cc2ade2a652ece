"""Gemini generateContent: contents of parts, results named like their calls, signatures on the parts that they seal.

Formats: https://ai.google.dev/api/generate-content; rules of signatures:
https://ai.google.dev/gemini-api/docs/thought-signatures. There are two roles; system text has a place before the
conversation only. All results of a batch share one content directly behind the calls, and nothing else stands in it.
"""

from __future__ import annotations

import re
import urllib.parse
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from muntin.capabilities import Tool
from muntin.checks import Finding
from muntin.counting.outline import json_text
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
from muntin.providers.arguments import counted_arguments, object_arguments
from muntin.providers.base import Adapter, Adopted, Buffer, Frame, Parsed, Part, Tools, Unit, decoded
from muntin.providers.gemini_stream import GeminiStream
from muntin.providers.ids import wire_id, wire_name
from muntin.providers.pictures import PDF, WEB, shown
from muntin.providers.shared import answered, any_arguments, object_param, spoken
from muntin.usage import Usage
from muntin.wording import EMPTY_INPUT, EMPTY_RESULT, worded

__all__ = ["Gemini"]

USER: Final = 0
MODEL: Final = 1
RESULTS: Final = 2

SKIP: Final = "skip_thought_signature_validator"
"""Stands for the signature of a call that another model made; the server then validates none."""

NAME: Final = "gemini"
TOOLS: Final = 512
"""Functions that a request may declare."""

IMAGES: Final = frozenset({"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif", PDF})
"""Kinds of images and documents that it takes; see https://ai.google.dev/gemini-api/docs/image-understanding."""

SCHEMES: Final = (*WEB, "gs://")

_encode = msgspec.json.Encoder().encode
_FINISH = {"STOP": "stop", "MAX_TOKENS": "length", "FINISH_REASON_UNSPECIFIED": "stop"}
_FINISH |= dict.fromkeys(("SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"), "filter")


class Gemini(Adapter):
    """The wire format of `POST /v1beta/models/{model}:generateContent`, which Vertex AI takes too.

    A signature stands in a `Reasoning` part without text, directly before the part that it seals.
    """

    provider = NAME
    messages = "contents"
    owned = frozenset({"contents", "model", "systemInstruction", "tools"})
    overflows = (
        re.compile(r"input token count(?: \((?P<tokens>\d+)\))? exceeds the maximum.*?(?:\((?P<limit>\d+)\)|$)"),
    )

    def __init__(self, name: str | Model) -> None:
        super().__init__(name)
        self.path = f"/v1beta/models/{urllib.parse.quote(self.model.name)}:generateContent"
        # From Gemini 3 on, a call without a signature is refused.
        self._signs = not self.model.name.rpartition("/")[2].startswith(("gemini-1", "gemini-2", "gemma"))
        user, opening = b'{"role":"user","parts":[', self.costs.rules.message
        self.groups = (
            (user, b"]}", opening),
            (b'{"role":"model","parts":[', b"]}", opening),
            (user, b"]}", opening),
        )
        self.opening = self.text_unit("(the conversation goes on)")
        self._nudge = self.text_unit("(go on)")

    @property
    def stream_path(self) -> str:
        """The method that streams, as server-sent events."""
        return f"{self.path.removesuffix(':generateContent')}:streamGenerateContent?alt=sse"

    # --- rendering --------------------------------------------------------------------------------------------------
    def units(self, item: Item, *, reasoning: bool = True, call: ToolCall | None = None) -> list[Unit]:
        """The units of an item: parts of a user's or the model's content.

        Signatures are bound to no prefix and are needed with the calls that they seal, so they always go back.
        """
        del reasoning
        match item:
            case UserInput(content):
                return [self._user(content)]
            case AssistantTurn(parts):
                return self._model(parts)
            case ToolResult(answered, content, is_error):
                return self._result(answered, call.name if call else "unknown", content, is_error)
            case Attachment(images=images) | Guidance(images=images) if images:
                return [self._user((Text(worded(item)), *images))]
            case _:
                return [self.text_unit(worded(item))]

    def text_unit(self, text: str) -> Unit:
        """A text part of a user content; what the application says stands in tags."""
        return Unit(USER, _encode({"text": text}), self.count(text))

    def front_part(self, segment: Segment, text: str) -> Part:
        """A part of `systemInstruction`."""
        return Part(segment, _encode({"text": text}), self.costs.rules.system + self.count(text))

    def tools(self, tools: Sequence[Tool]) -> Tools:
        """The tools as function declarations, their parameters as JSON Schema."""
        shapes = [
            {"name": _name(t.name), "description": t.description, "parametersJsonSchema": t.parameters} for t in tools
        ]
        wire = msgspec.json.encode([{"functionDeclarations": shapes}], order="sorted")
        return Tools(wire, self.tools_tokens(wire))

    def pieces(self, frame: Frame) -> list[Buffer]:
        """The head, tools, system instruction, then the contents."""
        pieces: list[Buffer] = [frame.head, *self._before_contents(frame), b',"contents":[']
        if len(frame.head) == 1:
            pieces[1] = pieces[1][1:]  # no comma behind the opening brace
        pieces += frame.history.slices(0, frame.units)
        pieces += self.tail_pieces(frame)
        pieces.append(b"]}")
        return pieces

    def cached_content(self, frame: Frame, seconds: float) -> bytes:
        """Model, lifetime, tools and system instruction, for `POST /v1beta/cachedContents`."""
        fields = {"model": f"models/{self.model.name.rpartition('/')[2]}", "ttl": f"{seconds:g}s"}
        return b"".join([_encode(fields)[:-1], *self._before_contents(frame), b"}"])

    def pieces_on(self, frame: Frame, name: str) -> list[Buffer]:
        """The head with the name, then the contents: tools, their choice and the system text stand in the cache."""
        if b'"toolConfig":' in frame.head:
            raise InputError("params['toolConfig'] may not go with a cached content: prepare the request without it")
        comma = b"," if len(frame.head) > 1 else b""
        head = b"".join([frame.head, comma, b'"cachedContent":', _encode(name)])
        return self.pieces(frame._replace(head=head, tools=None, front=()))

    @staticmethod
    def _before_contents(frame: Frame) -> list[Buffer]:
        pieces: list[Buffer] = []
        if frame.tools is not None:
            pieces += [b',"tools":', frame.tools.wire]
        if frame.front:
            pieces += [b',"systemInstruction":{"parts":[', b",".join(part.wire for part in frame.front), b"]}"]
        return pieces

    def ending(self, group: int | None) -> Unit | None:
        """The conversation must end with a user's content."""
        return self._nudge if group == MODEL else None

    def check_tools(self, tools: Sequence[Tool]) -> None:
        """At most 512 of them."""
        if len(tools) > TOOLS:
            raise InvalidTool(f"{len(tools)} tools are more than the {TOOLS} that Gemini takes; leave some out")

    def fields(self, params: Mapping[str, Any], max_tokens: int) -> dict[str, Any]:
        """Parameters, with the limit of the answer in `generationConfig`. The model is in the path."""
        config = {"maxOutputTokens": max_tokens, **object_param(params, "generationConfig")}
        return {**params, "generationConfig": config}

    def max_tokens_of(self, params: Mapping[str, Any]) -> int | None:
        """`generationConfig.maxOutputTokens`, thoughts included."""
        return object_param(params, "generationConfig").get("maxOutputTokens")

    def _user(self, content: Content) -> Unit:
        parts, tokens = self._parts(content)
        if not parts:
            return self.text_unit(EMPTY_INPUT)
        return Unit(USER, b",".join(map(_encode, parts)), tokens)

    def _parts(self, content: Content) -> tuple[list[dict[str, Any]], int]:
        parts: list[dict[str, Any]] = []
        tokens = 0
        for part in shown(content, IMAGES, SCHEMES):
            if isinstance(part, Image):
                kind = {} if part.media_type.endswith("*") else {"mimeType": part.media_type}
                parts.append(
                    {"fileData": {**kind, "fileUri": part.url}}
                    if part.url
                    else {"inlineData": {**kind, "data": part.data}}
                )
                tokens += self.image_tokens(part)
            elif part.text:
                parts.append({"text": part.text})
                tokens += self.count(part.text)
        return parts, tokens

    def _result(self, call: str, name: str, content: Content, is_error: bool) -> list[Unit]:
        content = shown(content, IMAGES, SCHEMES)
        text = spoken(content)
        images = tuple(part for part in content if isinstance(part, Image))
        text = text or (f"(images of {call} follow)" if images else EMPTY_RESULT)
        name = _name(name)
        response = {"error" if is_error else "output": text}
        wire = _encode({"functionResponse": {"id": wire_id(call), "name": name, "response": response}})
        units = [Unit(RESULTS, wire, self.costs.rules.result + self.count(json_text(response)))]
        if images:
            units.append(self._user((Text(f"Images of tool call {call}:"), *images))._replace(deferred=True))
        return units

    def _model(self, parts: Sequence[AssistantPart]) -> list[Unit]:
        wires: list[dict[str, Any]] = []
        tokens = self.costs.calls(sum(isinstance(part, ToolCall) for part in parts))
        signature = ""
        needed = self._signs
        for part in parts:
            wire: dict[str, Any] | None = None
            match part:
                case Text(text) if text.strip() or signature:
                    wire = {"text": text}
                    tokens += self.count(text)
                case ToolCall(call, name, arguments):
                    name, text = _name(name), object_arguments(arguments)
                    wire = {"functionCall": {"id": wire_id(call), "name": name, "args": msgspec.Raw(text.encode())}}
                    tokens += self.costs.call(name, counted_arguments(arguments))
                    if needed:  # the first of parallel calls carries it for all, and what another part has is not its
                        signature, needed = signature or SKIP, False
                case Reasoning(text, seal, "gemini") if seal and text:
                    wires.append({"text": text, "thought": True, "thoughtSignature": seal})
                    tokens += self.count(text) + self.costs.sealed(seal)
                case Reasoning("", seal, "gemini") if seal:
                    signature = seal
                case Opaque("gemini", json):
                    wires.append(msgspec.json.decode(json, type=dict[str, msgspec.Raw]))
                    tokens += self.read_tokens({"contents": [{"parts": [msgspec.json.decode(json)]}]})
                case _:
                    pass  # empty text, thoughts to be shown to people, and parts that only another provider understands
            if wire:
                if signature:
                    wire["thoughtSignature"] = signature
                    tokens += self.costs.sealed(signature)
                    signature = ""
                wires.append(wire)
        if signature and wires:
            wires.append({"text": "", "thoughtSignature": signature})
            tokens += self.costs.sealed(signature)
        if not any("thought" not in wire for wire in wires):
            return []
        return [Unit(MODEL, b",".join(map(_encode, wires)), tokens)]

    # --- reading ----------------------------------------------------------------------------------------------------
    def parse(self, response: Mapping[str, Any] | bytes) -> Parsed:
        """The first candidate of a response and its usage. Keys are those of the REST API.

        A prompt that was blocked gives a turn without parts that finishes with `filter`.
        """
        whole = decoded(response, "the response")
        usage = _usage(whole.get("usageMetadata"))
        candidates = whole.get("candidates")
        if not candidates and (whole.get("promptFeedback") or {}).get("blockReason"):
            return Parsed(AssistantTurn((), "filter"), usage)
        try:
            candidate = candidates[0]  # type: ignore[index]
            content = candidate.get("content") or {}
            parts = _turn_parts(content.get("parts") or ())
        except (AttributeError, KeyError, IndexError, TypeError) as reason:
            raise ResponseError(
                f"no response: expected candidates[0].content.parts with the REST API's keys, got keys {sorted(whole)} "
                f"({reason!r}); of the SDK's objects pass model_dump(mode='json', by_alias=True, exclude_none=True)"
            ) from reason
        finish = candidate.get("finishReason") or "STOP"
        calls = any(isinstance(part, ToolCall) for part in parts)
        finish = "tool_calls" if calls and finish == "STOP" else _FINISH.get(finish, finish)
        return Parsed(AssistantTurn(tuple(parts), finish), usage)

    def accumulator(self) -> GeminiStream:
        """For the events of one streamed answer."""
        return GeminiStream()

    def adopt(self, body: Mapping[str, Any] | bytes) -> Adopted:
        """`systemInstruction` becomes the system text; a content of results and text becomes several items.

        Calls that have no id get one by their place, and results answer the calls before them in order.
        """
        whole = decoded(body, "the request body", InputError)
        contents = whole.get("contents")
        if not isinstance(contents, list | tuple):
            raise InputError(f"the request body has no list of contents, only keys {sorted(whole)}")
        items: list[Item] = []
        open_calls: list[ToolCall] = []
        for place, content in enumerate(contents):
            try:
                if content.get("role") == "model":
                    turn = AssistantTurn(tuple(_turn_parts(content["parts"], f"call_{place}_")))
                    open_calls = list(turn.tool_calls)
                    items.append(turn)
                else:
                    items += _adopted(content["parts"], open_calls)
            except (AttributeError, KeyError, TypeError) as reason:
                raise InputError(f"contents[{place}] is no content of the REST API: {reason!r}") from reason
        system = whole.get("systemInstruction") or {}
        texts = [part["text"] for part in system.get("parts") or () if part.get("text")]
        tools = tuple(
            Tool(f["name"], f.get("description") or "", f.get("parametersJsonSchema") or any_arguments())
            for tool in whole.get("tools") or ()
            for f in tool.get("functionDeclarations") or ()
        )
        return Adopted("\n\n".join(texts), tools, tuple(items))

    @staticmethod
    def findings(body: dict[str, Any]) -> list[Finding]:
        """By the rules of `muntin.checks.gemini`."""
        from muntin.checks import gemini as rules  # noqa: PLC0415  (few need them, and they cost start-up time)

        return rules.findings(body)


def _name(name: str) -> str:
    """A name as Gemini takes it: it may have dots and colons, and begins with a letter or `_`."""
    return wire_name(name, more=".:", first="0123456789-.:")


def _turn_parts(parts: Sequence[Mapping[str, Any]], prefix: str = "call_") -> list[AssistantPart]:
    found: list[AssistantPart] = []
    for place, part in enumerate(parts):
        if "function_call" in part or "thought_signature" in part:
            raise KeyError("functionCall")  # a call must not be lost for the spelling of its key
        signature = part.get("thoughtSignature") or ""
        if part.get("thought"):
            found.append(Reasoning(part.get("text") or "", signature, NAME))
            continue
        call, text = part.get("functionCall"), part.get("text")
        if call is None and text is None:
            found.append(Opaque(NAME, msgspec.json.encode(part).decode()))
            continue
        if signature:
            found.append(Reasoning("", signature, NAME))
        if call is not None:
            arguments = msgspec.json.encode(call.get("args") or {}).decode()
            found.append(ToolCall(call.get("id") or f"{prefix}{place}", call["name"], arguments))
        elif text or signature:
            found.append(Text(text or ""))
    return found


def _media(data: Mapping[str, Any]) -> Text | Image:
    """An image or a document, or the name of what is neither: sound and film have no form in other formats."""
    kind, url = data.get("mimeType") or "image/*", data.get("fileUri") or ""
    if not kind.startswith("image/") and kind != PDF:
        return Text(f"[{kind} {url or 'left out'}]")
    return Image(kind, url=url) if url else Image(kind, data=data["data"])


def _adopted(parts: Sequence[Mapping[str, Any]], open_calls: list[ToolCall]) -> list[Item]:
    items: list[Item] = []
    content: list[Text | Image] = []
    for part in parts:
        if response := part.get("functionResponse"):
            call = answered(open_calls, response.get("id"), response["name"])
            value = response.get("response") or {}
            is_error = set(value) == {"error"}
            text = value.get("error" if is_error else "output", value)
            text = text if isinstance(text, str) else msgspec.json.encode(value).decode()
            items.append(ToolResult(call, (Text(text),), is_error))
        elif data := part.get("inlineData") or part.get("fileData"):
            content.append(_media(data))
        else:
            text = part.get("text")
            content.append(Text(msgspec.json.encode(part).decode() if text is None else text))
    if content:
        items.append(UserInput(tuple(content)))
    return items


def _usage(usage: Mapping[str, Any] | None) -> Usage | None:
    """`promptTokenCount` includes what was cached, not what hosted tools read; thoughts are counted beside the text."""
    if not usage:
        return None
    return Usage(
        input=(usage.get("promptTokenCount") or 0) + (usage.get("toolUsePromptTokenCount") or 0),
        cached=usage.get("cachedContentTokenCount") or 0,
        output=(usage.get("candidatesTokenCount") or 0) + (usage.get("thoughtsTokenCount") or 0),
    )
