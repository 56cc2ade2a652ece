"""Arguments of calls: as a wire may carry them, and as a provider counts them."""

from __future__ import annotations

import functools
from typing import Any

import msgspec

__all__ = ["counted_arguments", "object_arguments"]


def object_arguments(arguments: str) -> str:
    r"""The arguments of a call as the JSON text of an object, as they are where they are one already.

    A model may have been cut off in the middle of them; providers then refuse the whole conversation.

    Examples:
        >>> object_arguments('{"path": "a.p')
        '{"unparsed":"{\\"path\\": \\"a.p"}'
    """
    return _read(arguments)[0]


def counted_arguments(arguments: str) -> str:
    """The same without white space, as providers count them that take an object and no text.

    Examples:
        >>> counted_arguments('{"path": "a.py", "line": 1}')
        '{"path":"a.py","line":1}'
    """
    return msgspec.json.encode(_read(arguments)[1]).decode()


# Few, since arguments may be whole files: a turn is rendered, counted and reported on at once.
@functools.lru_cache(maxsize=16)
def _read(arguments: str) -> tuple[str, dict[str, Any]]:
    """The text of the object and the object."""
    try:
        return arguments, msgspec.json.decode(arguments, type=dict[str, Any])  # a number may be out of range
    except (msgspec.DecodeError, RecursionError):
        mended = {"unparsed": arguments} if arguments.strip() else {}
        return msgspec.json.encode(mended).decode(), mended
