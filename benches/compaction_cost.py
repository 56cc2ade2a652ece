"""What recorded sessions would have cost, by when they are compacted: `python benches/compaction_cost.py FILE ...`.

Each recording is replayed once without compaction, for its tokens request by request and the time between them. On this
curve three policies are played through for the prices of three providers: compact when the window is full; at 80 % to
40 %; and as soon as carrying what could be dropped has cost as much as dropping it would, by
`muntin.compaction.economics`. None of them looks ahead. Costs are input and summary calls, in thousands of tokens'
worth of fresh input; what the model answers is the same for all.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import muntin as mt
from muntin.compaction.economics import Bill, Prices, bill, worth_it
from muntin.replay import Replay, adapter_of
from muntin.transcripts import read

PRICES = {
    "write 1.25, read 0.10": Prices(1.25, 0.1, 5.0),
    "write 1.00, read 0.10": Prices(1.0, 0.1, 8.0),
    "write 1.00, read 0.25": Prices(1.0, 0.25, 4.0),
}
TTL = 300.0


class Point(NamedTuple):
    """A request of a recording: tokens of all of it, of what stands before the conversation, and its time."""

    tokens: int
    front: int
    time: float


class Played(NamedTuple):
    cost: float
    compactions: int


def curves(path: Path) -> Iterator[list[Point]]:
    """The requests of each recording in a file, by branch."""
    for recording in read(path):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            adapter = adapter_of(recording, None, None)
        replay = Replay(recording, adapter, policy=mt.Policy(window=50_000_000, reserve_output=4_000))
        branches: dict[str, list[Point]] = {}
        for step in replay.steps():
            if step.request is None:
                continue
            usage = step.request.usage
            front = usage.tools + sum(share.tokens for share in usage.shares if share.segment < mt.Segment.SUMMARY)
            sent = replay.session._conversation.last
            branches.setdefault(step.session, []).append(Point(usage.tokens, front, (sent and sent.now) or 0.0))
        yield from branches.values()


def played(curve: list[Point], prices: Prices, window: int, wants: Callable[..., bool]) -> Played:
    """What a recording costs under a policy."""
    limit = window - min(16_000, window // 4)
    summary, keep = min(4_000, limit // 20), min(20_000, limit // 5)
    cost, made, before, dropped, clock, carried, base = 0.0, 0, 0, 0, 0.0, 0.0, keep
    for point in curve:
        view = point.tokens - dropped
        hot = bool(before) and point.time - clock <= TTL
        kept = min(keep, max(view - point.front, 0))
        covered = view - point.front - kept
        call = prices.cached * view + prices.output * summary if hot else view + prices.output * summary
        account = bill(prices, dropped=max(covered, 0), summary=summary, kept=kept, call=call, hot=hot)
        carried += prices.cached * max(view - point.front - base, 0)
        if covered > 2 * summary and (view > limit or wants(view, limit, account, carried)):
            target = kept if wants is by_cost else max(int(limit * 0.4) - point.front - summary, kept)
            covered = max(view - point.front - target, 0)
            dropped += covered - summary
            cost += call
            made += 1
            view = point.tokens - dropped
            common, carried, base = point.front, 0.0, view - point.front
        else:
            common = before
        read_back = min(common, view) if hot else 0
        cost += prices.cached * read_back + prices.written * (view - read_back)
        before, clock = view, point.time
    return Played(cost, made)


def when_full(view: int, limit: int, *_: object) -> bool:
    return view > limit


def at_eighty(view: int, limit: int, *_: object) -> bool:
    return view > limit * 0.8


def by_cost(_view: int, _limit: int, account: Bill, carried: float) -> bool:
    return worth_it(account, carried)


POLICIES = {"only when full": when_full, "80 % to 40 %": at_eighty, "by cost": by_cost}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--window", type=int, action="append", help="tokens; 64,000 and 128,000")
    arguments = parser.parse_args()
    found = [curve for path in arguments.files for curve in curves(path) if len(curve) > 1]
    longest = max(curve[-1].tokens for curve in found)
    print(f"{len(found)} recordings, {sum(map(len, found)):,} requests, longest {longest:,} tokens")
    for window in arguments.window or [64_000, 128_000]:
        print(f"\nwindow {window:,}")
        print(f"{'prices':24}" + "".join(f"{name:>26}" for name in POLICIES))
        for name, prices in PRICES.items():
            cells = []
            for wants in POLICIES.values():
                results = [played(curve, prices, window, wants) for curve in found]
                cost, made = sum(one.cost for one in results), sum(one.compactions for one in results)
                cells.append(f"{cost / 1000:>15,.0f}k ({made:>5,}x)")
            print(f"{name:24}" + "".join(f"{cell:>26}" for cell in cells))
    return 0


if __name__ == "__main__":
    sys.exit(main())
