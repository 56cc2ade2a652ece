"""How much of a request the provider has seen before, by comparison with the one before it.

Nothing here is a promise: a provider may have evicted a prefix, or never written it. The wording is "expected".
"""

from __future__ import annotations

import bisect
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias

import msgspec

from muntin._core import History
from muntin.breakpoints import REMEMBERED, unit_marks
from muntin.cacherules import Kept, cache_rules
from muntin.calibration import Calibration
from muntin.diagnosis import Break, Cause, broke, broken_front, broken_tools, broken_units
from muntin.providers.base import Adapter, Part, Tools
from muntin.usage import Usage

__all__ = ["Forecast", "Note", "Sent", "common_units", "forecast", "placed"]

Note: TypeAlias = Literal["", "first request", "not cached", "expired", "below the minimum", "nothing cached"]
"""Why nothing is expected to be read though the prefix may stand.

`first request`: there is none to compare it with. `not cached`: the provider caches nothing of this model's. `expired`:
more time has passed since the request before than the model keeps a prefix. `below the minimum`: what both begin with
is shorter than the model caches. `nothing cached`: the bill of the request before says that it neither read nor wrote
anything. Empty where something is expected, or the prefix broke.
"""


class Sent(NamedTuple):
    """What is remembered of a request, to compare the next one with it.

    Attributes:
        model: The model that it is for.
        epoch: The number of the view.
        tools: Its tools.
        front: Its segments 1 to 5.
        history: The units of its conversation.
        units: How many of them it carries.
        breakpoints: Numbers of units after which it asks for caching.
        now: When it was prepared, in seconds since the epoch; None where nobody said.
        broke: What made its view another one.
        front_marks: Numbers of front parts after which it asks for caching.
        written: Numbers of units up to which something should lie in the cache once it is answered, ascending.
        tail: Raw tokens behind those units.
        framing: Raw tokens that belong to no part, those that its parameters ask for included.
        switches: Its parameters that break a prefix when they change.
    """

    model: str
    epoch: int
    tools: Tools | None
    front: tuple[Part, ...]
    history: History
    units: int
    breakpoints: tuple[int, ...]
    now: float | None
    broke: str = "compaction"
    front_marks: tuple[int, ...] = ()
    written: tuple[int, ...] = ()
    tail: int = 0
    framing: int = 0
    switches: Mapping[str, Any] = MappingProxyType({})

    @property
    def raw(self) -> int:
        """Raw tokens of the whole. O(log units)."""
        return self.framing + self.before_units + self.history.total(0, self.units) + self.tail

    @property
    def before_units(self) -> int:
        """Raw tokens of its tools and segments 1 to 5."""
        return (self.tools.tokens if self.tools else 0) + sum(part.tokens for part in self.front)


class Forecast(msgspec.Struct, frozen=True, repr_omit_defaults=True):
    """What the provider is expected to do with a request, in tokens. The three parts add up to the whole input.

    Once a bill has come, it is where the figures start from, so that what is hidden before the conversation is in them.

    Attributes:
        read: Expected to be read from the cache.
        fresh: Expected to be neither read nor written.
        written: Expected to be written to the cache, where that has a price of its own.
        cause: What changed in the prefix of the request before, a `Cause` or the name of a change of the view; empty
            where it stands unbroken.
        lost: Tokens of that prefix that cannot be read again.
        note: Why nothing is expected to be read though the prefix may stand.
        limit: The seconds or tokens that the note is about; 0 where it is about none.
        broken: Where the prefix broke, and what to do.
    """

    read: int
    fresh: int
    written: int = 0
    cause: str = ""
    lost: int = 0
    note: Note = ""
    limit: float = 0
    broken: Break | None = None

    @property
    def why(self) -> str:
        """Why nothing, or less than before, is expected to be read, in words; empty where all of it is."""
        match self.note:
            case "expired":
                return f"expired after {self.limit:.0f} s"
            case "below the minimum":
                return f"below the minimum of {self.limit:.0f} tokens"
            case "not cached":
                return "the provider caches nothing of this model's"
            case "nothing cached":
                return "the request before left nothing in the cache"
            case _:
                return self.note or (f"broken: {self.broken or self.cause}" if self.cause else "")


