"""A task that goes on for days: its goal, constraints and end stay in view, and milestones hold what was confirmed.

It lives in the run's state: pinned at the run's start, changed by diffs where they happen, and after a compaction said
as one net change behind the pins. So no summary can lose it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import msgspec
from msgspec.structs import replace

from muntin.exceptions import InputError

__all__ = ["LongTask", "Milestone"]


class Milestone(msgspec.Struct, frozen=True, omit_defaults=True):
    """A stage of a long task.

    Attributes:
        title: What it is, unique within the task.
        facts: What was confirmed, best with the evidence for it.
        remaining: What is still to be done.
        reached: Whether it is reached.
    """

    title: str
    facts: tuple[str, ...] = ()
    remaining: tuple[str, ...] = ()
    reached: bool = False


class LongTask(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What must stay in view of a long task. A change gives the task after it; this one stays as it is.

    Attributes:
        goal: What it is for.
        done_when: How one can tell that it is done.
        constraints: What holds all the time, in the person's words.
        milestones: The stages, in their order.

    Raises:
        InputError: No goal, no end, or two milestones of one title.
    """

    goal: str
    done_when: str
    constraints: tuple[str, ...] = ()
    milestones: tuple[Milestone, ...] = ()

    def __post_init__(self) -> None:
        if not self.goal.strip() or not self.done_when.strip():
            raise InputError(
                f"a long task needs a goal and a way to tell that it is done, not goal={self.goal!r} and "
                f"done_when={self.done_when!r}"
            )
        titles = [one.title for one in self.milestones]
        twice = next((title for title in titles if titles.count(title) > 1), None)
        if twice is not None:
            raise InputError(f"milestone {twice!r} is given twice; titles tell milestones apart")

    def constrained(self, constraint: str) -> Self:
        """The task with one more constraint; one that it has already changes nothing."""
        if constraint in self.constraints:
            return self
        return replace(self, constraints=(*self.constraints, constraint))

    def progress(
        self,
        title: str,
        *,
        facts: Sequence[str] = (),
        remaining: Sequence[str] | None = None,
        reached: bool | None = None,
    ) -> Self:
        """The task after work on a milestone.

        Args:
            title: Of the milestone; an unknown one is added at the end.
            facts: What was confirmed, added to what it has.
            remaining: What is still to be done; None leaves it, or empties it where the milestone is reached.
            reached: Whether it is reached now; None leaves it.
        """
        old = next((one for one in self.milestones if one.title == title), Milestone(title))
        left = old.remaining if remaining is None and not reached else tuple(remaining or ())
        new = Milestone(
            title,
            (*old.facts, *(fact for fact in facts if fact not in old.facts)),
            left,
            old.reached if reached is None else reached,
        )
        if old in self.milestones:
            return replace(self, milestones=tuple(new if one is old else one for one in self.milestones))
        return replace(self, milestones=(*self.milestones, new))

    @property
    def is_done(self) -> bool:
        """Whether there are milestones and all of them are reached."""
        return bool(self.milestones) and all(one.reached for one in self.milestones)

    def state(self) -> dict[str, Any]:
        """The task as a JSON object. Milestones have keys of their own, so that a change of one is a small diff."""
        whole: dict[str, Any] = {"goal": self.goal, "done_when": self.done_when}
        if self.constraints:
            whole["constraints"] = list(self.constraints)
        if self.milestones:
            whole["milestones"] = {
                f"{i:02}": msgspec.json.decode(msgspec.json.encode(one)) for i, one in enumerate(self.milestones, 1)
            }
        return whole

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The task that `state` made such an object of.

        Raises:
            InputError: It is none.
        """
        fields = dict(state)
        stages = fields.pop("milestones", {})
        try:
            fields["milestones"] = [stages[key] for key in sorted(stages, key=int)]
            return msgspec.convert(fields, cls)
        except (msgspec.ValidationError, ValueError, TypeError) as reason:
            raise InputError(f"no long task: {reason}") from reason

    def handover(self) -> str:
        """What the next, focused task starts from: what was confirmed and what remains, without the way there.

        The goal, the constraints and the end are not repeated: the task itself says them.
        """
        facts = [f"- {one.title}: {fact}" for one in self.milestones for fact in one.facts]
        rest = [f"- {one.title}: {what}" for one in self.milestones for what in one.remaining]
        rest += [f"- {one.title}" for one in self.milestones if not one.reached and not one.remaining]
        parts = [
            "An earlier stage of this task was closed. Go on from what it confirmed; do not do it again.",
            "\n".join(["Confirmed:", *(facts or ["- nothing yet"])]),
            "\n".join(["Remaining:", *(rest or ["- check that the task is done"])]),
        ]
        return "\n\n".join(parts)

    def next_stage(self) -> Self:
        """The task with the milestones that are not reached; the facts of the others are in the handover."""
        return replace(self, milestones=tuple(one for one in self.milestones if not one.reached))
