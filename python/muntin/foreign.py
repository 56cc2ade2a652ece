"""Tokenizers of other libraries behind the methods of the native one: for what muntin does not count itself.

They are as exact as their library, and as fast. None is imported before it is asked for.
"""

from __future__ import annotations

import contextlib
import importlib
from array import array
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, NoReturn

from muntin.exceptions import EncodingError, InvalidText

__all__ = ["Foreign", "of_encoding", "of_json"]

_WITH: Final = "special"
_WITHOUT: Final = "ordinary"


class Foreign:
    """A tokenizer of another library. Safe to share between threads as far as the library's own is.

    Args:
        name: For messages.
        special_tokens: Special tokens and their ids.
        n_vocab: One more than the highest id.
        encode: The ids of a text, with special tokens or without.
        decode: The bytes of ids.
        knows: Whether an id exists.
    """

    def __init__(
        self,
        name: str,
        special_tokens: dict[str, int],
        n_vocab: int,
        encode: Callable[[str, bool], Sequence[int]],
        decode: Callable[[list[int]], bytes],
        knows: Callable[[int], bool],
    ) -> None:
        self.name = name
        self.special_tokens = special_tokens
        self.n_vocab = n_vocab
        self._encode = encode
        self._decode = decode
        self._knows = knows

    def count(self, text: str, special: bool = False) -> int:
        """How many tokens a text has."""
        return len(self._encode(_checked(text), special))

    def count_many(self, texts: Sequence[str], threads: int = 1) -> bytes:
        """How many tokens each text has, as native-endian uint32."""
        if threads == 1:
            return array("I", map(self.count, texts)).tobytes()
        with ThreadPoolExecutor(threads or None) as pool:
            return array("I", pool.map(self.count, texts)).tobytes()

    def stream(self) -> NoReturn:
        """No library but muntin counts a text as it grows."""
        raise EncodingError(f"{self.name} is counted by another library, which counts whole texts only: use count")

    def measure(self, _text: str, /) -> NoReturn:
        """No library but muntin counts slices of a text."""
        raise EncodingError(f"{self.name} is counted by another library, which counts whole texts only: use count")

    def encode(self, text: str, special: bool = False) -> list[int]:
        """The ids of a text's tokens."""
        return list(self._encode(_checked(text), special))

    def encode_bytes(self, text: str, special: bool = False) -> bytes:
        """The ids of a text's tokens, as native-endian uint32."""
        return array("I", self._encode(_checked(text), special)).tobytes()

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """The bytes of tokens.

        Raises:
            EncodingError: An id that the vocabulary does not have.
        """
        for token in tokens:
            if not (0 <= token < self.n_vocab and self._knows(token)):
                raise EncodingError(
                    f"token {token} is not in the vocabulary of {self.name}, which has ids below {self.n_vocab}"
                )
        return self._decode(list(tokens))


def of_encoding(encoding: Any) -> Foreign:
    """A tiktoken `Encoding`, counted by itself."""
    ids = set(encoding._mergeable_ranks.values()) | set(encoding._special_tokens.values())  # noqa: SLF001

    def encode(text: str, special: bool) -> Sequence[int]:
        found: Sequence[int] = (
            encoding.encode(text, allowed_special="all") if special else encoding.encode_ordinary(text)
        )
        return found

    return Foreign(
        encoding.name,
        dict(encoding._special_tokens),  # noqa: SLF001
        max(ids) + 1,
        encode,
        encoding.decode_bytes,
        ids.__contains__,
    )


def of_json(data: bytes, name: str, reason: str) -> Foreign:
    """A `tokenizer.json`, counted by the library `tokenizers`.

    Args:
        data: The file.
        name: For messages.
        reason: What in the file muntin does not count itself.

    Raises:
        EncodingError: The library is not installed, or cannot read the file either.
    """
    try:
        library = importlib.import_module("tokenizers")
    except ImportError:
        raise EncodingError(
            f"{name} has {reason}, which muntin does not count itself; pip install 'muntin[hf]' to count with the "
            "library tokenizers"
        ) from None
    made = {}
    # Whether special tokens are text is a switch of the object, so there is one for each.
    for kind in (_WITH, _WITHOUT):
        try:
            made[kind] = library.Tokenizer.from_buffer(data)
        except Exception as error:
            raise EncodingError(f"{name} is no tokenizer.json that the library tokenizers can read: {error}") from error
        made[kind].no_truncation()
        made[kind].no_padding()
        made[kind].encode_special_tokens = kind == _WITHOUT
    one = made[_WITH]

    def encode(text: str, special: bool) -> Sequence[int]:
        found: Sequence[int] = made[_WITH if special else _WITHOUT].encode(text, add_special_tokens=False).ids
        return found

    def decode(tokens: list[int]) -> bytes:
        text: str = one.decode(tokens, skip_special_tokens=False)
        return text.encode()

    return Foreign(
        name,
        {token.content: number for number, token in one.get_added_tokens_decoder().items() if token.special},
        max(one.get_vocab().values(), default=-1) + 1,
        encode,
        decode,
        lambda token: one.id_to_token(token) is not None,
    )


def _checked(text: str) -> str:
    """A text that has a UTF-8 form; the native tokenizer refuses others with the same words."""
    if not isinstance(text, str):
        raise TypeError(f"a text is a str, not {type(text).__name__}")
    with contextlib.suppress(UnicodeEncodeError):
        text.encode()
        return text
    place = next(at for at, char in enumerate(text) if "\ud800" <= char <= "\udfff")
    raise InvalidText(
        f"a lone surrogate at character {place} has no UTF-8 form; mend the text with "
        "text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')"
    )
