"""Texts that arrive in pieces."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

__all__ = ["Pieces"]


class Pieces:
    """Texts by key, each put together when somebody asks for it: joining at every piece would be quadratic.

    A piece is added in O(1), and a text read in O(text).
    """

    __slots__ = ("_pieces",)

    def __init__(self) -> None:
        self._pieces: dict[Hashable, list[str]] = {}

    def add(self, key: Hashable, piece: Any) -> str:
        """Add to the text of a key, and give the piece back.

        Raises:
            TypeError: It is no text.
        """
        if not isinstance(piece, str):
            raise TypeError(f"a piece of text is {piece!r}")
        self._pieces.setdefault(key, []).append(piece)
        return piece

    def text(self, key: Hashable) -> str:
        """The text of a key until now; empty where nothing came."""
        pieces = self._pieces.get(key)
        if not pieces:
            return ""
        pieces[:] = ["".join(pieces)]
        return pieces[0]
