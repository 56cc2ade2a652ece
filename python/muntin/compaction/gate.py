"""The one gate between a summary and the view, and the plan that leads to it."""

from __future__ import annotations

from msgspec.structs import replace

from muntin.assembly import floors, tail
from muntin.budget import Budget
from muntin.compaction.choice import choose
from muntin.compaction.plan import SUMMARY_TOKENS, Committed, CompactionReport, Outcome, Plan, Rejected
from muntin.conversation import Conversation
from muntin.items import Entry, Summary
from muntin.journal import Compacted
from muntin.providers import Adapter
from muntin.view import covered_units, net_changes, rebuilt

__all__ = ["judged", "planned"]


def planned(conversation: Conversation, summariser: Adapter) -> Plan:
    """A plan for the best legal cut of now. O(units covered).

    Raises:
        CannotCompact: No legal boundary frees enough.
    """
    lane, log = conversation.lane, conversation.log
    sent = conversation.last
    fixed = lane.adapter.primer + sum(unit.tokens for _, unit in tail(conversation, None))
    if sent is not None:
        fixed += (sent.tools.tokens if sent.tools else 0) + sum(part.tokens for part in sent.front)
    allowance = min(SUMMARY_TOKENS, max(conversation.budget.limit // 20, 200))
    choice = choose(
        lane,
        conversation.marks,
        conversation.observed,
        conversation.budget,
        fixed=fixed,
        summary=lane.adapter.raw(allowance),
        floors=floors(conversation),
    )
    units = covered_units(lane, conversation.marks, choice.cut)
    numbers = list(dict.fromkeys(map(lane.history.entry, units)))
    earlier = _earlier(conversation)
    # Another model has a window of its own; the session's policy says nothing of it.
    same = summariser is lane.adapter
    own = conversation.budget if same else Budget.of(replace(conversation.policy, window=None), summariser.model)
    return Plan(
        epoch=conversation.epoch,
        cut=choice.cut,
        grade=choice.grade,
        adapter=summariser,
        entries=map(log.entry, numbers),
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
    units = list(covered_units(lane, marks, plan.cut))
    summary = Entry(log.next_entry, conversation.run, Summary(plan.summary, _covers(conversation, units)))
    diffs = net_changes(lane, marks, plan.cut, conversation.front.state, log.entry)
    net = tuple(Entry(summary.id + i, summary.run, diff) for i, diff in enumerate(diffs, 1))
    candidate, _ = rebuilt(lane, marks, plan.cut, summary, net, log.entry)
    after = adapter.estimate(candidate.history.total())
    tokens = adapter.estimate(candidate.history.total(0, candidate.summary))
    report = CompactionReport(before, after, len(units), tokens, plan.grade)
    if after >= before - before // 50:
        return Rejected("not shorter", report, f"{before} tokens before, {after} after"), None
    return Committed(report), Compacted(conversation.epoch + 1, plan.cut, summary, net)


def _earlier(conversation: Conversation) -> Summary | None:
    lane = conversation.lane
    item = conversation.log.entry(lane.history.entry(0)).item if lane.summary else None
    return item if isinstance(item, Summary) else None


def _covers(conversation: Conversation, units: list[int]) -> tuple[tuple[int, int], ...]:
    """Ranges of the entries that a summary stands for, those of the summary before it included."""
    covered = set(map(conversation.lane.history.entry, units))
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
