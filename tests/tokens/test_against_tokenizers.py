"""Tokens equal those of `tokenizers`: small files of every family, and real ones where their packages are installed."""

from __future__ import annotations

import functools
import lzma

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from muntin import _core
from tokens.files import PATTERNS, dumped, real, small

ADDED = [
    {"content": "<s>"},
    {"content": "<s>x"},
    {"content": "<tool>", "special": False},
    {"content": "<left>", "lstrip": True, "special": False},
    {"content": "<right>", "rstrip": True},
    {"content": "\u00e9\u0323", "normalized": True, "special": False},
]
FRAGMENTS = [
    " ", "  ", "   ", "\n", "\n\n", "\r\n", "\t", "\u00a0", "\u3000", "\u2028", "'s", "'LL", "'Re", "'ſ", "'", "don't",
    "A", "Ab", "HTMLParser", "é", "e\u0301", "\u0301", "é\u0323", "語", "漢字", "ひらがな", "ア・イ", "・", "゠",
    "\u3040",     "\u3099", "한국어", "العربية", "हिन्दी", "٣٤", "12345", "½", "👩‍👩‍👧", "//", "{", "(foo", "_x",
    "aaaa", "aaaaaaa", "abc", "the", " the", "\x00", "\x7f", "\ufeff", "\u0378", "\ue000",
    "<s>", "<s>x", "<tool>", " <left>", "<right> \n", "<|endoftext|>", "<think>", "<｜User｜>",
]  # fmt: skip
texts = st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=3)), max_size=20).map("".join)


@functools.cache
def pair(family: str, ignore_merges: bool = False) -> tuple[mt.Tokenizer, list[tokenizers.Tokenizer]]:
    """Ours, and theirs without special tokens and with them."""
    file = small(family, added=ADDED, extra=["Ġabcthe", "xyz", "ÿÿ"], ignore_merges=ignore_merges)
    return both(dumped(file))


def both(data: bytes) -> tuple[mt.Tokenizer, list[tokenizers.Tokenizer]]:
    ours = mt.Tokenizer.from_json(data)
    assert isinstance(ours._core, _core.Tokenizer), "not counted by the core"
    theirs = []
    for special in (False, True):
        theirs.append(tokenizers.Tokenizer.from_buffer(data))
        theirs[-1].no_truncation()
        theirs[-1].no_padding()
        theirs[-1].encode_special_tokens = not special
    return ours, theirs


def ids(theirs: tokenizers.Tokenizer, text: str) -> list[int]:
    return theirs.encode(text, add_special_tokens=False).ids


@pytest.mark.parametrize("ignore_merges", [False, True])
@pytest.mark.parametrize("family", PATTERNS)
@given(text=texts)
def test_random_text_with_small_files(family, ignore_merges, text):
    ours, theirs = pair(family, ignore_merges)
    for special in (False, True):
        expected = ids(theirs[special], text)
        assert ours.encode(text, special=special) == expected
        assert ours.count(text, special=special) == len(expected)


@given(text=texts)
def test_text_is_composed_where_the_file_says_so(text):
    ours, theirs = composing()
    assert ours.encode(text) == ids(theirs[0], text)
    assert ours.count(text) == len(ours.encode(text))


@functools.cache
def composing() -> tuple[mt.Tokenizer, list[tokenizers.Tokenizer]]:
    return both(dumped(small("qwen", added=ADDED, normalizer={"type": "Sequence", "normalizers": [{"type": "NFC"}]})))


@pytest.mark.parametrize("family", PATTERNS)
@pytest.mark.parametrize("context", ["1{}'s\n", "漢{}か  "])
def test_every_code_point(family, context):
    ours, theirs = pair(family)
    chars = [chr(cp) for cp in range(0x110000) if not 0xD800 <= cp < 0xE000]
    # Planes without any character are all alike; private ones too.
    chars = [char for char in chars if not 0x40000 <= ord(char) < 0x10F000]
    for start in range(0, len(chars), 4096):
        block = "".join(context.format(char) for char in chars[start : start + 4096])
        assert ours.encode(block) == ids(theirs[0], block), f"from U+{ord(chars[start]):04X}"


@pytest.mark.parametrize("family", ["llama", "qwen", "deepseek"])
def test_real_files(family):
    ours, theirs = both(real(family).read_bytes())
    assert ours.n_vocab == max(theirs[0].get_vocab().values()) + 1

    @given(text=texts)
    def equal(text):
        for special in (False, True):
            assert ours.encode(text, special=special) == ids(theirs[special], text)
        if family != "qwen":
            assert ours.decode(ours.encode(text)) == text

    equal()


@pytest.mark.shared
@pytest.mark.parametrize("corpus", ["english", "code", "json", "multi"])
@pytest.mark.parametrize("family", ["llama", "qwen", "deepseek"])
def test_real_files_on_real_text(family, corpus, shared):
    ours, theirs = both(real(family).read_bytes())
    text = lzma.decompress((shared / "bench" / "corpora" / f"{corpus}.txt.xz").read_bytes()).decode()[:300_000]
    expected = ids(theirs[True], text)
    assert ours.encode(text, special=True) == expected
    assert ours.count(text, special=True) == len(expected)


@pytest.mark.parametrize("text", ["a" * 100_000, " " * 100_000, "漢" * 30_000, "<s" * 50_000, "\x00" * 50_000])
@pytest.mark.parametrize("family", PATTERNS)
@pytest.mark.timeout(20)
def test_long_pieces_take_no_quadratic_time(family, text):
    ours, _ = pair(family)
    assert ours.decode(ours.encode(text)) == text
