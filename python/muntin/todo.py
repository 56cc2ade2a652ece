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

        The goal, a step in progress and the next one are always shown, shortened where they are too long together;
        further steps as long as they fit, and a line tells how many are not.

        Args:
            count: Tokens of a text, as estimated for the model.
            budget: Tokens that the reminder may have.
        """
        if not self.steps:
            return ""
        done = sum(step.status == "completed" for step in self.steps)
        now = [f"[in progress] {step.text}" for step in self.steps if step.status == "in_progress"]
        later = [f"[pending] {step.text}" for step in self.steps if step.status == "pending"]
        goal = [f"goal: {self.goal}"] if self.goal else []
        lines = goal + now + later
        first = [i for i, shown in ((0, goal), (len(goal), now), (len(goal) + len(now), later)) if shown]
        others = [i for i in range(len(lines)) if i not in first]

        def text(further: int, size: int) -> str:
            shown = sorted(first + others[:further])
            hidden = len(lines) - len(shown)
            return "\n".join(
                [
                    f"{done} of {len(self.steps)} steps done",
                    *(_clipped(lines[i], size) for i in shown),
                    *([f"({hidden} more)"] if hidden else []),
                ]
            )

        longest = max(map(len, lines), default=0)
        if count(text(0, longest)) > budget:
            return text(0, _most(longest, lambda size: count(text(0, size)) <= budget))
        return text(_most(len(others), lambda further: count(text(further, longest)) <= budget), longest)


def _clipped(line: str, size: int) -> str:
    return line if len(line) <= size else line[:size] + " …"


def _most(limit: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to the limit that fits, where every smaller one does too; O(log n) tries."""
    low, high = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
