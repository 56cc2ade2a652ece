#!/usr/bin/env python3
"""Fit how requests are counted on recorded bills, and write `python/muntin/counting/rules.json`.

    python scripts/fit_counting.py [--check]

Needs the recorded data (see tests/README.md). What a provider publishes stands below as it is; what it does not is
fitted by family of models: the weights of texts on how bills of whole sessions grow from call to call, and the
overheads on single requests, both with a robust loss, since some bills hold what a recording does not. `fitted`
leaves sources out, so that a benchmark can fit on the others and test on these. `--check` writes nothing and says
whether it would.
"""

from __future__ import annotations

import argparse
import functools
import json
import lzma
import os
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec
import numpy as np

from muntin import tokenizer
from muntin.counting.costs import Costs
from muntin.counting.formats import FORMATS
from muntin.counting.outline import Outline, Part, json_text
from muntin.counting.rules import Rules
from muntin.counting.schemas import tool_texts
from muntin.counting.texts import Weights, composition
from muntin.models import Model, model

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("MUNTIN_SHARED") or ROOT.parent / "shared") / "data"
TARGET = ROOT / "python" / "muntin" / "counting" / "rules.json"
FORMS = {
    "chat": "openai_chat", "messages": "anthropic", "messages_count": "anthropic", "responses": "openai_responses",
    "generateContent": "gemini", "converse": "bedrock", "converse_count": "bedrock", "ollama_chat": "ollama",
}  # fmt: skip

LEAST = 200
"""Billed tokens of a request from which on the bound of its estimate counts."""
ABOVE = 0.08
"""How far the safe estimate of the middle bill lies above it."""
SLACKS = range(0, 25, 4)
"""Tokens that the safe estimate may lie above its factor."""

COOKBOOK = "https://github.com/openai/openai-cookbook/blob/main/examples/How_to_count_tokens_with_tiktoken.ipynb"
BILLS = "fitted on recorded bills by scripts/fit_counting.py"
# OpenAI's tokenizers are public, and so is how messages and tools are rendered. What stands around them is not, and is
# read off recorded bills: see `READ_OFF`.
PUBLISHED: dict[str, dict[str, Any]] = {
    "gpt": {
        "source": COOKBOOK, "call_names": 2, "tools_as": "namespace", "tool": 0, "image": "tiles",
    },
    "gpt-5": {
        "source": COOKBOOK, "request": 2, "call_names": 2, "tools_as": "namespace", "tool": 0, "sealed": 0.1,
        "forced": 6, "schema": 8, "image": "tiles-5",
    },
}  # fmt: skip
OPENAI_IMAGES = "https://platform.openai.com/docs/guides/images-vision"
CLAUDE_IMAGES = "https://platform.claude.com/docs/en/build-with-claude/vision"
GEMINI_IMAGES = "https://ai.google.dev/gemini-api/docs/media-resolution"
IMAGES: dict[str, dict[str, Any]] = {
    "tiles": {"kind": "tiles", "base": 85, "tile": 170, "low": 85, "source": OPENAI_IMAGES},
    "tiles-4o-mini": {"kind": "tiles", "base": 2833, "tile": 5667, "low": 2833, "source": OPENAI_IMAGES},
    "tiles-5": {"kind": "tiles", "base": 70, "tile": 140, "low": 70, "source": OPENAI_IMAGES},
    "tiles-o": {"kind": "tiles", "base": 75, "tile": 150, "low": 75, "source": OPENAI_IMAGES},
    "patches-1.62": {"kind": "patches", "cap": 1536, "factor": 1.62, "source": OPENAI_IMAGES},
    "patches-2.46": {"kind": "patches", "cap": 1536, "factor": 2.46, "source": OPENAI_IMAGES},
    "patches-1.72": {"kind": "patches", "cap": 1536, "factor": 1.72, "source": OPENAI_IMAGES},
    "patches-1.2": {"kind": "patches", "cap": 1536, "factor": 1.2, "source": OPENAI_IMAGES},
    "patches-1.5": {"kind": "patches", "cap": 1536, "factor": 1.5, "source": OPENAI_IMAGES},
    "patches-large": {"kind": "patches", "cap": 2500, "original": 10_000, "factor": 1.2, "source": OPENAI_IMAGES},
    "claude": {"kind": "areas", "patch": 28, "cap": 1568, "edge": 1568, "source": CLAUDE_IMAGES},
    "claude-large": {"kind": "areas", "patch": 28, "cap": 4784, "edge": 2576, "source": CLAUDE_IMAGES},
    "gemini": {"kind": "flat", "base": 258, "low": 64, "source": GEMINI_IMAGES},
    "gemini-3": {"kind": "flat", "base": 1120, "low": 280, "medium": 560, "ultra": 2240, "source": GEMINI_IMAGES},
}


