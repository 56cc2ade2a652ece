"""Vocabularies that are not built in: a `tokenizer.json` of Hugging Face's library, an `Encoding` of tiktoken's.

What is byte-level BPE with a pattern that the core knows is counted by the core, the rest by its own library. What of a
`tokenizer.json` does not change the tokens of a text is not looked at: padding, truncation, what a template adds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

import msgspec

from muntin import _core
from muntin.exceptions import EncodingError
from muntin.foreign import Foreign, of_encoding, of_json

__all__ = ["digest", "from_encoding", "from_json", "is_encoding"]

_GPT2: Final = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"

Native: TypeAlias = _core.Tokenizer | Foreign
"""What counts: the core, or another library."""


class _Unsupported(Exception):
    """What in a file the core does not count."""


def _alphabet() -> dict[int, int]:
    """From the characters that stand for bytes in a byte-level vocabulary to those bytes; others have none.

    Printable bytes stand for themselves, the others for the characters from U+0100 on, in their order.
    """
    printable = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = [byte for byte in range(0x100) if byte not in printable]
    return (
        {byte: byte for byte in printable}
        | dict.fromkeys(others, 0xFFFF)
        | {0x100 + at: byte for at, byte in enumerate(others)}
    )


_ALPHABET: Final = _alphabet()


def is_encoding(value: object) -> bool:
    """Whether it is a tiktoken `Encoding`, or has what one is counted by."""
    return all(hasattr(value, name) for name in ("name", "_pat_str", "_mergeable_ranks", "_special_tokens"))


def digest(encoding: Any) -> str:
    """SHA-256 over all that the counts of a tiktoken `Encoding` depend on."""
    ranks = sorted(encoding._mergeable_ranks.items())  # noqa: SLF001
    parts = [encoding._pat_str, sorted(encoding._special_tokens.items()), ranks]  # noqa: SLF001
    return hashlib.sha256(repr(parts).encode()).hexdigest()


def from_encoding(encoding: Any) -> Native:
    """What counts as a tiktoken `Encoding` does.

    Raises:
        EncodingError: A byte is no token, or the vocabulary contradicts itself.
    """
    ranks: Mapping[bytes, int] = encoding._mergeable_ranks  # noqa: SLF001
    if not _core.Tokenizer.knows([encoding._pat_str]):  # noqa: SLF001
        missing = next((byte for byte in range(256) if bytes([byte]) not in ranks), None)
        if missing is not None:
            raise EncodingError(
                f"the vocabulary of {encoding.name} has no token for the byte {missing:#04x}; "
                "each of the 256 must be one"
            )
        return of_encoding(encoding)
    special = [(text, number, True, False, False, False) for text, number in encoding._special_tokens.items()]  # noqa: SLF001
    return _core.Tokenizer.custom(encoding.name, [encoding._pat_str], list(ranks.items()), added=special)  # noqa: SLF001


def from_json(data: bytes, name: str) -> Native:
    """What counts as Hugging Face's `tokenizers` does with this file.

    Raises:
        EncodingError: It is no `tokenizer.json`, or needs `tokenizers`, which is not installed; says what for.
    """
    try:
        file = msgspec.json.decode(data)
        if not isinstance(file, dict) or not isinstance(file.get("model"), dict):
            raise EncodingError(f"{name} is no tokenizer.json: it has no model")
    except msgspec.MsgspecError as error:
        raise EncodingError(f"{name} is no tokenizer.json: {error}") from error
    try:
        return _byte_level(file, name)
    except _Unsupported as reason:
        return of_json(data, name, str(reason))


def _byte_level(file: dict[str, Any], name: str) -> _core.Tokenizer:
    model = file["model"]
    kind = model.get("type", "BPE" if "merges" in model else None)
    if kind != "BPE":
        raise _Unsupported(f"a model of type {kind}")
    for key in ("dropout", "continuing_subword_prefix", "end_of_word_suffix"):
        if model.get(key):
            raise _Unsupported(f"{key} {model[key]!r}")
    patterns = list(_patterns(file.get("pre_tokenizer")))
    if not _core.Tokenizer.knows(patterns):
        raise _Unsupported(f"the pattern {', then '.join(patterns)}")
    vocab: dict[str, int] = model["vocab"]
    tokens, others = [], []
    for text, number in vocab.items():
        try:
            tokens.append((text.translate(_ALPHABET).encode("latin-1"), number))
        except UnicodeEncodeError:
            others.append((text.encode(), number))
    try:
        return _core.Tokenizer.custom(
            name,
            patterns,
            tokens,
            merges=list(_merges(model["merges"], vocab)),
            ignore_merges=bool(model.get("ignore_merges")),
            added=list(_added(file.get("added_tokens") or (), vocab)),
            others=others,
            nfc=_is_nfc(file.get("normalizer")),
        )
    except EncodingError as error:
        raise _Unsupported(f"a vocabulary of another kind ({error})") from error


def _patterns(pre_tokenizer: Any) -> Iterator[str]:
    """The regular expressions that divide a text one after the other, before bytes become characters."""
    steps = _steps(pre_tokenizer, "pretokenizers")
    if not steps or steps[-1].get("type") != "ByteLevel":
        raise _Unsupported("a pre-tokeniser that does not end with ByteLevel")
    for step in steps[:-1]:
        pattern = step.get("pattern")
        if step.get("type") != "Split" or not isinstance(pattern, dict) or "Regex" not in pattern:
            raise _Unsupported(f"the pre-tokeniser {step.get('type')}")
        if step.get("behavior") != "Isolated" or step.get("invert"):
            raise _Unsupported(f"a split of behaviour {step.get('behavior')}{', inverted' * bool(step.get('invert'))}")
        yield pattern["Regex"]
    if steps[-1].get("add_prefix_space", True):
        raise _Unsupported("a pre-tokeniser that puts a blank before a text")
    if steps[-1].get("use_regex", True):
        yield _GPT2


def _is_nfc(normalizer: Any) -> bool:
    steps = [step.get("type") for step in _steps(normalizer, "normalizers")]
    for step in steps:
        if step != "NFC":
            raise _Unsupported(f"the normalizer {step}")
    return bool(steps)


def _steps(step: Any, key: str) -> list[dict[str, Any]]:
    """A sequence of steps, which may stand in each other, as one list."""
    if step is None:
        return []
    if step.get("type") == "Sequence":
        return [inner for one in step.get(key, ()) for inner in _steps(one, key)]
    return [step]


def _merges(merges: Sequence[Any], vocab: Mapping[str, int]) -> Iterator[tuple[int, int, int]]:
    """Merges by id. They are pairs, or lines with a blank between."""
    for merge in merges:
        if isinstance(merge, str) and merge.startswith("#version"):
            continue
        try:
            left, right = merge.split(" ") if isinstance(merge, str) else merge
            yield vocab[left], vocab[right], vocab[left + right]
        except (ValueError, KeyError):
            raise _Unsupported(f"a merge that is none: {merge!r}") from None


def _added(
    tokens: Sequence[Mapping[str, Any]], vocab: Mapping[str, int]
) -> Iterator[tuple[str, int, bool, bool, bool, bool]]:
    """Added tokens. The library gives each the id that the vocabulary has for it, and others the next ones."""
    following = len(vocab)
    seen = set()
    for token in tokens:
        text, number = token["content"], token["id"]
        if not text:
            continue
        if text not in vocab:
            expected, following = following, following + 1
        else:
            expected = vocab[text]
        if number != expected or text in seen:
            raise _Unsupported(f"the added token {text!r} with id {number}, which the library does not keep")
        if token.get("single_word"):
            raise _Unsupported(f"the added token {text!r}, which is one as a word only")
        seen.add(text)
        special, normalized = bool(token.get("special")), bool(token.get("normalized"))
        yield text, number, special, normalized, bool(token.get("lstrip")), bool(token.get("rstrip"))
