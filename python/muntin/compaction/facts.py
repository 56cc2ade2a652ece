"""What is known of the work apart from what was said, and which lines of a summary it contradicts.

Only what can be told mechanically: a step by its words, a call or a transaction by its id. A line that names neither is
left to validators.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from muntin.compaction.parts import EVIDENCE, NEXT, UNFINISHED, parts_of
from muntin.conversation import Conversation

__all__ = ["Facts", "contradiction", "facts_of", "objection"]

_SHOWN: Final = 40
"""Facts that a summariser is told: more would be a history of their own."""

_LINE: Final = 200
"""Characters of one fact that it is told."""

_MARK: Final = re.compile(r"^\s*(?:[-*•]\s*)?(?:\d+[.)]\s*)?(?:\[(?P<box>[ xX]|[a-z_ ]{4,12})\]\s*)?")
_STATUS: Final = re.compile(
    r"\s*[:(\-–—]+\s*(done|complete|completed|finished|in progress|pending|todo|open)\s*\)?\s*$"
)
_DONE: Final = re.compile(r"\b(done|complete|completed|finished|committed|succeeded)\b", re.IGNORECASE)
_NOT: Final = re.compile(r"\b(not|never|until|once|when|before|after|if|un\w+|in\w*complete)\b|n't", re.IGNORECASE)


class Facts(msgspec.Struct, frozen=True, omit_defaults=True):
    """What todo, transactions, approvals and calls say at a moment.

    Attributes:
        completed: Steps of the plan that are completed.
        open: Steps that are not.
        transactions: Ids of unfinished file transactions.
        finished: Ids of finished ones.
        approvals: What was decided on the calls of this run, by their id: `approved`, `denied` or `asked`.
        running: Ids of calls whose result is still to come.
        answered: Ids of calls of this run that have their result.
    """

    completed: tuple[str, ...] = ()
    open: tuple[str, ...] = ()
    transactions: tuple[str, ...] = ()
    finished: tuple[str, ...] = ()
    approvals: dict[str, str] = {}
    running: tuple[str, ...] = ()
    answered: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """What a summariser is told of them, a line for each; empty where there is nothing."""
        lines = [f"- open step: {step}" for step in self.open]
        lines += [f"- unfinished file transaction: {one}" for one in self.transactions]
        lines += [f"- still running: call {call}" for call in self.running]
        lines += [f"- call {call}: {decision}" for call, decision in self.approvals.items()]
        lines += [f"- completed step: {step}" for step in reversed(self.completed)]
        return "\n".join(line[:_LINE] for line in lines[:_SHOWN])


def facts_of(conversation: Conversation) -> Facts:
    """The facts of now."""
    steps = conversation.todo.steps if conversation.todo else ()
    running = [*conversation.open_calls, *conversation.awaited]
    return Facts(
        completed=tuple(step.text for step in steps if step.status == "completed"),
        open=tuple(step.text for step in steps if step.status != "completed"),
        transactions=tuple(conversation.tail.transactions),
        finished=tuple(sorted(conversation.finished)),
        approvals=dict(conversation.approvals),
        running=tuple(running),
        answered=tuple(sorted(conversation.answered.difference(running))),
    )


def contradiction(text: str, facts: Facts) -> str:
    """The first line of a summary that the facts contradict, with why; empty where there is none. O(text · facts)."""
    for part, lines in parts_of(text).items():
        for line in lines:
            why = objection(part, line, facts)
            if why:
                return f"{part}: {line[:_LINE]!r}, but {why}"
    return ""


def objection(part: str, line: str, facts: Facts) -> str:
    """What the facts have against a line of a part, or empty."""
    return next(_objections(part, line, facts), "")


def _objections(part: str, line: str, facts: Facts) -> Iterator[str]:
    said, done = _claim(line)
    if part in (UNFINISHED, NEXT):
        if not done and said in {step.casefold() for step in facts.completed}:
            yield "that step is completed"
        if not _DONE.search(line):
            yield from (f"transaction {one} is finished" for one in facts.finished if _names(line, one))
            yield from (f"call {call} has its result" for call in facts.answered if _names(line, call))
    claims = done or (part == EVIDENCE and done is None)
    if claims and said in {step.casefold() for step in facts.open}:
        yield "that step is open"
    if part == EVIDENCE and _DONE.search(line) and not _NOT.search(line):
        yield from (f"transaction {one} is unfinished" for one in facts.transactions if _names(line, one))
        yield from (f"call {call} still runs" for call in facts.running if _names(line, call))
    for call, decision in facts.approvals.items():
        words = {"approved", "denied"} - {decision}
        for word in words:
            if re.search(rf"\b{word}\b", line, re.IGNORECASE) and not _NOT.search(line) and _names(line, call):
                yield f"call {call} is {decision}"


def _claim(line: str) -> tuple[str, bool | None]:
    """What a line is about, without its bullet, box and status; and whether it says that this is done."""
    box = _MARK.match(line)
    said = line[box.end() :] if box else line
    mark = (box["box"] or "") if box else ""
    done: bool | None = True if mark in ("x", "X", "completed", "done") else False if mark else None
    said = said.strip().rstrip(".;,").casefold()
    status = _STATUS.search(said)
    if status:
        done = status[1] in ("done", "complete", "completed", "finished")
        said = said[: status.start()]
    return said.strip(), done


def _names(line: str, id: str) -> bool:  # noqa: A002
    return id in line and re.search(rf"(?<![\w-]){re.escape(id)}(?![\w-])", line) is not None
