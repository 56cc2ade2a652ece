"""A static look at text that should never change: what in it is likely to be another at the next start.

A clock, a random id or an address in the system text or in a tool's description costs the whole cache of every session,
and shows nowhere but in the bill.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from typing import Final, Literal

import msgspec

from muntin.capabilities import Tool

__all__ = ["Suspect", "UnstablePrefixWarning", "described", "find_suspects", "warn_of_suspects"]

_KINDS: Final = {
    "uuid": r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}\b",
    "clock": r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?"
    r"|(?i:\bcurrent (?:date and )?time\b[^\n\d]{0,20}\d{1,2}:\d\d(?::\d\d)?)"
    r"|\b\d\d:\d\d:\d\d\b|\b1[6-9]\d{8}(?:\.\d+|\d{3})?\b",
    "address": r"\bat 0x[0-9a-fA-F]{6,16}\b",
    "set": r"\bfrozenset\(\{[^{}\n]+\}\)|\{(?:'[^'\n]*'|\"[^\"\n]*\")(?:, (?:'[^'\n]*'|\"[^\"\n]*\"))+\}",
    "temporary path": r"(?<![\w./])/(?:tmp|var/folders)/[\w.-]*[0-9][\w./-]*",
}
_PATTERN: Final = re.compile("|".join(f"(?P<{kind.replace(' ', '_')}>{regex})" for kind, regex in _KINDS.items()))
_ADVICE: Final = {
    "uuid": "an id that is made anew at each start",
    "clock": "a time of day",
    "address": "an address in memory, from the repr of an object",
    "set": "a set, whose order is another at each start",
    "temporary path": "a path that is made anew at each start",
}


class UnstablePrefixWarning(UserWarning):
    """A text that should stay the same, byte for byte, holds something that is likely to change."""


class Suspect(msgspec.Struct, frozen=True):
    """Something in a stable text that is likely to change.

    Attributes:
        kind: `clock` (a time of day, or seconds since 1970; a date alone is none), `uuid`, `address` in memory, `set`
            (of texts, as Python writes it) or `temporary path`.
        place: The text that it stands in.
        at: Characters before it.
        text: What stands there.
    """

    kind: Literal["clock", "uuid", "address", "set", "temporary path"]
    place: str
    at: int
    text: str

    def __str__(self) -> str:
        return f"{self.place}, character {self.at}: {_ADVICE[self.kind]}, {self.text!r}"


def find_suspects(text: str, place: str = "system text") -> list[Suspect]:
    """What in a text is likely to be another at the next start. O(text).

    Args:
        text: One that should stay the same, byte for byte.
        place: What to call it.

    Examples:
        >>> [one.kind for one in find_suspects("It is 2026-03-01 09:30. Be brief.")]
        ['clock']
    """
    found = []
    for match in _PATTERN.finditer(text):
        kind = (match.lastgroup or "").replace("_", " ")
        found.append(Suspect(kind, place, match.start(), match.group()))  # type: ignore[arg-type]
    return found


def warn_of_suspects(texts: Iterable[tuple[str, str]], *, stacklevel: int = 2) -> None:
    """Warn of the first suspect in each of the given places and texts."""
    for place, text in texts:
        found = find_suspects(text, place)
        if found:
            more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
            warnings.warn(
                f"{found[0]}{more}: if it differs at the next start, the provider's cache of everything behind it is "
                "lost. What changes belongs into the state, or into an input",
                UnstablePrefixWarning,
                stacklevel=stacklevel + 1,
            )


def described(tools: Iterable[Tool]) -> list[tuple[str, str]]:
    """The place and text of each tool's description."""
    return [(f"description of tool {tool.name!r}", tool.description) for tool in tools]