class Family(NamedTuple):
    """What is fitted for a family, and what it is drawn to where the bills say little.

    Attributes:
        token: Tokens for each of the stand-in's.
        overheads: Of `COLUMNS` but for the texts.
        pull: How much it is drawn there.
        digits: Tokens for each digit beside: where the vocabulary is known to take digits one by one, two in three.
        grows: Models whose growing sessions give the weights of texts; none takes the stand-in's tokens alone.
        given: What is not fitted.
        shape: The weights of texts where the vocabulary is public, by `scripts/fit_gemma.py`; no bill changes them.
    """

    token: float
    overheads: dict[str, float]
    pull: float = 1.0
    digits: float = 0.0
    grows: tuple[str, ...] = ()
    given: Mapping[str, Any] = MappingProxyType({})
    shape: Weights | None = None


# By Anthropic's pages of the tools, but for memory and the search for tools, which are read off recorded bills.
CLAUDE_HOSTED = {"bash": 245, "str_replace": 700, "computer": 735, "memory": 1050, "tool_search": 240}
READ_OFF = {
    "gpt": ("call", "batch", "tools", "tools_alone", "forced", "schema"),
    "gpt-5": ("call", "tools", "tools_alone"),  # what is forced and a schema cost as before
}
"""What of the published rules is not published and read off bills."""
COLUMNS = ("request", "message", "text", "tools", "tool", "tool_text", "call", "result", "schema", "schema_text")
# Sessions say little of what is rare in them: other scripts than Latin, where the older public vocabulary of 65,000
# pieces has so many tokens a byte beside the stand-in's, and long words and random letters, where Gemma's has about
# so many.
CLAUDE_FIXED = {"token": 0.5, "high": 0.25}
_CLAUDE = {
    "request": 3, "message": 4, "tools": 0, "tool": 10, "tool_text": 1.2, "call": 25, "result": 18, "schema": 95,
    "schema_text": 1.2,
}  # fmt: skip
_OTHER = {
    "request": 3, "message": 4, "tools": 20, "tool": 8, "tool_text": 1.0, "call": 10, "result": 5, "schema": 10,
    "schema_text": 1.0,
}  # fmt: skip
FAMILIES = {
    "claude": Family(
        1.1, _CLAUDE, 0.02, 0.0, ("claude-opus-4-5", "claude-opus-4-6", "claude-sonnet-4-6"),
        {"image": "claude", "serial": -183, "media": {"page": 2250}, "hosted": CLAUDE_HOSTED},
    ),
    "claude-4.7": Family(
        1.4, {**_CLAUDE, "tool": 20, "tool_text": 1.6}, 0.2, 0.0,
        ("claude-opus-4-7", "claude-opus-4-8", "claude-fable-5"),
        {"image": "claude-large", "serial": -183, "margin": 1.2, "media": {"page": 2250}, "hosted": CLAUDE_HOSTED},
    ),
    "gemini": Family(
        1.05, {**_OTHER, "request": 0, "message": 1, "tools": 0, "schema": 0, "schema_text": 0}, 0.02,
        shape=Weights(0.458, digits=0.773, breaks=0.901, high=0.134, words=0.532, marks=0.742, humps=0.672),
        given={
            "tools_as": "nested", "image": "gemini", "sealed": 0.18,
            "media": {"page": 560, "audio_second": 32.0},  # of Gemini 3; 2.5 has half of that
        },
    ),
    "nova": Family(1.15, {**_OTHER, "tools": 370}, given={"margin": 1.15}),
    "mistral": Family(1.15, _OTHER, given={"margin": 1.25}),
    "deepseek": Family(1.05, {**_OTHER, "tools": 190}, given={"margin": 1.25}),
    "grok": Family(1.05, {**_OTHER, "request": 10, "tools": 120}, given={"margin": 1.25}),
    "qwen": Family(1.1, {**_OTHER, "tools": 100}, given={"margin": 1.25}),
    "llama": Family(1.05, {**_OTHER, "tools": 600}, given={"margin": 1.25}),
    "other": Family(1.1, _OTHER, given={"margin": 1.25}),
}  # fmt: skip


