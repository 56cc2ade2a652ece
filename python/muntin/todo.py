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
        for shown in range(len(lines), 0, -1):
            hidden = len(lines) - shown
            text = "\n".join([head, *lines[:shown], *([f"({hidden} more)"] if hidden else [])])
            if count(text) <= budget:
                return text
        return _cut("\n".join([head, *lines[:1]]), count, budget)


def _cut(text: str, count: Callable[[str], int], budget: int) -> str:
    """The longest beginning that fits; O(log n) counts."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(text[:middle] + " …") <= budget else (low, middle - 1)
    return text[:low] + " …"
