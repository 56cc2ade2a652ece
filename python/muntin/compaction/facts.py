"""What is known of the work apart from what was said, and which lines of a summary it contradicts.

Only what can be told mechanically: a step by its words, a call or a transaction by its id, whatever the case, the
quotes and the marks. A line that says anything else is left to validators.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from muntin.compaction.claims import Said, decision, normal, of_id, of_step
from muntin.compaction.parts import EVIDENCE, GOAL, NEXT, UNFINISHED, parts_of
from muntin.conversation import Conversation

__all__ = ["Facts", "contradiction", "facts_of", "objection"]

_SHOWN: Final = 40
"""Facts that a summariser is told: more would be a history of their own."""

_LINE: Final = 200
"""Characters of one fact that it is told."""


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
    return next(_objections(part, normal(line), facts), "")


def _objections(part: str, line: str, facts: Facts) -> Iterator[str]:
    ahead = part in (UNFINISHED, NEXT)
    for step in map(normal, facts.completed):
        said = of_step(line, step)
        if said is Said.OPEN or (ahead and said is Said.NAMED):
            yield "that step is completed"
    for step in map(normal, facts.open):
        said = of_step(line, step)
        if said is Said.DONE or (part == EVIDENCE and said is Said.NAMED):
            yield "that step is open"
    settled = [(one, f"transaction {one} is finished") for one in facts.finished]
    settled += [(call, f"call {call} has its result") for call in facts.answered]
    for one, why in settled:
        said = of_id(line, normal(one))
        if said is Said.OPEN or (ahead and said is Said.NAMED):
            yield why
    if not ahead and part != GOAL:  # there, what is to be is put so, too
        unsettled = [(one, f"transaction {one} is unfinished") for one in facts.transactions]
        unsettled += [(call, f"call {call} still runs") for call in facts.running]
        yield from (why for one, why in unsettled if of_id(line, normal(one)) is Said.DONE)
    for call, decided in facts.approvals.items():
        if decision(line, normal(call)) not in ("", decided):
            yield f"call {call} is {decided}"
