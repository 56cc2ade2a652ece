"""The rules `OC…` of `docs/wire-rules.md` that a request body can show, and a few without a number."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

__all__ = ["openai_chat_rules"]

Body = dict[str, Any]
Findings = Iterator[str]

NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
ID: Final = re.compile(r"[a-zA-Z0-9_-]+")
ID_LENGTH: Final = 64
TOOLS: Final = 128


def openai_chat_rules(body: Body, *, ours: bool = True) -> list[str]:
    """What `POST /v1/chat/completions` would refuse in a body of the right shape; empty when it is fine."""
    rules = (*ENFORCED, *OURS) if ours else ENFORCED
    return [finding for rule in rules for finding in rule(body)]


def _calls(body: Body) -> Iterator[tuple[str, dict[str, Any]]]:
    for i, message in enumerate(body["messages"]):
        for j, call in enumerate(message.get("tool_calls") or ()):
            yield f"messages.{i}.tool_calls.{j}", call


def _calls_are_answered(body: Body) -> Findings:
    calls: dict[str, str] = {}
    waiting: dict[str, str] = {}
    for i, message in enumerate([*body["messages"], {"role": "(end)"}]):
        if message["role"] == "tool":
            call = message["tool_call_id"]
            if call not in calls:
                yield f"OC2: messages.{i}.tool_call_id: {call!r} is no call of the assistant message before"
            elif call not in waiting:
                yield f"OC2: messages.{i}.tool_call_id: {call!r} was answered before"
            waiting.pop(call, None)
            continue
        for call, path in waiting.items():
            yield f"OC1: {path}: no tool message directly after answers {call!r}"
        calls = {}
        for j, entry in enumerate(message.get("tool_calls") or ()):
            path = f"messages.{i}.tool_calls.{j}.id"
            if entry["id"] in calls:
                yield f"call-id-unique: {path}: {entry['id']!r} names another call of this message"
            calls[entry["id"]] = path
        waiting = dict(calls)


def _lists_are_not_empty(body: Body) -> Findings:
    if not body["messages"]:
        yield "messages-empty: messages: an empty list"
    for i, message in enumerate(body["messages"]):
        if message.get("tool_calls") == []:
            yield f"OC3: messages.{i}.tool_calls: an empty list"


def _tools_are_some_and_few(body: Body) -> Findings:
    tools = body.get("tools")
    if tools is not None and not 1 <= len(tools) <= TOOLS:
        yield f"OC4: tools: {len(tools)} of them, not 1 to {TOOLS}"


def _names_fit(body: Body) -> Findings:
    tools = [(f"tools.{i}", tool) for i, tool in enumerate(body.get("tools") or ())]
    for path, entry in (*tools, *_calls(body)):
        kind = entry["type"]
        name = entry[kind]["name"]
        if not NAME.fullmatch(name):
            yield f"OC5: {path}.{kind}.name: {name!r} does not match {NAME.pattern}"


def _ids(body: Body) -> Iterator[tuple[str, str]]:
    for path, call in _calls(body):
        yield f"{path}.id", call["id"]
    for i, message in enumerate(body["messages"]):
        if message["role"] == "tool":
            yield f"messages.{i}.tool_call_id", message["tool_call_id"]


def _ids_are_short(body: Body) -> Findings:
    for path, call in _ids(body):
        if len(call) > ID_LENGTH:
            yield f"OC6: {path}: {len(call)} characters, of which {ID_LENGTH} are taken"


def _ids_fit(body: Body) -> Findings:
    for path, call in _ids(body):
        if not ID.fullmatch(call):
            yield f"call-id-form: {path}: {call!r} does not match {ID.pattern}"


def _no_json(constant: str) -> None:
    """Python alone reads `NaN` and `Infinity`."""
    raise ValueError(constant)


def _arguments_are_objects(body: Body) -> Findings:
    for path, call in _calls(body):
        if call["type"] != "function":
            continue
        try:
            value = json.loads(call["function"]["arguments"], parse_constant=_no_json)
        except ValueError as reason:
            yield f"OC7: {path}.function.arguments: no JSON ({reason})"
        else:
            if not isinstance(value, dict):
                yield f"OC7: {path}.function.arguments: the JSON text of a {type(value).__name__}, not an object"


def _content_is_there(body: Body) -> Findings:
    stand_ins = ("tool_calls", "function_call", "refusal", "audio")
    for i, message in enumerate(body["messages"]):
        if message.get("content") is None and not any(message.get(key) for key in stand_ins):
            yield f"OC7: messages.{i}.content: null in a message without calls"


def _tool_messages_are_text(body: Body) -> Findings:
    for i, message in enumerate(body["messages"]):
        if message["role"] == "tool" and isinstance(message["content"], list):
            for j, part in enumerate(message["content"]):
                if part["type"] != "text":
                    yield f"OC8: messages.{i}.content.{j}: {part['type']!r} in a tool message"


Rule = Callable[[Body], Findings]

ENFORCED: Final[tuple[Rule, ...]] = (
    _calls_are_answered,
    _lists_are_not_empty,
    _tools_are_some_and_few,
    _names_fit,
    _ids_are_short,
    _arguments_are_objects,
    _content_is_there,
    _tool_messages_are_text,
)
OURS: Final[tuple[Rule, ...]] = (_ids_fit,)
