"""Where a request asks for caching, where the provider has to be asked.

The places are chosen so that a mark of the next request stands exactly where one of the last request stood: the
provider then finds the entry at the mark itself, however many blocks a turn has added, and never has to look back. They
lie outside the kept bytes, so that moving one changes no prefix.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from muntin.layout import Segment
from muntin.providers.base import Adapter, Part, Tools

__all__ = ["REMEMBERED", "front_marks", "unit_marks"]

REMEMBERED: Final = 32
"""Places of earlier requests that are remembered, to be read again after going back."""

_STABLE_SLOT: Final = 4
"""Slots that a provider must have so that the stable prompt gets one of its own beside the other three."""


def front_marks(adapter: Adapter, slots: int, tools: Tools | None, front: Sequence[Part]) -> tuple[int, ...]:
    """Numbers of front parts after which to ask: behind the stable system prompt, and behind all.

    The first is there so that a new guide, catalogue or state leaves the tools and the prompt readable; it is left out
    where they alone are below the provider's minimum.
    """
    if not front or not adapter.markable:
        return ()
    stable = sum(part.segment is Segment.SYSTEM for part in front)
    raw = (tools.tokens if tools else 0) + sum(part.tokens for part in front[:stable])
    worth = 0 < stable < len(front) and adapter.estimate(raw) >= adapter.model.cache_min
    return (stable, len(front)) if worth and slots >= _STABLE_SLOT else (len(front),)


def unit_marks(written: Sequence[int], units: int) -> tuple[int, ...]:
    """Numbers of units after which to ask: the last place that lies in the cache, to be read, and the end.

    Args:
        written: Places that earlier requests left in the cache and that the request still begins with, ascending.
        units: How many units the request carries; 0 where its end takes no mark.
    """
    return tuple(sorted({place for place in (*written[-1:], units) if place}))
