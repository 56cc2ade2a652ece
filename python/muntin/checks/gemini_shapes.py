"""What the contents, parts and tools of a generateContent request look like: `GG11`, and `GG12` for `parameters`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from muntin.checks.finding import Body, Finding, Findings, Rule, listed, said
from muntin.checks.shape import Fault, Key, bracketed, each, faults, findings_of

__all__ = ["SHAPES", "camel", "schemas"]

PARTS: Final = {
    "text": (str,),
    "thoughtSignature": (str,),
    "thought": (bool,),
    "inlineData": (dict,),
    "fileData": (dict,),
    "functionCall": (dict,),
    "functionResponse": (dict,),
    "executableCode": (dict,),
    "codeExecutionResult": (dict,),
}
INNER: Final = {
    "inlineData": (Key("mimeType"), Key("data")),
    "fileData": (Key("fileUri"), Key("mimeType", required=False)),
    "functionCall": (Key("args", (dict,), required=False), Key("id", required=False)),
    "functionResponse": (Key("id", required=False),),
}
"""Names and responses have rules of their own."""
KINDS: Final = {str: "TYPE_STRING", bool: "TYPE_BOOL"}
REFUSED: Final = ("$schema", "$id")
"""Keywords of JSON Schema that `parameters` has in no version of the API; others were added to it in time."""


def schemas(value: Any, path: str) -> Iterator[tuple[str, Body]]:
    """A schema and all below it, at any depth, with their paths."""
    todo: list[tuple[str, Any]] = [(path, value)]
    while todo:
        place, schema = todo.pop()
        if not isinstance(schema, dict):
            continue
        yield place, schema
        if isinstance(properties := schema.get("properties"), dict):
            todo += ((f"{place}.properties.{name}", one) for name, one in properties.items())
        todo.append((f"{place}.items", schema.get("items")))
        todo += ((f"{place}.anyOf.{i}", one) for i, one in listed(schema.get("anyOf")))


def camel(entry: Body) -> Body:
    """An object with the keys of the documents: the server takes `function_call` for `functionCall`."""
    return {re.sub(r"_([a-z])", lambda found: found[1].upper(), key): value for key, value in entry.items()}


def _words(fault: Fault) -> str:
    path = bracketed(fault.path)
    if fault.wrong == "missing":
        return f"* GenerateContentRequest.{path}: required field is missing"
    kind = KINDS.get(fault.key.types[0])
    if kind:
        return f"Invalid value at '{path}' ({kind}), {said(fault.value)}"
    if list in fault.key.types:
        return f"Invalid value at '{path}', expected a list but got {said(fault.value)}"
    return f"Invalid value at '{path}', expected an object but got {said(fault.value)}"


def _content(content: Body, path: str) -> Iterator[Fault]:
    yield from faults(content, path, (Key("role", required=False), Key("parts", (list,), required=False)))
    yield from each(content.get("parts"), f"{path}.parts", _part)


def _part(given: Body, path: str) -> Iterator[Fault]:
    part = camel(given)
    yield from faults(part, path, (Key(name, types, required=False) for name, types in PARTS.items()))
    for name, keys in INNER.items():
        if isinstance(part.get(name), dict):
            yield from faults(camel(part[name]), f"{path}.{name}", keys)


def _contents(body: Body) -> Iterator[Fault]:
    yield from faults(body, "", (Key("contents", (list, dict)), Key("tools", (list, dict), required=False)))
    yield from each(body.get("contents"), "contents", _content)
    for key in ("systemInstruction", "system_instruction"):
        yield from faults(body, "", (Key(key, (dict,), required=False),))
        if isinstance(body.get(key), dict):
            yield from _content(body[key], key)


def _declarations(tool: Body, path: str) -> tuple[Any, str]:
    return camel(tool).get("functionDeclarations"), f"{path}.functionDeclarations"


def _tool(tool: Body, path: str) -> Iterator[Fault]:
    yield from each(*_declarations(tool, path), _declared)


def _declared(given: Body, path: str) -> Iterator[Fault]:
    declared = camel(given)
    yield from faults(declared, path, (Key("description", required=False),))
    keys = ("parameters", "parametersJsonSchema")
    yield from faults(declared, path, (Key(key, (dict,), required=False) for key in keys))


def _have_their_keys(body: Body) -> Findings:
    yield from findings_of("GG11", (*_contents(body), *each(body.get("tools"), "tools", _tool)), _words)


def _parameters_are_no_json_schema(body: Body) -> Findings:
    for i, tool in listed(body.get("tools")):
        declarations, path = _declarations(tool, f"tools.{i}")
        for j, declared in listed(declarations):
            for place, schema in schemas(declared.get("parameters"), f"{path}.{j}.parameters"):
                for key in REFUSED:
                    if key in schema:
                        where = bracketed(place)
                        text = f"Invalid JSON payload received. Unknown name \"{key}\" at '{where}': Cannot find field."
                        mend = "take it out, or send parametersJsonSchema instead"
                        yield Finding("GG12", f"{place}.{key}", text, mend)


SHAPES: Final[tuple[Rule, ...]] = (_have_their_keys, _parameters_are_no_json_schema)
