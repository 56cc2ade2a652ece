"""Whether a request finds what the one before left in the cache, where a provider looks at its marks and just behind.

A prefix may stand unbroken and be read all the same only as far as an older mark: the provider looks for an entry where
a request asks for caching, and a number of positions before that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from muntin.cacherules import CacheRules
from muntin.diagnosis import Break, Cause, broke

__all__ = ["MARKS", "Spot", "out_of_reach", "spots"]

MARKS: Final = frozenset({"cache_control", "prompt_cache_breakpoint"})
"""Keys by which a block asks for caching. Converse has a block of its own for it, `cachePoint`."""

_CALLS: Final = frozenset({"tool_use", "toolUse"})
_RESULTS: Final = frozenset({"tool_result", "toolResult"})
_UNMARKABLE: Final = frozenset({"thinking", "redacted_thinking"})


class Spot(NamedTuple):
    """One block of a body in the order in which it is cached.

    Attributes:
        place: What it stands in: `tools`, `system text` or `message 3`.
        position: How many positions the provider counts up to it.
        marked: Whether the body asks for caching behind it.
    """

    place: str
    position: int
    marked: bool


def out_of_reach(before: Mapping[str, Any], after: Mapping[str, Any], rules: CacheRules) -> Break | None:
    """What the first of two requests left and the second, which begins with it, does not find. O(blocks).

    None where it finds the longest entry, or where the provider looks everywhere.
    """
    if not rules.lookback:
        return None
    old, new = list(spots(before, rules)), list(spots(after, rules))
    left = [spot for spot in old[: len(new)] if spot.marked]
    if not left:
        return None
    entry = left[-1]
    ahead = [spot.position - entry.position for spot in new if spot.marked and spot.position >= entry.position]
    if ahead and min(ahead) < rules.lookback:
        return None
    where = f"{min(ahead)} positions before the next mark" if ahead else "behind the last mark"
    unit = int(entry.place.removeprefix("message ")) if entry.place.startswith("message ") else -1
    return broke(Cause.REACH, f"{entry.place}, {where}", unit=unit)


def spots(body: Mapping[str, Any], rules: CacheRules) -> Iterator[Spot]:
    """The blocks of a body of Messages, Converse or chat completions, tools first."""
    blocks = list(_blocks(body))
    if isinstance(body.get("cache_control"), Mapping):
        # The provider marks the end by itself, as far back as it must to find a block that may be marked.
        last = next((at for at in reversed(range(len(blocks))) if _markable(blocks[at][1])), None)
        if last is not None:
            blocks[last] = (*blocks[last][:2], True)
    position, before = 0, ""
    for place, block, marked in blocks:
        kind = _kind(block)
        position += not (rules.runs_as_one and kind and kind == before)
        before = kind
        yield Spot(place, position, marked)


def _blocks(body: Mapping[str, Any]) -> Iterator[tuple[str, Any, bool]]:
    config = body.get("toolConfig")
    yield from _of("tools", body.get("tools") or (config.get("tools") if isinstance(config, Mapping) else None))
    yield from _of("system text", body.get("system"))
    messages = body.get("messages")
    for number, message in enumerate(messages if isinstance(messages, list | tuple) else ()):
        if isinstance(message, Mapping):
            calls = message.get("tool_calls")
            yield from _of(f"message {number}", message.get("content"))
            yield from _of(f"message {number}", calls)


def _of(place: str, content: Any) -> Iterator[tuple[str, Any, bool]]:
    given = [content] if isinstance(content, str) and content else content
    listed = given if isinstance(given, list | tuple) else ()
    for at, block in enumerate(listed):
        if _is_point(block):
            continue
        behind = listed[at + 1] if at + 1 < len(listed) else None
        marked = isinstance(block, Mapping) and any(block.get(name) for name in MARKS)
        yield place, block, marked or _is_point(behind)


def _is_point(block: Any) -> bool:
    return isinstance(block, Mapping) and block.keys() == {"cachePoint"}


def _kind(block: Any) -> str:
    if not isinstance(block, Mapping):
        return ""
    names = {block.get("type"), *block.keys()}
    return "call" if names & _CALLS else "result" if names & _RESULTS else ""


def _markable(block: Any) -> bool:
    if not isinstance(block, Mapping):
        return bool(block)
    empty = block.get("type") == "text" and not str(block.get("text", "")).strip()
    return not empty and block.get("type") not in _UNMARKABLE
