"""What a compaction costs and saves, in tokens' worth of fresh input, so that no currency is needed."""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from muntin.models import Model

__all__ = ["Bill", "Prices", "bill", "worth_it"]

_USUAL: Final = {
    "anthropic": (1.25, 0.1, 5.0),
    "openai": (1.0, 0.1, 8.0),
}
"""Written, cached and output prices where a model's own are not known, by who serves it."""


class Prices(NamedTuple):
    """Prices of a token as multiples of the price of a fresh, uncached input token.

    Attributes:
        written: Of one that is written to the cache.
        cached: Of one that is read from the cache.
        output: Of one that the model writes.
    """

    written: float = 1.0
    cached: float = 0.1
    output: float = 5.0

    @classmethod
    def of(cls, model: Model) -> Prices:
        """The prices of a model, or what is usual with who serves it where they are not known."""
        figures = [model.price_input, model.price_written, model.price_cached, model.price_output]
        written, cached, output = _USUAL.get(model.provider, (1.0, 0.1, 5.0))
        if not figures[0]:
            return cls(written, cached, output)
        base = figures[0]
        known = [None if figure is None else figure / base for figure in figures[1:]]
        return cls(*(usual if one is None else one for one, usual in zip(known, (1.0, cached, output), strict=True)))


class Bill(NamedTuple):
    """What a compaction costs once and saves with every later request, in tokens' worth of fresh input.

    Attributes:
        call: The summary's requests and answers.
        rewrite: What has to be written to the cache anew, less what would have been read, or written anyway where the
            cache is cold; negative where the next request alone is cheaper than without the compaction.
        saves: What each later request costs less.
    """

    call: float
    rewrite: float
    saves: float

    @property
    def break_even(self) -> float:
        """Later requests after which it has paid for itself; infinite where it never does."""
        once = self.call + self.rewrite
        if once <= 0:
            return 0.0
        return once / self.saves if self.saves > 0 else math.inf


def bill(prices: Prices, *, dropped: int, summary: int, kept: int, call: float, hot: bool) -> Bill:
    """The bill of putting a summary in the place of what is dropped.

    Args:
        prices: Of the session's model.
        dropped: Tokens that leave the view.
        summary: Tokens that stand for them.
        kept: Tokens behind them, which have another prefix afterwards.
        call: What the summary itself costs.
        hot: Whether the provider still has the old prefix.
    """
    after = prices.written * (summary + kept)
    before = (prices.cached if hot else prices.written) * (dropped + kept)
    return Bill(call, after - before, prices.cached * (dropped - summary))


def worth_it(bill: Bill, carried: float) -> bool:
    """Whether to compact now, going by the past alone.

    It is time as soon as carrying what could be dropped has cost as much as dropping it would. Whatever comes after,
    this costs at most twice what the best choice in hindsight would have; and where a view grows evenly it is the best
    length of a cycle, since that is where what is carried and what it costs to stop are the same.

    Args:
        bill: Of the compaction.
        carried: What was paid since the last view change for what could be dropped, in tokens' worth of fresh input.
    """
    return carried >= bill.call + bill.rewrite
