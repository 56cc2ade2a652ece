"""The lighter means: old tool results become one line each. It costs no model, only the prefix behind the first one."""

from __future__ import annotations

from typing import Final

from muntin.compaction.economics import Bill, Prices, bill, worth_it
from muntin.compaction.gate import LEAST_GAIN
from muntin.compaction.outcome import Committed, Outcome, Reason, Rejected
from muntin.compaction.report import is_hot, reported, unmeasured
from muntin.conversation import Conversation
from muntin.items import ToolResult
from muntin.journal import Cleared
from muntin.view import View, cleared

__all__ = ["clearing"]

LEAST_RESULT: Final = 100
"""Raw tokens of a result below which a line in its place frees nothing to speak of, unless it holds images."""


def clearing(
    conversation: Conversation, *, keep: int | None, now: float | None, force: bool
) -> tuple[Outcome, Cleared | None]:
    """What comes of clearing all old results at once: few large steps break the prefix less often than many small ones.

    O(units), and O(bytes from the first result that is cleared).
    """
    adapter, lane, log = conversation.adapter, conversation.lane, conversation.log
    recent = conversation.budget.keep_recent if keep is None else keep
    numbers = _clearable(conversation, adapter.raw(recent))
    if not numbers:
        detail = f"no result longer than {LEAST_RESULT} tokens stands before the newest {recent}"
        return Rejected(Reason.NOT_SHORTER, unmeasured(conversation, 0), detail), None
    view = cleared(lane, numbers, log.entry)
    account = _billed(conversation, view, numbers[0], now)
    report = reported(conversation, view.lane, covered=len(numbers), grade=0, bill=account)
    if report.after > report.before * (1 - LEAST_GAIN):
        return Rejected(Reason.NOT_SHORTER, report, f"{report.before} tokens before, {report.after} after"), None
    # Of what was carried, only the part that these results have had in it could have been saved.
    part = min(1.0, (report.before - report.after) / max(1, adapter.estimate(lane.history.total() - conversation.base)))
    carried = Prices.of(adapter.model).cached * adapter.estimate(conversation.carried) * part
    if not force and not worth_it(account, carried):
        detail = (
            f"it costs {account.rewrite:.0f}, and carrying them has cost {carried:.0f} until now; clear when the cache "
            "has expired, when more has come together, or with force=True"
        )
        return Rejected(Reason.NOT_WORTH_IT, report, detail), None
    return Committed(report), Cleared(conversation.epoch + 1, tuple(numbers))


def _clearable(conversation: Conversation, recent: int) -> list[int]:
    """Ids of the results that are old and long, the oldest first."""
    lane, log = conversation.lane, conversation.log
    history = lane.history
    total = history.total()
    numbers = history.entries(0, len(history))
    found: dict[int, None] = {}
    for unit in range(lane.summary, conversation.observed):
        if total - history.total(0, unit + 1) < recent:
            break
        number = numbers[unit]
        short = history.total(unit, unit + 1) < LEAST_RESULT and not lane.shows_images(number)
        if number in lane.cleared or short:
            continue
        item = log.entry(number).item
        if isinstance(item, ToolResult) and item.stage == "final":
            found[number] = None
    return list(found)


def _billed(conversation: Conversation, view: View, first: int, now: float | None) -> Bill:
    adapter, old = conversation.adapter, conversation.lane.history
    numbers = old.entries(0, len(old))
    behind = next(unit for unit in range(conversation.lane.summary, len(old)) if numbers[unit] == first)
    before = adapter.estimate(old.total(behind))
    after = adapter.estimate(view.lane.history.total(min(behind, len(view.lane.history))))
    return bill(
        Prices.of(adapter.model),
        dropped=before - after,
        summary=0,
        kept=after,
        call=0.0,
        hot=is_hot(conversation, now),
    )
