"""What a session has learned of its model's counts from the bills that came back, and of its window.

Everything follows from the events of the log, so that a replay learns the same.
"""

from __future__ import annotations

import math
from typing import Final, Literal, NamedTuple

import msgspec

from muntin.providers import Adapter

__all__ = ["Anchor", "Calibration", "WindowMismatch"]

LEAST: Final = 200
"""Billed tokens below which a bill says more of overheads than of texts."""

ODD: Final = 2.0
"""A bill that is this many times the estimate, or one part in so many of it, is about something else."""

WEIGHT: Final = 0.3
"""Of the newest bill, beside what the bills before it said."""


class Anchor(NamedTuple):
    """A bill, the raw tokens that it was for, and the view that it was of."""

    billed: int
    raw: int
    epoch: int


class Calibration(NamedTuple):
    """What bills have taught, in billed tokens for each estimated one.

    Attributes:
        factor: Moves with every bill, a little.
        bills: How many there were.
        anchor: The last of them: what came after it in the same view is all that has to be estimated.
    """

    factor: float = 1.0
    bills: int = 0
    anchor: Anchor | None = None

    def learned(self, adapter: Adapter, billed: int, raw: int, epoch: int) -> Calibration:
        """The calibration after one more bill; the same where it is too small or too odd to learn from."""
        estimated = adapter.estimate(raw)
        if billed < LEAST or not estimated / ODD < billed < estimated * ODD:
            return self
        ratio = billed / estimated
        factor = ratio if not self.bills else self.factor + WEIGHT * (ratio - self.factor)
        return Calibration(factor, self.bills + 1, Anchor(billed, raw, epoch))

    def estimate(self, adapter: Adapter, raw: int, epoch: int) -> int:
        """The best estimate of a request's bill."""
        anchor = self._anchor(raw, epoch)
        if anchor is None:
            return adapter.estimate(raw) if not self.bills else math.ceil(adapter.estimate(raw) * self.factor)
        return anchor.billed + math.ceil(adapter.estimate(raw - anchor.raw) * self.factor)

    def safe(self, adapter: Adapter, raw: int, epoch: int) -> int:
        """The upper estimate of a request's bill; what was billed already needs no margin."""
        factor = max(1.0, self.factor)
        anchor = self._anchor(raw, epoch)
        if anchor is None:
            return adapter.safe(raw) if factor == 1.0 else math.ceil(adapter.safe(raw) * factor)
        # Never less than the estimate, and a little more: providers render the same prefix alike, but not for ever.
        return math.ceil(anchor.billed * 1.005) + math.ceil(adapter.safe(raw - anchor.raw) * factor)

    def _anchor(self, raw: int, epoch: int) -> Anchor | None:
        anchor = self.anchor
        return anchor if anchor and anchor.epoch == epoch and anchor.raw <= raw else None


class WindowMismatch(msgspec.Struct, frozen=True):
    """An answer of the provider that shows another window than the one that is configured.

    Attributes:
        configured: Tokens of the window that the session plans with.
        shown: Tokens that the provider's answer tells of: its limit, or what it took though it is more.
        by: `refusal`: the provider said its limit. `bill`: it billed more than the window has.
    """

    configured: int
    shown: int
    by: Literal["refusal", "bill"]

    def __str__(self) -> str:
        told = "says that its window has" if self.by == "refusal" else "took a request of"
        return (
            f"the provider {told} {self.shown:,} tokens, but the session plans with a window of {self.configured:,}; "
            "give Policy(window=…) or say of the model what it is with muntin.register_models"
        )
