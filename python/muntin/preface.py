"""What stands before the units of a request: tools and segments 1 to 5, with all that follows from them alone.

It changes seldom and a request is made often, so it is made when it changes and stays the same object until then.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from muntin.breakpoints import front_marks
from muntin.cacherules import cache_rules
from muntin.front import FrontText
from muntin.providers.base import Adapter, Part, Tools

__all__ = ["Preface", "preface"]


class Preface(NamedTuple):
    """Tools and front as requests carry them.

    Attributes:
        tools: The tool schemas, or None.
        front: Segments 1 to 5.
        spare: How many marks that ask for caching are left to others.
        marks: Numbers of front parts after which a request asks for caching.
        tokens: Raw tokens of all of it.
        size: Bytes of it.
        framing: Raw tokens that belong to no part of a request with this before its units; without a front there is
            more to say, see `Adapter.framing`.
    """

    tools: Tools | None
    front: tuple[Part, ...]
    spare: int
    marks: tuple[int, ...]
    tokens: int
    size: int
    framing: int


def preface(
    adapter: Adapter, tools: Tools | None, texts: Sequence[FrontText], spare: int, last: tuple[Part, ...]
) -> Preface:
    """Tools and front, rendered. O(text).

    Args:
        adapter: Renders them.
        tools: The tool schemas, or None.
        texts: Segments 1 to 5.
        spare: How many marks that ask for caching are left to others.
        last: Segments 1 to 5 of the request before; where they are the same they stay the same object, which the
            forecast sees at a glance.
    """
    front = tuple(adapter.front_part(segment, text) for segment, text in texts)
    if front == last:
        front = last
    slots = cache_rules(adapter.provider, adapter.model.name).slots - spare
    return Preface(
        tools,
        front,
        spare,
        front_marks(adapter, slots, tools, front),
        (tools.tokens if tools else 0) + sum(part.tokens for part in front),
        (len(tools.wire) if tools else 0) + sum(len(part.wire) for part in front),
        adapter.framing(tools=tools is not None, front=bool(front)),
    )
