"""What goes with one request alone: the tail as units, and what the wire format needs behind them."""

from __future__ import annotations

from typing import Final, NamedTuple, TypeAlias

from muntin.layout import Segment
from muntin.providers.base import Adapter, Unit
from muntin.tail import TailText

__all__ = ["NO_ENDING", "Ending", "ending"]

_Told: TypeAlias = tuple[tuple[Segment, Unit], ...]


class Ending(NamedTuple):
    """Units that go with one request alone.

    Attributes:
        texts: What the tail says.
        told: That as units.
        group: The group of the unit that stands before them; None where none does.
        parts: The units with the segment of each, those that the wire format needs included.
        units: The same without their segments.
        tokens: Raw tokens of them behind that group.
        size: Their bytes.
    """

    texts: tuple[TailText, ...]
    told: _Told
    group: int | None
    parts: _Told
    units: tuple[Unit, ...]
    tokens: int
    size: int


NO_ENDING: Final = Ending((), (), -1, (), (), 0, 0)
"""The ending before any: it stands behind no group that there is."""


def ending(adapter: Adapter, texts: tuple[TailText, ...], group: int | None, last: Ending) -> Ending:
    """Segments 12 to 14 as units behind a group. O(texts); O(1) where nothing has changed.

    Args:
        adapter: Renders them.
        texts: What they say; the same object as long as they do not change.
        group: The group of the unit that stands before them; None where none does.
        last: The one before, of the same adapter.
    """
    same = texts is last.texts
    if same and group == last.group:
        return last
    told = last.told if same else tuple((one.segment, adapter.text_unit(one.text)) for one in texts)
    parts = told
    if told and group is not None and (bridge := adapter.bridge(group, told[0][1].group)):
        parts = ((Segment.TIMELINE, bridge), *told)
    if needed := adapter.ending(parts[-1][1].group if parts else group):
        parts = (*parts, (Segment.TIMELINE, needed))
    units = tuple(unit for _, unit in parts)
    return Ending(
        texts, told, group, parts, units, adapter.tail_tokens(group, units), sum(len(unit.wire) for unit in units)
    )
