"""Forecasts against the bills of recorded sessions."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from muntin import Policy
from muntin.replay import Replay, adapter_of
from muntin.transcripts import read

FOLDERS = ("claude-code-growth", "codex-growth", "claude-code")


class Tally(NamedTuple):
    """What one recording's bills say of the forecasts.

    Attributes:
        name: The recording.
        calls: Billed calls.
        unbroken: Those where forecast and bill both see an unbroken prefix. The bill sees one where no less was read
            than at the call before: on a prefix that only grows, reading never shrinks.
        within: Those of them that were read within 2 % of the forecast.
        expected: Tokens that were expected to be read in them.
        billed: Tokens that were.
    """

    name: str
    calls: int
    unbroken: int
    within: int
    expected: int
    billed: int

    def __add__(self, other: object) -> Tally:
        if not isinstance(other, Tally):
            return NotImplemented
        sums = (one + two for one, two in zip(self[1:], other[1:], strict=True))
        return Tally(self.name, *sums)


def tallies(folder: Path) -> Iterator[Tally]:
    """One for each recording of a folder that has bills."""
    for path in sorted(folder.glob("*.jsonl*")):
        if path.name.startswith("SOURCE"):
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # models of which nothing is known
            for recording in read(path):
                # With room for all of it, so that it is the recorded conversation that is sent to the end.
                policy = Policy(window=4_000_000)
                tally = tallied(path.name, Replay(recording, adapter_of(recording), policy=policy))
                if tally.calls:
                    yield tally


def tallied(name: str, replay: Replay) -> Tally:
    calls = unbroken = within = expected = billed = 0
    before: dict[str, int] = {}
    for step in replay.steps():
        if step.request is None or step.billed is None:
            continue
        calls += 1
        forecast, bill = step.request.forecast, step.billed
        grew = 0 < before.get(step.session, bill.cached + 1) <= bill.cached
        before[step.session] = bill.cached
        if forecast.read and not forecast.cause and grew:
            unbroken += 1
            within += abs(forecast.read - bill.cached) <= 0.02 * bill.cached
            expected += forecast.read
            billed += bill.cached
    return Tally(name, calls, unbroken, within, expected, billed)
