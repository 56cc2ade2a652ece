"""What a check finds, and what all checks share. A check takes any JSON and never raises for what it holds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

import msgspec

__all__ = ["Body", "Finding", "Findings", "Rule", "functions", "is_json_object", "listed", "run", "said"]

Body: TypeAlias = dict[str, Any]


class Finding(msgspec.Struct, frozen=True):
    """One thing in a request body that the provider would refuse.

    Attributes:
        rule: The id of the rule in `docs/wire-rules.md`, or a word where there is none.
        path: Where in the body, as in the providers' own errors: `messages.2.content.0`.
        text: What the provider would answer, as far as its text is public.
        mend: What to do about it.
    """

    rule: str
    path: str
    text: str
    mend: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.path}: {self.text} -> {self.mend}"


Findings: TypeAlias = Iterator[Finding]
Rule: TypeAlias = Callable[[Body], Findings]

FUNCTION_NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def run(body: Body, rules: tuple[Rule, ...]) -> list[Finding]:
    """All findings of all rules, in the order of the rules."""
    return [finding for rule in rules for finding in rule(body)]


def listed(value: Any) -> list[tuple[int, Body]]:
    """The objects of a list with their places; none of what is no list."""
    return [(i, part) for i, part in enumerate(value) if isinstance(part, dict)] if isinstance(value, list) else []


def said(value: Any) -> str:
    """A value as it may stand in a message: shortened."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def functions(body: Body) -> list[tuple[str, Body]]:
    """The objects that declare functions in `tools`, with their paths: nested as in chat completions, or flat."""
    found = []
    for i, tool in listed(body.get("tools")):
        nested = tool.get("function")
        found.append((f"tools.{i}.function", nested) if isinstance(nested, dict) else (f"tools.{i}", tool))
    return found


def is_json_object(text: Any) -> bool:
    """Whether a value is the JSON text of an object."""
    try:
        msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    except (msgspec.DecodeError, TypeError, UnicodeError):
        return False
    return True
