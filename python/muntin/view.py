"""The view after a compaction: a lane in which a summary stands for what it covers.

Pinned are the inputs, skills and initial state of the current run and the skills activated in it: they follow the
summary word for word. Behind them stands what the covered state changes came to, then everything from the cut on.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Collection
from typing import Any

from msgspec.structs import replace

from muntin._core import History
from muntin.items import Entry, StateDiff, StateFull, Text, ToolResult
from muntin.lane import Kind, Lane, Marks
from muntin.state import difference, merged
from muntin.wording import cleared_result

__all__ = ["View", "behind_tail", "cleared", "covered_entries", "first_unit", "net_changes", "pinned_units", "rebuilt"]

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
    """Ranges of units before the cut that stay in view word for word. O(log units), and O(1) each."""
    if cut <= marks.inputs:
        return []
    pins = [(marks.inputs, marks.timeline)] if marks.timeline > marks.inputs else []
    return pins + [(unit, unit + 1) for unit in lane.skills(marks.timeline, max(cut, marks.timeline))]


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


class View:
    """A lane that is made of another one's units, some of them rendered anew, and where each of those stands in it."""

    def __init__(self, lane: Lane, old: History, entry_of: EntryOf, *, same: bool = False) -> None:
        self.lane = lane
        self._old = old
        self._entry_of = entry_of
        # What stands before the units that are carried over is either as it was, or is no more.
        self._from = [0] if same else []
        self._to = [0] if same else []

    def place(self, unit: int) -> int:
        """Where a unit stands now; for one that was not carried over, where those do that were. O(log changes)."""
        index = bisect.bisect_right(self._from, unit) - 1
        if index < 0:
            return self._to[0]
        return self._to[index] + unit - self._from[index]

    def keep(self, start: int, stop: int, stubs: Collection[int] = ()) -> None:
        """Carry units over, without reasoning and with one line for each of these results. O(bytes).

        Reasoning is bound to the prefix that it was made on, which is gone.
        """
        new, old = self.lane.history, self._old
        numbers = old.entries(start, stop)
        done: set[int] = set()
        copied = start
        for unit, kind in enumerate(old.kinds(start, stop), start):
            number = numbers[unit - start]
            stub = number in stubs and kind & Kind.TAIL != Kind.TAIL
            if not stub and not kind & Kind.REASONING:
                continue
            self._copy(copied, unit)
            self._note(unit)
            copied = unit + 1
            if number in done:
                continue  # what else was rendered of the same item
            done.add(number)
            item = self._entry_of(number)
            if stub and isinstance(item.item, ToolResult):
                tokens = self.lane.adapter.estimate(old.total(unit, unit + 1))
                line = cleared_result(number, tokens, item.item.artifact)
                self.lane.put_stub(replace(item.item, content=(Text(line),)), number)
            else:
                self.lane.append(item, reasoning=False)
        self._copy(copied, stop)
        self._from.append(stop)
        self._to.append(len(new))

    def _copy(self, start: int, stop: int) -> None:
        if stop > start:
            self._note(start)
            self.lane.history.extend(self._old, start, stop)

    def _note(self, unit: int) -> None:
        self._from.append(unit)
        self._to.append(len(self.lane.history))


def rebuilt(lane: Lane, marks: Marks, cut: int, summary: Entry, net: tuple[Entry, ...], entry_of: EntryOf) -> View:
    """The view after a compaction. O(kept bytes)."""
    old = lane.history
    new = lane.on(History(lane.adapter.groups))
    new.append(summary, Kind.SUMMARY)
    new.summary = len(new.history)
    pins = pinned_units(lane, marks, cut)
    pinned = marks.shifted(new.summary - marks.inputs)
    for start, stop in pins:
        new.history.extend(old, start, stop)
    for entry in net:
        new.append(entry)
    view = View(new, old, entry_of)
    view.keep(cut, len(old))
    new.marks = pinned if pins else Marks(*map(view.place, marks))
    new.forget_images()
    return view


def cleared(lane: Lane, entries: Collection[int], entry_of: EntryOf) -> View:
    """The view with one line in the place of each of these tool results. O(bytes from the first of them)."""
    old, total = lane.history, len(lane.history)
    chosen = frozenset(entries)
    numbers = old.entries(0, total)
    first = next((unit for unit in range(lane.summary, total) if numbers[unit] in chosen), total)
    new = lane.on(old.fork(first))
    view = View(new, old, entry_of, same=True)
    view.keep(first, total, chosen)
    new.cleared = lane.cleared | chosen
    new.marks = Marks(*map(view.place, lane.marks))
    new.forget_images()
    return view
