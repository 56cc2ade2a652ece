"""The one gate between a summary and the view, and the plan that leads to it."""

from __future__ import annotations

from typing import Any, Final, NamedTuple, Protocol

from msgspec.structs import replace

from muntin.assembly import floors, lightens, too_large
from muntin.budget import Budget
from muntin.compaction.breaker import check_breaker
from muntin.compaction.choice import Choice, choose
from muntin.compaction.economics import Bill, Prices, bill, worth_it
from muntin.compaction.facts import Facts, contradiction, facts_of
from muntin.compaction.outcome import Committed, Outcome, Reason, Rejected
from muntin.compaction.plan import SUMMARY_TOKENS, Plan, Redact
from muntin.compaction.references import recallable
from muntin.compaction.report import fixed_tokens, is_hot, reported, unmeasured
from muntin.compaction.request import FRAMING, INSTRUCTIONS, ON_THE_SPOT, same_prefix_body
from muntin.conversation import Conversation
from muntin.exceptions import CannotCompact, InputError
from muntin.items import Entry, Item, Recovery, Summary
from muntin.journal import Compacted
from muntin.lane import Lane
from muntin.models import Model
from muntin.providers import Adapter
from muntin.view import behind_tail, covered_entries, net_changes, rebuilt
from muntin.wording import still_running

__all__ = ["Proposal", "Validator", "judged", "pays", "planned", "proposal_of", "rejected"]

SUMMARY_SHARE: Final = 0.05
"""The part of the window that a summary may take: more would leave little of what was freed."""

LEAST_SUMMARY: Final = 200
"""Tokens without which six parts cannot say anything, however small the window is."""

LONGEST: Final = 2
"""How many times the tokens that it was allowed a summary may have; a model's own limit is seldom passed at all."""

LEAST_GAIN: Final = 0.02
"""A compaction must make the request shorter by at least this part: a broken prefix has to be written again."""


class Proposal(NamedTuple):
    """What a validator is shown: a summary that passed everything else.

    Attributes:
        summary: Its text.
        covered: Ids of the entries that it stands for anew.
        facts: What todo, transactions, approvals and calls say now.
        state: The world state now.
    """

    summary: str
    covered: tuple[int, ...]
    facts: Facts
    state: dict[str, Any]


class Validator(Protocol):
    """Looks at a summary before it becomes the view."""

    def __call__(self, proposal: Proposal, /) -> str:
        """What is wrong with it; an empty text for nothing."""
        ...


def planned(
    conversation: Conversation,
    summariser: Adapter,
    *,
    same_prefix: bool = False,
    redact: Redact | None = None,
    force: bool = False,
    now: float | None = None,
    least_cost: bool = False,
) -> Plan:
    """A plan for the best legal cut of now. O(log units); what it covers is listed when its requests are made.

    Raises:
        CannotCompact: No legal boundary frees enough, plans keep coming to nothing, or no request would fit.
        InputError: The same prefix is asked for where it cannot be.
    """
    lane, log, marks = conversation.lane, conversation.log, conversation.marks
    if same_prefix and redact:
        raise InputError("a summary request on the same prefix shows what was sent already; it cannot be redacted")
    if same_prefix and summariser is not lane.adapter:
        raise InputError("the same prefix is that of the session's own adapter; leave the summariser's adapter out")
    if not force:
        check_breaker(conversation)
    allowance = _allowance(conversation)
    choice = _chosen(conversation, allowance, least_cost=least_cost)
    cut = behind_tail(lane, choice.cut)
    numbers = covered_entries(lane, marks, cut)
    if cut > marks.inputs:
        # The task stays in view; it is read so that the summary can speak of it, and may be covered when its run ends.
        numbers = sorted({*numbers, *lane.history.entries(marks.inputs, marks.skills)})
    earlier = _earlier(conversation)
    facts = facts_of(conversation)
    whole = _whole(conversation, facts, allowance) if same_prefix else None
    # Another model has a window of its own; the session's policy says nothing of it.
    same = summariser is lane.adapter
    own = conversation.budget if same else Budget.of(replace(conversation.policy, window=None), summariser.model)
    return Plan(
        session=(conversation.tenant, conversation.session),
        epoch=conversation.epoch,
        past=lane.history.chain(cut),
        cut=cut,
        grade=choice.grade,
        adapter=summariser,
        entries=map(log.entry, numbers),
        earlier=earlier.text if earlier else "",
        max_tokens=allowance,
        limit=own.limit if whole is None else own.window,
        facts=facts,
        redact=redact,
        whole=whole,
        hot=is_hot(conversation, now),
    )


