"""The report of a compaction: before and after by segment, what it costs and saves."""

from __future__ import annotations

import itertools

from muntin.budget import Share
from muntin.compaction.economics import Bill
from muntin.compaction.outcome import CompactionReport
from muntin.conversation import Conversation
from muntin.lane import Lane
from muntin.layout import Segment

__all__ = ["fixed_tokens", "is_hot", "reported", "unmeasured", "whole_tokens"]


def fixed_tokens(conversation: Conversation) -> int:
    """Raw tokens of the next request that belong to no sealed unit: tools, front, tail and framing."""
    sent = conversation.last
    tokens = sum(unit.tokens for unit in conversation.ending(None).units)
    return tokens + (sent.framing + sent.before_units if sent else 0)


def whole_tokens(conversation: Conversation, lane: Lane) -> int:
    """The next request with this lane, by the best estimate that bills have taught."""
    raw = fixed_tokens(conversation) + lane.history.total()
    return conversation.calibration.estimate(conversation.adapter, raw)


def is_hot(conversation: Conversation, now: float | None) -> bool:
    """Whether the provider is expected to have the prefix of the last answered request still."""
    seen = conversation.seen
    if seen is None or seen.epoch != conversation.epoch:
        return False
    return now is None or seen.now is None or now - seen.now <= conversation.adapter.model.cache_ttl


def reported(
    conversation: Conversation, candidate: Lane, *, covered: int, grade: int, bill: Bill | None = None
) -> CompactionReport:
    """What it comes to when another lane takes the place of the present one. O(log units)."""
    adapter, lane = conversation.adapter, conversation.lane
    return CompactionReport(
        before=whole_tokens(conversation, lane),
        after=whole_tokens(conversation, candidate),
        covered=covered,
        summary=adapter.estimate(candidate.history.total(0, candidate.summary)),
        grade=grade,
        shares_before=_shares(conversation, lane),
        shares_after=_shares(conversation, candidate),
        cost=round(bill.call + bill.rewrite, 1) if bill else 0.0,
        saves=round(bill.saves, 1) if bill else 0.0,
        break_even=round(bill.break_even, 1) if bill else 0.0,
    )


def unmeasured(conversation: Conversation, grade: int) -> CompactionReport:
    """The report of what was rejected before it was measured."""
    before = whole_tokens(conversation, conversation.lane)
    return CompactionReport(before, before, 0, 0, grade)


def _shares(conversation: Conversation, lane: Lane) -> tuple[Share, ...]:
    raw: dict[Segment, int] = {}
    for part in conversation.last.front if conversation.last else ():
        raw[part.segment] = raw.get(part.segment, 0) + part.tokens
    units = len(lane.history)
    marks = lane.marks if conversation.is_open and lane.run == conversation.run else (units,) * 4
    for number, (start, stop) in enumerate(itertools.pairwise((0, lane.summary, *marks, units)), Segment.SUMMARY):
        if stop > start:
            raw[Segment(number)] = lane.history.total(start, stop)
    for segment, unit in conversation.ending(None).parts:
        raw[segment] = raw.get(segment, 0) + unit.tokens
    return tuple(Share(segment, conversation.adapter.estimate(tokens)) for segment, tokens in sorted(raw.items()))
