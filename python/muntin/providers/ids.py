"""Ids and names that a provider takes: kept where they are of its form, mapped deterministically where they are not."""

from __future__ import annotations

import re

__all__ = ["wire_id", "wire_name"]

_ALPHABET = re.compile(r"[a-zA-Z0-9_-]+")


def wire_id(call: str, *, limit: int = 64) -> str:
    """The id of a call as it goes on the wire.

    Ids of letters, digits, `_` and `-` within the limit are kept. Others become `call_` and 24 hexadecimal digits of
    their SHA-256: cutting an id off would let two calls collide.

    Examples:
        >>> wire_id("call_1")
        'call_1'
        >>> wire_id("call:1")
        'call_0af6315558b41599b4a0fbfa'
    """
    return _fitting(call, "call", limit)


def wire_name(name: str, *, limit: int = 64) -> str:
    """The name of a tool as it goes on the wire, by the same rule; a model may have called a tool that never existed.

    Examples:
        >>> wire_name("read file")
        'tool_1214148ebf663ce861841075'
    """
    return _fitting(name, "tool", limit)


def _fitting(text: str, kind: str, limit: int) -> str:
    if len(text) <= limit and _ALPHABET.fullmatch(text):
        return text
    import hashlib  # noqa: PLC0415  (few ids need it, and it costs start-up time)

    return f"{kind}_{hashlib.sha256(text.encode()).hexdigest()[:24]}"
