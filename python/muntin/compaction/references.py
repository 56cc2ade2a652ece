"""Which exact entries stay reachable from a summary: few, the ones that it names first (R6.6)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from muntin.items import AssistantTurn, Entry, Guidance, Summary, Text, ToolResult, UserInput

__all__ = ["REACHABLE", "recallable"]

REACHABLE: Final = 12
"""Entries that may be reached from one summary."""

TOKENS_EACH: Final = 60
"""Tokens of a summary that allow for one of them: a short summary has a short list."""

_NAMED: Final = re.compile(r"\[?#(\d{1,9})\b\]?")
_LABEL: Final = 60
"""Characters that say what an entry is."""


def recallable(
    text: str, covered: Iterable[int], earlier: Summary | None, entry_of: Callable[[int], Entry], allowance: int
) -> tuple[tuple[int, str], ...]:
    """The ids of entries that stay reachable, in their order, each with a few words on what it is.

    Those that the summary names come first, then what people said and what went wrong, the newest first.

    Args:
        text: The summary.
        covered: Ids of the entries that it covers anew.
        earlier: The summary before it; what was reachable from there may stay so.
        entry_of: Gives an entry.
        allowance: Tokens that the summary may have.
    """
    most = min(REACHABLE, allowance // TOKENS_EACH)
    newly = set(covered)
    before = dict(earlier.reachable) if earlier else {}
    may = newly | set(before)
    chosen = [number for number in dict.fromkeys(map(int, _NAMED.findall(text))) if number in may][:most]
    for number in (*sorted(newly, reverse=True), *sorted(before, reverse=True)):
        if len(chosen) >= most:
            break
        if number not in chosen and (number in before or _matters(entry_of(number))):
            chosen.append(number)
    return tuple((number, before.get(number) or _label(entry_of(number))) for number in sorted(chosen))


def _matters(entry: Entry) -> bool:
    item = entry.item
    if isinstance(item, ToolResult):
        return item.is_error or bool(item.artifact)
    return isinstance(item, UserInput | Guidance)


def _label(entry: Entry) -> str:
    match entry.item:
        case UserInput(content):
            said, what = "".join(part.text for part in content if isinstance(part, Text)), "input"
        case ToolResult(call, content, is_error):
            said = "".join(part.text for part in content if isinstance(part, Text))
            what = f"{'error' if is_error else 'result'} of {call}"
        case Guidance(said):
            what = "said"
        case AssistantTurn():
            said, what = entry.item.text or ", ".join(call.name for call in entry.item.tool_calls), "answer"
        case item:
            said, what = "", type(item).__name__
    words = " ".join(said[: _LABEL * 4].split())
    words = words if len(words) <= _LABEL else f"{words[:_LABEL]}…"
    return f"{what}: {words}" if words else what
