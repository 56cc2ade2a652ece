"""OpenAI Chat Completions: one message a unit, system text as messages, images hoisted out of tool results.

Formats and rules: https://platform.openai.com/docs/api-reference/chat/create. Every call is answered by the `tool`
messages directly after it, and a `tool` message has text only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from muntin.capabilities import Tool
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
    Text,
    ToolCall,
    ToolResult,
    UserInput,
)
from muntin.layout import Segment
from muntin.providers.base import Adapter, Adopted, Buffer, Frame, Parsed, Part, Tools, Unit, decoded, object_arguments
from muntin.providers.ids import wire_id, wire_name
from muntin.providers.openai_chat_stream import OpenAIChatStream
from muntin.usage import Usage
from muntin.wording import EMPTY_INPUT, EMPTY_RESULT, worded

__all__ = ["OpenAIChat"]

TOOLS: Final = 128
"""Tools that a request may have; the server refuses more."""

_encode = msgspec.json.Encoder().encode
_FINISH = {"stop": "stop", "tool_calls": "tool_calls", "function_call": "tool_calls", "length": "length"}
_FINISH |= {"content_filter": "filter"}


class OpenAIChat(Adapter):
    """The wire format of `POST /v1/chat/completions`."""

    provider = "openai_chat"
    path = "/v1/chat/completions"
    owned = frozenset({"messages", "model", "tools"})
    groups: tuple[tuple[bytes, bytes, int], ...] = ((b"", b"", 0),)

    # --- rendering --------------------------------------------------------------------------------------------------
    def units(self, item: Item, *, reasoning: bool = True) -> list[Unit]:
        """The units of an item. Reasoning is never replayed: chat completions have no place for it."""
        del reasoning
        match item:
            case UserInput(content):
                return [self._user(content)]
            case AssistantTurn():
                return self._assistant(item)
            case ToolResult(call, content, is_error):
                return self._result(call, content, is_error)
            case Attachment(images=images) | Guidance(images=images) if images:
                return [self._user((Text(worded(item)), *images))]
            case _:
                return [self._told(item)]

    def text_unit(self, text: str) -> Unit:
        """A message in the model's system role."""
        return self._message(self.model.system_role, text)

    def front_part(self, segment: Segment, text: str) -> Part:
        """A message in the model's system role."""
        unit = self._message(self.model.system_role, text)
        return Part(segment, unit.wire, unit.tokens)

    def tools(self, tools: Sequence[Tool]) -> Tools:
        """The tools as functions."""
        shapes = [
            {"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.parameters}}
            for t in tools
        ]
        wire = msgspec.json.encode(shapes, order="sorted")
        return Tools(wire, self.tools_tokens(wire))

    def pieces(self, frame: Frame) -> list[Buffer]:
        """The head, tools, then the messages."""
        pieces: list[Buffer] = [frame.head]
        if frame.tools is not None:
            pieces += [b',"tools":', frame.tools.wire]
        pieces.append(b',"messages":[' + b",".join(part.wire for part in frame.front))
        if frame.front and (frame.units or frame.tail):
            pieces.append(b",")
        pieces += frame.history.slices(0, frame.units)
        pieces += self.tail_pieces(frame)
        pieces.append(b"]}")
        return pieces

    def check_tools(self, tools: Sequence[Tool]) -> None:
        """At most 128 of them."""
        if len(tools) > TOOLS:
            raise InvalidTool(
                f"{len(tools)} tools are more than the {TOOLS} that chat completions take; leave some out"
            )

    def fields(self, params: Mapping[str, Any], max_tokens: int) -> dict[str, Any]:
        """Model, parameters, limit of the answer."""
        limit = {} if self._limit_keys(params) else {"max_completion_tokens": max_tokens}
        return {"model": self.model.name, **params, **limit}

    def max_tokens_of(self, params: Mapping[str, Any]) -> int | None:
        """`max_completion_tokens`, or else the older `max_tokens`."""
        return next((params[key] for key in self._limit_keys(params)), None)

    @staticmethod
    def _limit_keys(params: Mapping[str, Any]) -> list[str]:
        return [key for key in ("max_completion_tokens", "max_tokens") if params.get(key) is not None]

    def _message(self, role: str, text: str) -> Unit:
        return Unit(0, _encode({"role": role, "content": text}), self.costs.rules.message + self.count(text))

    def _told(self, item: Any) -> Unit:
        """State and decisions come from the application, guidance and attachments from a person."""
        role = "user" if isinstance(item, Attachment | Guidance) else self.model.system_role
        return self._message(role, worded(item))

    def _user(self, content: Content) -> Unit:
        texts = [part.text for part in content if isinstance(part, Text) and part.text]
        images = [part for part in content if isinstance(part, Image)]
        if not images:
            text = texts[0] if len(texts) == 1 else "\n\n".join(texts)
            return self._message("user", text or EMPTY_INPUT)
        parts = [
            {"type": "text", "text": part.text}
            if isinstance(part, Text)
            else {"type": "image_url", "image_url": {"url": _image_url(part)}}
            for part in content
            if isinstance(part, Image) or part.text
        ]
        tokens = self.costs.rules.message + sum(map(self.count, texts)) + sum(map(self.image_tokens, images))
        return Unit(0, _encode({"role": "user", "content": parts}), tokens)

    def _assistant(self, turn: AssistantTurn) -> list[Unit]:
        text = turn.text
        message: dict[str, Any] = {"role": "assistant", "content": text or None}
        tokens = self.costs.rules.message + self.count(text) + self.costs.calls(len(turn.tool_calls))
        calls = []
        for call in turn.tool_calls:
            name, arguments = wire_name(call.name), object_arguments(call.arguments)
            function = {"name": name, "arguments": arguments}
            calls.append({"id": wire_id(call.id), "type": "function", "function": function})
            tokens += self.costs.call(name, arguments)
        if calls:
            message["tool_calls"] = calls
        elif not text:
            return []
        return [Unit(0, _encode(message), tokens)]

    def _result(self, call: str, content: Content, is_error: bool) -> list[Unit]:
        text = "\n\n".join(part.text for part in content if isinstance(part, Text) and part.text)
        images = tuple(part for part in content if isinstance(part, Image))
        text = text or (f"(images of {call} follow)" if images else EMPTY_RESULT)
        if is_error:
            text = f"error: {text}"
        wire = _encode({"role": "tool", "tool_call_id": wire_id(call), "content": text})
        rules = self.costs.rules
        units = [Unit(0, wire, rules.message + rules.result + self.count(text))]
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
            turn = AssistantTurn(tuple(_parts(choice["message"])), _finish(choice.get("finish_reason")))
        except (KeyError, IndexError, TypeError) as reason:
            raise ResponseError(
                f"no chat completion: expected choices[0].message, got keys {sorted(whole)} ({reason!r})"
            ) from reason
        return Parsed(turn, _usage(whole.get("usage")))

    def accumulator(self) -> OpenAIChatStream:
        """For the events of one streamed answer."""
        return OpenAIChatStream()

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
                    items.append(AssistantTurn(tuple(_parts(message))))
                elif role == "tool":
                    items.append(ToolResult(message["tool_call_id"], (Text(_text(message.get("content"))),)))
                else:
                    items.append(UserInput(tuple(_content(message.get("content")))))
            except (KeyError, TypeError) as reason:
                raise InputError(f"messages[{place}] is no chat message: {reason!r}") from reason
        tools = tuple(
            Tool(f["name"], f.get("description", ""), f.get("parameters") or {"type": "object", "properties": {}})
            for tool in whole.get("tools") or ()
            if (f := tool.get("function"))
        )
        return Adopted("\n\n".join(system), tools, tuple(items))


def _image_url(image: Image) -> str:
    return image.url or f"data:{image.media_type};base64,{image.data}"


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
            url = part["image_url"]["url"]
            head, _, data = url.partition(";base64,")
            inline = url.startswith("data:") and data
            parts.append(Image(head[5:], data=data) if inline else Image("image/*", url=url))
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
