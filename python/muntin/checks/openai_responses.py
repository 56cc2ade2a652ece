"""The rules `OR…` of `docs/wire-rules.md` that a request body can show."""

from __future__ import annotations

from itertools import pairwise
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
from muntin.checks.openai_responses_shapes import SHAPES

__all__ = ["findings"]

ID_LENGTH: Final = 64
TOOLS: Final = 128
PREFIXES: Final = {"function_call": "fc", "reasoning": "rs", "message": "msg"}
"""What the server's own ids of items begin with."""


def findings(body: Body) -> list[Finding]:
    """What `POST /v1/responses` would refuse. What the server has stored already is not known here."""
    return run(body, RULES)


def _calls_are_answered(body: Body) -> Findings:
    if body.get("previous_response_id") or body.get("conversation"):
        return  # the other half may be on the server
    items = listed(body.get("input"))
    made = {str(item.get("call_id")) for _, item in items if item.get("type") == "function_call"}
    answered = {str(item.get("call_id")) for _, item in items if item.get("type") == "function_call_output"}
    seen = set()
    for i, item in items:
        call = str(item.get("call_id"))
        if item.get("type") == "function_call":
            seen.add(call)
            if call not in answered:
                text = f"No tool output found for function call {call}."
                yield Finding("OR1", f"input.{i}", text, "add a function_call_output with this call_id behind it")
        elif item.get("type") == "function_call_output" and call not in seen:
            text = f"No tool call found for function call output with call_id {call}."
            mend = "put it behind its call" if call in made else "take the output out, or add its function_call"
            yield Finding("OR2", f"input.{i}", text, mend)


def _reasoning_is_followed(body: Body) -> Findings:
    items = listed(body.get("input"))
    for (i, item), (_, after) in pairwise([*items, (-1, Body())]):
        if item.get("type") != "reasoning" or not item.get("id"):
            continue
        by_model = after.get("role", "assistant") == "assistant" and not str(after.get("type")).endswith("_output")
        if not after or not by_model:
            text = f"Item '{item['id']}' of type 'reasoning' was provided without its required following item."
            yield Finding("OR3", f"input.{i}", text, "take the reasoning out with what it led to, or keep both")


def _reasoning_is_whole(body: Body) -> Findings:
    for i, item in listed(body.get("input")):
        if item.get("type") != "reasoning":
            continue
        if not isinstance(item.get("summary"), list):
            text = f"Input[{i}] missing required field `summary`"
            yield Finding("OR4", f"input.{i}.summary", text, "send the summary as it came; an empty list will do")
        if body.get("store") is False and not item.get("encrypted_content"):
            text = f"Item with id '{item.get('id')}' not found. Items are not persisted when `store` is set to false."
            yield Finding("OR5", f"input.{i}", text, "send its encrypted_content, or take the reasoning out")


def _ids_are_the_servers(body: Body) -> Findings:
    for i, item in listed(body.get("input")):
        prefix, own = PREFIXES.get(str(item.get("type"))), item.get("id")
        if (
            prefix
            and isinstance(own, str)
            and not own.startswith(prefix)
            and item.get("role", "assistant") == "assistant"
        ):
            text = f"Invalid 'input[{i}].id': '{own}'. Expected an ID that begins with '{prefix}'."
            yield Finding("OR6", f"input.{i}.id", text, "leave the id out where it is not the server's")


def _call_ids_are_short(body: Body) -> Findings:
    for i, item in listed(body.get("input")):
        call = item.get("call_id")
        if isinstance(call, str) and len(call) > ID_LENGTH:
            text = (
                f"Invalid 'input[{i}].call_id': string too long. Expected a string with maximum length {ID_LENGTH}, "
                f"but got a string with length {len(call)} instead."
            )
            yield Finding("OR7", f"input.{i}.call_id", text, "hash the id, in the call and in its output alike")


def _names_and_tools_fit(body: Body) -> Findings:
    tools = body.get("tools")
    if isinstance(tools, list) and len(tools) > TOOLS:
        text = f"Invalid 'tools': array too long. Expected an array with maximum length {TOOLS}, but got {len(tools)}."
        yield Finding("OR8", "tools", text, f"offer at most {TOOLS} tools")
    declared = [(path, tool) for path, tool in functions(body) if tool.get("type") == "function"]
    called = [(f"input.{i}", item) for i, item in listed(body.get("input")) if item.get("type") == "function_call"]
    for path, entry in (*declared, *called):
        name = entry.get("name")
        if isinstance(name, str) and not FUNCTION_NAME.fullmatch(name):
            text = f"Invalid '{path}.name': string does not match pattern. Expected '^[a-zA-Z0-9_-]+$'."
            yield Finding("OR8", f"{path}.name", text, "use 1 to 64 letters, digits, '_' or '-'")


def _arguments_are_text(body: Body) -> Findings:
    for i, item in listed(body.get("input")):
        if item.get("type") == "function_call" and not is_json_object(item.get("arguments")):
            text = f"{said(item.get('arguments'))} is not the JSON text of an object."
            yield Finding("OR9", f"input.{i}.arguments", text, "send the arguments as JSON text of an object")


def _roles_are_known(body: Body) -> Findings:
    for i, item in listed(body.get("input")):
        role = item.get("role", "user")
        if isinstance(role, str) and role not in ("user", "assistant", "system", "developer"):
            text = f"Invalid value: '{role}'. Supported: 'assistant', 'system', 'developer', and 'user'."
            yield Finding("OR10", f"input.{i}.role", text, "send results as function_call_output items")


def _media_fit(body: Body) -> Findings:
    places = [
        (f"input.{i}.{key}.{j}", part)
        for i, item in listed(body.get("input"))
        for key in ("content", "output")
        for j, part in listed(item.get(key))
    ]
    yield from media.openai("OR15", "openai_responses", media.shown(places))


RULES: Final[tuple[Rule, ...]] = (
    *SHAPES,
    _calls_are_answered,
    _reasoning_is_followed,
    _reasoning_is_whole,
    _ids_are_the_servers,
    _call_ids_are_short,
    _names_and_tools_fit,
    _arguments_are_text,
    _roles_are_known,
    _media_fit,
)