class Bill(NamedTuple):
    """A recorded request and its billed input."""

    source: str
    form: str
    model: Model
    outline: Outline
    tokens: int
    flags: frozenset[str]
    body: dict[str, Any]


class Growth(NamedTuple):
    """What a session's bill grew by from one call to the next, and what stands between them."""

    source: str
    model: str
    tokens: int
    billed: int
    counts: tuple[float, ...]


@functools.cache
def bills() -> tuple[Bill, ...]:
    """All recorded requests of the formats that are counted, without media, hosted tools and replayed reasoning."""
    return tuple(_bills())


def _bills() -> Iterator[Bill]:
    with lzma.open(DATA / "usage" / "usage_pairs.jsonl.xz", "rt", encoding="utf-8") as lines:
        for line in lines:
            pair = json.loads(line)
            form, tokens, body = FORMS.get(pair["endpoint"]), pair["input_tokens"], pair["request"]
            if not (form and tokens and pair["model"] and pair["clean_input"] and isinstance(body, dict)):
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                known = model(pair["model"])
            outline = FORMATS[form](body)
            if _is_clean(outline):
                yield Bill(pair["source"], form, known, outline, tokens, frozenset(pair["flags"]), body)


def _is_clean(outline: Outline) -> bool:
    """Whether there really is no media, hosted tool or replayed reasoning: the recorded mark misses a few.

    Three bills from the first weeks of Responses stand among them, whose empty `instructions` were billed as 210 tokens
    of a prompt that no body shows.
    """
    kinds = {part.kind for part in _parts(outline)}
    return not kinds & {"media", "reasoning", "sealed", "other"} and not any(tool.hosted for tool in outline.tools)


def bills_of(family: str) -> list[Bill]:
    """The bills of a family's models, each kind once: recordings are often made again and again."""
    seen: dict[tuple[Any, ...], Bill] = {}
    for bill in bills():
        if (bill.model.rules or "other") == family:
            seen.setdefault((bill.form, bill.model.name, bill.tokens, json_text(bill.body)[:4000]), bill)
    return list(seen.values())


@functools.cache
def growths() -> tuple[Growth, ...]:
    """How the bills of recorded sessions grew, in the stand-in's tokens and the bytes of each kind."""
    return tuple(_growths())


def _growths() -> Iterator[Growth]:
    for path in sorted((DATA / "anthropic-from-claude-code").glob("*.json*")):
        if path.suffix == ".jsonl":
            continue
        raw = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
        for segment in json.loads(raw)["segments"]:
            before: dict[str, Any] | None = None
            for call in segment["calls"]:
                if before and before["model"] == call["model"] and call["message_index"] > before["message_index"]:
                    new = segment["messages"][before["message_index"] : call["message_index"]]
                    grown = _billed(call) - _billed(before)
                    parts = [part for one in FORMATS["anthropic"]({"messages": new}).messages for part in one.parts]
                    plain = all(part.kind in ("text", "call", "result") for part in parts)
                    if plain and 20 < grown < 40_000:
                        calls, results = (sum(part.kind == kind for part in parts) for kind in ("call", "result"))
                        made = np.sum([made_of(text) for part in parts for text in (part.text, part.name)], axis=0)
                        counts = (len(new), calls + results, *made.tolist())
                        yield Growth(path.name, call["model"], grown, _billed(call), counts)
                before = call


def _billed(call: dict[str, Any]) -> int:
    keys = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    return sum(call["usage"].get(key) or 0 for key in keys)


def made_of(text: str) -> Any:
    """A text's tokens in the stand-in, and what it is made of, in the order of `Weights`."""
    return np.array([_count(text), *composition(text)], dtype=float)


@functools.lru_cache(maxsize=65_536)
def _count(text: str) -> int:
    return tokenizer("o200k_base").count(text)


def weights(family: Family, without: Sequence[str] = ()) -> Weights:
    """The weights of texts: a public vocabulary's, else from growing sessions, else of the stand-in's tokens alone."""
    if family.shape is not None or not family.grows:
        return family.shape or Weights(token=family.token, digits=family.digits)
    rows = [row for row in growths() if row.model.startswith(family.grows) and row.source not in without]
    counts = np.array([row.counts for row in rows])
    grown = np.array([row.tokens for row in rows], dtype=float)
    prior, pull = np.zeros(counts.shape[1]), np.full(counts.shape[1], 1e-9)
    for name, value in CLAUDE_FIXED.items():
        column = 2 + Weights.__struct_fields__.index(name)
        prior[column], pull[column] = value, 1e6
    solved = robust(counts, grown, 1 / (grown + 100), prior, pull, loss=0.05)
    return Weights(*(round(float(weight), 3) for weight in solved[2:]))


