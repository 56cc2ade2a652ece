"""Counting 2 KB messages, beside tiktoken in the same run, both counts being equal; streams, slices and cuts."""

from __future__ import annotations

import argparse
import random
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


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
@pytest.mark.parametrize("kind", ["code", "prose", "unicode"])
def test_stream(benchmark, encoding, kind):
    """Deltas of five characters; a round is as many calls as `deltas` says."""
    tok = mt.tokenizer(encoding)
    text = (TEXTS[kind] * 4)[:100_000]
    deltas = [text[at : at + 5] for at in range(0, len(text), 5)]

    def stream():
        append = tok.stream().append
        for delta in deltas:
            tokens = append(delta)
        return tokens

    benchmark.group = f"stream {kind}, {encoding}"
    tokens = benchmark(stream)
    benchmark.extra_info["deltas"] = len(deltas)
    assert tokens == tok.count(text)


@pytest.mark.parametrize("kind", ["code", "prose", "unicode"])
def test_slices(benchmark, kind):
    """Random slices of a megabyte; a round is as many calls as `slices` says."""
    tok = mt.tokenizer("o200k_base")
    text = (TEXTS[kind] * 100)[:1_000_000]
    measured = tok.measure(text)
    pick = random.Random(1)
    slices = [sorted(pick.sample(range(len(text) + 1), 2)) for _ in range(1000)]
    assert all(measured.count(start, stop) == tok.count(text[start:stop]) for start, stop in slices[:20])

    benchmark.group = "slices"
    benchmark(lambda: [measured.count(start, stop) for start, stop in slices])
    benchmark.extra_info["slices"] = len(slices)


@pytest.mark.parametrize("cut", ["head", "tail", "middle"])
def test_cut(benchmark, cut):
    tok = mt.tokenizer("o200k_base")
    measured = tok.measure(PROSE * 50)
    benchmark.group = "cuts to 2000 tokens"
    assert tok.count(benchmark(getattr(measured, cut), 2000)) <= 2000
