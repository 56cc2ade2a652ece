"""The fourteen segments of a request and their order, as data.

Stable content comes first, so that neighbouring requests share the longest possible beginning.
"""

from __future__ import annotations

import enum
from typing import Literal, NamedTuple, TypeAlias

__all__ = ["LAYOUT", "Band", "Lifetime", "Row", "Segment", "TailMode"]

TailMode: TypeAlias = Literal["volatile", "sticky", "in_result"]
"""What becomes of a tail that was sent.

`volatile`: it is made anew for each request. `sticky`: it stays in its place in the view until a compaction covers it,
and is sent again only when it changed. `in_result`: the same, but in the newest tool result where there is one.
"""


class Segment(enum.IntEnum):
    """A logical segment of the messages of a request; its value is its place."""

    SYSTEM = 1
    CATALOGUE = 2
    COLLABORATION = 3
    GUIDES = 4
    STATE = 5
    SUMMARY = 6
    HISTORY = 7
    INPUTS = 8
    SKILLS = 9
    RUN_STATE = 10
    TIMELINE = 11
    TODO = 12
    REPAIR = 13
    TRANSACTION = 14


class Band(enum.StrEnum):
    """What neighbouring segments have in common."""

    STABLE = "stable prefix"
    SEMI_STABLE = "semi-stable prefix"
    HISTORY = "history"
    TASK = "current task"
    TAIL = "tail"


class Lifetime(enum.StrEnum):
    """How long a segment stays as it is, the longest first."""

    SESSION = "session"
    RUN = "run"
    CAPABILITIES = "capabilities"
    COMPACTION = "compaction"
    GROWS = "grows at its end"
    REQUEST = "request"


class Row(NamedTuple):
    """One row of the layout."""

    segment: Segment
    band: Band
    lifetime: Lifetime
    title: str


LAYOUT: tuple[Row, ...] = (
    Row(Segment.SYSTEM, Band.STABLE, Lifetime.SESSION, "stable system prompt"),
    Row(Segment.CATALOGUE, Band.SEMI_STABLE, Lifetime.RUN, "skill catalogue at the run's start"),
    Row(Segment.COLLABORATION, Band.SEMI_STABLE, Lifetime.RUN, "collaboration notes at the run's start"),
    Row(Segment.GUIDES, Band.SEMI_STABLE, Lifetime.CAPABILITIES, "guides of enabled capabilities"),
    Row(Segment.STATE, Band.SEMI_STABLE, Lifetime.COMPACTION, "session world state, full"),
    Row(Segment.SUMMARY, Band.SEMI_STABLE, Lifetime.COMPACTION, "compaction summary"),
    Row(Segment.HISTORY, Band.HISTORY, Lifetime.GROWS, "history not covered by the summary"),
    Row(Segment.INPUTS, Band.TASK, Lifetime.RUN, "this run's inputs"),
    Row(Segment.SKILLS, Band.TASK, Lifetime.RUN, "skills pre-activated at the run's start"),
    Row(Segment.RUN_STATE, Band.TASK, Lifetime.RUN, "initial run state"),
    Row(Segment.TIMELINE, Band.TASK, Lifetime.GROWS, "timeline of the current run"),
    Row(Segment.TODO, Band.TAIL, Lifetime.REQUEST, "todo reminder"),
    Row(Segment.REPAIR, Band.TAIL, Lifetime.REQUEST, "one-shot repair reminder"),
    Row(Segment.TRANSACTION, Band.TAIL, Lifetime.REQUEST, "unfinished file transaction"),
)
"""All fourteen rows, in the order in which a request carries them."""
