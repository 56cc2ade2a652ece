"""The rules `GG…` of `docs/wire-rules.md` that a request body can show."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from muntin.checks import media
from muntin.checks.finding import Body, Finding, Findings, Rule, listed, run, said
from muntin.checks.gemini_shapes import SHAPES, camel, schemas

__all__ = ["findings"]

NAME: Final = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")
DATA: Final = ("text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode")
DATA_MORE: Final = (*DATA, "codeExecutionResult", "toolCall", "toolResponse", "thought", "thoughtSignature")


def findings(body: Body) -> list[Finding]:
    """What `generateContent` would refuse. Keys are those of the REST API, in either spelling where parts are named."""
    return run(body, RULES)


def _contents(body: Body) -> list[tuple[int, str, list[tuple[int, Body]]]]:
    return [
        (i, c.get("role") or "user", [(j, camel(part)) for j, part in listed(c.get("parts"))])
        for i, c in listed(body.get("contents"))
    ]


def _roles_are_known(body: Body) -> Findings:
    for i, role, _ in _contents(body):
        if role not in ("user", "model"):
            text = "Please use a valid role: user, model."
            mend = "put system text into systemInstruction, what the model said into 'model', all else into 'user'"
            yield Finding("GG1", f"contents.{i}.role", text, mend)


def _parts_have_content(body: Body) -> Findings:
    for i, _, parts in _contents(body):
        if not parts:
            text = "Unable to submit request because it must include at least one parts field."
            yield Finding("GG2", f"contents.{i}.parts", text, "take the content out")
        for j, part in parts:
            if not any(part.get(key) is not None for key in DATA_MORE):
                text = "required oneof field 'data' must have one initialized field"
                yield Finding("GG2", f"contents.{i}.parts.{j}", text, "take the empty part out")


def _turns(body: Body) -> Iterator[tuple[int, str, list[tuple[int, Body]]]]:
    """Contents with neighbours of one role taken together, since the server does not tell them apart."""
    turn: tuple[int, str, list[tuple[int, Body]]] | None = None
    for i, role, parts in _contents(body):
        if turn and turn[1] == role:
            turn[2].extend(parts)
            continue
        if turn:
            yield turn
        turn = (i, role, list(parts))
    if turn:
        yield turn


def _calls_are_answered(body: Body) -> Findings:
    before: tuple[int, str, list[tuple[int, Body]]] = (-1, "", [])
    for turn in [*_turns(body), (-1, "", [])]:
        calls = [part["functionCall"] for _, part in before[2] if part.get("functionCall")]
        results = [part["functionResponse"] for _, part in turn[2] if part.get("functionResponse")]
        if any(part.get("functionCall") for _, part in turn[2]) and before[0] < 0:
            text = (
                "Please ensure that function call turn comes immediately after a user turn or after a function "
                "response turn."
            )
            yield Finding("GG3", f"contents.{turn[0]}", text, "begin with a user's content")
        if results and not calls:
            text = "Please ensure that function response turn comes immediately after a function call turn."
            yield Finding("GG4", f"contents.{turn[0]}", text, "take the results out, or put their calls before them")
        elif len(calls) != len(results) and (turn[0] >= 0 or calls):
            text = (
                "Please ensure that the number of function response parts is equal to the number of function call "
                "parts of the function call turn."
            )
            mend = f"{len(calls)} calls want {len(calls)} results in the next content, not {len(results)}"
            yield Finding("GG5", f"contents.{before[0]}", text, mend)
        before = turn


def _names_fit(body: Body) -> Findings:
    named = [
        (f"tools.{i}.functionDeclarations.{j}", declared)
        for i, tool in listed(body.get("tools"))
        for j, declared in listed(tool.get("functionDeclarations"))
    ]
    for i, _, parts in _contents(body):
        for j, part in parts:
            keys = ("functionCall", "functionResponse")
            named += [(f"contents.{i}.parts.{j}.{key}", part[key]) for key in keys if isinstance(part.get(key), dict)]
    for path, entry in named:
        name = entry.get("name")
        if not isinstance(name, str) or not NAME.fullmatch(name):
            text = (
                "Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), "
                "underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64."
            )
            yield Finding("GG6", f"{path}.name", text, f"rename {said(name)}, in tools, calls and results alike")


def _arrays_have_items(body: Body) -> Findings:
    for i, tool in listed(body.get("tools")):
        for j, declared in listed(tool.get("functionDeclarations")):
            place = f"tools.{i}.functionDeclarations.{j}.parameters"
            for path, schema in schemas(declared.get("parameters"), place):
                if str(schema.get("type")).lower() == "array" and "items" not in schema:
                    text = f"GenerateContentRequest.{path}.items: missing field."
                    yield Finding("GG7", path, text, "say what the array holds: items")


def _calls_are_signed(body: Body) -> Findings:
    """Where any call is signed the model signs, and then the first call of each step of this turn has to be."""
    contents = _contents(body)
    if not any(
        part.get("thoughtSignature") and part.get("functionCall") for _, _, parts in contents for _, part in parts
    ):
        return
    begin = 0
    for i, role, parts in contents:
        if role == "user" and parts and not any(part.get("functionResponse") for _, part in parts):
            begin = i  # the turn begins with the last ordinary input
    for i, role, parts in contents:
        calls = [(j, part) for j, part in parts if part.get("functionCall")]
        if i > begin and role == "model" and calls and not calls[0][1].get("thoughtSignature"):
            j, part = calls[0]
            name = part["functionCall"].get("name")
            text = f"Function call is missing a thought_signature in functionCall parts. Call {name}, position {i}"
            yield Finding("GG8", f"contents.{i}.parts.{j}", text, "send back the signature that came with this call")


def _responses_are_objects(body: Body) -> Findings:
    for i, _, parts in _contents(body):
        for j, part in parts:
            result = part.get("functionResponse")
            if isinstance(result, dict) and not isinstance(result.get("response"), dict):
                path = f"contents.{i}.parts.{j}.functionResponse.response"
                text = f"Invalid value at '{path}' (type.googleapis.com/google.protobuf.Struct)"
                yield Finding("GG9", path, text, 'wrap the result into an object: {"output": …} or {"error": …}')


def _media_fit(body: Body) -> Findings:
    places = []
    for i, _, parts in _contents(body):
        for j, part in parts:
            places.append((f"contents.{i}.parts.{j}", part))
            result = part.get("functionResponse")
            inner = listed(result.get("parts")) if isinstance(result, dict) else ()
            places += ((f"contents.{i}.parts.{j}.functionResponse.parts.{k}", camel(one)) for k, one in inner)
    yield from media.gemini(media.shown(places))


RULES: Final[tuple[Rule, ...]] = (
    *SHAPES,
    _roles_are_known,
    _parts_have_content,
    _calls_are_answered,
    _names_fit,
    _arrays_have_items,
    _calls_are_signed,
    _responses_are_objects,
    _media_fit,
)
