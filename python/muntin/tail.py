"""The tail of a request, segments 12 to 14: made from the state of the moment, never stored.

A tail that was sent and is gone breaks the prefix behind it, and reasoning that was bound to it. Where that costs too
much its texts are sealed where they were sent instead, and sent again when they change.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from muntin.layout import Segment
from muntin.todo import REMINDER_TOKENS
from muntin.transactions import TransactionSnapshot
from muntin.wording import repair_text, transaction_text

__all__ = ["STUCK_TOKENS", "Tail", "TailText"]

STUCK_TOKENS: Final = 4 * REMINDER_TOKENS
"""Raw tokens that sent reminders may take in a view; with more of them the tail is volatile again."""


class TailText(NamedTuple):
    """One text of the tail; `key` tells it from others, so that a change of its text is known as one."""

    segment: Segment
    key: str
    text: str


class Tail:
    """What the tail is made of now. Its texts are made when they change and kept until then.

    Attributes:
        todo: The reminder of the plan, or empty.
        repairs: One-shot reminders by kind: the text, and how many requests there were when it was raised.
        transactions: The unfinished file transactions, by id.
        stuck: Texts that stand in the view, by key.
        stuck_tokens: What all of them take there, superseded ones included.
    """

    __slots__ = ("_made", "repairs", "stuck", "stuck_tokens", "todo", "transactions")

    def __init__(self) -> None:
        self.todo = ""
        self.repairs: dict[str, tuple[str, int]] = {}
        self.transactions: dict[str, TransactionSnapshot] = {}
        self.stuck: dict[str, str] = {}
        self.stuck_tokens = 0
        self._made: tuple[TailText, ...] | None = ()

    def copy(self) -> Tail:
        """The same, to go on by itself."""
        other = Tail()
        other.todo, other.stuck_tokens = self.todo, self.stuck_tokens
        other.repairs, other.transactions, other.stuck = dict(self.repairs), dict(self.transactions), dict(self.stuck)
        other._made = self._made
        return other

    def plan(self, reminder: str) -> None:
        """Remind of a plan, or of none."""
        self.todo, self._made = reminder, None

    def remind(self, kind: str, text: str, requests: int) -> None:
        """Raise a one-shot reminder when there were so many requests."""
        self.repairs[kind], self._made = (text, requests), None

    def transact(self, snapshot: TransactionSnapshot) -> None:
        """Show a transaction as it is now, or no more."""
        self._made = None
        if snapshot.finished:
            self.transactions.pop(snapshot.transaction_id, None)
        else:
            self.transactions[snapshot.transaction_id] = snapshot

    def served(self, request: int) -> None:
        """A request was answered: the repairs that it carried have done their work."""
        if self.repairs:
            self.repairs, self._made = {kind: one for kind, one in self.repairs.items() if one[1] >= request}, None

    def texts(self) -> tuple[TailText, ...]:
        """All texts in the order of the layout, those that stand in the view already left out.

        The same object as long as nothing changes.
        """
        if self._made is None:
            self._made = self._texts()
        return self._made

    def _texts(self) -> tuple[TailText, ...]:
        texts = [TailText(Segment.TODO, "todo", f"<todo>\n{self.todo}\n</todo>")] if self.todo else []
        texts += [
            TailText(Segment.REPAIR, f"repair {kind} {since}", repair_text(kind, text))
            for kind, (text, since) in self.repairs.items()
        ]
        texts += [
            TailText(Segment.TRANSACTION, f"transaction {name}", transaction_text(snapshot))
            for name, snapshot in self.transactions.items()
        ]
        return tuple(one for one in texts if self.stuck.get(one.key) != one.text)

    def stick(self, text: TailText, tokens: int) -> None:
        """Note that a text stands in the view now."""
        self.stuck[text.key], self._made = text.text, None
        self.stuck_tokens += tokens

    def loosen(self) -> None:
        """The view changed: what is still true is said again."""
        self.stuck, self.stuck_tokens, self._made = {}, 0, None
