"""Tokens of a text: exact where the model's tokenizer is public, else estimated from what the text is made of.

The estimate weighs the tokens of a public encoding, the stand-in, with what other vocabularies split more finely:
capitals, digits, punctuation, line breaks, what is not ASCII, and where words, marks and humps begin. Prose, code,
JSON, identifiers and scripts differ in just these, so that no text has to be sorted into a class, and texts add up.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec

__all__ = ["Composition", "Weights", "composition"]


LEAST: Final = 0.9
"""Tokens for each token of the stand-in that any text is taken to have: a run of random letters has few words."""


def _kind(byte: int) -> str:
    char = chr(byte)
    if byte >= 128:
        return "h"
    if char.isalpha():
        return "A" if char.isupper() else "a"
    if char.isdigit():
        return "0"
    return "." if char.isprintable() and char != " " else "n" if char in "\n\r" else " "


_KINDS: Final = bytes(ord(_kind(byte)) for byte in range(256))
"""What each byte is turned into, so that bytes of a kind can be counted at memory speed."""

_LETTERS: Final = bytes(ord("a" if chr(kind).isalpha() and kind not in b"hn" else " ") for kind in range(256))
_MARKS: Final = bytes(ord("." if kind == ord(".") else " ") for kind in range(256))
"""The same for kinds, so that one count finds where runs of them begin."""


class Composition(NamedTuple):
    """What a text is made of: bytes of its UTF-8 form by their kind, and runs of ASCII characters.

    Attributes:
        capitals: ASCII capitals.
        digits: ASCII digits.
        punctuation: Other visible ASCII characters that are no letters.
        breaks: Line feeds and carriage returns.
        high: Bytes of what is not ASCII.
        words: Runs of letters.
        marks: Runs of punctuation.
        humps: Capitals behind a small letter.
    """

    capitals: int
    digits: int
    punctuation: int
    breaks: int
    high: int
    words: int
    marks: int
    humps: int


class Weights(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Tokens for each token of the stand-in, and for each of what `Composition` counts beside it."""

    token: float = 1.0
    capitals: float = 0.0
    digits: float = 0.0
    punctuation: float = 0.0
    breaks: float = 0.0
    high: float = 0.0
    words: float = 0.0
    marks: float = 0.0
    humps: float = 0.0

    @property
    def are_exact(self) -> bool:
        """Whether the encoding is the model's own."""
        return self == Weights()

    @property
    def read_texts(self) -> bool:
        """Whether it matters what a text is made of, beside its tokens."""
        return self != Weights(token=self.token)

    @property
    def least(self) -> float:
        """What each token of the stand-in comes to at least, whatever the text is made of."""
        return max(self.token, LEAST)

    def estimate(self, tokens: int, text: str) -> int:
        """Tokens of a text that has so many in the stand-in. O(n), at memory speed."""
        capitals, digits, punctuation, breaks, high, words, marks, humps = composition(text)
        estimate = (
            self.token * tokens
            + self.capitals * capitals
            + self.digits * digits
            + self.punctuation * punctuation
            + self.breaks * breaks
            + self.high * high
            + self.words * words
            + self.marks * marks
            + self.humps * humps
        )
        return int(max(estimate, LEAST * tokens) + 0.5)


def composition(text: str) -> Composition:
    r"""What a text is made of.

    Examples:
        >>> composition("GET /v1?é\n")
        Composition(capitals=3, digits=1, punctuation=2, breaks=1, high=2, words=2, marks=2, humps=0)
    """
    kinds = b" " + text.encode(errors="surrogatepass").translate(_KINDS)
    return Composition(
        kinds.count(b"A"),
        kinds.count(b"0"),
        kinds.count(b"."),
        kinds.count(b"n"),
        kinds.count(b"h"),
        kinds.translate(_LETTERS).count(b" a"),
        kinds.translate(_MARKS).count(b" ."),
        kinds.count(b"aA"),
    )
