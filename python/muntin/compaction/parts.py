"""The six parts of a summary, and what in an answer is no summary at all."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from muntin.compaction.outcome import Reason
from muntin.items import AssistantTurn

__all__ = ["DECISIONS", "EVIDENCE", "FAILURES", "GOAL", "NEXT", "PARTS", "UNFINISHED", "Answer", "answered", "parts_of"]

PARTS: Final = (
    "Goal",
    "Decisions",
    "Evidence of completion",
    "Failures and approvals",
    "Unfinished work",
    "Next steps",
)
"""What a summary has to say; a part with nothing to say says "none"."""

GOAL, DECISIONS, EVIDENCE, FAILURES, UNFINISHED, NEXT = PARTS

_HEADING: Final = re.compile(r"\s*(?:#{1,6}\s*)?(?:\*\*|__)?\s*(?:\d[.)]\s*)?(.+?)\s*:?\s*(?:\*\*|__)?\s*:?\s*")
_BY_NAME: Final = {part.casefold(): part for part in PARTS}
_THOUGHT: Final = re.compile(r"\A\s*<(think|thinking|thought|reasoning|scratchpad)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_THINKS: Final = re.compile(r"^\s*</?(think|thinking|thought|reasoning|scratchpad)>", re.IGNORECASE | re.MULTILINE)
_PROTOCOL: Final = re.compile(
    r"^\s*(<(antml:)?(tool_call|tool_calls|function_calls|function_call|invoke|tool_use)\b|\[TOOL_CALLS\]|<\|(channel|tool))",
    re.MULTILINE,
)
_NOTHING: Final = frozenset({"", "none", "n/a", "nothing", "-"})


class Answer(NamedTuple):
    """The text of an answer, or why it is no summary."""

    text: str
    reason: Reason | None = None
    detail: str = ""


def parts_of(text: str) -> dict[str, list[str]]:
    r"""The lines of each part that has a heading, blank ones left out; what stands before the first one is dropped.

    Examples:
        >>> parts_of("## Goal\nMend it.\n**Next steps:**\nnone")
        {'Goal': ['Mend it.'], 'Next steps': ['none']}
    """
    parts: dict[str, list[str]] = {}
    lines: list[str] | None = None
    for line in text.splitlines():
        heading = _BY_NAME.get(match[1].casefold()) if (match := _HEADING.fullmatch(line)) else None
        if heading:
            lines = parts.setdefault(heading, [])
        elif lines is not None and line.strip():
            lines.append(line.strip())
    return parts


def answered(turn: AssistantTurn) -> Answer:
    """The summary in a model's answer, without a finished thought before it; or what is wrong with it."""
    if turn.tool_calls:
        return Answer("", Reason.TOOL_CALL, f"it calls {', '.join(call.name for call in turn.tool_calls)}")
    if turn.finish != "stop":
        return Answer("", Reason.CUT_OFF, f"finish reason {turn.finish!r}, {len(turn.text)} characters")
    text = _THOUGHT.sub("", turn.text).strip()
    if not text:
        return Answer("", Reason.EMPTY, f"{len(turn.text)} characters, none of them a summary")
    if thought := _THINKS.search(text):
        return Answer("", Reason.REASONING, f"{thought[0].strip()} stands in the text")
    if call := _PROTOCOL.search(text):
        return Answer("", Reason.TOOL_CALL, f"{call[0].strip()} stands in the text")
    parts = parts_of(text)
    missing = [part for part in PARTS if not parts.get(part)]
    if missing:
        return Answer("", Reason.PARTS_MISSING, f"nothing is said under {', '.join(missing)}")
    if all(_is_nothing(line) for lines in parts.values() for line in lines):
        return Answer("", Reason.EMPTY, "every part says that there is nothing to say")
    return Answer(text)


def _is_nothing(line: str) -> bool:
    return line.lstrip("-*• ").rstrip(". ").casefold() in _NOTHING
