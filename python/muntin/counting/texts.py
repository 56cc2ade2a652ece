"""Tokens of a text: exact where the model's tokenizer is public, else estimated from what the text is made of.

The estimate weighs the tokens of a public encoding, the stand-in, with the characters that other vocabularies split
more finely: capitals, digits, punctuation, line breaks and what is not ASCII. Prose, code, JSON, identifiers and
scripts differ in just these, so that no text has to be sorted into a class, and texts add up.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec

__all__ = ["Composition", "Weights", "composition"]

_DIGITS: Final = bytes(range(48, 58))
_CAPITALS: Final = bytes(range(65, 91))
_BREAKS: Final = b"\n\r"
_PUNCTUATION: Final = bytes(byte for byte in range(33, 127) if not chr(byte).isalnum())
_HIGH: Final = bytes(range(128, 256))


class Composition(NamedTuple):
    """What a text is made of, in bytes of its UTF-8 form."""

    capitals: int
    digits: int
    punctuation: int
    breaks: int
    high: int


class Weights(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Tokens for each token of the stand-in, and for each byte of a kind beside it."""

    token: float = 1.0
    capitals: float = 0.0
    digits: float = 0.0
    punctuation: float = 0.0
    breaks: float = 0.0
    high: float = 0.0

    @property
    def are_exact(self) -> bool:
        """Whether the encoding is the model's own."""
        return self == Weights()

    def estimate(self, tokens: int, text: str) -> int:
        """Tokens of a text that has so many in the stand-in. O(n), at memory speed."""
        made = composition(text)
        estimate = (
            self.token * tokens
            + self.capitals * made.capitals
            + self.digits * made.digits
            + self.punctuation * made.punctuation
            + self.breaks * made.breaks
            + self.high * made.high
        )
        return int(estimate + 0.5)


def composition(text: str) -> Composition:
    r"""What a text is made of.

    Examples:
        >>> composition("GET /v1?é\n")
        Composition(capitals=3, digits=1, punctuation=2, breaks=1, high=2)
    """
    data = text.encode(errors="surrogatepass")
    kinds = (_CAPITALS, _DIGITS, _PUNCTUATION, _BREAKS, _HIGH)
    return Composition(*(len(data) - len(data.translate(None, kind)) for kind in kinds))
