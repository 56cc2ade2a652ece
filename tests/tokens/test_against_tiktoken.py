"""Tokens equal tiktoken's: on random text, on every code point, on real text."""

from __future__ import annotations

import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from tokens.oracle import oracle

ENCODINGS = ["cl100k_base", "o200k_base", "o200k_harmony"]

FRAGMENTS = [
    " ", "  ", "\n", "\r\n", "\t", "\u00a0", "\u3000", "\u2028", "'s", "'LL", "'Re", "'ſ", "'", "don't", "I'M", "A",
    "Ab", "HTMLParser", "naïve", "e\u0301", "\u0301", "ǅ", "ʰ", "語", "한국어", "العربية",
    "ไทย", "हिन्दी", "٣٤", "12345", "½", "Ⅷ",
    "👩‍👩‍👧", "🏳️‍🌈", "🇩🇪", "//", "/*", "\n\n/", "{", '":"', "</", "<|endoftext|>", "\x00", "\x7f", "\ufeff", "\ufffd",
    "def f(x):\n    return x", "https://a.b/c?d=e", "0x1F", "camelCase", "snake_case", "SCREAMING", "\u1ad0", "\u088f",
]  # fmt: skip

texts = st.one_of(
    st.text(),
    st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=4)), max_size=30).map("".join),
    st.text(alphabet=" \t\n\r/aA'sſ1.\u0301語", max_size=60),
)


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(text=texts)
def test_random_text(encoding, text):
    tok, tiktoken = mt.tokenizer(encoding), oracle(encoding)
    expected = tiktoken.encode_ordinary(text)
    assert tok.encode(text) == expected
    assert tok.count(text) == len(expected)
    assert tok.decode(expected) == text


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(parts=st.lists(st.one_of(st.sampled_from(["<|endoftext|>", "<|endofprompt|>", "<|start|>", "<|", "|>"]), texts)))
def test_special_tokens_where_they_are_asked_for(encoding, parts):
    text = "".join(parts)
    expected = oracle(encoding).encode(text, allowed_special="all")
    assert mt.tokenizer(encoding).encode(text, special=True) == expected
    assert mt.tokenizer(encoding).count(text, special=True) == len(expected)


@pytest.mark.parametrize("encoding", ["cl100k_base", "o200k_base"])
@pytest.mark.parametrize("context", ["{}", "a{}b ", " {}A", "1{}'s\n", "{}/\n"])
def test_every_code_point(encoding, context):
    tok, tiktoken = mt.tokenizer(encoding), oracle(encoding)
    chars = [chr(cp) for cp in range(0x110000) if not 0xD800 <= cp < 0xE000]
    for start in range(0, len(chars), 4096):
        block = [context.format(char) for char in chars[start : start + 4096]]
        joined = "".join(block)
        if tok.encode(joined) != tiktoken.encode_ordinary(joined):
            wrong = [text for text in block if tok.encode(text) != tiktoken.encode_ordinary(text)]
            pytest.fail(f"{len(wrong)} differ, the first is {wrong[:1]!a}; or the context of several matters")


@pytest.mark.shared
@pytest.mark.parametrize("encoding", ["cl100k_base", "o200k_base"])
@pytest.mark.parametrize("corpus", ["english", "code", "json", "multi"])
def test_real_text(encoding, corpus, shared):
    packed = (shared / "bench" / "corpora" / f"{corpus}.txt.xz").read_bytes()
    text = lzma.decompress(packed).decode()[:1_500_000]
    expected = oracle(encoding).encode_ordinary(text)
    assert mt.tokenizer(encoding).encode(text) == expected
    assert mt.tokenizer(encoding).count(text) == len(expected)


@pytest.mark.parametrize("encoding", ["cl100k_base", "o200k_base"])
@pytest.mark.parametrize(
    "text",
    ["a" * 200_000, " " * 200_000, "\n" * 200_000, "語" * 60_000, "aB3/+x" * 50_000, "=" * 100_000, "e\u0301" * 50_000],
    ids=["letters", "spaces", "newlines", "caseless", "base64", "symbols", "marks"],
)
@pytest.mark.timeout(30)
def test_text_that_makes_naive_counters_quadratic(encoding, text):
    assert mt.tokenizer(encoding).count(text) == len(oracle(encoding).encode_ordinary(text))


@pytest.mark.parametrize("text", ["<|" * 50_000, "<|reserved_" * 20_000, "<" * 100_000, "|>" * 50_000])
@pytest.mark.timeout(20)
def test_text_that_always_looks_like_a_special_token(text):
    expected = oracle("o200k_harmony").encode(text + "<|end|>", allowed_special="all")
    assert mt.tokenizer("o200k_harmony").encode(text + "<|end|>", special=True) == expected