def _scaled(family: Family, shape: Weights, rows: Sequence[Bill]) -> Weights:
    """Weights of sessions, which are mostly code and results, made right for prose too: two factors, near 1."""
    if not family.grows or len(rows) < 10:
        return shape
    framing = np.array(
        [family.overheads["request"] + family.overheads["message"] * len(r.outline.messages) for r in rows]
    )
    counts = np.array([np.sum([made_of(part.text) for part in _parts(row.outline)], axis=0) for row in rows]) * _values(
        shape
    )
    counts = np.stack([counts[:, 0], counts[:, 1:].sum(axis=1)], axis=1)
    billed = np.array([row.tokens for row in rows], dtype=float) - framing
    factors = robust(counts, billed, 1 / np.array([row.tokens for row in rows]), np.ones(2), 0.1, loss=0.03)
    first, rest = (min(1.3, max(0.7, float(factor))) for factor in factors)
    return Weights(shape.token * first, *(value * rest for value in _values(shape)[1:]))


def _parts(outline: Outline) -> list[Part]:
    return [*outline.system, *(part for message in outline.messages for part in message.parts)]


def fitted(family: str, without: Sequence[str] = ()) -> dict[str, Any]:
    """The rules of a family as JSON, fitted on all sources but those."""
    kind = FAMILIES[family]
    rows = [bill for bill in bills_of(family) if bill.source not in without and "thinking_on" not in bill.flags]
    rows = [bill for bill in rows if bill.tokens >= 150]
    texts = [bill for bill in rows if not bill.outline.tools and not bill.outline.schema]
    shape = _scaled(kind, weights(kind, without), texts)
    prior = np.array([1.0 if name == "text" else kind.overheads[name] for name in COLUMNS])
    solved = prior
    if rows:
        counts = np.array([_counts(bill.outline, shape, kind.given.get("tools_as", "json")) for bill in rows])
        billed = np.array([bill.tokens - _known(bill, kind) for bill in rows], dtype=float)
        scale = 1 / np.array([max(bill.tokens, 100) for bill in rows], dtype=float)
        pull = np.array([1e6 if name == "text" and kind.shape else kind.pull for name in COLUMNS])
        solved = robust(counts, billed, scale, prior, pull, loss=0.03)
    found = dict(zip(COLUMNS, solved.tolist(), strict=True))
    found["text"] = min(1.3, max(0.8, found["text"]))  # what lies farther off is no tokenizer but a made-up bill
    scaled = {
        name: round(value * found["text"], 4)
        for name, value in zip(Weights.__struct_fields__, _values(shape), strict=True)
    }
    return {
        "source": BILLS,
        "weights": {name: value for name, value in scaled.items() if value},
        **{name: round(found[name]) for name in ("request", "message", "tools", "tool", "call", "result", "schema")},
        # A text's estimate has the factor of all texts in it already.
        "tool_weight": round(found["tool_text"] / found["text"], 4),
        "schema_weight": round(found["schema_text"] / found["text"], 4),
        **kind.given,
    }


def bounded(family: str, without: Sequence[str] = ()) -> dict[str, Any]:
    """The rules of a family with the bound of its safe estimates, both from all sources but those."""
    found = estimating(family, without)
    if "margin" in found:
        return found  # a wide one, of families that few bills are known of
    rows = [bill for bill in bills_of(family) if bill.source not in without and bill.tokens >= LEAST]
    costs = {bill.model: Costs(bill.model, msgspec.convert(found, Rules)) for bill in rows}
    estimated = np.array([costs[bill.model].estimate(bill.outline).tokens for bill in rows], dtype=float)
    return {**found, **_bound(estimated, np.array([bill.tokens for bill in rows], dtype=float))}


def _bound(estimated: Any, billed: Any) -> dict[str, Any]:
    """The factor, and the tokens on top, with which the middle estimate lies `ABOVE` its bill and most hold.

    How far the worst bills lie off says little of sources yet to come, so that the bound is as wide as it may be.
    """
    found = []
    for slack in SLACKS:
        low, high = 1.0, 1.0 + ABOVE
        for _ in range(20):
            margin = (low + high) / 2
            too_wide = np.median((estimated * margin + slack) / billed) > 1 + ABOVE
            low, high = (low, margin) if too_wide else (margin, high)
        safe = (estimated * round(low, 3) + slack) / billed
        found.append((int(np.sum(safe >= 1)), float(np.min(safe)), round(low, 3), slack))
    _, _, margin, slack = max(found)
    return {"margin": margin, "slack": slack}