class _Shared(NamedTuple):
    """What two requests begin with: raw tokens that can be read, and the break behind them.

    `end` says that all that the request before left in the cache is among them.
    """

    raw: int
    end: bool
    broken: Break | None


def forecast(
    adapter: Adapter, before: Sent | None, after: Sent, learned: Calibration, bill: Usage | None = None
) -> Forecast:
    """Compare a request with the one before it. O(log units); where a prefix broke, also O(bytes of what differs).

    Args:
        adapter: Of the request; its model's cache rules apply.
        before: The request before, None for the first.
        after: The request.
        learned: What bills have taught; the forecast of the whole is its estimate.
        bill: What the request before was billed, where that is known.
    """
    whole = learned.estimate(adapter, after.raw)
    if before is None:
        return _divided(adapter, after, learned, whole, Forecast(0, 0, note="first request"))
    model, rules = adapter.model, cache_rules(adapter.provider, adapter.model.name)
    if rules.asks and not adapter.markable:
        return _divided(adapter, after, learned, whole, Forecast(0, 0, note="not cached"))
    shared = _common(adapter, before, after)
    figures = _figures(adapter, before, shared, learned, bill if before.model == after.model else None)
    read, broken = figures.read, shared.broken
    if bill is not None and shared.end and rules.holds_output:
        read = min(read + bill.output, whole)
    cause, lost = (broken.cause, max(figures.held - read, 0)) if broken else ("", 0)
    note: Note = ""
    limit: float = 0
    if _expired(adapter, before, after):
        read, lost, note, limit = 0, figures.held, "expired", rules.lifetime(model.cache_ttl)
    elif read < model.cache_min:
        read = 0
        if not broken and bill is not None and not figures.held:
            note = "nothing cached"
        elif not broken:
            note, limit = "below the minimum", model.cache_min
    step, offset = rules.step or model.cache_step, 0
    if rules.step and bill is not None and bill.cached:
        offset = bill.cached % step
    read = max(read - (read - offset) % step, 0)
    outcome = Forecast(read, 0, 0, cause, lost, note, limit, broken)
    return _divided(adapter, after, learned, max(whole, read), outcome)


def common_units(before: Sent | None, history: History, units: int) -> int:
    """How many of a request's units begin as those of the request before. O(log² units)."""
    if before is None:
        return 0
    same = min(before.units, units)
    return same if before.history is history else min(same, before.history.common_prefix(history))


def placed(adapter: Adapter, before: Sent | None, sent: Sent) -> Sent:
    """A request with the places where it asks for caching, and what lies in the cache once it is answered.

    Args:
        adapter: Of the request.
        before: The request before, None for the first.
        sent: The request, without places.
    """
    markable = adapter.markable
    if not _placed(adapter):
        return sent
    same = common_units(before, sent.history, sent.units)
    standing = before.written[: bisect.bisect_right(before.written, same)] if before else ()
    if before and not _stands(adapter, before, sent):
        standing = standing[-1:]  # what is asked for again is written again, what is not is gone
    ends = sent.units and (not markable or sent.history.group(sent.units - 1) in markable)
    end = sent.units if ends else 0
    written = (*standing, end) if end and standing[-1:] != (end,) else standing
    points = unit_marks(standing, end) if markable else ()
    return sent._replace(breakpoints=points, written=written[-REMEMBERED:])


def _placed(adapter: Adapter) -> bool:
    """Whether only what ends where an earlier request asked for caching, or ended, is found."""
    return bool(adapter.markable) or cache_rules(adapter.provider, adapter.model.name).whole_units


def _stands(adapter: Adapter, before: Sent, after: Sent) -> bool:
    """Whether all that stands before the units is as it was, and recent enough, so that what they left can be read."""
    return (
        before.model == after.model
        and before.tools == after.tools
        and before.front == after.front
        and _switched(adapter, before, after)[0] is None
        and not _expired(adapter, before, after)
    )


def _expired(adapter: Adapter, before: Sent, after: Sent) -> bool:
    if before.now is None or after.now is None:
        return False
    lifetime = cache_rules(adapter.provider, adapter.model.name).lifetime(adapter.model.cache_ttl)
    return after.now - before.now > lifetime


