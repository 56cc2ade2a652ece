"""Which legal cut a compaction makes: the targets of the policy against what cannot be covered."""

from __future__ import annotations

from typing import Final, NamedTuple

from muntin.budget import Budget
from muntin.exceptions import CannotCompact
from muntin.lane import Lane, Marks
from muntin.providers.base import Adapter
from muntin.view import pinned_units

__all__ = ["Choice", "choose"]

TOLERANCE: Final = 0.25
"""How much of what may be kept a better grade is worth: a fraction of it."""

LEAST_GAIN: Final = 0.05
"""Compactions that would free less than this fraction of the limit are not worth breaking a prefix for."""

RECENT_SHARE: Final = 0.25
"""The part of what is neither fixed nor pinned that recent history may keep: with more the next one follows at once."""

LEAST_STEP: Final = 0.2
"""The part of it that a compaction frees at least while the window is not full: rather a larger one later."""


class Choice(NamedTuple):
    """A cut, what ends there (3 a run, 2 a user's turn, 1 a tool exchange), and raw tokens kept after it."""

    cut: int
    grade: int
    kept: int


def choose(
    lane: Lane,
    marks: Marks,
    observed: int,
    budget: Budget,
    *,
    fixed: int,
    summary: int,
    floors: dict[str, int],
    least_cost: bool = False,
    pressed: bool = False,
) -> Choice:
    """The cut that comes nearest to the policy's target. O(log units).

    Cuts that leave the current run whole come first; only where they are not enough the run's own timeline is cut, and
    then its inputs, skills and state are pinned.

    Args:
        lane: The units.
        marks: Where the current run's segments begin.
        observed: How many units the model has seen and answered; no cut lies behind them.
        budget: The policy in tokens.
        fixed: Raw tokens of a request that belong to no unit: tools, front, tail.
        summary: Raw tokens to expect of the summary.
        floors: Tokens that no compaction can remove, by segment; for the error.
        least_cost: Aim at what the policy keeps in any case. What a cut costs, once and with each request after it,
            grows in proportion to the tokens that it keeps, so that the cheapest legal cut is the one that keeps least.
        pressed: Whether the request has more bytes or images than the provider takes, which tokens say nothing of: then
            any cut will do.

    Raises:
        CannotCompact: No legal cut frees enough to be worth it.
    """
    adapter, history = lane.adapter, lane.history
    total = len(history)
    target = 0 if least_cost or pressed else adapter.raw(budget.compact_to) - fixed - summary
    wanted = adapter.raw(budget.keep_recent)
    limit = adapter.raw(budget.limit)
    best: Choice | None = None
    for start, stop in ((lane.summary, min(observed, marks.inputs)), (max(lane.summary, marks.timeline), observed)):
        if stop <= start:
            continue
        pins = sum(history.total(a, b) for a, b in pinned_units(lane, marks, stop))
        # Where tools and instructions fill most of the window, as much of what is left has to come free.
        recent = min(wanted, max(0, int((limit - fixed - summary - pins) * RECENT_SHARE)))
        keep = max(target - pins, recent)
        found = history.search(start, stop, keep, int(keep * TOLERANCE))
        if found is None:
            continue
        choice = Choice(*found, kept=history.total(found[0], total) + pins)
        if choice.kept <= keep + pins:
            best = choice
            break
        if best is None or choice.kept < best.kept:
            best = choice
    gain = _gain(adapter, history.total(), best, summary) if best else 0
    before = adapter.safe(fixed + history.total())
    least = 0 if pressed else _least(budget, before, gain, room=budget.limit - adapter.safe(fixed + summary))
    if best is None or gain < least:
        wide = "" if before - gain <= budget.limit else f", and {before - gain} would be more than {budget.limit} still"
        raise CannotCompact(
            f"no legal boundary frees more than {gain} tokens{wide} (at least {least} are worth a compaction); tokens "
            f"that cannot be covered, by segment: {floors}. A larger window, fewer tools, a shorter system prompt or "
            "finishing the run would help",
            floors=floors,
        )
    return best


def _least(budget: Budget, before: int, gain: int, *, room: int) -> int:
    """Tokens that a compaction has to free to be worth a broken prefix and a summary."""
    least = int(budget.limit * LEAST_GAIN)
    if before > budget.limit:
        # A request that would be refused all the same is no reason to pay for a summary.
        return max(least, before - budget.limit)
    if before >= budget.compact_at:
        least = max(least, int(room * LEAST_STEP))
        if before - gain >= budget.compact_at:
            # The next request would ask for it again. Where it still fits, rather wait until it frees more at once.
            least = max(least, budget.limit - budget.compact_at)
    return least


def _gain(adapter: Adapter, before: int, choice: Choice, summary: int) -> int:
    return max(0, adapter.safe(before) - adapter.safe(choice.kept + summary))
