"""Call ids that a provider takes: kept where they are of its form, mapped deterministically where they are not."""

from __future__ import annotations

import hashlib
import re

__all__ = ["wire_id"]

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
    if len(call) <= limit and _ALPHABET.fullmatch(call):
        return call
    return f"call_{hashlib.sha256(call.encode()).hexdigest()[:24]}"