def pays(conversation: Conversation, *, same_prefix: bool = False, now: float | None = None) -> bool:
    """Whether a compaction at least cost is worth it now, by what is expected of it. O(log units).

    Where plans keep coming to nothing, or no legal boundary frees enough, none is.
    """
    adapter, history = conversation.adapter, conversation.lane.history
    allowance = _allowance(conversation)
    try:
        check_breaker(conversation)
        choice = _chosen(conversation, allowance, least_cost=True)
    except CannotCompact:
        return False
    prices, hot = Prices.of(adapter.model), is_hot(conversation, now)
    dropped = adapter.estimate(history.total() - choice.kept)
    whole = adapter.estimate(fixed_tokens(conversation) + history.total())
    asked = (prices.cached if hot else prices.written) * whole if same_prefix else dropped
    expected = bill(
        prices,
        dropped=dropped,
        summary=allowance,
        kept=adapter.estimate(choice.kept),
        call=asked + prices.output * allowance,
        hot=hot,
    )
    return worth_it(expected, prices.cached * adapter.estimate(conversation.carried))


def judged(plan: Plan, conversation: Conversation) -> tuple[Outcome, Compacted | None]:
    """What comes of a plan: the event that makes its summary the view, or the reason why nothing changes.

    A summary passes if its generation finished, its six parts have content, everything that it replaces was read for
    it, nothing that is known now contradicts it, the view that it was planned on is still the view, and the rendered
    request is really shorter with it. O(kept bytes).
    """
    lane, log = conversation.lane, conversation.log
    if plan.superseded:
        return rejected(plan, conversation, Reason.SUPERSEDED, "a newer plan was made"), None
    if plan.failure:
        return rejected(plan, conversation, plan.failure, plan.detail), None
    if not plan.finished:
        return rejected(plan, conversation, Reason.UNFINISHED, "requests of the plan wait for an answer"), None
    if plan.epoch != conversation.epoch:
        detail = f"planned on view {plan.epoch}, now {conversation.epoch}"
        return rejected(plan, conversation, Reason.STALE_VIEW, detail), None
    if plan.cut > len(lane.history) or lane.history.chain(plan.cut) != plan.past:
        detail = f"view {plan.epoch} here is another one than that which it was planned on"
        return rejected(plan, conversation, Reason.STALE_VIEW, detail), None
    marks = conversation.marks
    covered = covered_entries(lane, marks, plan.cut)
    unread = sorted(set(covered) - plan.read)
    if unread:
        return rejected(plan, conversation, Reason.NOT_READ, f"entries {unread[:5]} were not read"), None
    length = plan.adapter.count(plan.summary)
    if length > plan.max_tokens * LONGEST:
        detail = f"the summary has {length} tokens, {plan.max_tokens} were allowed"
        return rejected(plan, conversation, Reason.NOT_SHORTER, detail), None
    wrong = contradiction(plan.summary, facts_of(conversation))
    if wrong:
        return rejected(plan, conversation, Reason.CONTRADICTED, wrong), None
    earlier = _earlier(conversation)
    references = recallable(plan.summary, covered, earlier, log.entry, plan.max_tokens)
    item = Summary(plan.summary, _covers(earlier, covered), references)
    summary = Entry(log.next_entry, conversation.run, item)
    diffs = net_changes(lane, marks, plan.cut, conversation.front.state, log.entry)
    facts: list[Item] = [*diffs]
    if conversation.awaited:
        # Their calls may be covered now, and no summary may forget what still runs.
        facts.append(Recovery(still_running(conversation.awaited.values())))
    net = tuple(Entry(summary.id + i, summary.run, fact) for i, fact in enumerate(facts, 1))
    candidate = rebuilt(lane, marks, plan.cut, summary, net, log.entry).lane
    report = reported(
        conversation, candidate, covered=len(covered), grade=plan.grade, bill=_billed(plan, conversation, candidate)
    )
    # Where bytes or images are what is too much, tokens are not what has to become less.
    if report.after > report.before * (1 - LEAST_GAIN) and not lightens(conversation, candidate):
        detail = f"{report.before} tokens before, {report.after} after; a broken prefix is worth {LEAST_GAIN:.0%} less"
        return Rejected(Reason.NOT_SHORTER, report, detail), None
    return Committed(report), Compacted(conversation.epoch + 1, lane.history.entry(plan.cut), summary, net)