class _Figures(NamedTuple):
    """Billed tokens: what the request before left in the cache, and what of that can be read."""

    held: int
    read: int


def _figures(adapter: Adapter, before: Sent, shared: _Shared, learned: Calibration, bill: Usage | None) -> _Figures:
    """The figures by the best estimate, or by what the bill says where there is one."""
    held, common = (learned.part(adapter, raw) for raw in (_held(adapter, before), shared.raw))
    if bill is None:
        return _Figures(held, common)
    gone = held - common
    # One that is asked keeps what it said; one that caches by itself keeps all but what went with that request alone.
    held = bill.cached + bill.written if adapter.markable else max(bill.input - learned.part(adapter, before.tail), 0)
    return _Figures(held, held if shared.end else max(held - gone, 0) if shared.raw else 0)


def _divided(adapter: Adapter, after: Sent, learned: Calibration, whole: int, outcome: Forecast) -> Forecast:
    """An outcome with what is not read divided into what is written and the rest."""
    read, written = outcome.read, 0
    rules = cache_rules(adapter.provider, adapter.model.name)
    if rules.bills_writes and (adapter.markable or not rules.asks):
        last = after.breakpoints[-1] if after.breakpoints else 0 if adapter.markable else after.units
        behind = after.history.total(last, after.units) + after.tail
        written = max(whole - read - learned.part(adapter, behind), 0)
        if read + written < adapter.model.cache_min:
            written = 0
    return msgspec.structs.replace(outcome, written=written, fresh=whole - read - written)


def _common(adapter: Adapter, before: Sent, after: Sent) -> _Shared:
    """What both begin with and the provider can have cached, and the break behind it, if any."""
    in_places = _placed(adapter)
    if before.model != after.model:
        return _Shared(0, False, broke(Cause.MODEL, f"{before.model} → {after.model}"))
    switched, kept = _switched(adapter, before, after)
    if switched and kept == "nothing":
        return _Shared(0, False, switched)
    broken = broken_tools(before.tools, after.tools)
    if broken:
        return _Shared(0, False, broken)
    same, broken = broken_front(before.front, after.front)
    if broken or kept == "tools":
        same = 0 if kept == "tools" else same
        if in_places:
            same = max((mark for mark in before.front_marks if mark <= same), default=0)
        tools = 0 if in_places and not same else _tokens(after.tools)
        return _Shared(tools + sum(map(_tokens, after.front[:same])), False, switched or broken)
    front = after.before_units
    if switched:
        return _Shared(front, False, switched)
    units = common_units(before, after.history, after.units)
    # Units are only ever appended within an epoch, so that a shorter common part means another view.
    broken = broken_units(before.history, before.units, after.history, after.units, units, after.broke)
    if in_places:
        units = max((at for at in before.written if at <= units), default=0)
        held = max(before.written, default=0)
    else:
        held = before.units
    return _Shared(front + after.history.total(0, units), units >= held, broken)


def _switched(adapter: Adapter, before: Sent, after: Sent) -> tuple[Break | None, Kept | None]:
    """The parameter that changed and that breaks the prefix earliest, and what can be read all the same."""
    if before.switches == after.switches:
        return None, None
    keeps = cache_rules(adapter.provider, adapter.model.name).keeps
    order: tuple[Kept, ...] = ("nothing", "tools", "system")
    changed = [name for name in keeps if before.switches.get(name) != after.switches.get(name)]
    if not changed:
        return None, None
    name = min(changed, key=lambda one: order.index(keeps[one]))
    texts = (msgspec.json.encode(sent.switches.get(name)) for sent in (before, after))
    return broke(Cause.PARAMETER, name, *texts), keeps[name]


def _held(adapter: Adapter, sent: Sent) -> int:
    """Raw tokens that a request left in the cache when it was answered."""
    units = max(sent.written, default=0) if adapter.markable else sent.units
    return sent.before_units + sent.history.total(0, units)


def _tokens(part: Part | Tools | None) -> int:
    return part.tokens if part is not None else 0
