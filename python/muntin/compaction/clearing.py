"""The lighter means: old tool results become one line each. It costs no model, only the prefix behind the first one."""

from __future__ import annotations

from typing import Final

from muntin.compaction.economics import Bill, Prices, bill, worth_it
from muntin.compaction.gate import LEAST_GAIN
from muntin.compaction.outcome import Committed, CompactionReport, Outcome, Reason, Rejected
from muntin.compaction.report import is_hot, reported, unmeasured
from muntin.conversation import Conversation
from muntin.items import ToolResult
from muntin.journal import Cleared
from muntin.view import cleared

__all__ = ["clearing"]

_LINE: Final = 40
"""Raw tokens of a line in the place of a result, as expected before any is rendered."""


def clearing(
    conversation: Conversation, *, keep: int | None, now: float | None, force: bool
) -> tuple[Outcome, Cleared | None]:
    """What comes of clearing all old results at once: few large steps break the prefix less often than many small ones.

    Whether it pays is told in O(log² units), so that it may be asked before every request; where it does, O(units), and
    O(bytes from the first result that is cleared).
    """
    adapter, lane, log = conversation.adapter, conversation.lane, conversation.log
    history = lane.history
    recent = conversation.budget.keep_recent if keep is None else keep
    found = history.clearable(lane.summary, conversation.observed, adapter.raw(recent))
    if found is None:
        detail = f"no long result stands before the newest {recent} tokens"
        return Rejected(Reason.NOT_SHORTER, unmeasured(conversation, 0), detail), None
    end, first, results, tokens = found
    saved = max(0, adapter.estimate(tokens - results * _LINE))
    account = _billed(conversation, saved, adapter.estimate(history.total(first)) - saved, now)
    expected = _expected(conversation, saved, results, account)
    if expected.after > expected.before * (1 - LEAST_GAIN):
        detail = f"{expected.before} tokens before, about {expected.after} after"
        return Rejected(Reason.NOT_SHORTER, expected, detail), None
    # Of what was carried, only the part that these results have had in it could have been saved.
    part = min(1.0, saved / max(1, adapter.estimate(history.total() - conversation.base)))
    carried = Prices.of(adapter.model).cached * adapter.estimate(conversation.carried) * part
    if not force and not worth_it(account, carried):
        detail = (
            f"it costs {account.rewrite:.0f}, and carrying them has cost {carried:.0f} until now; clear when the cache "
            "has expired, when more has come together, or with force=True"
        )
        return Rejected(Reason.NOT_WORTH_IT, expected, detail), None
    numbers = _clearable(conversation, first, end)
    view = cleared(lane, numbers, log.entry)
    before, after = history.total(first), view.lane.history.total(min(first, len(view.lane.history)))
    account = _billed(conversation, adapter.estimate(before - after), adapter.estimate(after), now)
    report = reported(conversation, view.lane, covered=len(numbers), grade=0, bill=account)
    if report.after > report.before * (1 - LEAST_GAIN):
        return Rejected(Reason.NOT_SHORTER, report, f"{report.before} tokens before, {report.after} after"), None
    return Committed(report), Cleared(conversation.epoch + 1, tuple(numbers))


def _clearable(conversation: Conversation, first: int, end: int) -> list[int]:
    """Ids of the final results among the long answers of these units, the oldest first."""
    lane, log = conversation.lane, conversation.log
    found: dict[int, None] = {}
    for number in map(lane.history.entry, lane.history.answers(first, end)):
        item = log.entry(number).item
        if number not in lane.cleared and isinstance(item, ToolResult) and item.stage == "final":
            found[number] = None
    return list(found)


def _billed(conversation: Conversation, saved: int, kept: int, now: float | None) -> Bill:
    """The bill of dropping so many tokens before so many that are kept."""
    prices, hot = Prices.of(conversation.adapter.model), is_hot(conversation, now)
    return bill(prices, dropped=saved, summary=0, kept=kept, call=0.0, hot=hot)


def _expected(conversation: Conversation, saved: int, results: int, account: Bill) -> CompactionReport:
    """The report of what was weighed and not carried out."""
    before = unmeasured(conversation, 0).before
    return CompactionReport(
        before,
        before - saved,
        covered=results,
        summary=0,
        grade=0,
        cost=round(account.rewrite, 1),
        saves=round(account.saves, 1),
        break_even=round(account.break_even, 1),
    )
