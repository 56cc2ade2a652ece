"""A lane: the units of one adapter for the entries of a session, sealed in the order in which requests carry them."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable, Sequence
from typing import Final, Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from muntin._core import History
from muntin.items import (
    AssistantTurn,
    Attachment,
    Entry,
    Guidance,
    Image,
    Item,
    Reasoning,
    SkillText,
    StateDiff,
    Text,
    ToolCall,
    ToolResult,
    UserInput,
)
from muntin.layout import Segment
from muntin.providers import Adapter
from muntin.providers.arguments import object_arguments
from muntin.providers.base import Unit
from muntin.providers.pictures import PDF, noted
from muntin.wording import INTERRUPTED, late_result

__all__ = ["Kind", "Lane", "Marks", "Pending", "Repair"]


class Kind:
    """What the engine must know of a unit without looking into it, as bits. `_core` itself knows the first three.

    Plain numbers and no `IntFlag`: they are looked at for each unit, and made for each that is sealed.
    """

    NONE: Final = 0
    RUN: Final = 1
    TURN: Final = 2
    RESPONSE: Final = 4
    REASONING: Final = 8
    MEND: Final = 16
    SUMMARY: Final = 32
    SKILL: Final = 64
    STATE: Final = 128
    TAIL: Final = 48
    """A sent reminder, `MEND` and `SUMMARY` together: no bit is left, and no other unit has both."""


_FIRST: Final = Kind.RUN | Kind.TURN
"""What only the first unit of an item is marked with."""


class Pending(NamedTuple):
    """An entry that no request has carried yet, and the segment that shows it first."""

    entry: Entry
    segment: Segment


class Repair(msgspec.Struct, frozen=True):
    """Something that was mended on the wire; the stored history is as it was.

    Attributes:
        kind: `dangling`: a call without a result got a stand-in. `orphan`: a result without a call was left out.
            `duplicate`: a second result for one call was left out. `late`: a result came after its stand-in and is
            shown where it came. `renamed`: a call under an id that was taken got another id. `arguments`: what was no
            JSON object, cut off perhaps, became one. `empty`: a turn without anything to show was left out. `opening`:
            a text of the user's was put before a turn that may not come first.
        call: The id of the call; empty where the whole turn is meant.
        entry: The id of the entry.
    """

    kind: Literal["dangling", "orphan", "duplicate", "late", "renamed", "arguments", "empty", "opening"]
    call: str
    entry: int


class Marks(NamedTuple):
    """The units at which the segments of the current run begin."""

    inputs: int
    skills: int
    run_state: int
    timeline: int

    def shifted(self, by: int) -> Marks:
        """The marks after units were put in or taken out before all of them."""
        return Marks(*(mark + by for mark in self))


class Lane:
    """Units, their marks, and what was mended on the way.

    Attributes:
        adapter: Renders the units.
        history: The sealed units.
        run: The number of the run that the marks belong to.
        marks: Where its segments begin.
        summary: How many units at the beginning are the summary.
        repairs: What was mended, in order.
        bound: Turns before this entry were made on another prefix than the one of now; see `append`.
        cleared: Ids of the entries whose results are shown as one line.
        elsewhere: Ranges of entries that came about on another view; their reasoning is bound to that.
        images: How many images are in view.
    """

    __slots__ = (
        "_looked_at",
        "_mended",
        "_pictures",
        "_skills",
        "adapter",
        "bound",
        "cleared",
        "elsewhere",
        "history",
        "images",
        "marks",
        "repairs",
        "run",
        "summary",
    )

    def __init__(self, adapter: Adapter, history: History | None = None) -> None:
        self.adapter = adapter
        self.history = History(adapter.groups) if history is None else history
        self.run = 0
        self.marks = Marks(0, 0, 0, 0)
        self.summary = 0
        self.bound = 0
        self.repairs: list[Repair] = []
        self.cleared: frozenset[int] = frozenset()
        self.elsewhere: tuple[tuple[int, int], ...] = ()
        self._mended: set[str] = set()
        self.images = 0
        self._pictures: dict[int, tuple[Image, ...]] = {}
        self._skills: list[int] = []
        self._looked_at = 0

    def fork(self) -> Lane:
        """A lane that shares the sealed units and goes on by itself."""
        return self.on(self.history.fork(), same=True)

    def on(self, history: History, *, same: bool = False) -> Lane:
        """A lane with the same past on other units, or on a copy of the same."""
        other = Lane(self.adapter, history)
        if same:
            other._skills, other._looked_at = self._skills[:], self._looked_at
        other.run, other.marks, other.summary, other.bound = self.run, self.marks, self.summary, self.bound
        other.repairs, other._mended = self.repairs[:], set(self._mended)
        other.cleared, other.elsewhere = self.cleared, self.elsewhere
        other.images, other._pictures = self.images, dict(self._pictures)
        return other

    def shows_images(self, entry: int) -> bool:
        """Whether images of an entry are in view."""
        return entry in self._pictures

    def forget_images(self) -> None:
        """The view has become another one: count those images no more that are not in it. O(units)."""
        if self._pictures:
            shown = set(self.history.entries(self.summary, len(self.history))) - self.cleared
            self._pictures = {entry: images for entry, images in self._pictures.items() if entry in shown}
            self.images = sum(map(len, self._pictures.values()))

    def _with_images(self, entry: int, item: Item) -> Item:
        """An item as it can be shown beside the images in view, which its own are then among. O(images in view)."""
        match item:
            case UserInput(content) | ToolResult(content=content):
                images = tuple(part for part in content if isinstance(part, Image))
            case Attachment(images=images) | Guidance(images=images):
                content = images
            case _:
                return item
        if not images:
            return item
        view = [image for place, others in self._pictures.items() if place != entry for image in others]
        before = len(view)
        shown: list[Text | Image] = []
        for part in content:
            if isinstance(part, Image):
                image = noted(part)
                if reason := self.adapter.left_out(image, view):
                    shown.append(Text(f"[{'document' if image.media_type == PDF else 'image'}: {reason}]"))
                    continue
                view.append(image)
            shown.append(part)
        kept = tuple(view[before:])
        self.images += len(kept) - len(self._pictures.get(entry, ()))
        self._pictures.pop(entry, None)
        if kept:
            self._pictures[entry] = kept
        if len(kept) == len(images):
            return item
        if not isinstance(item, Attachment | Guidance):
            return replace(item, content=tuple(shown))
        words = (part.text for part in shown if isinstance(part, Text))
        text = "\n".join((item.text, *words)).lstrip("\n")
        return replace(item, text=text, images=tuple(part for part in shown if isinstance(part, Image)))

    def seal(self, pending: Sequence[Pending], suffix: str = "") -> bool:
        """Render the pending entries and put each in its place, for good. O(new text).

        Within a run its inputs, skills and state come before its timeline. Results of one batch follow their turn in
        the order of the calls, whatever came between them follows the results, and a call without a result gets a
        stand-in: the request that is being sealed would be refused otherwise.

        Args:
            pending: In causal order.
            suffix: A text to be put into the last result, if that is what all this ends with.

        Returns:
            Whether the suffix has found its place.
        """
        taken = False
        for run, group in itertools.groupby(pending, key=lambda one: one.entry.run):
            if run == self.run:
                taken = self._place([one.entry for one in group], suffix=suffix)
                continue
            self.run = run
            parts: dict[Segment, list[Entry]] = {}
            for one in group:
                parts.setdefault(one.segment, []).append(one.entry)
            starts = [len(self.history)]
            for segment in (Segment.INPUTS, Segment.SKILLS, Segment.RUN_STATE):
                self._place(parts.get(segment, ()), begins_run=segment is Segment.INPUTS)
                starts.append(len(self.history))
            self.marks = Marks(*starts)
            taken = self._place(parts.get(Segment.TIMELINE, ()), suffix=suffix)
        return taken

    def skills(self, start: int, stop: int) -> list[int]:
        """The units of a range that are the texts of skills. O(log n), and O(units added since it was asked)."""
        new, size = self._looked_at, len(self.history)
        if size > new:
            self._skills += self.history.of_kind(new, size, Kind.SKILL)
            self._looked_at = size
        return self._skills[bisect.bisect_left(self._skills, start) : bisect.bisect_left(self._skills, stop)]

    def put_stub(self, result: ToolResult, entry: int) -> None:
        """Render a result at the end under another text; it answers its call as the result itself did."""
        for unit in self.adapter.units(result):
            self._put(unit, entry, Kind.NONE, closes=(result.call,))

    def stick(self, unit: Unit) -> None:
        """Seal a text of the tail behind what has been sealed."""
        if len(self.history):
            self._put(unit, self.history.entry(len(self.history) - 1), Kind.TAIL)

    def append(self, entry: Entry, kind: int = Kind.NONE, *, reasoning: bool = True) -> None:
        """Render one entry at the end. A tool result reads as one that came late: its call has been answered.

        Args:
            entry: What to render.
            kind: What to mark its first unit with, beside what follows from the item.
            reasoning: Whether its reasoning may be replayed; where the model binds it, only on its own prefix.
        """
        item = entry.item
        reasoning = reasoning and (entry.id >= self.bound or not self.adapter.model.binds_reasoning)
        calls: Sequence[str] = ()
        match item:
            case AssistantTurn():
                kind |= Kind.RESPONSE
                if reasoning and any(isinstance(part, Reasoning) for part in item.parts):
                    kind |= Kind.REASONING
                calls = [call.id for call in item.tool_calls]
            case UserInput() | Guidance():
                kind |= Kind.TURN
            case StateDiff():
                kind |= Kind.STATE
            case SkillText():
                kind |= Kind.SKILL
            case ToolResult():
                item = late_result(item)
            case _:
                pass
        item = self._with_images(entry.id, item)
        opening = self.adapter.opening
        units = self.adapter.units(item, reasoning=reasoning)
        if isinstance(item, AssistantTurn):
            for call in item.tool_calls:
                if object_arguments(call.arguments) != call.arguments:
                    self._report(Repair("arguments", call.id, entry.id))
            if not units:
                self._report(Repair("empty", "", entry.id))
        for unit in units:
            if opening and not len(self.history) and unit.group != opening.group:
                self._put(opening, entry.id, Kind.MEND)
                self._report(Repair("opening", "", entry.id))
            self._put(unit, entry.id, kind, opens=calls)
            kind, calls = kind & ~_FIRST, ()

    def _report(self, repair: Repair) -> None:
        """Report what a turn needs once, however often it is rendered."""
        if repair not in self.repairs:
            self.repairs.append(repair)

    def _put(self, unit: Unit, entry: int, kind: int, *, opens: Sequence[str] = (), closes: Sequence[str] = ()) -> None:
        last = len(self.history) - 1
        if last >= 0 and (bridge := self.adapter.bridge(self.history.group(last), unit.group)):
            self.history.append(bridge.group, bridge.wire, bridge.tokens, entry, Kind.MEND)
        self.history.append(unit.group, unit.wire, unit.tokens, entry, kind, opens, closes)

    def _place(self, entries: Iterable[Entry], *, begins_run: bool = False, suffix: str = "") -> bool:
        batch = _NO_CALLS
        for entry in entries:
            kind = Kind.RUN if begins_run else Kind.NONE
            begins_run = False
            match entry.item:
                case AssistantTurn():
                    self._flush(batch)
                    here = not any(first <= entry.id < until for first, until in self.elsewhere)
                    self.append(entry, kind, reasoning=here)
                    batch = _Batch(entry.item.tool_calls)
                case ToolResult(stage="late"):
                    self._behind(batch, entry, kind)
                case ToolResult(call) if call in batch.results:
                    if batch.results[call] is None:
                        batch.results[call] = entry
                    else:
                        self.repairs.append(Repair("duplicate", call, entry.id))
                case ToolResult(call) if call not in self._mended:
                    self.repairs.append(Repair("orphan", call, entry.id))
                case _:
                    if isinstance(entry.item, ToolResult):
                        self._mended.discard(entry.item.call)
                        self.repairs.append(Repair("late", entry.item.call, entry.id))
                    self._behind(batch, entry, kind)
        return self._flush(batch, suffix)

    def _behind(self, batch: _Batch, entry: Entry, kind: int) -> None:
        if batch.results:
            batch.behind.append(entry)
        else:
            self.append(entry, kind)

    def _flush(self, batch: _Batch, suffix: str = "") -> bool:
        """Put the results of a batch in the order of its calls, then what had to wait for them.

        A suffix goes into the last result, if nothing stands behind it; returns whether it does.
        """
        last = next(reversed(batch.results), None) if suffix and not batch.behind else None
        deferred: list[tuple[Unit, int]] = []
        for call, entry in batch.results.items():
            item: Item
            if entry is None:
                number = self.history.entry(len(self.history) - 1)
                self._mended.add(call)
                self.repairs.append(Repair("dangling", call, number))
                item, kind = ToolResult(call, (Text(INTERRUPTED),), is_error=True), Kind.MEND
            else:
                number, item, kind = entry.id, entry.item, Kind.NONE
                item = self._with_images(number, item)
            if call == last and isinstance(item, ToolResult):
                item = replace(item, content=(*item.content, Text(suffix)))
            for unit in self.adapter.units(item, call=batch.calls[call]):
                if unit.deferred:
                    deferred.append((unit, number))
                else:
                    self._put(unit, number, kind, closes=(call,))
        for unit, number in deferred:
            self._put(unit, number, Kind.NONE)
        for entry in batch.behind:
            self.append(entry)
        return last is not None


class _Batch:
    """The calls of one turn, each with its result or None, and what has to wait for the results."""

    __slots__ = ("behind", "calls", "results")

    def __init__(self, calls: Sequence[ToolCall]) -> None:
        self.calls = {call.id: call for call in calls}
        self.results: dict[str, Entry | None] = dict.fromkeys(call.id for call in calls)
        self.behind: list[Entry] = []


_NO_CALLS: Final = _Batch(())
"""The batch before any turn: nothing has a place in it, so that it never changes."""
