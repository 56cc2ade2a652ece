"""The view after a compaction: a lane in which a summary stands for what it covers.

Pinned are the inputs, skills and initial state of the current run and the skills activated in it: they follow the
summary word for word. Behind them stands what the covered state changes came to, then everything from the cut on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from muntin._core import History
from muntin.items import Entry, StateDiff, StateFull
from muntin.lane import Kind, Lane, Marks
from muntin.state import difference, merged

__all__ = ["behind_tail", "covered_entries", "first_unit", "net_changes", "pinned_units", "rebuilt"]

EntryOf = Callable[[int], Entry]


def first_unit(lane: Lane, entry: int) -> int:
    """The first unit behind the summary that renders an entry, or a later one where this lane shows nothing of it.

    O(units).
    """
    later = len(lane.history)
    for unit, number in enumerate(lane.history.entries(lane.summary, later), lane.summary):
        if number == entry:
            return unit
        if number > entry:
            later = min(later, unit)
    return later


def behind_tail(lane: Lane, cut: int) -> int:
    """A cut, moved behind the reminders that stand in its place: they belong to what was sent before it."""
    while cut < len(lane.history) and lane.history.kinds(cut, cut + 1)[0] & Kind.TAIL == Kind.TAIL:
        cut += 1
    return cut


def pinned_units(lane: Lane, marks: Marks, cut: int) -> list[tuple[int, int]]:
    """Ranges of units before the cut that stay in view word for word. O(units of the run before the cut)."""
    if cut <= marks.inputs:
        return []
    pins = [(marks.inputs, marks.timeline)] if marks.timeline > marks.inputs else []
    kinds = lane.history.kinds(marks.timeline, max(cut, marks.timeline))
    return pins + [(marks.timeline + i, marks.timeline + i + 1) for i, kind in enumerate(kinds) if kind & Kind.SKILL]


def covered_entries(lane: Lane, marks: Marks, cut: int) -> list[int]:
    """The entries of the units before the cut that a summary stands for: all but the pins and the summary before it.

    In the order of the lane, each once. O(units covered).
    """
    entries: list[int] = []
    start = lane.summary
    for pin_start, pin_stop in [*pinned_units(lane, marks, cut), (cut, cut)]:
        entries += lane.history.entries(start, max(start, pin_start))
        start = max(start, pin_stop)
    return list(dict.fromkeys(entries))


def net_changes(lane: Lane, marks: Marks, cut: int, full: dict[str, Any], entry_of: EntryOf) -> list[StateDiff]:
    """What the state changes before the cut come to, against what stays in view: the full states and pinned changes.

    One for the session's state and one for the run's, each left out where it would be empty.
    """
    pinned = {unit for start, stop in pinned_units(lane, marks, cut) for unit in range(start, stop)}
    visible: dict[str, dict[str, Any]] = {"session": full, "run": {}}
    for unit in range(marks.run_state, marks.timeline):
        item = entry_of(lane.history.entry(unit)).item
        if isinstance(item, StateFull):
            visible["run"] = item.state
    actual = dict(visible)
    for unit, kind in enumerate(lane.history.kinds(0, cut)):
        if not kind & Kind.STATE:
            continue
        item = entry_of(lane.history.entry(unit)).item
        if not isinstance(item, StateDiff) or (item.scope == "run" and unit < marks.inputs):
            continue
        actual[item.scope] = merged(actual[item.scope], item.changes)
        if unit in pinned:
            visible[item.scope] = merged(visible[item.scope], item.changes)
    net = []
    for scope in ("session", "run"):
        changes = difference(visible[scope], actual[scope])
        if changes:
            net.append(StateDiff(scope, changes, "all changes until here"))
    return net


def rebuilt(
    lane: Lane, marks: Marks, cut: int, summary: Entry, net: tuple[Entry, ...], entry_of: EntryOf
) -> tuple[Lane, int]:
    """The lane after a compaction, and how many of its units stand before the kept ones. O(kept bytes)."""
    old = lane.history
    new = lane.on(History(lane.adapter.groups))
    new.append(summary, Kind.SUMMARY)
    new.summary = len(new.history)
    pins = pinned_units(lane, marks, cut)
    moved = new.summary - marks.inputs
    for start, stop in pins:
        new.history.extend(old, start, stop)
    for entry in net:
        new.append(entry)
    before_kept = len(new.history)
    new.marks = marks.shifted(moved if pins else before_kept - cut)
    start = cut
    for offset, kind in enumerate(old.kinds(cut, len(old))):
        if kind & Kind.REASONING:
            # Reasoning is bound to the prefix that it was made on, which is gone.
            unit = cut + offset
            new.history.extend(old, start, unit)
            new.append(entry_of(old.entry(unit)), reasoning=False)
            start = unit + 1
    new.history.extend(old, start, len(old))
    return new, before_kept