def rejected(plan: Plan, conversation: Conversation, reason: Reason, detail: str) -> Rejected:
    """A rejection of what was not measured."""
    return Rejected(reason, unmeasured(conversation, plan.grade), detail)


def proposal_of(event: Compacted, conversation: Conversation) -> Proposal:
    """What validators are shown of a compaction that is about to be committed."""
    item = event.summary.item
    text, covers = (item.text, item.covers) if isinstance(item, Summary) else ("", ())
    before = {number for first, last in _covers(_earlier(conversation), []) for number in range(first, last + 1)}
    covered = [number for first, last in covers for number in range(first, last + 1) if number not in before]
    return Proposal(text, tuple(covered), facts_of(conversation), dict(conversation.state))


def _allowance(conversation: Conversation) -> int:
    """Tokens that a summary may have."""
    return min(SUMMARY_TOKENS, max(int(conversation.budget.limit * SUMMARY_SHARE), LEAST_SUMMARY))


def _chosen(conversation: Conversation, allowance: int, *, least_cost: bool) -> Choice:
    lane = conversation.lane
    return choose(
        lane,
        conversation.marks,
        conversation.observed,
        conversation.budget,
        fixed=fixed_tokens(conversation),
        # The next summary is hardly shorter than the last one: to hope so would be to try again at every turn.
        summary=max(lane.adapter.raw(allowance), lane.history.total(0, lane.summary)),
        floors=floors(conversation),
        least_cost=least_cost,
        pressed=too_large(conversation),
    )


def _whole(conversation: Conversation, facts: Facts, allowance: int) -> bytes:
    """The body of a summary request on the prefix of the last answered request.

    Raises:
        CannotCompact: No request was answered on this view, or there is no room behind it.
    """
    sent = conversation.seen
    adapter = conversation.adapter
    if sent is None or sent.epoch != conversation.epoch or sent.units < conversation.observed:
        raise CannotCompact("no request was answered on this view: there is no prefix to share", floors={})
    tokens = sent.framing + FRAMING + sent.before_units + sent.history.total(0, sent.units)
    tokens += sum(map(adapter.count, (ON_THE_SPOT, INSTRUCTIONS, facts.text))) + conversation.calibration.hidden(
        adapter
    )
    needed = adapter.safe(tokens) + allowance
    if needed > conversation.budget.window:
        raise CannotCompact(
            f"a summary request on the same prefix needs {needed} tokens, more than the window of "
            f"{conversation.budget.window}; plan without same_prefix, which reads it in stages",
            floors={"same prefix": needed},
        )
    return same_prefix_body(adapter, sent, facts.text, allowance)


def _billed(plan: Plan, conversation: Conversation, candidate: Lane) -> Bill:
    adapter, old, new = conversation.adapter, conversation.lane, candidate
    prices, theirs = Prices.of(adapter.model), Prices.of(plan.adapter.model)
    # Prices are ratios to each model's own; what its input costs against the other's only a price list tells.
    once = theirs.cached if plan.on_same_prefix and plan.hot else 1.0
    call = (plan.asked * once + plan.said * theirs.output) * _relative(plan.adapter.model, adapter.model)
    kept = old.history.total(min(plan.cut, len(old.history)))
    return bill(
        prices,
        dropped=adapter.estimate(old.history.total() - kept),
        summary=adapter.estimate(new.history.total() - kept),
        kept=adapter.estimate(kept),
        call=call,
        hot=plan.hot,
    )


def _relative(model: Model, other: Model) -> float:
    """The input price of a model as a multiple of another's; 1 where either is not known."""
    mine, theirs = (getattr(one, "price_input", None) for one in (model, other))
    return mine / theirs if mine and theirs else 1.0


def _earlier(conversation: Conversation) -> Summary | None:
    lane = conversation.lane
    item = conversation.log.entry(lane.history.entry(0)).item if lane.summary else None
    return item if isinstance(item, Summary) else None


def _covers(earlier: Summary | None, entries: list[int]) -> tuple[tuple[int, int], ...]:
    """Ranges of the entries that a summary stands for, those of the summary before it included."""
    covered = set(entries)
    if earlier:
        covered |= {number for first, last in earlier.covers for number in range(first, last + 1)}
    ranges: list[tuple[int, int]] = []
    for number in sorted(covered):
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    return tuple(ranges)
