"""Tokenizers: exact counts by an encoding's or a model's name, of a tiktoken `Encoding` or of a `tokenizer.json`.

Nothing is downloaded.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from muntin import _core
from muntin._core import MeasuredText, TokenStream
from muntin.exceptions import EncodingError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from muntin.vocabularies import Native

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


_Remake: TypeAlias = "tuple[Callable[..., Tokenizer], tuple[Any, ...]]"
"""What makes a tokenizer again where it is unpickled."""


class Tokenizer:
    """An encoding. Immutable, safe to share between threads, picklable; equal to another made of the same.

    Text that looks like a special token is ordinary text unless `special` is set. Text with a lone surrogate raises
    `InvalidText` everywhere. Tokenizers that are not built in are made by `from_file`, `from_json` and `tokenizer`.

    Args:
        name: One of `ENCODINGS`.

    Raises:
        EncodingError: No such encoding is built in.
    """

    __slots__ = ("_core", "_key", "_remake")

    _core: Native
    _key: tuple[str, str]
    _remake: _Remake

    def __init__(self, name: str) -> None:
        self._core = _core.Tokenizer.builtin(name)
        self._key = ("built in", name)
        self._remake = (Tokenizer, (name,))

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Tokenizer:
        """The tokenizer of a `tokenizer.json`, as it comes with a model on Hugging Face's hub.

        Counts equal those of the library `tokenizers` without `add_special_tokens`: what a chat template puts around a
        text is not counted. Byte-level BPE with the pattern of GPT-2, Llama 3, Qwen, DeepSeek V3 or OpenAI's encodings
        is counted here, anything else through `tokenizers`, if it is installed. Added tokens that the file does not
        call special are tokens in any text. Reading takes a second or so: keep what it gives.

        Pickled it is the path and a digest, so the file must be there where it is loaded.

        Raises:
            EncodingError: The file is none that can be counted with; says why, and what would help.
            OSError: It cannot be read.
        """
        path = Path(path)
        data = path.read_bytes()
        return cls._of_json(data, path.name, lambda digest: (_again, (str(path.absolute()), digest)))

    @classmethod
    def from_json(cls, data: str | bytes, *, name: str = "tokenizer.json") -> Tokenizer:
        """The same of the file's content, under a name for messages.

        Raises:
            EncodingError: As `from_file`.
        """
        data = data.encode() if isinstance(data, str) else data
        return cls._of_json(data, name, lambda _: (_from_json, (data, name)))

    @classmethod
    def _of_json(cls, data: bytes, name: str, remake: Callable[[str], _Remake]) -> Tokenizer:
        from muntin import vocabularies  # noqa: PLC0415  (who counts with what is built in needs no reader of files)

        digest = hashlib.sha256(data).hexdigest()
        return cls._of(vocabularies.from_json(data, f"{name}:{digest[:12]}"), ("json", digest), remake(digest))

    @classmethod
    def _of(cls, core: Native, key: tuple[str, str], remake: _Remake) -> Tokenizer:
        made = object.__new__(cls)
        made._core, made._key, made._remake = core, key, remake
        return made

    def __repr__(self) -> str:
        return f"Tokenizer({self.name!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tokenizer) and other._key == self._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __reduce__(self) -> _Remake:
        return self._remake

    @property
    def name(self) -> str:
        """The encoding's name; of a file, its own and the beginning of its SHA-256."""
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

        With a tokenizer that is not built in each delta costs as much as the text behind the last word's beginning.

        Raises:
            EncodingError: This tokenizer is counted by another library, which counts whole texts only.

        Examples:
            >>> stream = tokenizer("o200k_base").stream()
            >>> stream.append("par"), stream.append("tial"), stream.append(" answers")
            (1, 1, 2)
        """
        return self._core.stream()

    def measure(self, text: str) -> MeasuredText:
        """A text counted once, so that any slice of it is counted for next to nothing and cuts fit a budget. O(n).

        Raises:
            EncodingError: Slices cannot be told from the whole: this tokenizer takes added tokens out of every text, or
                normalises it, or is counted by another library.

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


def tokenizer(encoding: Any) -> Tokenizer:
    """The tokenizer of an encoding or of an OpenAI model, by its name; dated and fine-tuned models too.

    Of a tiktoken `Encoding`, `p50k_base` or one of your own, it gives the same ids. That reads its vocabulary, which
    takes tenths of a second: keep what it gives. One whose pattern is not known here is counted by tiktoken itself.

    Args:
        encoding: A name, or a `tiktoken.Encoding`.

    Raises:
        EncodingError: Neither an encoding nor a model is known by this name; says what is. Or not every byte is a token
            of the `Encoding`, so that not every text has tokens.

    Examples:
        >>> tokenizer("gpt-5-mini").name
        'o200k_base'
    """
    if isinstance(encoding, str):
        return _named(encoding)
    from muntin import vocabularies  # noqa: PLC0415  (who counts with what is built in needs no reader of files)

    if not vocabularies.is_encoding(encoding):
        raise TypeError(f"an encoding is a name or a tiktoken.Encoding, not {type(encoding).__name__}")
    key = ("tiktoken", vocabularies.digest(encoding))
    return Tokenizer._of(vocabularies.from_encoding(encoding), key, (tokenizer, (encoding,)))  # noqa: SLF001  (of this module)


@functools.cache
def _named(name: str) -> Tokenizer:
    if name in ENCODINGS:
        return Tokenizer(name)
    # A fine-tuned model is named "ft:model:organisation:suffix:id".
    model = name.removeprefix("ft:").partition(":")[0]
    for beginning, encoding in _BY_MODEL.items():
        if f"{model}-".startswith(beginning):
            return _named(encoding)
    raise EncodingError(
        f"no encoding or model {name!r}; encodings are {', '.join(ENCODINGS)}, and models are named "
        f"{', '.join(beginning.rstrip('-') for beginning in _BY_MODEL)}; the tokenizers of Claude and Gemini are not "
        "public: providers.estimate or `muntin count --provider … --body FILE` estimates what a request of theirs is "
        "billed; for others see Tokenizer.from_file"
    )


def _from_json(data: bytes, name: str) -> Tokenizer:
    return Tokenizer.from_json(data, name=name)


def _again(path: str, digest: str) -> Tokenizer:
    """The tokenizer of a file that must still be the one that was pickled."""
    data = Path(path).read_bytes()
    if hashlib.sha256(data).hexdigest() != digest:
        raise EncodingError(f"{path} has changed since a tokenizer of it was pickled; read it with Tokenizer.from_file")
    return Tokenizer.from_file(path)