def estimating(family: str, without: Sequence[str] = ()) -> dict[str, Any]:
    """The rules of a family but for what a bound takes, from all sources but those."""
    return read_off(family, without) if family in PUBLISHED else fitted(family, without)


def read_off(family: str, without: Sequence[str] = ()) -> dict[str, Any]:
    """Rules that are published, with what is not read off bills of all sources but those: whole tokens."""
    names = READ_OFF[family]
    rows = [bill for bill in bills_of(family) if bill.source not in without]
    blank = {**PUBLISHED[family], **dict.fromkeys(names, 0)}

    def counted(rules: dict[str, Any]) -> Any:
        costs = {bill.model: Costs(bill.model, msgspec.convert(rules, Rules)) for bill in rows}
        return np.array([costs[bill.model].estimate(bill.outline).tokens for bill in rows], dtype=float)

    base, billed = counted(blank), np.array([bill.tokens for bill in rows], dtype=float)
    columns = {name: counted({**blank, name: 1}) - base for name in names}
    columns["tools"] -= columns["tools_alone"]  # tools behind a system text, and tools without one
    nothing, scale = np.zeros(len(names)), 1 / np.maximum(billed, 100)
    solved = robust(np.stack(list(columns.values()), axis=1), billed - base, scale, nothing, nothing + 1e-12, loss=1e-3)
    found = dict(zip(names, map(round, solved.tolist()), strict=True))
    found["tools_alone"] -= found["tools"]
    return {**PUBLISHED[family], **found}


def _values(shape: Weights) -> list[float]:
    return [getattr(shape, name) for name in Weights.__struct_fields__]


def _known(bill: Bill, kind: Family) -> int:
    outline = bill.outline
    if not outline.tools:
        return 0
    forced = outline.choice not in ("", "none")
    return bill.model.tool_prompt[forced] + (0 if outline.parallel or forced else kind.given.get("serial", 0))


def _counts(outline: Outline, shape: Weights, told_as: str) -> list[float]:
    def text(value: str) -> float:
        return float(np.dot(made_of(value), _values(shape))) if value else 0.0

    parts = _parts(outline)
    told = sum(times * text(value) for tool in outline.tools for value, times in tool_texts(tool, told_as))
    schema = outline.schema
    return [
        1,
        len(outline.messages),
        sum(text(part.text) + text(part.name if part.kind == "call" else "") for part in parts),
        bool(outline.tools),
        len(outline.tools),
        told,
        sum(part.kind == "call" for part in parts),
        sum(part.kind == "result" for part in parts),
        bool(schema),
        text(json_text(schema.schema)) if schema else 0,
    ]


def robust(counts: Any, billed: Any, scale: Any, prior: Any, pull: Any, *, loss: float) -> Any:
    """Weights, none negative unless the prior is, of least Huber loss of the scaled errors, drawn to the prior."""
    solved, trust = prior.copy(), np.ones(len(billed))
    active = np.ones(counts.shape[1], dtype=bool)
    draw = pull / np.maximum(np.abs(prior), 1) ** 2
    for turn in range(60):
        rows = counts[:, active] * (scale * trust)[:, None]
        left = rows.T @ rows + np.diag(draw[active])
        solved = np.zeros(counts.shape[1])
        solved[active] = np.linalg.solve(left, rows.T @ (billed * scale * trust) + (draw * prior)[active])
        errors = np.abs(counts @ solved - billed) * scale
        trust = np.sqrt(np.minimum(1, loss / np.maximum(errors, 1e-9)))
        if turn > 5:
            active &= solved >= 0
    return solved


def made(without: Sequence[str] = ()) -> dict[str, Any]:
    """All rules as they are shipped, fitted on all sources but those."""
    return {
        "rules": {family: bounded(family, without) for family in (*PUBLISHED, *FAMILIES)},
        "images": IMAGES,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 where something would change")
    options = parser.parse_args()
    lines = [
        f'"{part}": {{\n  '
        + ",\n  ".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in rows.items())
        + "\n}"
        for part, rows in made().items()
    ]
    text = "{" + ",\n".join(lines) + "}\n"
    if options.check:
        sys.exit(TARGET.read_text(encoding="utf-8") != text)
    TARGET.write_text(text, encoding="utf-8")
    print(f"{TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
