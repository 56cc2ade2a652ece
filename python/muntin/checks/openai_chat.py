"""The rules `OC…` of `docs/wire-rules.md` that a request body can show, and a few without a number."""

from __future__ import annotations

from typing import Final

from muntin.checks import media
from muntin.checks.finding import (
    FUNCTION_NAME,
    Body,
    Finding,
    Findings,
    Rule,
    functions,
    is_json_object,
    listed,
    run,
    said,
)
from muntin.checks.openai_chat_shapes import KINDS, SHAPES
from muntin.checks.shape import bracketed

__all__ = ["RULES", "findings"]

ID_LENGTH: Final = 64
TOOLS: Final = 128


def findings(body: Body) -> list[Finding]:
    """What `POST /v1/chat/completions` would refuse."""
    return run(body, (*RULES, *KINDS, _media_fit))


def _calls(body: Body) -> list[tuple[str, Body]]:
    return [
        (f"messages.{i}.tool_calls.{j}", call)
        for i, message in listed(body.get("messages"))
        for j, call in listed(message.get("tool_calls"))
    ]


def _calls_are_answered(body: Body) -> Findings:
    calls: dict[str, str] = {}
    waiting: dict[str, str] = {}
    for i, message in [*listed(body.get("messages")), (-1, Body(role="(end)"))]:
        if message.get("role") == "tool":
            call, path = str(message.get("tool_call_id")), f"messages.{i}.tool_call_id"
            if call not in calls:
                yield Finding(
                    "OC2",
                    path,
                    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with "
                    "'tool_calls'.",
                    f"take this message out, or put it directly behind the message that makes the call {said(call)}",
                )
            elif call not in waiting:
                yield Finding(
                    "OC2", path, f"{said(call)} was answered before.", "send one result a call; take the second out"
                )
            waiting.pop(call, None)
            continue
        for call, path in waiting.items():
            yield Finding(
                "OC1",
                path,
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                f"'tool_call_id'. The following tool_call_ids did not have response messages: {call}",
                f"put a tool message for {said(call)} directly behind, before any other message",
            )
        calls = {}
        for j, entry in listed(message.get("tool_calls")):
            path = f"messages.{i}.tool_calls.{j}.id"
            if str(entry.get("id")) in calls:
                yield Finding(
                    "call-id-unique", path, f"{said(entry.get('id'))} names two calls.", "give each call its own id"
                )
            calls[str(entry.get("id"))] = path
        waiting = dict(calls)


def _lists_are_not_empty(body: Body) -> Findings:
    if body.get("messages") == []:
        yield Finding(
            "messages-empty",
            "messages",
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
            "send at least one message",
        )
    for i, message in listed(body.get("messages")):
        if message.get("tool_calls") == []:
            yield Finding(
                "OC3",
                f"messages.{i}.tool_calls",
                f"Invalid 'messages[{i}].tool_calls': empty array. Expected an array with minimum length 1, but got an "
                "empty array instead.",
                "leave the key out where there are no calls",
            )


def _tools_are_some_and_few(body: Body) -> Findings:
    tools = body.get("tools")
    if tools == []:
        yield Finding("OC4", "tools", "[] is too short - 'tools'", "leave the key out where there are no tools")
    elif isinstance(tools, list) and len(tools) > TOOLS:
        text = f"Invalid 'tools': array too long. Expected an array with maximum length {TOOLS}, but got {len(tools)}."
        yield Finding("OC4", "tools", text, f"offer at most {TOOLS} tools")


def _names_fit(body: Body) -> Findings:
    calls = []
    for path, call in _calls(body):
        kind = str(call.get("type") or "function")
        if isinstance(call.get(kind), dict):
            calls.append((f"{path}.{kind}", call[kind]))
    for path, entry in (*functions(body), *calls):
        name = entry.get("name")
        if isinstance(name, str) and not FUNCTION_NAME.fullmatch(name):
            why = "empty string." if not name else "string does not match pattern '^[a-zA-Z0-9_-]{1,64}$'."
            mend = "use 1 to 64 letters, digits, '_' or '-', in calls of the past as well as in tools"
            yield Finding("OC5", f"{path}.name", f"Invalid '{bracketed(path)}.name': {why}", mend)


def _ids_are_short(body: Body) -> Findings:
    calls = [(f"{path}.id", call.get("id")) for path, call in _calls(body)]
    results = [(f"messages.{i}.tool_call_id", m.get("tool_call_id")) for i, m in listed(body.get("messages"))]
    for path, call in (*calls, *results):
        if isinstance(call, str) and len(call) > ID_LENGTH:
            text = f"Invalid '{bracketed(path)}': string too long. Expected a string with maximum length {ID_LENGTH}."
            yield Finding("OC6", path, text, "replace the id by a hash of it, in the call and in its result alike")


def _arguments_are_objects(body: Body) -> Findings:
    for path, call in _calls(body):
        function = call.get("function")
        if isinstance(function, dict) and not is_json_object(function.get("arguments")):
            yield Finding(
                "OC7",
                f"{path}.function.arguments",
                f"{said(function.get('arguments'))} is not the JSON text of an object.",
                "send the arguments as JSON text; wrap what was cut off into an object",
            )


def _content_is_there(body: Body) -> Findings:
    stand_ins = ("tool_calls", "function_call", "refusal", "audio")
    for i, message in listed(body.get("messages")):
        if message.get("content") is None and not any(message.get(key) for key in stand_ins):
            path = f"messages.{i}.content"
            yield Finding(
                "OC7",
                path,
                f"Invalid value for 'content': expected a string, got null. ({bracketed(path)})",
                "give the message content, or take it out",
            )


def _tool_messages_are_text(body: Body) -> Findings:
    for i, message in listed(body.get("messages")):
        for j, part in listed(message.get("content")) if message.get("role") == "tool" else ():
            if part.get("type") != "text":
                yield Finding(
                    "OC8",
                    f"messages.{i}.content.{j}",
                    f"Invalid value: {said(part.get('type'))}. A tool message holds text only.",
                    "put the image into a user message behind all results of the batch",
                )


def _media_fit(body: Body) -> Findings:
    places = [
        (f"messages.{i}.content.{j}", part)
        for i, message in listed(body.get("messages"))
        for j, part in listed(message.get("content"))
    ]
    yield from media.openai("OC15", "openai_chat", media.shown(places))


RULES: Final[tuple[Rule, ...]] = (
    *SHAPES,
    _calls_are_answered,
    _lists_are_not_empty,
    _tools_are_some_and_few,
    _names_fit,
    _ids_are_short,
    _arguments_are_objects,
    _content_is_there,
    _tool_messages_are_text,
)
"""What every server of chat completions refuses."""
