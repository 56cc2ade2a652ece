"""The agent's plan: stored whole, shown to the model as a short reminder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

import msgspec

from muntin.exceptions import InputError

__all__ = ["REMINDER_TOKENS", "Step", "Todo"]

REMINDER_TOKENS: Final = 500
"""Tokens that the body of the reminder may have; the stored plan has no limit."""


class Step(msgspec.Struct, frozen=True):
    """One step of a plan."""

    status: Literal["pending", "in_progress", "completed"]
    text: str

    def __post_init__(self) -> None:
        if self.status not in ("pending", "in_progress", "completed"):
            raise InputError(f"status {self.status!r} of step {self.text!r} is none of pending, in_progress, completed")


class Todo(msgspec.Struct, frozen=True, omit_defaults=True):
    """A plan.

    Attributes:
        steps: All steps, in their order.
        goal: What the plan is for.
    """

    steps: tuple[Step, ...]
    goal: str = ""

    def reminder(self, count: Callable[[str], int], budget: int = REMINDER_TOKENS) -> str:
        """What the model sees of the plan; empty for a plan without steps.

        The goal, what is in progress and what is next come first and are cut last; further steps are shown as long as
        they fit, and a line tells how many are not.

        Args:
            count: Tokens of a text.
            budget: Tokens that the reminder may have.
        """
        if not self.steps:
            return ""
        done = sum(step.status == "completed" for step in self.steps)
        now = [step for step in self.steps if step.status == "in_progress"]
        later = [step for step in self.steps if step.status == "pending"]
        lines = [f"goal: {self.goal}"] if self.goal else []
        lines += [f"[in progress] {step.text}" for step in now] + [f"[pending] {step.text}" for step in later]
        head = f"{done} of {len(self.steps)} steps done"

        def text(shown: int) -> str:
            hidden = len(lines) - shown
            return "\n".join([head, *lines[:shown], *([f"({hidden} more)"] if hidden else [])])

        shown = _most(len(lines), lambda shown: count(text(shown)) <= budget)
        if shown or not lines:
            return text(shown)
        first = text(1)
        return first[: _most(len(first), lambda size: count(first[:size] + " …") <= budget)] + " …"


def _most(limit: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to the limit that fits, where every smaller one does too; O(log n) tries."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
