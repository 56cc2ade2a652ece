"""The one gate between a summary and the view, and the plan that leads to it."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from muntin.assembly import floors, tail
from muntin.budget import Budget
from muntin.compaction.choice import choose
from muntin.compaction.plan import SUMMARY_TOKENS, Committed, CompactionReport, Outcome, Plan, Rejected
from muntin.conversation import Conversation
from muntin.items import Entry, Item, Recovery, Summary
from muntin.journal import Compacted
from muntin.providers import Adapter
from muntin.view import behind_tail, covered_entries, net_changes, rebuilt
from muntin.wording import still_running

__all__ = ["judged", "planned"]

SUMMARY_SHARE: Final = 0.05
"""The part of the window that a summary may take: more would leave little of what was freed."""

LEAST_SUMMARY: Final = 200
"""Tokens without which six parts cannot say anything, however small the window is."""

LEAST_GAIN: Final = 0.02
"""A compaction must make the conversation shorter by at least this part: a broken prefix has to be written again."""


def planned(conversation: Conversation, summariser: Adapter) -> Plan:
    """A plan for the best legal cut of now. O(units covered).

    Raises:
        CannotCompact: No legal boundary frees enough.
    """
    lane, log = conversation.lane, conversation.log
    sent = conversation.last
    fixed = lane.adapter.costs.framing(tools=bool(sent and sent.tools), system=bool(sent and sent.front))
    fixed += sum(unit.tokens for _, unit in tail(conversation, None))
    if sent is not None:
        fixed += (sent.tools.tokens if sent.tools else 0) + sum(part.tokens for part in sent.front)
    allowance = min(SUMMARY_TOKENS, max(int(conversation.budget.limit * SUMMARY_SHARE), LEAST_SUMMARY))
    choice = choose(
        lane,
        conversation.marks,
        conversation.observed,
        conversation.budget,
        fixed=fixed,
        summary=lane.adapter.raw(allowance),
        floors=floors(conversation),
    )
    cut = behind_tail(lane, choice.cut)
    covered = covered_entries(lane, conversation.marks, cut)
    earlier = _earlier(conversation)
    # Another model has a window of its own; the session's policy says nothing of it.
    same = summariser is lane.adapter
    own = conversation.budget if same else Budget.of(replace(conversation.policy, window=None), summariser.model)
    return Plan(
        epoch=conversation.epoch,
        cut=cut,
        grade=choice.grade,
        adapter=summariser,
        entries=map(log.entry, covered),
        earlier=earlier.text if earlier else "",
        max_tokens=allowance,
        limit=own.limit,
    )


def judged(plan: Plan, conversation: Conversation, *, newest: bool) -> tuple[Outcome, Compacted | None]:
    """What comes of a plan: the event that makes its summary the view, or the reason why nothing changes.

    A summary passes if its generation finished, it has content, the view that it was planned on is still the view, and
    the rendered conversation is really shorter with it.
    """
    lane, adapter, log = conversation.lane, conversation.adapter, conversation.log
    before = adapter.estimate(lane.history.total())
    unmeasured = CompactionReport(before, before, 0, 0, plan.grade)
    if plan.failure:
        return Rejected(plan.failure, unmeasured, plan.detail), None
    if not plan.finished:
        return Rejected("unfinished", unmeasured, "requests of the plan wait for an answer"), None
    if plan.epoch != conversation.epoch:
        return Rejected("stale view", unmeasured, f"planned on view {plan.epoch}, now {conversation.epoch}"), None
    if not newest:
        return Rejected("superseded", unmeasured, "a newer plan was made"), None
    marks = conversation.marks
    covered = covered_entries(lane, marks, plan.cut)
    summary = Entry(log.next_entry, conversation.run, Summary(plan.summary, _covers(conversation, covered)))
    diffs = net_changes(lane, marks, plan.cut, conversation.front.state, log.entry)
    facts: list[Item] = [*diffs]
    if conversation.awaited:
        # Their calls may be covered now, and no summary may forget what still runs.
        facts.append(Recovery(still_running(conversation.awaited.values())))
    net = tuple(Entry(summary.id + i, summary.run, fact) for i, fact in enumerate(facts, 1))
    candidate, _ = rebuilt(lane, marks, plan.cut, summary, net, log.entry)
    after = adapter.estimate(candidate.history.total())
    tokens = adapter.estimate(candidate.history.total(0, candidate.summary))
    report = CompactionReport(before, after, len(covered), tokens, plan.grade)
    if after > before * (1 - LEAST_GAIN):
        detail = f"{before} tokens before, {after} after; at least {LEAST_GAIN:.0%} less are worth a broken prefix"
        return Rejected("not shorter", report, detail), None
    return Committed(report), Compacted(conversation.epoch + 1, lane.history.entry(plan.cut), summary, net)


def _earlier(conversation: Conversation) -> Summary | None:
    lane = conversation.lane
    item = conversation.log.entry(lane.history.entry(0)).item if lane.summary else None
    return item if isinstance(item, Summary) else None


def _covers(conversation: Conversation, entries: list[int]) -> tuple[tuple[int, int], ...]:
    """Ranges of the entries that a summary stands for, those of the summary before it included."""
    covered = set(entries)
    earlier = _earlier(conversation)
    if earlier:
        covered |= {number for first, last in earlier.covers for number in range(first, last + 1)}
    ranges: list[tuple[int, int]] = []
    for number in sorted(covered):
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    return tuple(ranges)
