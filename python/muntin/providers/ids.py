"""Ids and names that a provider takes: kept where they are of its form, mapped deterministically where they are not."""

from __future__ import annotations

import re
from collections.abc import Iterable

from muntin.items import AssistantTurn, ToolCall

__all__ = ["given_name", "short_id", "wire_id", "wire_name", "with_given_names"]

_LENGTH = 24
"""Hexadecimal digits of a mapped id or name: 96 bits, so that no two of a session are ever the same."""


def wire_id(call: str, *, limit: int = 64, more: str = "") -> str:
    """The id of a call as it goes on the wire.

    Ids of letters, digits, `_` and `-` within the limit are kept. Others become `call_` and 24 hexadecimal digits of
    their SHA-256: cutting an id off would let two calls collide.

    Args:
        call: The id as its provider gave it.
        limit: Characters that the provider takes, at least 29.
        more: Further characters that it takes.

    Examples:
        >>> wire_id("call_1")
        'call_1'
        >>> wire_id("call:1"), wire_id("call:1", more=".:")
        ('call_0af6315558b41599b4a0fbfa', 'call:1')
    """
    return call if _fits(call, limit, more) else f"call_{_digest(call)[:_LENGTH]}"


def short_id(call: str) -> str:
    """The id of a call where exactly nine letters and digits are taken, as by Mistral.

    Such ids are kept. Others become nine letters and digits of their SHA-256: 53 bits, so that the odds of two equal
    ones among a thousand calls are below one in ten billion.

    Examples:
        >>> short_id("D681PevKs")
        'D681PevKs'
        >>> len(short_id("call_1"))
        9
    """
    if len(call) == 9 and call.isascii() and call.isalnum():
        return call
    number, digits = int(_digest(call), 16), ""
    for _ in range(9):
        number, digit = divmod(number, len(_ALNUM))
        digits += _ALNUM[digit]
    return digits


def wire_name(name: str, *, limit: int = 64, more: str = "", first: str = "") -> str:
    """The name of a tool as it goes on the wire, by the same rule; a model may have called a tool that never existed.

    Args:
        name: The tool's own name, or what a model called.
        limit: Characters that the provider takes, at least 29.
        more: Further characters that it takes.
        first: Characters that it does not take at the beginning.

    Examples:
        >>> wire_name("read file")
        'tool_1214148ebf663ce861841075'
    """
    fits = _fits(name, limit, more) and name[0] not in first
    return name if fits else f"tool_{_digest(name)[:_LENGTH]}"


def given_name(name: str, tools: Iterable[str]) -> str:
    """The tool's own name for one that a model called by its name on the wire; the same name where it is none of them.

    Examples:
        >>> given_name("tool_1214148ebf663ce861841075", ["read file", "grep"])
        'read file'
    """
    if not name.startswith("tool_"):
        return name
    return next((tool for tool in tools if f"tool_{_digest(tool)[:_LENGTH]}" == name), name)


def with_given_names(turn: AssistantTurn, tools: Iterable[str]) -> AssistantTurn:
    """A turn whose calls name the tools as they were given, whatever the names on the wire were."""
    if not any(call.name.startswith("tool_") for call in turn.tool_calls):
        return turn
    known = tuple(tools)
    parts = (
        ToolCall(part.id, given_name(part.name, known), part.arguments) if isinstance(part, ToolCall) else part
        for part in turn.parts
    )
    return AssistantTurn(tuple(parts), turn.finish)


_ALNUM = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_PLAIN = re.compile(r"[a-zA-Z0-9_-]+")


def _fits(text: str, limit: int, more: str) -> bool:
    plain = text.translate(dict.fromkeys(map(ord, more), "_")) if more else text
    return len(text) <= limit and bool(_PLAIN.fullmatch(plain))


def _digest(text: str) -> str:
    import hashlib  # noqa: PLC0415  (few ids need it, and it costs start-up time)

    return hashlib.sha256(text.encode()).hexdigest()
