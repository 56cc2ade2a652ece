"""A summariser without a model: it picks, word for word, what the items themselves say.

Deterministic, needs no key and no network. It loses more than a model would; it invents nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from muntin.compaction.facts import Facts, objection
from muntin.compaction.parts import DECISIONS, EVIDENCE, FAILURES, GOAL, NEXT, PARTS, UNFINISHED, parts_of
from muntin.compaction.request import SummaryRequest
from muntin.items import (
    Approval,
    AssistantTurn,
    Attachment,
    Content,
    Entry,
    Guidance,
    IgnoredInteraction,
    Recovery,
    SkillText,
    StateDiff,
    Text,
    ToolCall,
    ToolResult,
    UserInput,
)

__all__ = ["ExtractiveSummarizer"]

_DECIDES: Final = re.compile(r"\b(decid|instead|because|chose|choose|must|never|always|agreed|plan is)", re.IGNORECASE)
_LINE: Final = 240
"""Characters of one line: enough to name a thing, too few to repeat it."""

_SHARE: Final = {GOAL: 0.25, DECISIONS: 0.2, EVIDENCE: 0.2, FAILURES: 0.15, UNFINISHED: 0.1, NEXT: 0.1}
"""How the characters are divided among the parts."""

_CHARACTERS_A_TOKEN: Final = 2.5
"""Few enough for code, paths and numbers, of which such lines consist."""


class ExtractiveSummarizer:
    """Summarises by extraction: goal, decisions, evidence, failures, unfinished work, next steps.

    Examples:
        >>> from muntin.items import Entry, UserInput, Text
        >>> request = SummaryRequest(1, b"", "", "", (Entry(0, 1, UserInput((Text("Fix the parser."),))),), 500)
        >>> print(ExtractiveSummarizer()(request).splitlines()[1])
        - Fix the parser.
    """

    def __call__(self, request: SummaryRequest, /) -> str:
        """The summary of a request's entries, carrying on the earlier one. O(entries)."""
        lines = _earlier(request.earlier, request.facts)
        for part, line in _extracted(request.entries):
            if line not in lines[part] and not objection(part, line, request.facts):
                lines[part].append(line)
        budget = request.max_tokens * _CHARACTERS_A_TOKEN
        text = []
        for part in PARTS:
            text.append(f"## {part}")
            text += _newest(lines[part], int(budget * _SHARE[part]), keep_first=part == GOAL) or ["none"]
        return "\n".join(text)


def _earlier(summary: str, facts: Facts) -> dict[str, list[str]]:
    """The lines of an earlier summary by part, without what is known to be otherwise now."""
    lines: dict[str, list[str]] = {part: [] for part in PARTS}
    for part, said in parts_of(summary).items():
        found = [line if line.startswith("- ") else f"- {line}" for line in said if line != "none"]
        lines[part] += [line for line in found if not objection(part, line, facts)]
    # What was unfinished or next then is decided anew by what came later.
    lines[NEXT] = []
    return lines


def _extracted(entries: Iterable[Entry]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    calls: dict[str, ToolCall] = {}
    said = ""
    for entry in entries:
        match entry.item:
            case UserInput(content):
                found.append((GOAL, _line(_text(content))))
            case Attachment(name, note):
                found.append((GOAL, _line(f"attachment {name}: {note}")))
            case Guidance(text):
                found.append((DECISIONS, _line(f"told: {text}")))
            case StateDiff(_, changes, reason):
                found.append((DECISIONS, _line(f"state changed: {changes} {reason}")))
            case SkillText(name):
                found.append((DECISIONS, _line(f"skill {name} was activated")))
            case Approval(call, decision, by, note):
                found.append(
                    (FAILURES, _line(f"{decision}: {_call(calls.get(call), call)} by {by or 'someone'} {note}"))
                )
            case IgnoredInteraction(what, why):
                found.append((FAILURES, _line(f"ignored: {what} {why}")))
            case Recovery(text):
                found.append((FAILURES, _line(f"recovered: {text}")))
            case AssistantTurn():
                said = entry.item.text or said
                calls |= {call.id: call for call in entry.item.tool_calls}
                found += [(DECISIONS, _line(one)) for one in _sentences(entry.item.text) if _DECIDES.search(one)]
            case ToolResult(call, content, is_error):
                outcome = f"{_call(calls.pop(call, None), call)} -> {_text(content)}"
                found.append((FAILURES if is_error else EVIDENCE, _line(outcome)))
            case _:
                pass
    found += [(UNFINISHED, _line(f"no result of {_call(call, call.id)}")) for call in calls.values()]
    found += [(NEXT, _line(one)) for one in _sentences(said)[-2:]]
    return [(part, line) for part, line in found if line != "- "]


def _newest(lines: list[str], characters: int, *, keep_first: bool) -> list[str]:
    """The newest lines that fit, in their order; the first one too where it says what all is for."""
    kept: list[str] = []
    first = lines[:1] if keep_first else []
    left = characters - sum(map(len, first))
    for line in reversed(lines[len(first) :]):
        left -= len(line) + 1
        if left < 0:
            break
        kept.append(line)
    return first + kept[::-1]


def _line(text: str) -> str:
    flat = " ".join(text[: _LINE * 4].split())
    return f"- {flat}" if len(flat) <= _LINE else f"- {flat[:_LINE]}…"


def _call(call: ToolCall | None, name: str) -> str:
    return f"{call.name}({call.arguments[:100]})" if call else name


def _text(content: Content) -> str:
    return " ".join(part.text for part in content if isinstance(part, Text))


def _sentences(text: str) -> list[str]:
    return [one for one in re.split(r"(?<=[.!?])\s+|\n+", text) if one.strip()]
