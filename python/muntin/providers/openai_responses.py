"""OpenAI Responses: items instead of messages, sealed reasoning sent back before what it led to, nothing stored.

Formats and rules: https://platform.openai.com/docs/api-reference/responses/create. Requests say `store: false` and
carry the whole conversation. The server's ids are sent back only where it insists: on reasoning, and on the message
behind it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from muntin.cacherules import cache_rules
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
from muntin.providers.base import Adapter, Adopted, Buffer, Frame, Parsed, Part, Tools, Unit, decoded, object_arguments
from muntin.providers.ids import wire_id, wire_name
from muntin.providers.openai_responses_stream import OpenAIResponsesStream
from muntin.providers.pictures import PDF, PICTURES, shown
from muntin.providers.shared import any_arguments, data_url, image_of, marked_front, marked_units, spoken
from muntin.usage import Usage
from muntin.wording import EMPTY_INPUT, EMPTY_RESULT, worded

__all__ = ["OpenAIResponses"]

# Groups of units, told apart only where requests ask for caching.
GIVEN: Final = 0
SAID: Final = 1

TOOLS: Final = 128
"""Tools that a request may have; the server refuses more."""

NAME: Final = "openai_responses"

KINDS: Final = PICTURES | {PDF}
"""Kinds of images and documents that it takes."""

NAMED: Final = "document.pdf"

_encode = msgspec.json.Encoder().encode
_ENVELOPE = ("type", "role", "id", "status", "phase")


class OpenAIResponses(Adapter):
    """The wire format of `POST /v1/responses`, without anything kept on the server.

    What the model says in a message stands in `Text` parts; the message's own id, status and phase stand before them in
    an `Opaque` part. Each reasoning item is one `Reasoning` part for each text of its summary, the last of which is
    sealed: its id is the `signature`, its encrypted content `redacted`.
    """

    provider = NAME
    path = "/v1/responses"
    messages = "input"
    owned = frozenset({"conversation", "input", "instructions", "model", "previous_response_id", "tools"})
    groups: tuple[tuple[bytes, bytes, int], ...] = ((b"", b"", 0),)
    overflows = (
        re.compile(r"Request too large for .*?(?P<minute>Limit) (?P<limit>[\d,]+), Requested (?P<tokens>[\d,]+)"),
        re.compile(r"exceeds the context window|context_length_exceeded"),
    )

    def __init__(self, name: str | Model) -> None:
        super().__init__(name)
        # Only models that reason take the wish for their sealed reasoning; they are those with developer messages.
        self._reasons = self.model.system_role == "developer"
        rules = cache_rules(self.provider, self.model.name)
        self._mark, self._asks_by = rules.mark_bytes, rules.params
        if self._mark:
            self.groups = self.groups * 2
            self.markable = frozenset({GIVEN})  # what the model said takes no mark

    # --- rendering --------------------------------------------------------------------------------------------------
    def units(self, item: Item, *, reasoning: bool = True, call: ToolCall | None = None) -> list[Unit]:
        """The units of an item: one or more input items."""
        del call
        match item:
            case UserInput(content):
                return [self._user(content)]
            case AssistantTurn(parts):
                return self._assistant(parts, reasoning=reasoning)
            case ToolResult(answered, content, is_error):
                return [self._result(answered, content, is_error)]
            case Attachment(images=images) | Guidance(images=images) if images:
                return [self._user((Text(worded(item)), *images))]
            case Attachment() | Guidance():  # what a person said; the rest is the application's
                return [self._message("user", worded(item))]
            case _:
                return [self.text_unit(worded(item))]

    def text_unit(self, text: str) -> Unit:
        """A message in the model's system role."""
        return self._message(self.model.system_role, text)

    def front_part(self, segment: Segment, text: str) -> Part:
        """The system prompt as `instructions`, all else as a message before the conversation."""
        if segment is Segment.SYSTEM and not self._mark:
            return Part(segment, _encode(text), self.costs.rules.system + self.count(text))
        unit = self.text_unit(text)
        return Part(segment, unit.wire, unit.tokens)

    def tools(self, tools: Sequence[Tool]) -> Tools:
        """The tools as functions."""
        shapes = [
            {"type": "function", "name": t.name, "description": t.description, "parameters": t.parameters}
            | {"strict": False}
            for t in tools
        ]
        wire = msgspec.json.encode(shapes, order="sorted")
        return Tools(wire, self.tools_tokens(wire))

    def pieces(self, frame: Frame) -> list[Buffer]:
        """The head, tools, instructions, then the items."""
        pieces: list[Buffer] = [frame.head]
        if frame.tools is not None:
            pieces += [b',"tools":', frame.tools.wire]
        front = list(frame.front)
        if front and front[0].segment is Segment.SYSTEM and not self._mark:
            pieces += [b',"instructions":', front.pop(0).wire]
        pieces.append(b',"input":[' + marked_front(front, frame.front_marks, self._mark))
        if front and (frame.units or frame.tail):
            pieces.append(b",")
        pieces += marked_units(frame, self._mark)
        pieces += self.tail_pieces(frame)
        pieces.append(b"]}")
        return pieces

    def check_tools(self, tools: Sequence[Tool]) -> None:
        """At most 128 of them."""
        if len(tools) > TOOLS:
            raise InvalidTool(f"{len(tools)} tools are more than the {TOOLS} that a response takes; leave some out")

    def fields(self, params: Mapping[str, Any], max_tokens: int) -> dict[str, Any]:
        """Model, the wish to keep nothing and to get reasoning sealed, limit of the answer, parameters."""
        sealed = {"include": ["reasoning.encrypted_content"]} if self._reasons else {}
        fixed = {"model": self.model.name, "store": False, **sealed, **self._asks_by}
        return {**fixed, "max_output_tokens": max_tokens, **params}

    def max_tokens_of(self, params: Mapping[str, Any]) -> int | None:
        """`max_output_tokens`, reasoning included."""
        return params.get("max_output_tokens")

    def _content(self, text: str) -> Any:
        """A text as content; as a list of one part where that may carry a mark."""
        return [{"type": "input_text", "text": text}] if self._mark else text

    def _message(self, role: str, text: str) -> Unit:
        return Unit(
            GIVEN, _encode({"role": role, "content": self._content(text)}), self.costs.rules.message + self.count(text)
        )

    def _user(self, content: Content) -> Unit:
        parts, tokens = self._parts(content)
        if not parts:
            return self._message("user", EMPTY_INPUT)
        if len(parts) == 1 and "text" in parts[0]:
            return self._message("user", parts[0]["text"])
        return Unit(GIVEN, _encode({"role": "user", "content": parts}), self.costs.rules.message + tokens)

    def _parts(self, content: Content) -> tuple[list[dict[str, Any]], int]:
        parts: list[dict[str, Any]] = []
        tokens = 0
        for part in shown(content, KINDS):
            if isinstance(part, Image) and part.media_type == PDF:
                given = {"file_url": part.url} if part.url else {"filename": NAMED, "file_data": data_url(part)}
                parts.append({"type": "input_file", **given})
                tokens += self.image_tokens(part)
            elif isinstance(part, Image):
                parts.append({"type": "input_image", "detail": "auto", "image_url": data_url(part)})
                tokens += self.image_tokens(part)
            elif part.text:
                parts.append({"type": "input_text", "text": part.text})
                tokens += self.count(part.text)
        return parts, tokens

    def _result(self, call: str, content: Content, is_error: bool) -> Unit:
        output: str | list[dict[str, Any]]
        content = shown(content, KINDS)
        if any(isinstance(part, Image) for part in content):
            output, tokens = self._parts((Text("error:"), *content) if is_error else content)
        else:
            text = spoken(content) or EMPTY_RESULT
            said = f"error: {text}" if is_error else text
            output, tokens = self._content(said), self.count(said)
        item = {"type": "function_call_output", "call_id": wire_id(call), "output": output}
        return Unit(GIVEN, _encode(item), self.costs.rules.message + self.costs.rules.result + tokens)

    def _assistant(self, parts: Sequence[AssistantPart], *, reasoning: bool) -> list[Unit]:
        items: list[_Item] = []
        for item in self._items(parts, reasoning=reasoning):
            if item.wire.get("type") == "message" and not (items and items[-1].seals and "id" in item.wire):
                # Its id alone would make the server ask for the reasoning that led to it.
                item.wire.pop("id", None)
                item.wire.pop("status", None)
                text = item.wire["content"] = "".join(part["text"] for part in item.wire["content"])
                item.tokens = self.count(text)
            if item.wire.get("type") != "message" or item.wire["content"]:
                items.append(item)
        while items and items[-1].seals:
            items.pop()  # reasoning that led to nothing is refused
        if not items:
            return []
        wire = b",".join(item.raw or _encode(item.wire) for item in items)
        return [
            Unit(SAID if self._mark else GIVEN, wire, sum(self.costs.rules.message + item.tokens for item in items))
        ]

    def _items(self, parts: Sequence[AssistantPart], *, reasoning: bool) -> Iterator[_Item]:
        """The input items of a turn, messages with a list of what was said in them."""
        summary: list[dict[str, str]] = []
        message: _Item | None = None
        for part in parts:
            if message and not isinstance(part, Text):
                yield message
                message = None
            match part:
                case Text(text) if text.strip():
                    message = message or _Item(_envelope({}), 0)
                    message.wire["content"].append({"type": "output_text", "text": text, "annotations": []})
                    message.tokens += self.count(text)
                case ToolCall(call, name, arguments):
                    name, arguments = wire_name(name), object_arguments(arguments)
                    wire = {"type": "function_call", "call_id": wire_id(call), "name": name, "arguments": arguments}
                    yield _Item(wire, self.costs.call(name, arguments))
                case Reasoning(text, signature, "openai_responses", sealed) if reasoning:
                    if text:
                        summary.append({"type": "summary_text", "text": text})
                    if signature and sealed:
                        seal = {"type": "reasoning", "id": signature, "encrypted_content": sealed}
                        yield _Item({**seal, "summary": summary}, self.costs.sealed(sealed), seals=True)
                    if signature:
                        summary = []
                case Opaque("openai_responses", json):
                    wire = msgspec.json.decode(json)
                    if wire.get("type") == "message":
                        message = _Item(_envelope(wire), 0)
                    else:
                        yield _Item(wire, self.read_tokens({"input": [wire]}), raw=json.encode())
                case _:
                    pass  # empty text, and parts that only another provider understands
        if message:
            yield message

    # --- reading ----------------------------------------------------------------------------------------------------
    def parse(self, response: Mapping[str, Any] | bytes) -> Parsed:
        """All output items of a response as one turn, and its usage."""
        whole = decoded(response, "the response")
        if whole.get("status") == "failed" or (whole.get("error") and not whole.get("output")):
            raise ResponseError(f"the response failed: {whole.get('error')!r}")
        try:
            parts = [part for item in whole["output"] for part in _turn_parts(item)]
        except (KeyError, TypeError) as reason:
            raise ResponseError(
                f"no response: expected output items, got keys {sorted(whole)} ({reason!r})"
            ) from reason
        return Parsed(AssistantTurn(tuple(parts), _finish(whole, parts)), _usage(whole.get("usage")))

    def accumulator(self) -> OpenAIResponsesStream:
        """For the events of one streamed answer."""
        return OpenAIResponsesStream()

    def adopt(self, body: Mapping[str, Any] | bytes) -> Adopted:
        """`instructions` and leading system and developer messages become the system text.

        Neighbouring items of the model become one turn.
        """
        whole = decoded(body, "the request body", InputError)
        given = whole.get("input")
        if isinstance(given, str):
            given = [{"role": "user", "content": given}]
        if not isinstance(given, list | tuple):
            raise InputError(f"the request body has no list of input items, only keys {sorted(whole)}")
        system = [whole.get("instructions") or ""]
        items: list[Item] = []
        turn: list[AssistantPart] = []
        for place, item in enumerate(given):
            try:
                if _by_model(item):
                    if _is_another(item, turn):
                        items.append(AssistantTurn(tuple(turn)))
                        turn = []
                    turn += _turn_parts(item)
                    continue
                if turn:
                    items.append(AssistantTurn(tuple(turn)))
                    turn = []
                if item.get("role") in ("system", "developer") and not items:
                    system.append("".join(part.text for part in _content(item["content"]) if isinstance(part, Text)))
                elif item.get("type") == "function_call_output":
                    items.append(ToolResult(item["call_id"], tuple(_content(item["output"]))))
                elif item.get("type", "message") == "message":
                    items.append(UserInput(tuple(_content(item["content"]))))
                else:
                    items.append(UserInput((Text(msgspec.json.encode(item).decode()),)))
            except (AttributeError, KeyError, TypeError) as reason:
                raise InputError(f"input[{place}] is no input item: {reason!r}") from reason
        if turn:
            items.append(AssistantTurn(tuple(turn)))
        tools = tuple(
            Tool(t["name"], t.get("description") or "", t.get("parameters") or any_arguments())
            for t in whole.get("tools") or ()
            if t.get("type") == "function"
        )
        return Adopted("\n\n".join(filter(None, system)), tools, tuple(items))

    @staticmethod
    def findings(body: dict[str, Any]) -> list[Finding]:
        """By the rules of `muntin.checks.openai_responses`."""
        from muntin.checks import openai_responses as rules  # noqa: PLC0415  (few need them, and they cost start-up time)

        return rules.findings(body)


