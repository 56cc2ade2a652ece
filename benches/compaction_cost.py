"""What recorded sessions cost by when they are compacted: `python benches/compaction_cost.py FILE_OR_FOLDER ...`.

Every recording is replayed through a session, request by request, for the prices of three providers, and compacted by
the extractive summariser: only when the window is full; at 80 % to 40 %; and by cost, which clears and compacts as soon
as what it expects says that it pays. None of them looks ahead. A request costs what its forecast expects to be read of
the cache, written to it, and neither; a summary costs its requests, read by the same model at full price, and its
answer. Costs are in thousands of tokens' worth of fresh input; what the model itself answers is the same for all.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

import muntin as mt
from muntin.compaction.economics import Prices
from muntin.models import model
from muntin.replay import Replay
from muntin.transcripts import Recording, read
from muntin.transcripts.events import Response

MODELS = {"anthropic": "claude-sonnet-4-5", "openai_responses": "gpt-5", "gemini": "gemini-2.5-pro"}
WINDOWS = (32_000, 64_000, 128_000, 200_000)
POLICIES = ("only when full", "80 % to 40 %", "by cost")


class Cost(NamedTuple):
    """What a recording costs, how often its view was changed, and how many of its requests did not fit."""

    tokens: float = 0.0
    changes: int = 0
    refused: int = 0

    def plus(self, other: Cost) -> Cost:
        return Cost(*(a + b for a, b in zip(self, other, strict=True)))


class Metered:
    """The extractive summariser, with what a model would have been paid for the same requests."""

    def __init__(self, adapter: mt.providers.Adapter, prices: Prices) -> None:
        self._adapter, self._prices = adapter, prices
        self._summarizer = mt.ExtractiveSummarizer()
        self.tokens = 0.0

    def __call__(self, request: mt.SummaryRequest, /) -> str:
        answer = self._summarizer(request)
        asked, said = self._adapter.recount(request.body), self._adapter.count(answer)
        self.tokens += self._adapter.estimate(asked) + self._prices.output * self._adapter.estimate(said)
        return answer


def recordings(paths: list[Path]) -> Iterator[Recording]:
    """The recordings of files and folders, without their bills: these are of other requests."""
    for path in paths:
        for file in sorted(path.glob("*.json*")) if path.is_dir() else [path]:
            if file.name.startswith("SOURCE"):
                continue
            for recording in read(file):
                events = [replace(one, usage=None) if isinstance(one, Response) else one for one in recording.events]
                yield replace(recording, events=events)


def cost(recording: Recording, provider: str, window: int, policy: str) -> Cost:
    """What a recording costs under a policy, by a real replay."""
    adapter = mt.providers.adapter(provider, model(MODELS[provider]))
    prices = Prices.of(adapter.model)
    metered = Metered(adapter, prices)
    when = 1.0 if policy == "only when full" else 0.8
    replay = Replay(
        recording,
        adapter,
        policy=mt.Policy(window=window, compact_at=when),
        summarizer=metered,
        by_cost=policy == "by cost",
    )
    paid = Cost()
    for step in replay.steps():
        tokens = 0.0
        if step.request is not None:
            expected = step.request.forecast
            tokens = prices.cached * expected.read + prices.written * expected.written + expected.fresh
        paid = paid.plus(Cost(tokens, len(step.compactions), step.request is None))
    return paid.plus(Cost(metered.tokens))


def table(found: list[Recording], provider: str, windows: list[int]) -> bool:
    """Print a provider's costs; whether by cost is within 2 % of the better other policy and below 80 % to 40 %."""
    prices, holds = Prices.of(model(MODELS[provider])), True
    print(f"\n{MODELS[provider]}: write {prices.written:.2f}, read {prices.cached:.3f}, output {prices.output:.1f}")
    print(f"{'window':>10}" + "".join(f"{name:>26}" for name in POLICIES) + f"{'against the better':>20}")
    for window in windows:
        sums = [Cost()] * len(POLICIES)
        for recording in found:
            for i, name in enumerate(POLICIES):
                sums[i] = sums[i].plus(cost(recording, provider, window, name))
        full, eighty, mine = sums
        holds &= mine.tokens <= 1.02 * min(full.tokens, eighty.tokens) and mine.tokens < eighty.tokens
        holds &= mine.refused <= min(full.refused, eighty.refused)  # what is not sent costs nothing
        cells = (f"{one.tokens / 1000:,.0f}k ({one.changes:,}x, {one.refused:,} no)" for one in sums)
        against = mine.tokens / min(full.tokens, eighty.tokens) - 1
        print(f"{window:>10,}" + "".join(f"{cell:>26}" for cell in cells) + f"{against:>+20.1%}", flush=True)
    return holds


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--window", type=int, action="append", help="tokens; 32,000, 64,000, 128,000 and 200,000")
    parser.add_argument("--provider", choices=sorted(MODELS), action="append", help="all three")
    parser.add_argument("--every", type=int, default=1, help="take every so manieth recording")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    started = time.monotonic()
    found = list(recordings(arguments.paths))[:: arguments.every]
    print(f"{len(found)} recordings")
    holds = [table(found, one, arguments.window or list(WINDOWS)) for one in arguments.provider or MODELS]
    print(f"\n{time.monotonic() - started:.0f} s")
    return 0 if all(holds) else 1


if __name__ == "__main__":
    sys.exit(main())
