"""Which of the requests that were answered a request is compared with.

As a rule the last one. Where a session went to another model, other tools or other parameters and comes back, what it
left there before may still be in the provider's cache, and is longer than anything that the last two have in common.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from muntin.calibration import Calibration
from muntin.prefix import Forecast, Sent, forecast, same_beginning, stands
from muntin.providers.base import Adapter
from muntin.usage import Usage

__all__ = ["BEGINNINGS", "Answered", "compared", "nearest", "remembered"]

BEGINNINGS: Final = 4
"""Different beginnings (model, tools, front and parameters) of which the last request is remembered."""


class Answered(NamedTuple):
    """A request that was answered, and what it was billed where the answer said so."""

    sent: Sent
    bill: Usage | None


def remembered(answered: tuple[Answered, ...], newest: Answered) -> tuple[Answered, ...]:
    """The requests to remember after one more, newest first: the last of each beginning. O(1)."""
    others = (one for one in answered if not same_beginning(one.sent, newest.sent))
    return (newest, *others)[:BEGINNINGS]


def nearest(adapter: Adapter, answered: tuple[Answered, ...], sent: Sent) -> Answered | None:
    """The request to compare one with: the newest that begins the same and has not expired, else the last. O(1)."""
    return next((one for one in answered if stands(adapter, one.sent, sent)), answered[0] if answered else None)


def compared(adapter: Adapter, answered: tuple[Answered, ...], sent: Sent, learned: Calibration) -> Forecast:
    """The forecast of a request, by the one before it that left most in the cache. O(log units), see `forecast`."""
    before = nearest(adapter, answered, sent)
    return forecast(adapter, before and before.sent, sent, learned, before and before.bill)
