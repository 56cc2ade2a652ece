"""OpenAI Chat Completions: one message a unit, system text as messages, images hoisted out of tool results.

Formats and rules: https://platform.openai.com/docs/api-reference/chat/create. Every call is answered by the `tool`
messages directly after it, and a `tool` message has text only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from muntin.cacherules import cache_rules
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
from muntin.providers.base import Adapter, Adopted, Buffer, Frame, Parsed, Part, Tools, Unit, decoded, object_arguments
from muntin.providers.ids import short_id, wire_id, wire_name
from muntin.providers.openai_chat_stream import OpenAIChatStream
from muntin.providers.pictures import PDF, PICTURES, shown
from muntin.providers.profiles import profile as server
from muntin.providers.shared import (
    adopted_functions,
    data_url,
    image_of,
    marked_front,
    marked_units,
    nested_functions,
    spoken,
)
from muntin.usage import Usage
from muntin.wording import EMPTY_INPUT, EMPTY_RESULT, worded

__all__ = ["OpenAIChat"]

# Groups of units. OpenAI's own server does not tell them apart; others merge the user's, or look at the last one.
ANY: Final = 0
USER: Final = 1
ASSISTANT: Final = 2

TOOLS: Final = 128
"""Tools that a request may have; the server refuses more."""

OVERFLOWS: Final = (
    re.compile(  # OpenAI, DeepSeek, OpenRouter, vLLM; the last number is all that was asked for, output included
        r"maximum context length is (?P<limit>[\d,]+).*?"
        r"(?:resulted in|requested about|requested|request has|contains at least) (?P<tokens>[\d,]+)",
        re.DOTALL,
    ),
    # vLLM and LM Studio
    re.compile(r"(?:length (?P<tokens>\d+)\) is longer than the )?maximum model length of (?P<limit>\d+)"),
    re.compile(r"context length of only (?P<limit>\d+) tokens"),
    re.compile(r"Prompt contains (?P<tokens>\d+) tokens.*?model with (?P<limit>\d+)", re.DOTALL),  # Mistral
    re.compile(r"maximum prompt length is (?P<limit>\d+) but the request contains (?P<tokens>\d+)"),  # xAI
    # A minute's share
    re.compile(r"Request too large for .*?(?P<minute>Limit) (?P<limit>[\d,]+), Requested (?P<tokens>[\d,]+)"),
    re.compile(r"exceeds the context window|context_length_exceeded|reduce the length of the messages"),
    re.compile(r"exceeds? the available context size|exceeds? the context length"),  # Ollama, llama.cpp
)
"""What servers say of a request that is too long: https://github.com/Nutlope/aicommits/issues/259,
https://github.com/evalstate/fast-agent/issues/621, https://github.com/stanford-crfm/helm/issues/94."""

_encode = msgspec.json.Encoder().encode
_FINISH = {"stop": "stop", "tool_calls": "tool_calls", "function_call": "tool_calls", "length": "length"}
_FINISH |= {"content_filter": "filter"}


