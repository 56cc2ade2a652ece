"""How much of a request the provider has seen before, by comparison with the one before it.

Nothing here is a promise: a provider may have evicted a prefix, or never written it. The wording is "expected".
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from muntin._core import History
from muntin.layout import LAYOUT
from muntin.providers.base import Adapter, Part, Tools

__all__ = ["Forecast", "Sent", "forecast"]

_TITLE = {row.segment: row.title for row in LAYOUT}


class Sent(NamedTuple):
    """What is remembered of a request, to compare the next one with it; `broke` is what made its view another one."""

    model: str
    epoch: int
    tools: Tools | None
    front: tuple[Part, ...]
    history: History
    units: int
    breakpoints: tuple[int, ...]
    now: float | None
    broke: str = "compaction"


class Forecast(msgspec.Struct, frozen=True):
    """What the provider is expected to read from its cache, in tokens by the best estimate.

    Attributes:
        read: Expected to be read from the cache.
        fresh: The rest of the input.
        cause: What changed in the prefix of the request before; empty where it stands unbroken.
        lost: Tokens of that prefix that cannot be read again.
        note: Why nothing is expected to be read though the prefix may stand: `first request`, `expired …`, `below …`.
    """

    read: int
    fresh: int
    cause: str = ""
    lost: int = 0
    note: str = ""


def forecast(adapter: Adapter, before: Sent | None, after: Sent, total: int) -> Forecast:
    """Compare a request with the one before it. O(log units).

    Args:
        adapter: Of the request; its model's cache rules apply.
        before: The request before, None for the first.
        after: The request.
        total: Raw tokens of the whole request.
    """
    if before is None:
        return Forecast(0, adapter.estimate(total), note="first request")
    raw, cause = _common(adapter, before, after)
    had = _tokens(before.tools) + sum(map(_tokens, before.front)) + before.history.total(0, before.units)
    lost = adapter.estimate(had) - adapter.estimate(raw) if cause else 0
    model = adapter.model
    if before.now is not None and after.now is not None and after.now - before.now > model.cache_ttl:
        note = f"expired after {model.cache_ttl:.0f} s"
        return Forecast(0, adapter.estimate(total), cause, adapter.estimate(had), note)
    read = adapter.estimate(raw)
    if read < model.cache_min:
        note = "" if cause else f"below the minimum of {model.cache_min} tokens"
        return Forecast(0, adapter.estimate(total), cause, lost, note)
    read -= read % model.cache_step
    return Forecast(read, adapter.estimate(total) - read, cause, lost)


def _common(adapter: Adapter, before: Sent, after: Sent) -> tuple[int, str]:
    """Raw tokens that both begin with and that the provider can have cached, and the cause of the break, if any."""
    if before.model != after.model:
        return 0, f"model changed from {before.model} to {after.model}"
    if before.tools is not after.tools and (before.tools is None or before.tools != after.tools):
        return 0, "tools changed"
    raw = _tokens(after.tools)
    if before.front is not after.front:
        same = 0
        for one, other in zip(before.front, after.front, strict=False):
            if one != other:
                break
            same += 1
        if same < max(len(before.front), len(after.front)):
            longer = before.front if same < len(before.front) else after.front
            segment = longer[same].segment
            shared = 0 if adapter.markable else raw + sum(map(_tokens, after.front[:same]))
            return shared, f"{_TITLE[segment]} changed"
    raw += sum(map(_tokens, after.front))
    units = min(before.units, after.units)
    if before.history is not after.history:
        units = min(units, before.history.common_prefix(after.history))
    # Units are only ever appended within an epoch, so that a shorter common part means another view.
    cause = after.broke if units < before.units else ""
    if adapter.markable:
        units = max((at for at in before.breakpoints if at <= units), default=0)
    return raw + after.history.total(0, units), cause


def _tokens(part: Part | Tools | None) -> int:
    return part.tokens if part is not None else 0
