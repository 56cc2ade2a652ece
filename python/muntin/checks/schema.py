"""Whether an object is a JSON schema of draft 2020-12, keyword by keyword; it is not applied to anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

__all__ = ["invalid"]

TYPES: Final = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})


def invalid(schema: Any) -> str:
    """The path of the first keyword that is not as the draft has it, or empty. O(size), at any depth."""
    todo: list[tuple[str, Any]] = [("", schema)]
    while todo:
        path, one = todo.pop()
        if isinstance(one, bool):
            continue
        if not isinstance(one, dict):
            return path
        for keyword, value in one.items():
            place = f"{path}.{keyword}".lstrip(".")
            if not _KEYWORDS.get(keyword, _anything)(value):
                return place
            todo += _inner(keyword, value, place)
    return ""


def _inner(keyword: str, value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The schemas below a keyword whose form is right."""
    if keyword in _ONE:
        yield path, value
    elif keyword in _MANY:
        yield from ((f"{path}.{i}", one) for i, one in enumerate(value))
    elif keyword in _NAMED:
        yield from ((f"{path}.{name}", one) for name, one in value.items())


def _anything(_: Any) -> bool:
    return True


def _is_type(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(map(_is_one_type, value)) and len(set(value)) == len(value)
    return _is_one_type(value)


def _is_one_type(value: Any) -> bool:
    return isinstance(value, str) and value in TYPES


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value) and len(set(value)) == len(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_count(value: Any) -> bool:
    return _is_number(value) and value >= 0 and value % 1 == 0


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_some(value: Any) -> bool:
    return isinstance(value, list) and bool(value)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _is_schema(value: Any) -> bool:
    return isinstance(value, dict | bool)


_ONE: Final = frozenset({
    "items", "additionalProperties", "contains", "not", "if", "then", "else", "propertyNames", "unevaluatedItems",
    "unevaluatedProperties", "contentSchema",
})  # fmt: skip
_MANY: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_NAMED: Final = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})

_KEYWORDS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "type": _is_type,
    "required": _is_names,
    "enum": _is_list,
    **dict.fromkeys(_ONE, _is_schema),
    **dict.fromkeys(_MANY, _is_some),
    **dict.fromkeys(_NAMED, _is_object),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), _is_number),
    **dict.fromkeys(
        (
            "minLength",
            "maxLength",
            "minItems",
            "maxItems",
            "minProperties",
            "maxProperties",
            "minContains",
            "maxContains",
        ),
        _is_count,
    ),
    **dict.fromkeys(("title", "description", "pattern", "format", "$ref", "$id", "$schema", "$comment"), _is_text),
    **dict.fromkeys(("uniqueItems", "deprecated", "readOnly", "writeOnly"), _is_flag),
}
