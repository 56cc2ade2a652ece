"""Ollama's own chat API: arguments as objects, images beside the text, the size of the context said in each request.

Formats: https://github.com/ollama/ollama/blob/main/docs/api.md. A prompt that is longer than the context is cut without
a word, so a request asks for the window that it was counted against.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

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
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    UserInput,
)
from muntin.layout import Segment
from muntin.providers.arguments import counted_arguments, object_arguments
from muntin.providers.base import Adapter, Adopted, Buffer, Frame, Parsed, Part, Tools, Unit, decoded
from muntin.providers.ids import wire_id, wire_name
from muntin.providers.ollama_stream import OllamaStream
from muntin.providers.pictures import shown
from muntin.providers.shared import adopted_functions, answered, nested_functions, object_param
from muntin.usage import Usage
from muntin.wording import EMPTY_INPUT, EMPTY_RESULT, worded

__all__ = ["Ollama"]

NAME: Final = "ollama"

_encode = msgspec.json.Encoder().encode


class Ollama(Adapter):
    """The wire format of Ollama's `POST /api/chat`, answered in one piece.

    Results are joined to their calls by id, which newer servers read, and by the tool's name, which all do.

    `options.num_ctx` is the model's window and `options.num_predict` the limit of the answer, unless `params` say
    otherwise. A model that is served with less context than it could have is best described by a `muntin.Model`.
    """

    provider = NAME
    path = "/api/chat"
    owned = frozenset({"messages", "model", "tools"})
    groups: tuple[tuple[bytes, bytes, int], ...] = ((b"", b"", 0),)
    overflows = (
        re.compile(r"request \((?P<tokens>\d+) tokens\) exceeds the available context size \((?P<limit>\d+) tokens\)"),
        re.compile(r"exceeds? the (?:available context size|(?:maximum )?context length)"),
    )

    # --- rendering --------------------------------------------------------------------------------------------------
    def units(self, item: Item, *, reasoning: bool = True, call: ToolCall | None = None) -> list[Unit]:
        """The units of an item: one message. Images that are only referred to are named, since nobody fetches them."""
        match item:
            case UserInput(content):
                return [self._user(content)]
            case AssistantTurn(parts):
                return self._assistant(parts, reasoning=reasoning)
            case ToolResult(answered, content, is_error):
                return self._result(answered, call.name if call else "unknown", content, is_error)
            case Attachment(images=images) | Guidance(images=images) if images:
                return [self._user((Text(worded(item)), *images))]
            case Attachment() | Guidance():  # what a person said; the rest is the application's
                return [self._message("user", worded(item))]
            case _:
                return [self.text_unit(worded(item))]

    def text_unit(self, text: str) -> Unit:
        """A user message: many templates have system text at the beginning only."""
        return self._message("user", text)

    def front_part(self, segment: Segment, text: str) -> Part:
        """A system message."""
        unit = self._message("system", text)
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
        pieces.append(b',"messages":[' + b",".join(part.wire for part in frame.front))
        if frame.front and (frame.units or frame.tail):
            pieces.append(b",")
        pieces += frame.history.slices(0, frame.units)
        pieces += self.tail_pieces(frame)
        pieces.append(b"]}")
        return pieces

    def fields(self, params: Mapping[str, Any], max_tokens: int) -> dict[str, Any]:
        """Model, no stream, parameters, the size of the context and the limit of the answer in `options`."""
        options = {"num_ctx": self.model.window, "num_predict": max_tokens, **object_param(params, "options")}
        return {"model": self.model.name, "stream": False, **params, "options": options}

    def max_tokens_of(self, params: Mapping[str, Any]) -> int | None:
        """`options.num_predict`."""
        return object_param(params, "options").get("num_predict")

    def _message(self, role: str, text: str) -> Unit:
        return Unit(0, _encode({"role": role, "content": text}), self.costs.rules.message + self.count(text))

    def _user(self, content: Content) -> Unit:
        content = shown(content)
        text, images = _said(content)
        text = text or EMPTY_INPUT
        if not images:
            return self._message("user", text)
        wire = _encode({"role": "user", "content": text, "images": images})
        given = (part for part in content if isinstance(part, Image) and not part.url)
        tokens = self.costs.rules.message + self.count(text) + sum(map(self.image_tokens, given))
        return Unit(0, wire, tokens)

    def _result(self, call: str, name: str, content: Content, is_error: bool) -> list[Unit]:
        content = shown(content)
        text, images = _said(content)
        text = text or (f"(images of {call} follow)" if images else EMPTY_RESULT)
        text, name = f"error: {text}" if is_error else text, wire_name(name)
        wire = _encode({"role": "tool", "tool_name": name, "tool_call_id": wire_id(call), "content": text})
        units = [Unit(0, wire, self.costs.rules.message + self.costs.rules.result + self.count(text))]
        if images:
            given = tuple(part for part in content if isinstance(part, Image) and not part.url)
            units.append(self._user((Text(f"Images of tool call {call}:"), *given))._replace(deferred=True))
        return units

    def _assistant(self, parts: Sequence[AssistantPart], *, reasoning: bool) -> list[Unit]:
        text = "".join(part.text for part in parts if isinstance(part, Text))
        thought = "".join(part.text for part in parts if isinstance(part, Reasoning) and part.provider == NAME)
        message: dict[str, Any] = {"role": "assistant", "content": text}
        tokens = self.costs.rules.message + self.count(text)
        calls: list[dict[str, Any]] = []
        for part in parts:
            if isinstance(part, ToolCall):
                name, arguments = wire_name(part.name), object_arguments(part.arguments)
                function = {"name": name, "arguments": msgspec.Raw(arguments.encode())}
                calls.append({"id": wire_id(part.id), "function": function})
                tokens += self.costs.call(name, counted_arguments(part.arguments))
        if thought and reasoning:
            message["thinking"] = thought
            tokens += self.count(thought)
        if calls:
            message["tool_calls"] = calls
            tokens += self.costs.calls(len(calls))
        elif not text:
            return []
        return [Unit(0, _encode(message), tokens)]

    # --- reading ----------------------------------------------------------------------------------------------------
    def parse(self, response: Mapping[str, Any] | bytes) -> Parsed:
        """A response that came in one piece, and its counts. Calls without an id get one by their place."""
        whole = decoded(response, "the response")
        if whole.get("error"):
            raise ResponseError(f"the server answered with an error: {whole['error']!r}")
        try:
            parts = _parts(whole["message"])
        except (AttributeError, KeyError, TypeError) as reason:
            raise ResponseError(f"no response: expected message, got keys {sorted(whole)} ({reason!r})") from reason
        finish = whole.get("done_reason") or "stop"
        if finish == "stop" and any(isinstance(part, ToolCall) for part in parts):
            finish = "tool_calls"
        return Parsed(AssistantTurn(tuple(parts), finish), _usage(whole))

    def accumulator(self) -> OllamaStream:
        """For the events of one streamed answer."""
        return OllamaStream()

    def adopt(self, body: Mapping[str, Any] | bytes) -> Adopted:
        """Leading system messages become the system text; results answer the calls before them in order."""
        whole = decoded(body, "the request body", InputError)
        messages = whole.get("messages")
        if not isinstance(messages, list | tuple):
            raise InputError(f"the request body has no list of messages, only keys {sorted(whole)}")
        system: list[str] = []
        items: list[Item] = []
        open_calls: list[ToolCall] = []
        for place, message in enumerate(messages):
            try:
                role, text = message["role"], message.get("content") or ""
                if role == "system" and not items:
                    system.append(text)
                elif role == "assistant":
                    turn = AssistantTurn(tuple(_parts(message, f"call_{place}_")))
                    open_calls = list(turn.tool_calls)
                    items.append(turn)
                elif role == "tool":
                    call = answered(open_calls, message.get("tool_call_id"), message.get("tool_name") or "")
                    items.append(ToolResult(call, (Text(text),)))
                else:
                    images = (Image("image/*", data=data) for data in message.get("images") or ())
                    items.append(UserInput((Text(text), *images)))
            except (AttributeError, KeyError, TypeError) as reason:
                raise InputError(f"messages[{place}] is no message: {reason!r}") from reason
        tools = adopted_functions(whole.get("tools"))
        return Adopted("\n\n".join(system), tools, tuple(items))

    @staticmethod
    def findings(body: dict[str, Any]) -> list[Finding]:
        """By the rules of `muntin.checks.ollama`."""
        from muntin.checks import ollama as rules  # noqa: PLC0415  (few need them, and they cost start-up time)

        return rules.findings(body)


def _said(content: Content) -> tuple[str, list[str]]:
    """The text of content, images by reference named in it, and the data of the images that are there."""
    texts = [
        f"[image {part.url}]" if isinstance(part, Image) and part.url else getattr(part, "text", "") for part in content
    ]
    return "\n\n".join(filter(None, texts)), [part.data for part in content if isinstance(part, Image) and not part.url]


def _parts(message: Mapping[str, Any], prefix: str = "call_") -> list[AssistantPart]:
    parts: list[AssistantPart] = []
    if message.get("thinking"):
        parts.append(Reasoning(message["thinking"], provider=NAME))
    if message.get("content"):
        parts.append(Text(message["content"]))
    for place, call in enumerate(message.get("tool_calls") or ()):
        function = call["function"]
        arguments = msgspec.json.encode(function.get("arguments") or {}).decode()
        parts.append(ToolCall(call.get("id") or f"{prefix}{place}", function["name"], arguments))
    return parts


def _usage(response: Mapping[str, Any]) -> Usage | None:
    """`prompt_eval_count` is the whole prompt as the server kept it; what was cached is not said."""
    if response.get("prompt_eval_count") is None and response.get("eval_count") is None:
        return None
    return Usage(input=response.get("prompt_eval_count") or 0, output=response.get("eval_count") or 0)
