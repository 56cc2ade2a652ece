"""Encodings of tiktoken that are not built in: ids equal tiktoken's."""

from __future__ import annotations

import base64
import functools
import hashlib
import importlib.util
import pickle
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from muntin import _core

R50K = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"""
GPT2 = r"""'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"""
CL100K = (
    r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"""
    r"""|\s++$|\s*[\r\n]|\s+(?!\S)|\s"""
)
QWEN = (
    r"""(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"""
    r"""|\s*[\r\n]+|\s+(?!\S)|\s+"""
)
WORDS = r"\w+|\W"
BYTES = {bytes([byte]): byte for byte in range(256)}
# Ids 256 to 258 are special or nothing, so the ranks have a gap.
RANKS = BYTES | {
    token: 259 + at for at, token in enumerate([b" a", b"ab", b"abc", b"th", b"the", b" the", b"  ", b"aa"])
}
SPECIAL = {"[END]": 256, "[END] of all": 257, "<|endoftext|>": 300}

FRAGMENTS = [
    "[END]",
    "[END] of all",
    "<|endoftext|>",
    "[EN",
    "the",
    " the",
    "abc",
    "aaaa",
    "'ll",
    "'LL",
    "  ",
    "\n",
    "é",
    "12",
]
texts = st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=3)), max_size=15).map("".join)


@functools.cache
def encoding(pattern: str) -> tiktoken.Encoding:
    return tiktoken.Encoding("mine", pat_str=pattern, mergeable_ranks=RANKS, special_tokens=SPECIAL)


@functools.cache
def counter(pattern: str) -> mt.Tokenizer:
    return mt.tokenizer(encoding(pattern))


@pytest.mark.parametrize(
    "pattern", [R50K, GPT2, CL100K, QWEN, WORDS], ids=["r50k", "gpt2", "cl100k", "qwen", "unknown"]
)
@given(text=texts)
def test_random_text(pattern, text):
    ours, theirs = counter(pattern), encoding(pattern)
    assert isinstance(ours._core, _core.Tokenizer) == (pattern != WORDS)
    expected = theirs.encode_ordinary(text)
    assert ours.encode(text) == ours.encode_array(text).tolist() == expected
    assert ours.count(text) == ours.count_many([text])[0] == len(expected)
    assert ours.decode(expected) == text
    if "[END]" not in text:  # of special tokens that begin alike tiktoken takes any, muntin the longest
        assert ours.encode(text, special=True) == theirs.encode(text, allowed_special="all")


def test_of_special_tokens_that_begin_alike_the_longest_is_meant():
    assert counter(R50K).encode("[END][END] of all", special=True) == [256, 257]


@pytest.mark.parametrize("context", ["{}", " {}A", "1{}'s\n", "  {}  "])
def test_every_code_point_in_the_pattern_of_gpt2(context):
    ours, theirs = counter(R50K), encoding(R50K)
    chars = [chr(cp) for cp in range(0x110000) if not 0xD800 <= cp < 0xE000]
    for start in range(0, len(chars), 4096):
        block = "".join(context.format(char) for char in chars[start : start + 4096])
        assert ours.encode(block) == theirs.encode_ordinary(block), f"from U+{ord(chars[start]):04X}"


def test_names_sizes_and_ids_that_do_not_exist():
    for pattern in (R50K, WORDS):
        ours = counter(pattern)
        assert (ours.name, ours.n_vocab, ours.special_tokens) == ("mine", 301, SPECIAL)
        assert ours.decode([300]) == "<|endoftext|>"
        for token in (258, 299, 301):
            with pytest.raises(mt.EncodingError, match=f"token {token} is not in the vocabulary of mine"):
                ours.decode([token])


def test_what_is_made_of_the_same_is_equal_and_survives_pickling():
    same = tiktoken.Encoding("mine", pat_str=R50K, mergeable_ranks=dict(RANKS), special_tokens=SPECIAL)
    other = tiktoken.Encoding("mine", pat_str=R50K, mergeable_ranks=RANKS, special_tokens={})
    assert mt.tokenizer(same) == counter(R50K)
    assert hash(mt.tokenizer(same)) == hash(counter(R50K))
    assert mt.tokenizer(other) != counter(R50K)
    again = pickle.loads(pickle.dumps(counter(R50K)))
    assert again == counter(R50K)
    assert again.encode("the [END]", special=True) == counter(R50K).encode("the [END]", special=True)


@pytest.mark.parametrize("pattern", [R50K, WORDS])
def test_a_vocabulary_without_every_byte_is_refused(pattern):
    ranks = {token: rank for token, rank in RANKS.items() if token != b"q"}
    with pytest.raises(mt.EncodingError, match="no token for the byte 0x71"):
        mt.tokenizer(tiktoken.Encoding("mine", pat_str=pattern, mergeable_ranks=ranks, special_tokens={}))


@pytest.mark.parametrize("pattern", [R50K, WORDS])
def test_text_that_has_no_tokens_is_refused(pattern):
    with pytest.raises(mt.InvalidText, match="character 1 "):
        counter(pattern).count("a\ud800")
    with pytest.raises(TypeError):
        counter(pattern).count(b"bytes")


def test_what_is_no_encoding_is_a_type_error():
    with pytest.raises(TypeError, match=r"a name or a tiktoken\.Encoding, not int"):
        mt.tokenizer(7)


def test_p50k_base():
    found = importlib.util.find_spec("litellm")
    if found is None or found.origin is None:
        pytest.skip("no package that brings the ranks of p50k_base (litellm-core) is installed")
    folder = Path(found.origin).parent / "litellm_core_utils" / "tokenizers"
    data = (folder / "ec7223a39ce59f226a68acc30dc1af2788490e15").read_bytes()
    assert hashlib.sha256(data).hexdigest() == "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069"
    lines = (line.split() for line in data.splitlines())
    ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
    theirs = tiktoken.Encoding(
        "p50k_base", pat_str=R50K, mergeable_ranks=ranks, special_tokens={"<|endoftext|>": 50256}
    )
    ours = mt.tokenizer(theirs)
    assert ours.n_vocab == theirs.n_vocab == 50_281

    @given(text=texts)
    def equal(text):
        assert ours.encode(text, special=True) == theirs.encode(text, allowed_special="all")

    equal()
