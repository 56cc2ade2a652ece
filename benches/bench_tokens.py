"""Counting 2 KB messages, beside tiktoken in the same run. That the counts are equal is recorded with them."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

import muntin as mt
from tokens.oracle import oracle

CODE = Path(argparse.__file__).read_text(encoding="utf-8")
PROSE = (Path(__file__).resolve().parent.parent / "docs" / "requirements.md").read_text(encoding="utf-8")
TEXTS = {"code": CODE, "prose": PROSE, "unicode": "Größenänderung, 日本語の文章。 Привет, мир! " * 400}


def messages(text: str) -> list[str]:
    return [text[at : at + 2048] for at in range(0, len(text), 2048)]


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
@pytest.mark.parametrize("kind", ["code", "prose", "unicode"])
@pytest.mark.parametrize("peer", ["muntin", "tiktoken"])
def test_count(benchmark, encoding, kind, peer):
    texts = messages(TEXTS[kind])
    tok, tiktoken = mt.tokenizer(encoding), oracle(encoding)
    count = tok.count if peer == "muntin" else lambda text: len(tiktoken.encode_ordinary(text))
    benchmark.group = f"count {kind}, {encoding}"
    counts = benchmark(lambda: [count(text) for text in texts])
    benchmark.extra_info["correct"] = counts == [len(tiktoken.encode_ordinary(text)) for text in texts]
    benchmark.extra_info["bytes"] = sum(len(text.encode()) for text in texts)
    assert benchmark.extra_info["correct"]


def test_count_one_word(benchmark):
    assert benchmark(mt.tokenizer("o200k_base").count, "hello world") == 2
