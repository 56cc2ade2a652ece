"""Tokenizers: exact counts, equal to tiktoken's, by an encoding's or a model's name. Nothing is downloaded."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from muntin import _core
from muntin._core import MeasuredText, TokenStream
from muntin.exceptions import EncodingError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["ENCODINGS", "MeasuredText", "TokenStream", "Tokenizer", "tokenizer"]

ENCODINGS: Final = ("cl100k_base", "o200k_base", "o200k_harmony")
"""The encodings that are built in."""

# OpenAI's models, as far as tiktoken's `model.py` knows them. A name that ends in a dash may go on behind it, by a size
# or a date, or end before it: what goes on otherwise is another model ("gpt-4.7"), and may count otherwise.
_BY_MODEL: Final = {
    "babbage-002": "cl100k_base",
    "chatgpt-4o-": "o200k_base",
    "davinci-002": "cl100k_base",
    "gpt-3.5-": "cl100k_base",
    "gpt-35-turbo-": "cl100k_base",
    "gpt-4-": "cl100k_base",
    "gpt-4.1-": "o200k_base",
    "gpt-4.5-": "o200k_base",
    "gpt-4o-": "o200k_base",
    "gpt-5": "o200k_base",
    "gpt-oss-": "o200k_harmony",
    "o1-": "o200k_base",
    "o3-": "o200k_base",
    "o4-mini-": "o200k_base",
    "text-embedding-3-": "cl100k_base",
    "text-embedding-ada-002": "cl100k_base",
}


class Tokenizer:
    """An encoding. Immutable, safe to share between threads, picklable; equal to another of the same name.

    Text that looks like a special token is ordinary text unless `special` is set. Text with a lone surrogate raises
    `InvalidText` everywhere.

    Args:
        name: One of `ENCODINGS`.

    Raises:
        EncodingError: No such encoding is built in.
    """

    __slots__ = ("_core",)

    def __init__(self, name: str) -> None:
        self._core = _core.Tokenizer.builtin(name)

    def __repr__(self) -> str:
        return f"Tokenizer({self.name!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tokenizer) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> tuple[type[Tokenizer], tuple[str]]:
        return Tokenizer, (self.name,)

    @property
    def name(self) -> str:
        """The encoding's name."""
        return self._core.name

    @property
    def n_vocab(self) -> int:
        """One more than the highest token id, special tokens included."""
        return self._core.n_vocab

    @property
    def special_tokens(self) -> dict[str, int]:
        """Special tokens and their ids."""
        return self._core.special_tokens

    def count(self, text: str, *, special: bool = False) -> int:
        """How many tokens a text has. O(n); other threads run meanwhile where the text has 16 KiB or more.

        Examples:
            >>> tokenizer("o200k_base").count("hello world")
            2
        """
        return self._core.count(text, special)

    def count_many(self, texts: Sequence[str], *, threads: int = 1) -> NDArray[np.uint32]:
        """How many tokens each text has, special tokens taken as text.

        Args:
            texts: Any number of them.
            threads: How many to count with; 0 for one a core. They end with the call, so that a process may fork.
        """
        import numpy as np  # noqa: PLC0415  (not every process that counts has arrays)

        return np.frombuffer(self._core.count_many(texts, threads), dtype=np.uint32)

    def stream(self) -> TokenStream:
        """An empty text that will be written bit by bit, counted exactly after each.

        Examples:
            >>> stream = tokenizer("o200k_base").stream()
            >>> stream.append("par"), stream.append("tial"), stream.append(" answers")
            (1, 1, 2)
        """
        return self._core.stream()

    def measure(self, text: str) -> MeasuredText:
        """A text counted once, so that any slice of it is counted for next to nothing and cuts fit a budget. O(n).

        Examples:
            >>> text = tokenizer("o200k_base").measure("The harbour master has closed the northern quay.")
            >>> text.tokens, text.count(4, 11), text.head(3)
            (9, 2, 'The harbour master')
        """
        return self._core.measure(text)

    def encode(self, text: str, *, special: bool = False) -> list[int]:
        """The ids of a text's tokens.

        Examples:
            >>> tokenizer("cl100k_base").encode("hello world")
            [15339, 1917]
        """
        return self._core.encode(text, special)

    def encode_array(self, text: str, *, special: bool = False) -> NDArray[np.uint32]:
        """The ids of a text's tokens as a read-only array, without a Python object for each."""
        import numpy as np  # noqa: PLC0415  (not every process that counts has arrays)

        return np.frombuffer(self._core.encode_bytes(text, special), dtype=np.uint32)

    def decode(self, tokens: Iterable[int], *, errors: str = "replace") -> str:
        """The text of tokens.

        Args:
            tokens: Ids.
            errors: What to do where they end inside a character, as in `bytes.decode`.

        Raises:
            EncodingError: An id that the vocabulary does not have.
        """
        return self.decode_bytes(tokens).decode(errors=errors)

    def decode_bytes(self, tokens: Iterable[int]) -> bytes:
        """The bytes of tokens; not always UTF-8, since a token may be a part of a character.

        Raises:
            EncodingError: An id that the vocabulary does not have.
        """
        return self._core.decode_bytes(list(tokens))


@functools.cache
def tokenizer(name: str) -> Tokenizer:
    """The tokenizer of an encoding or of an OpenAI model, by its name; dated and fine-tuned models too.

    Raises:
        EncodingError: Neither is known by this name; says what is.

    Examples:
        >>> tokenizer("gpt-5-mini").name
        'o200k_base'
    """
    if name in ENCODINGS:
        return Tokenizer(name)
    # A fine-tuned model is named "ft:model:organisation:suffix:id".
    model = name.removeprefix("ft:").partition(":")[0]
    for beginning, encoding in _BY_MODEL.items():
        if f"{model}-".startswith(beginning):
            return tokenizer(encoding)
    raise EncodingError(
        f"no encoding or model {name!r}; encodings are {', '.join(ENCODINGS)}, and models are named "
        f"{', '.join(beginning.rstrip('-') for beginning in _BY_MODEL)}"
    )
