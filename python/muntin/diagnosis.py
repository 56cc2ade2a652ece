"""Why the beginning of a request is not that of the one before: where they part, what stood there, what to do.

The provider's order counts: tools, then what stands before the conversation, then its units.
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from muntin._core import History
from muntin.lane import Kind
from muntin.layout import LAYOUT, Segment
from muntin.providers.base import Part, Tools

__all__ = [
    "Break",
    "Cause",
    "broke",
    "broken_front",
    "broken_tools",
    "broken_units",
    "first_difference",
    "tool_names",
    "tools_break",
]

_TITLE = {row.segment: row.title for row in LAYOUT}
_WIDTH: Final = 48
"""Bytes of the old and the new text that are shown on either side of where they part."""


class Cause(enum.StrEnum):
    """What made a prefix another one. The value is how it reads; `NONE` is empty."""

    NONE = ""
    MODEL = "model changed"
    PARAMETER = "parameter changed"
    TOOL_CHANGED = "tool changed"
    TOOL_ADDED = "tool added"
    TOOL_REMOVED = "tool removed"
    TOOLS_REORDERED = "tools reordered"
    SYSTEM = "system text changed"
    CATALOGUE = "skill catalogue changed"
    COLLABORATION = "collaboration notes changed"
    GUIDE_CHANGED = "guide changed"
    GUIDE_ADDED = "guide added"
    GUIDE_WITHDRAWN = "guide withdrawn"
    STATE = "full state changed"
    COMPACTION = "compaction"
    REWINDING = "rewinding"
    TAIL = "reminder moved or gone"
    IMAGE = "image rendered anew"
    RESULT = "tool result changed"
    FORM = "same content in another form"
    MESSAGE = "earlier message changed"
    REACH = "cache entry out of reach"


_ADVICE: Final = {
    Cause.MODEL: "each model has a cache of its own: switch models where a run or a stretch of work ends",
    Cause.PARAMETER: "keep it the same for all requests of a session",
    Cause.TOOL_CHANGED: "keep descriptions and schemas the same; what changes daily belongs into the state",
    Cause.TOOL_ADDED: "offer all tools from the start, or add them all at once",
    Cause.TOOL_REMOVED: "keep the tool and refuse its calls with Run.authorize",
    Cause.TOOLS_REORDERED: "sort tools by name; a list from a server or a hash map has no order of its own",
    Cause.SYSTEM: "keep the clock, ids and recalled notes out of the system text; put them into an input or the state",
    Cause.CATALOGUE: "give a new catalogue only where it differs, and at the start of a run",
    Cause.COLLABORATION: "give new notes only where they differ, and at the start of a run",
    Cause.GUIDE_CHANGED: "keep the text of a guide the same for the whole session",
    Cause.GUIDE_ADDED: "switch capabilities seldom, and several at once",
    Cause.GUIDE_WITHDRAWN: "switch capabilities seldom, and several at once",
    Cause.STATE: "changes of state belong behind the history: Session.update_state",
    Cause.COMPACTION: "it is the price of a shorter history; let compact_to lie well below compact_at",
    Cause.REWINDING: "nothing: what stands before the entry can still be read",
    Cause.TAIL: "leave a reminder where it was sent, or send it behind everything that is cached",
    Cause.IMAGE: "send an image again in the form in which it was first sent",
    Cause.RESULT: "leave results as they were sent; clear many at once, once the cache has expired",
    Cause.FORM: "send a message again with the bytes that it was first sent with",
    Cause.MESSAGE: "append only; what was sent stays as it was",
    Cause.REACH: "ask for caching once more where the request before ended",
}

_OF_SEGMENT: Final = {
    Segment.SYSTEM: Cause.SYSTEM,
    Segment.CATALOGUE: Cause.CATALOGUE,
    Segment.COLLABORATION: Cause.COLLABORATION,
    Segment.GUIDES: Cause.GUIDE_CHANGED,
    Segment.STATE: Cause.STATE,
}


class Break(msgspec.Struct, frozen=True, repr_omit_defaults=True):
    """Where two requests part, and why.

    Attributes:
        cause: What made the difference: a `Cause`, or else the name that a change of the view goes by.
        place: Where, in words: `tool 'read_file'`, `stable system prompt`, `unit 41`.
        segment: The segment that it lies in; None for tools, the model and parameters.
        unit: The first unit of the conversation that differs; -1 where it lies before all of them.
        byte: How many bytes of the part or unit are still the same.
        before: What stood around that byte.
        after: What stands there now.
        advice: How to avoid it.
    """

    cause: str
    place: str
    segment: Segment | None = None
    unit: int = -1
    byte: int = 0
    before: str = ""
    after: str = ""
    advice: str = ""

    def __str__(self) -> str:
        where = f"{self.cause} at {self.place}" if self.place else self.cause
        shown = f": {self.before!r} is now {self.after!r}" if self.before or self.after else ""
        return f"{where}{shown}"


def broke(
    cause: str,
    place: str,
    before: bytes = b"",
    after: bytes = b"",
    *,
    segment: Segment | None = None,
    unit: int = -1,
) -> Break:
    """A break with what stands around the first byte that differs. O(bytes)."""
    at = first_difference(before, after) if before and after else 0
    advice = _ADVICE.get(Cause(cause), "") if cause in _NAMES else ""
    return Break(str(cause), place, segment, unit, at, _around(before, at), _around(after, at), advice)


_NAMES: Final = frozenset(Cause)


def first_difference(one: bytes, other: bytes) -> int:
    """How many leading bytes of both are the same. O(bytes), by comparing halves."""
    same, unsure = 0, min(len(one), len(other))
    while same < unsure:
        middle = unsure - (unsure - same) // 2
        if one[same:middle] == other[same:middle]:
            same = middle
        else:
            unsure = middle - 1
    return same


def broken_tools(before: Tools | None, after: Tools | None) -> Break | None:
    """What changed in the tools of two requests; None where nothing did. O(bytes)."""
    if before is after or (before is not None and after is not None and before.wire == after.wire):
        return None
    return tools_break(_elements(before), _elements(after))


def tools_break(old: Sequence[bytes], new: Sequence[bytes]) -> Break:
    """The first tool that differs, of lists that do: each tool is its JSON."""
    had, has = tool_names(old), tool_names(new)
    at = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
    gone, come = [n for n in had if n not in has], [n for n in has if n not in had]
    if sorted(old) == sorted(new):
        return broke(Cause.TOOLS_REORDERED, f"tool {has[at]!r}", old[at], new[at])
    if at < len(old) and at < len(new) and had[at] == has[at]:
        return broke(Cause.TOOL_CHANGED, f"tool {has[at]!r}", old[at], new[at])
    # The list may part where a neighbour of what came or went stands now.
    if come and (at >= len(old) or has[at : at + 1] == come[:1] or not gone):
        return broke(Cause.TOOL_ADDED, f"tool {come[0]!r}")
    if gone:
        return broke(Cause.TOOL_REMOVED, f"tool {gone[0]!r}")
    return broke(Cause.TOOLS_REORDERED, f"tool {has[min(at, len(has) - 1)]!r}")


def broken_front(before: Sequence[Part], after: Sequence[Part]) -> tuple[int, Break | None]:
    """How many leading parts of two fronts are the same, and what changed behind them. O(bytes)."""
    if before is after:
        return len(after), None
    same = 0
    for old, new in zip(before, after, strict=False):
        if old.wire != new.wire:
            break
        same += 1
    if same == len(before) == len(after):
        return same, None
    olds, news = before[same : same + 1], after[same : same + 1]
    segment = min((part.segment for part in (*olds, *news)), default=Segment.SYSTEM)
    cause = _OF_SEGMENT.get(segment, Cause.MESSAGE)
    was, now = (parts[0].wire if parts and parts[0].segment == segment else b"" for parts in (olds, news))
    if segment is Segment.GUIDES:
        had, has = ({part.wire for part in parts if part.segment is segment} for parts in (before, after))
        if had < has:
            cause, was = Cause.GUIDE_ADDED, b""
        elif has < had:
            cause, now = Cause.GUIDE_WITHDRAWN, b""
    return same, broke(cause, _TITLE[segment], was, now, segment=segment)


def broken_units(before: History, had: int, after: History, has: int, same: int, view_change: str) -> Break | None:
    """What changed behind the units that both requests begin with; None where nothing did. O(bytes of one unit).

    Args:
        before: The units of the request before.
        had: How many of them it carried.
        after: The units of the request.
        has: How many of them it carries.
        same: How many leading units are the same.
        view_change: What made the view another one.
    """
    if same >= had:
        return None  # units were only appended
    old = before.wire(same)
    new = after.wire(same) if same < has else b""
    kind = after.kind(same) if same < has else 0
    summary = kind & Kind.SUMMARY and kind & Kind.TAIL != Kind.TAIL
    return broke(
        view_change, f"unit {same}", old, new, segment=Segment.SUMMARY if summary else Segment.HISTORY, unit=same
    )


def tool_names(tools: Sequence[bytes]) -> list[str]:
    """The names of tools in any provider's form, each given as JSON."""
    return [_name(msgspec.json.decode(tool)) for tool in tools]


def _name(tool: Any) -> str:
    if not isinstance(tool, dict):
        return "?"
    for key in ("function", "toolSpec"):
        if isinstance(tool.get(key), dict):
            return _name(tool[key])
    return str(tool.get("name") or tool.get("type") or "?")


class _Declarations(msgspec.Struct, rename="camel"):
    """Gemini's form, in which one element of the list has all functions."""

    function_declarations: list[msgspec.Raw] = []


def _elements(tools: Tools | None) -> list[bytes]:
    if tools is None:
        return []
    try:
        elements = msgspec.json.decode(tools.wire, type=list[msgspec.Raw])
    except msgspec.DecodeError:
        return [tools.wire]  # a format whose tools are no plain list
    inner = [(one, msgspec.json.decode(one, type=_Declarations).function_declarations) for one in elements]
    return [bytes(tool) for one, declared in inner for tool in declared or (one,)]


def _around(text: bytes, at: int) -> str:
    start = max(0, at - _WIDTH)
    # A character may be cut at either edge.
    return text[start : at + _WIDTH].decode("utf-8", "replace").strip("\ufffd")