class OpenAIChat(Adapter):
    """The wire format of `POST /v1/chat/completions`.

    Args:
        name: The model.
        profile: Another server that speaks the format: `deepseek`, `mistral`, `ollama`, `openrouter`, `qwen`, `vllm` or
            `xai`. The adapter's name is then `openai_chat:` and the server's.

    Raises:
        InputError: There is no such profile.
    """

    provider = "openai_chat"
    path = "/v1/chat/completions"
    owned = frozenset({"messages", "model", "tools"})
    groups: tuple[tuple[bytes, bytes, int], ...] = ((b"", b"", 0),)
    overflows = OVERFLOWS

    def __init__(self, name: str | Model, *, profile: str = "") -> None:
        self.profile = server(profile) if profile else None
        super().__init__(name)
        self._role = "system" if self.profile else self.model.system_role
        self._late_role = self._role
        if self.profile:
            self.provider = f"openai_chat:{profile}"
        rules = cache_rules(self.provider, self.model.name)
        self._mark, self._asks_by = rules.mark_bytes, rules.params
        if self._mark:
            self.groups = self.groups * 3
            self.markable = frozenset({ANY, USER})  # what the model said takes no mark
        if self.profile:
            if not self.profile.late_system:
                self._late_role = "user"
            user, message = self.groups[ANY], self.costs.rules.message
            if self.profile.merges:
                user, self.front_opening = (b'{"role":"user","content":[', b"]}", message), message
            self.groups = (self.groups[ANY], user, self.groups[ANY])
            if self.profile.merges or self.profile.ends_with_user:
                self.opening = self.text_unit("(the conversation goes on)")
            self._nudge = self._message("user", "(go on)")

    # --- rendering --------------------------------------------------------------------------------------------------
    def units(self, item: Item, *, reasoning: bool = True, call: ToolCall | None = None) -> list[Unit]:
        """The units of an item.

        OpenAI has no place for reasoning. Other servers want it back with its calls; it is bound to no prefix.
        """
        del reasoning, call
        match item:
            case UserInput(content):
                return [self._user(content)]
            case AssistantTurn():
                return self._assistant(item)
            case ToolResult(answered, content, is_error):
                return self._result(answered, content, is_error)
            case Attachment(images=images) | Guidance(images=images) if images:
                return [self._user((Text(worded(item)), *images))]
            case _:
                return [self._told(item)]

    def text_unit(self, text: str) -> Unit:
        """A message in the model's system role, or the user's where the server takes system text in front only."""
        return self._message(self._late_role, text)

    def front_part(self, segment: Segment, text: str) -> Part:
        """A message in the model's system role, or a part of the one that the server takes."""
        if self._merges:
            return Part(segment, _encode({"type": "text", "text": text}), self.count(text))
        unit = self._message(self._role, text)
        return Part(segment, unit.wire, unit.tokens)

    def tools(self, tools: Sequence[Tool]) -> Tools:
        """The tools as functions."""
        wire = msgspec.json.encode(nested_functions(tools), order="sorted")
        return Tools(wire, self.tools_tokens(wire))

    def pieces(self, frame: Frame) -> list[Buffer]:
        """The head, tools, then the messages."""
        pieces: list[Buffer] = [frame.head]
        if frame.tools is not None:
            pieces += [b',"tools":', frame.tools.wire]
        front = marked_front(frame.front, frame.front_marks, self._mark)
        if self._merges and front:
            front = b'{"role":"system","content":[' + front + b"]}"
        pieces.append(b',"messages":[' + front)
        if frame.front and (frame.units or frame.tail):
            pieces.append(b",")
        pieces += marked_units(frame, self._mark)
        pieces += self.tail_pieces(frame)
        pieces.append(b"]}")
        return pieces

    def ending(self, group: int | None) -> Unit | None:
        """Some servers want the user's word, or a result, at the end."""
        needed = self.profile and self.profile.ends_with_user and group == ASSISTANT
        return self._nudge if needed else None

    def check_tools(self, tools: Sequence[Tool]) -> None:
        """At most 128 of them."""
        if len(tools) > TOOLS:
            raise InvalidTool(
                f"{len(tools)} tools are more than the {TOOLS} that chat completions take; leave some out"
            )

    def fields(self, params: Mapping[str, Any], max_tokens: int) -> dict[str, Any]:
        """Model, parameters, limit of the answer."""
        key = self.profile.limit if self.profile else "max_completion_tokens"
        limit = {} if self._limit_keys(params) else {key: max_tokens}
        return {"model": self.model.name, **self._asks_by, **params, **limit}

    def max_tokens_of(self, params: Mapping[str, Any]) -> int | None:
        """`max_completion_tokens`, or else the older `max_tokens`."""
        return next((params[key] for key in self._limit_keys(params)), None)

    @staticmethod
    def _limit_keys(params: Mapping[str, Any]) -> list[str]:
        return [key for key in ("max_completion_tokens", "max_tokens") if params.get(key) is not None]

    @property
    def _merges(self) -> bool:
        return bool(self.profile and self.profile.merges)

    def _content(self, text: str) -> Any:
        """A text as content; as a list of one part where that may carry a mark."""
        return [{"type": "text", "text": text}] if self._mark else text

    def _id(self, call: str) -> str:
        return short_id(call) if self.profile and self.profile.short_ids else wire_id(call)

    def _message(self, role: str, text: str) -> Unit:
        if self._merges and role == "user":
            return Unit(USER, _encode({"type": "text", "text": text}), self.count(text))
        return Unit(
            ANY, _encode({"role": role, "content": self._content(text)}), self.costs.rules.message + self.count(text)
        )

    def _told(self, item: Any) -> Unit:
        """State and decisions come from the application, guidance and attachments from a person."""
        role = "user" if isinstance(item, Attachment | Guidance) else self._late_role
        return self._message(role, worded(item))

    def _user(self, content: Content) -> Unit:
        content = self._shown(content)
        texts = [part.text for part in content if isinstance(part, Text) and part.text]
        images = [part for part in content if isinstance(part, Image)]
        if not images and not (self._merges and texts):
            text = texts[0] if len(texts) == 1 else "\n\n".join(texts)
            return self._message("user", text or EMPTY_INPUT)
        parts = [
            {"type": "text", "text": part.text}
            if isinstance(part, Text)
            else {"type": "file", "file": {"filename": "document.pdf", "file_data": data_url(part)}}
            if part.media_type == PDF
            else {"type": "image_url", "image_url": {"url": data_url(part)}}
            for part in content
            if isinstance(part, Image) or part.text
        ]
        tokens = sum(map(self.count, texts)) + sum(map(self.image_tokens, images))
        if self._merges:
            return Unit(USER, b",".join(map(_encode, parts)), tokens)
        return Unit(ANY, _encode({"role": "user", "content": parts}), self.costs.rules.message + tokens)

    def _shown(self, content: Content) -> Content:
        """Content without what the server does not take: documents are for OpenAI's own, and go inline."""
        named = tuple(
            Text(f"[document {part.url}]") if isinstance(part, Image) and part.url and part.media_type == PDF else part
            for part in content
        )
        return shown(named, PICTURES if self.profile else PICTURES | {PDF})

    def _assistant(self, turn: AssistantTurn) -> list[Unit]:
        text = turn.text
        message: dict[str, Any] = {"role": "assistant", "content": text or None}
        tokens = self.costs.rules.message + self.count(text) + self.costs.calls(len(turn.tool_calls))
        calls = []
        for call in turn.tool_calls:
            name, arguments = wire_name(call.name), object_arguments(call.arguments)
            function = {"name": name, "arguments": arguments}
            calls.append({"id": self._id(call.id), "type": "function", "function": function})
            tokens += self.costs.call(name, arguments)
        if calls:
            message["tool_calls"] = calls
        elif not text:
            return []
        tokens += self._replay(turn, message)
        return [Unit(ASSISTANT if len(self.groups) > 1 else ANY, _encode(message), tokens)]

    def _replay(self, turn: AssistantTurn, message: dict[str, Any]) -> int:
        """Put the server's own reasoning into a message where it wants it back; the tokens of that."""
        if self.profile is None:
            return 0
        own = [part for part in turn.parts if isinstance(part, Reasoning) and part.provider == self.provider]
        if self.profile.replays and "tool_calls" in message and self.model.name not in self.profile.no_replay:
            # A turn that another model made has none; the server insists on the key all the same.
            text = "".join(part.text for part in own)
            message[self.profile.replays] = text
            return self.count(text)
        sealed = next((part.redacted for part in own if part.redacted), "")
        if self.profile.details and sealed:
            message[self.profile.details] = msgspec.Raw(sealed.encode())
            return self.count(json_text(msgspec.json.decode(sealed)))
        return 0

    def _result(self, call: str, content: Content, is_error: bool) -> list[Unit]:
        content = self._shown(content)
        text = spoken(content)
        images = tuple(part for part in content if isinstance(part, Image))
        text = text or (f"(images of {call} follow)" if images else EMPTY_RESULT)
        if is_error:
            text = f"error: {text}"
        wire = _encode({"role": "tool", "tool_call_id": self._id(call), "content": self._content(text)})
        rules = self.costs.rules
        units = [Unit(ANY, wire, rules.message + rules.result + self.count(text))]
        if images:
            hoisted = self._user((Text(f"Images of tool call {call}:"), *images))
            units.append(hoisted._replace(deferred=True))
        return units

    # --- reading ----------------------------------------------------------------------------------------------------
    def parse(self, response: Mapping[str, Any] | bytes) -> Parsed:
        """The first choice of a chat completion and its usage."""
        whole = decoded(response, "the chat completion")
        try:
            choice = whole["choices"][0]
            parts = [*self._thoughts(choice["message"]), *_parts(choice["message"])]
            turn = AssistantTurn(tuple(parts), _finish(choice.get("finish_reason")))
        except (KeyError, IndexError, TypeError) as reason:
            raise ResponseError(
                f"no chat completion: expected choices[0].message, got keys {sorted(whole)} ({reason!r})"
            ) from reason
        return Parsed(turn, _usage(whole.get("usage")))

    def accumulator(self) -> OpenAIChatStream:
        """For the events of one streamed answer."""
        return OpenAIChatStream(self.profile.reasoning, self.profile.details) if self.profile else OpenAIChatStream()

    def adopt(self, body: Mapping[str, Any] | bytes) -> Adopted:
        """Leading system and developer messages become the system text; later ones stay where they stand."""
        whole = decoded(body, "the request body", InputError)
        messages = whole.get("messages")
        if not isinstance(messages, list | tuple):
            raise InputError(f"the request body has no list of messages, only keys {sorted(whole)}")
        system: list[str] = []
        items: list[Item] = []
        for place, message in enumerate(messages):
            try:
                role = message["role"]
                if role in ("system", "developer") and not items:
                    system.append(_text(message["content"]))
                elif role in ("system", "developer"):
                    items.append(UserInput((Text(_text(message["content"])),)))
                elif role == "assistant":
                    items.append(AssistantTurn((*self._thoughts(message), *_parts(message))))
                elif role == "tool":
                    items.append(ToolResult(message["tool_call_id"], (Text(_text(message.get("content"))),)))
                else:
                    items.append(UserInput(tuple(_content(message.get("content")))))
            except (KeyError, TypeError) as reason:
                raise InputError(f"messages[{place}] is no chat message: {reason!r}") from reason
        tools = adopted_functions(whole.get("tools"))
        return Adopted("\n\n".join(system), tools, tuple(items))

    def _thoughts(self, message: Mapping[str, Any]) -> list[Reasoning]:
        if self.profile is None:
            return []
        text = message.get(self.profile.reasoning) or ""
        details = message.get(self.profile.details)
        sealed = msgspec.json.encode(details).decode() if details else ""
        return [Reasoning(text, "", self.provider, sealed)] if text or sealed else []

    @staticmethod
    def findings(body: dict[str, Any]) -> list[Finding]:
        """By the rules of `muntin.checks.openai_chat`."""
        from muntin.checks import openai_chat as rules  # noqa: PLC0415  (few need them, and they cost start-up time)

        return rules.findings(body)


