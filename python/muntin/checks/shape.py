"""Which keys an object of a request has to have, and of what type and kind their values are.

Keys are told as data, one row a key; each wire format words what is wrong as its server does. Keys that no row names
are left alone: servers gain new ones every month, and what is not known here is not called wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from muntin.checks.finding import Body, Finding, Findings

__all__ = [
    "FUNCTION",
    "Fault",
    "Key",
    "Words",
    "bracketed",
    "each",
    "faults",
    "findings_of",
    "kinds",
    "named",
    "objects",
    "of_kind",
]

Wrong: TypeAlias = Literal["missing", "type", "value"]

_NAMES: Final = {str: "string", dict: "object", list: "array", bool: "boolean", int: "integer", float: "number"}


class Key(NamedTuple):
    """A key of an object.

    Attributes:
        name: The key.
        types: What its value may be; `null` counts as no value.
        required: Whether it may be left out.
        values: All values that it may have, or empty where it may have any.
    """

    name: str
    types: tuple[type, ...] = (str,)
    required: bool = True
    values: tuple[str, ...] = ()


class Fault(NamedTuple):
    """One key that is wrong.

    Attributes:
        path: Where its value is, or should be: `messages.0.content`.
        wrong: In which way.
        key: What was expected.
        value: What is there.
    """

    path: str
    wrong: Wrong
    key: Key
    value: Any


Words: TypeAlias = Callable[[Fault], str]
"""How a server says what is wrong."""

FUNCTION: Final = (Key("name"), Key("description", required=False), Key("parameters", (dict,), required=False))
"""The keys of a function as OpenAI's formats and Ollama's declare it."""

_OBJECT: Final = Key("", (dict,))
_MENDS: Final[Mapping[Wrong, str]] = {
    "missing": "add the key",
    "type": "give it the type that the format has there",
    "value": "use one of the kinds that the format has there",
}


def faults(entry: Body, path: str, keys: Iterable[Key]) -> Iterator[Fault]:
    """What is wrong with the keys of an object, in the order of the rows."""
    for key in keys:
        value, place = entry.get(key.name), f"{path}.{key.name}" if path else key.name
        if value is None:
            if key.required:
                yield Fault(place, "missing", key, value)
        elif not _is_one(value, key.types):
            yield Fault(place, "type", key, value)
        elif key.values and value not in key.values:
            yield Fault(place, "value", key, value)


def objects(value: Any, path: str) -> Iterator[tuple[str, Body | Fault]]:
    """The entries of a list with their paths, each an object or a fault; nothing where there is no list."""
    for i, entry in enumerate(value) if isinstance(value, list) else ():
        place = f"{path}.{i}"
        yield place, entry if isinstance(entry, dict) else Fault(place, "type", _OBJECT, entry)


def each(value: Any, path: str, look: Callable[[Body, str], Iterable[Fault]]) -> Iterator[Fault]:
    """What is wrong with a list of objects: the entries that are none, and what `look` finds in each of the others."""
    for place, entry in objects(value, path):
        yield from (entry,) if isinstance(entry, Fault) else look(entry, place)


def of_kind(
    value: Any, path: str, tag: str, known: Mapping[str, Sequence[Key]], others: Sequence[str] = ()
) -> Iterator[Fault]:
    """What is wrong with a list of objects whose `tag` says which keys they have.

    Args:
        value: The list; nothing is said of anything else.
        path: Where it is.
        tag: The key that tells the kinds apart.
        known: The keys of each kind.
        others: Kinds that may stand there too, of whose keys nothing is said.
    """
    kind = Key(tag, values=(*known, *others))

    def look(entry: Body, place: str) -> Iterable[Fault]:
        return list(faults(entry, place, (kind,))) or faults(entry, place, known.get(entry[tag], ()))

    yield from each(value, path, look)


def findings_of(rule: str, found: Iterable[Fault], words: Words) -> Findings:
    """Faults as findings of a rule, in a server's words."""
    for fault in found:
        yield Finding(rule, fault.path, words(fault), _MENDS[fault.wrong])


def named(value: Any) -> str:
    """The JSON name of a value's type."""
    return next((name for one, name in _NAMES.items() if type(value) is one), "null")


def kinds(types: tuple[type, ...], link: str = " or ") -> str:
    """The JSON names of types: `string or array`."""
    return link.join(_NAMES[one] for one in types)


def bracketed(path: str) -> str:
    """A path as OpenAI and Google write it: `messages[0].content`."""
    return re.sub(r"\.(\d+)", r"[\1]", path)


def _is_one(value: Any, types: tuple[type, ...]) -> bool:
    return isinstance(value, types) and (bool in types or not isinstance(value, bool))
