"""The lighter means: old tool results become one line each. It costs no model, only the prefix behind the first one."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Final

from muntin.assembly import lightens, too_large
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

    Whether it pays is told in O(log² units), so that it may be asked before every request. Where it does, or where
    images make a request larger than the provider takes: O(units), and O(bytes from the first result that is cleared).
    """
    adapter, lane = conversation.adapter, conversation.lane
    history = lane.history
    recent = conversation.budget.keep_recent if keep is None else keep
    found = history.clearable(lane.summary, conversation.observed, adapter.raw(recent))
    pictured = _pictured(conversation, adapter.raw(recent)) if lane.images and too_large(conversation) else []
    if found is None and not pictured:
        detail = f"no long result stands before the newest {recent} tokens"
        return Rejected(Reason.NOT_SHORTER, unmeasured(conversation, 0), detail), None
    if found is None or pictured:
        # What is too much here is no matter of tokens, so that there is nothing to weigh.
        numbers = sorted({*pictured, *(_clearable(conversation, found[1], found[0]) if found else ())})
        return _carried_out(conversation, numbers, now)
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
    return _carried_out(conversation, _clearable(conversation, first, end), now)


def _carried_out(conversation: Conversation, numbers: list[int], now: float | None) -> tuple[Outcome, Cleared | None]:
    """The view with these results in a line each, held against the present one. O(units), O(bytes behind the first)."""
    if not numbers:
        detail = "all results before the newest ones are cleared, or wait for their last word"
        return Rejected(Reason.NOT_SHORTER, unmeasured(conversation, 0), detail), None
    adapter, lane = conversation.adapter, conversation.lane
    view = cleared(lane, numbers, conversation.log.entry)
    entries = lane.history.entries(0, len(lane.history))
    first = next(unit for unit in range(lane.summary, len(entries)) if entries[unit] == numbers[0])
    before, after = lane.history.total(first), view.lane.history.total(min(first, len(view.lane.history)))
    account = _billed(conversation, adapter.estimate(before - after), adapter.estimate(after), now)
    report = reported(conversation, view.lane, covered=len(numbers), grade=0, bill=account)
    if report.after > report.before * (1 - LEAST_GAIN) and not lightens(conversation, view.lane):
        return Rejected(Reason.NOT_SHORTER, report, f"{report.before} tokens before, {report.after} after"), None
    return Committed(report), Cleared(conversation.epoch + 1, tuple(numbers))


def _pictured(conversation: Conversation, recent: int) -> list[int]:
    """Ids of the final results with images that leave so many raw tokens behind them, the oldest first. O(units)."""
    lane, history = conversation.lane, conversation.lane.history
    total, numbers = history.total(), history.entries(0, len(history))
    old = itertools.takewhile(
        lambda unit: total - history.total(0, unit + 1) >= recent, range(lane.summary, conversation.observed)
    )
    return _final(conversation, filter(lane.shows_images, (numbers[unit] for unit in old)))


def _clearable(conversation: Conversation, first: int, end: int) -> list[int]:
    """Ids of the final results among the long answers of these units, the oldest first."""
    history = conversation.lane.history
    return _final(conversation, map(history.entry, history.answers(first, end)))


def _final(conversation: Conversation, numbers: Iterable[int]) -> list[int]:
    """Which of these are final results that stand in the view as they came, each once, in their order."""
    lane, log = conversation.lane, conversation.log
    found = dict.fromkeys(number for number in numbers if number not in lane.cleared)
    items = ((number, log.entry(number).item) for number in found)
    return [number for number, item in items if isinstance(item, ToolResult) and item.stage == "final"]


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