def _finish(reason: str | None) -> str:
    return _FINISH.get(reason or "stop", reason or "stop")


def _parts(message: Mapping[str, Any]) -> list[AssistantPart]:
    parts: list[AssistantPart] = []
    text = _text(message.get("content")) or message.get("refusal") or ""
    if text:
        parts.append(Text(text))
    for call in message.get("tool_calls") or ():
        if call.get("type", "function") == "function":
            function = call["function"]
            parts.append(ToolCall(call["id"], function["name"], function.get("arguments") or "{}"))
        else:
            parts.append(Opaque("openai_chat", msgspec.json.encode(call).decode()))
    return parts


def _text(content: Any) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(part.get("text", "") for part in content)


def _content(content: Any) -> list[Text | Image]:
    if content is None or isinstance(content, str):
        return [Text(content or "")]
    parts: list[Text | Image] = []
    for part in content:
        if part.get("type") == "image_url":
            given = part["image_url"]
            url = given if isinstance(given, str) else given["url"]  # the server takes either
            parts.append(image_of(url))
        elif (given := part.get("file") or {}).get("file_data"):
            parts.append(image_of(given["file_data"]))
        elif given:
            parts.append(Text(f"[document {given.get('filename') or given.get('file_id') or 'left out'}]"))
        else:
            parts.append(Text(part.get("text", "")))
    return parts


def _usage(usage: Mapping[str, Any] | None) -> Usage | None:
    """`prompt_tokens` includes what was cached."""
    if not usage:
        return None
    details = usage.get("prompt_tokens_details") or {}
    return Usage(
        input=usage.get("prompt_tokens") or 0,
        cached=details.get("cached_tokens") or 0,
        written=details.get("cache_write_tokens") or 0,
        output=usage.get("completion_tokens") or 0,
    )
