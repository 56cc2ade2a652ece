"""Tools as models are told of them, whose text is what is billed.

OpenAI's get a TypeScript namespace, in the form of the published harmony format,
https://cookbook.openai.com/articles/openai-harmony; recorded bills of older models fit it to the token, but for what is
said at `uncommented`. Gemini's get JSON that repeats itself; others are counted as JSON as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from muntin.counting.outline import Schema, Shape, json_text

__all__ = ["answer_format", "namespace", "tool_texts", "uncommented"]

DEPTH: Final = 12
"""Levels of a schema that are followed; a reference may lead in a circle."""

AGAIN: Final = 16
"""How often an object may be told again; no bill is known of one that lies deeper."""


def namespace(shapes: Sequence[Shape]) -> str:
    """The namespace with all functions, below its headings.

    Examples:
        >>> print(namespace([Shape("f", "Look.", {"properties": {"x": {"type": "integer"}}, "required": ["x"]})]))
        # Tools
        <BLANKLINE>
        ## functions
        <BLANKLINE>
        namespace functions {
        <BLANKLINE>
        // Look.
        type f = (_: {
        x: number,
        }) => any;
        <BLANKLINE>
        } // namespace functions
    """
    lines = ["# Tools", "", "## functions", "", "namespace functions {", ""]
    for shape in shapes:
        lines += _comment(shape.description)
        lines += _comment(shape.parameters.get("title"))
        if _properties(shape.parameters):
            definitions = _definitions(shape.parameters)
            lines += [f"type {shape.name} = (_: {{", *_fields(shape.parameters, definitions, 0), "}) => any;", ""]
        else:
            lines += [f"type {shape.name} = () => any;", ""]
    lines.append("} // namespace functions")
    return "\n".join(lines)


def uncommented(shape: Shape) -> bool:
    """Whether a tool has parameters and none of them says anything: the bill has one token less for such a tool."""
    fields = _properties(shape.parameters).values()
    return bool(fields) and not any(
        isinstance(one, Mapping) and (one.get("description") or one.get("title")) for one in fields
    )


def tool_texts(shape: Shape, told_as: str) -> list[tuple[str, int]]:
    """The texts of a tool, each with how often it is billed: `json` as it is, or `nested` as Gemini's models are told.

    For them references are followed and titles are left out, and an object that is a property of another is billed
    twice as often as that, as recorded bills of 2.5 and 3 show; one in a list is not.

    Examples:
        >>> inner = {"type": "object", "properties": {"x": {"type": "string"}}}
        >>> shape = Shape("f", "Look.", {"type": "object", "properties": {"in": inner}})
        >>> [times for _, times in tool_texts(shape, "json")], [times for _, times in tool_texts(shape, "nested")]
        ([1], [1, 1, 1])
    """
    if told_as != "nested":
        told = {"name": shape.name, "description": shape.description, "input_schema": shape.parameters}
        return [(json_text(told), 1)]
    definitions = _definitions(shape.parameters)
    schema = _plain(_followed(shape.parameters, definitions, ()))
    head = [(shape.description, 1), (json_text({"name": shape.name, "parameters": schema}), 1)]
    return head + [(json_text(inner), times) for inner, times in _inner(schema, 1)]


def answer_format(schema: Schema) -> str:
    """The schema that the answer has to follow, below its heading: compact JSON without titles."""
    lines = ["# Response Formats", "", f"## {schema.name}", "", *_comment(schema.description)]
    lines.append(json.dumps(_plain(schema.schema), separators=(",", ":"), ensure_ascii=False))
    return "\n".join(lines)


def _plain(value: Any, *, names: bool = False) -> Any:
    """A schema without what the models are not told; below `properties` and `$defs` the keys are names."""
    if isinstance(value, Mapping):
        return {
            key: _plain(inner, names=not names and key in ("properties", "$defs"))
            for key, inner in value.items()
            if names or key not in ("title", "additionalProperties")
        }
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value


def _followed(value: Any, definitions: Mapping[str, Any], inside: tuple[str, ...]) -> Any:
    """A schema with what its references lead to; one that leads in a circle ends there."""
    if isinstance(value, Mapping):
        reference = value.get("$ref")
        if isinstance(reference, str):
            if reference in inside:
                return {}
            value, inside = _resolved(value, definitions), (*inside, reference)
        return {
            key: _followed(inner, definitions, inside)
            for key, inner in value.items()
            if key not in ("$defs", "definitions", "$ref")
        }
    if isinstance(value, list | tuple):
        return [_followed(inner, definitions, inside) for inner in value]
    return value


def _inner(schema: Any, times: int) -> Iterator[tuple[Mapping[str, Any], int]]:
    """Objects that are properties of an object, with how often each is told again."""
    for field in _properties(schema).values():
        if isinstance(field, Mapping) and _properties(field):
            yield field, times
            if times < AGAIN:
                yield from _inner(field, 2 * times)


def _comment(*texts: Any) -> list[str]:
    lines: list[str] = []
    for text in texts:
        if isinstance(text, str) and text.strip():
            if lines:
                lines.append("//")
            lines += [f"// {line.strip()}" if line.strip() else "//" for line in text.strip().split("\n")]
    return lines


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    fields = schema.get("properties")
    return fields if isinstance(fields, Mapping) else {}


def _definitions(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    found = schema.get("$defs") or schema.get("definitions")
    return found if isinstance(found, Mapping) else {}


def _fields(schema: Mapping[str, Any], definitions: Mapping[str, Any], depth: int) -> Iterator[str]:
    required = schema.get("required")
    required = required if isinstance(required, list | tuple) else ()  # of a draft long gone, a word of the field's own
    for name, given in _properties(schema).items():
        field = _resolved(given, definitions)
        yield from _comment(field.get("title"), field.get("description"))
        default = ""
        if "default" in field:
            default = f" // default: {json.dumps(field['default'], ensure_ascii=False)}"
        yield f"{name}{'' if name in required else '?'}: {_type(field, definitions, depth)},{default}"


def _resolved(schema: Any, definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(schema, Mapping):
        return {}
    reference = schema.get("$ref")
    if isinstance(reference, str):
        target = definitions.get(reference.rpartition("/")[2])
        if isinstance(target, Mapping):
            return {**target, **{key: value for key, value in schema.items() if key != "$ref"}}
    return schema


def _type(schema: Any, definitions: Mapping[str, Any], depth: int) -> str:
    schema = _resolved(schema, definitions)
    if depth > DEPTH:
        return "any"
    choices = schema.get("enum")
    if isinstance(choices, list | tuple):
        return " | ".join(json.dumps(choice, ensure_ascii=False) for choice in choices)
    for key in ("anyOf", "oneOf", "allOf"):
        if isinstance(schema.get(key), list | tuple):
            return " | ".join(_type(one, definitions, depth + 1) for one in schema[key])
    kind = schema.get("type")
    if isinstance(kind, list | tuple):
        return " | ".join(_type({**schema, "type": one}, definitions, depth + 1) for one in kind)
    match kind:
        case "integer" | "number":
            return "number"
        case "string" | "boolean" | "null":
            return str(kind)
        case "array":
            return f"{_type(schema.get('items'), definitions, depth + 1)}[]"
        case "object" if _properties(schema):
            return "\n".join(("{", *_fields(schema, definitions, depth + 1), "}"))
        case "object":
            return "object"
        case _:
            return "any"
