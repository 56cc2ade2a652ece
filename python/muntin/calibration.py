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
"""Estimated tokens below which what one bill has more than the last says little of texts."""

ODD: Final = 2.0
"""Where a bill grew by this many times the estimate, or by one part in so many, something else came or went too."""

DOUBT: Final = 2_000.0
"""Estimated tokens that stand against what bills teach, so that the first of them do not say it all."""


class Anchor(NamedTuple):
    """A bill, the raw tokens that it was for, and the number of the view that it was of."""

    billed: int
    raw: int
    epoch: int


class Calibration(NamedTuple):
    """What bills have taught. From one on, only the difference to the last billed request is estimated.

    What a gateway hides before the conversation is in every bill alike: it stays in the difference, and teaches nothing
    about texts.

    Attributes:
        billed: Tokens by which bills grew.
        estimated: What was estimated for them.
        anchor: The last bill.
    """

    billed: int = 0
    estimated: int = 0
    anchor: Anchor | None = None

    @property
    def factor(self) -> float:
        """Billed tokens for each estimated one."""
        return (self.billed + DOUBT) / (self.estimated + DOUBT)

    def learned(self, adapter: Adapter, billed: int, raw: int, epoch: int) -> Calibration:
        """The calibration after one more bill."""
        last, anchor = self.anchor, Anchor(billed, raw, epoch)
        if last is None or last.epoch != epoch or raw < last.raw:
            return self._replace(anchor=anchor)
        grown, estimated = billed - last.billed, adapter.estimate(raw - last.raw)
        if estimated < LEAST or not estimated / ODD < grown < estimated * ODD:
            return self._replace(anchor=anchor)
        return Calibration(self.billed + grown, self.estimated + estimated, anchor)

    def part(self, adapter: Adapter, raw: int) -> int:
        """The best estimate of what a part of a request is billed."""
        return math.ceil(adapter.estimate(raw) * self.factor)

    def estimate(self, adapter: Adapter, raw: int) -> int:
        """The best estimate of a request's bill."""
        anchor = self.anchor
        if anchor is None:
            return adapter.estimate(raw)
        if raw >= anchor.raw:
            return anchor.billed + self.part(adapter, raw - anchor.raw)
        # What went is billed no more, at the bill's own measure where that lies below the learned one.
        return anchor.billed - min(
            self.part(adapter, anchor.raw - raw), anchor.billed * (anchor.raw - raw) // anchor.raw
        )

    def safe(self, adapter: Adapter, raw: int, epoch: int) -> int:
        """The upper estimate of a request's bill; what was billed already needs no margin."""
        anchor, factor = self.anchor, max(1.0, self.factor)
        if anchor is None:
            return adapter.safe(raw)
        if anchor.epoch == epoch and anchor.raw <= raw:
            # A little more: providers render the same prefix alike, but not for ever.
            return math.ceil(anchor.billed * 1.005) + math.ceil(adapter.safe(raw - anchor.raw) * factor)
        return max(self._hidden(adapter) + math.ceil(adapter.safe(raw) * factor), self.estimate(adapter, raw))

    def hidden(self, adapter: Adapter) -> int:
        """What the last bill held beside the request, such as a system prompt that a gateway puts in, in raw tokens."""
        if self.anchor is None or not self.anchor.raw:
            return 0
        return self._hidden(adapter) * self.anchor.raw // max(1, adapter.estimate(self.anchor.raw))

    def _hidden(self, adapter: Adapter) -> int:
        return max(0, self.anchor.billed - self.part(adapter, self.anchor.raw)) if self.anchor else 0


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