class _Item:
    """An input item on its way to the wire.

    Attributes:
        wire: The item.
        tokens: Its raw tokens, those of a message not included.
        seals: Whether it is reasoning, which must stand before what it led to.
        raw: Its bytes where they are sent back as they came.
    """

    __slots__ = ("raw", "seals", "tokens", "wire")

    def __init__(self, wire: dict[str, Any], tokens: int, *, seals: bool = False, raw: bytes = b"") -> None:
        self.wire, self.tokens, self.seals, self.raw = wire, tokens, seals, raw


def _envelope(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message of the model without what it says; `type` and `role` come first, as the server has them."""
    whole = {"type": "message", "role": "assistant", **message}
    return {key: whole[key] for key in _ENVELOPE if whole.get(key) is not None} | {"content": []}


def _by_model(item: Mapping[str, Any]) -> bool:
    """Whether an input item was the model's: it is none of those that the caller makes."""
    kind = item.get("type", "message")
    return item.get("role") == "assistant" if kind == "message" else not kind.endswith("_output") and "role" not in item


def _is_another(item: Mapping[str, Any], turn: Sequence[AssistantPart]) -> bool:
    """Whether a plain message of the model's stands behind one, and so is a turn of its own."""
    plain = item.get("type", "message") == "message" and not item.get("id") and not item.get("phase")
    return plain and bool(turn) and isinstance(turn[-1], Text) and not any(isinstance(one, ToolCall) for one in turn)


def _turn_parts(item: Mapping[str, Any]) -> list[AssistantPart]:
    match item.get("type", "message"):
        case "message":
            content = item["content"]
            said = [content] if isinstance(content, str) else [p.get("text") or p.get("refusal") or "" for p in content]
            texts: list[AssistantPart] = [Text(text) for text in said]
            if not any(item.get(key) for key in ("id", "phase")):
                return texts
            envelope = _envelope(item)
            del envelope["content"]
            return [Opaque(NAME, msgspec.json.encode(envelope).decode()), *texts]
        case "function_call":
            return [ToolCall(item["call_id"], item["name"], item.get("arguments") or "{}")]
        case "reasoning":
            *first, last = [part["text"] for part in item.get("summary") or item.get("content") or ()] or [""]
            sealed = Reasoning(last, item.get("id") or "", NAME, item.get("encrypted_content") or "")
            return [*(Reasoning(text, "", NAME) for text in first), sealed]
        case _:
            return [Opaque(NAME, msgspec.json.encode(item).decode())]


def _content(content: Any) -> list[Text | Image]:
    if content is None or isinstance(content, str):
        return [Text(content or "")]
    parts: list[Text | Image] = []
    for part in content:
        if part["type"] == "input_image" and part.get("image_url"):
            parts.append(image_of(part["image_url"]))
        elif part["type"] == "input_file" and part.get("file_data"):
            parts.append(image_of(part["file_data"]))
        elif part["type"] == "input_file" and part.get("file_url"):
            parts.append(Image(PDF, url=part["file_url"]))
        else:
            text = part.get("text")
            parts.append(Text(msgspec.json.encode(part).decode() if text is None else text))
    return parts


def _finish(response: Mapping[str, Any], parts: Sequence[AssistantPart]) -> str:
    why = (response.get("incomplete_details") or {}).get("reason")
    if isinstance(why, str):
        return {"max_output_tokens": "length", "content_filter": "filter"}.get(why, why)
    return "tool_calls" if any(isinstance(part, ToolCall) for part in parts) else "stop"


def _usage(usage: Mapping[str, Any] | None) -> Usage | None:
    """`input_tokens` includes what was cached, `output_tokens` includes reasoning."""
    if not usage:
        return None
    details = usage.get("input_tokens_details") or {}
    return Usage(
        input=usage.get("input_tokens") or 0,
        cached=details.get("cached_tokens") or 0,
        written=details.get("cache_write_tokens") or 0,
        output=usage.get("output_tokens") or 0,
    )
