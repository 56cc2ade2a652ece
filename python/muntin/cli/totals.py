"""What the requests of a replay come to."""

from __future__ import annotations

from muntin.audit import TOLERANCE
from muntin.replay import Step

__all__ = ["Totals"]


class Totals:
    """Sums over the requests of a recording or of several. Tokens are by the best estimate.

    `compared` are the bills of requests of which something was expected to be read, `as_forecast` those of them that
    were read within 2 % of it. `forecast` is the whole input by the forecasts, which counts what only bills tell of.
    """

    def __init__(self) -> None:
        self.requests = self.refused = self.tokens = self.read = self.lost = 0
        self.compactions = self.repairs = self.problems = self.billed = self.billed_cached = 0
        self.forecast = 0
        self.largest = self.compared = self.as_forecast = 0
        self.breaks: dict[str, int] = {}

    def add(self, step: Step) -> None:
        """Take one request into the sums."""
        self.requests += 1
        self.compactions += len(step.compactions)
        self.repairs += len(step.repairs)
        self.problems += len(step.problems)
        if step.billed:
            self.billed += step.billed.input
            self.billed_cached += step.billed.cached
        if step.request is None:
            self.refused += 1
            return
        usage, forecast = step.request.usage, step.request.forecast
        self.tokens += usage.tokens
        self.largest = max(self.largest, usage.tokens)
        self.read += forecast.read
        self.forecast += forecast.read + forecast.written + forecast.fresh
        self.lost += forecast.lost
        if step.billed and step.comparable and forecast.read:
            self.compared += 1
            self.as_forecast += abs(step.billed.cached - forecast.read) <= TOLERANCE * forecast.read
        if forecast.cause:
            self.breaks[forecast.cause] = self.breaks.get(forecast.cause, 0) + 1

    @property
    def share_read(self) -> float:
        """The part of all input tokens that is expected to come from the cache, what only bills tell of among them."""
        return self.read / self.forecast if self.forecast else 0.0
