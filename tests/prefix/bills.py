"""Forecasts against the bills of recorded sessions.

Whether a prefix is unbroken is said before its bill is looked at: by the comparison of the two requests, by the time
between them, and by whether the recorded request is the one that was rendered at all. What the provider lost of such a
prefix is a second question, which only the bill can answer: on a prefix that only grows, a bill that read less than the
one before it says so.
"""

from __future__ import annotations

import collections
import dataclasses
import hashlib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from muntin import Policy
from muntin.audit import TOLERANCE
from muntin.replay import Replay, Step, adapter_of
from muntin.transcripts import read

FOLDERS = ("claude-code-growth", "codex-growth", "claude-code", "codex")


@dataclasses.dataclass
class Tally:
    """What the bills of a recording, or of several, say of the forecasts.

    Attributes:
        name: The recording.
        calls: Billed calls.
        left_out: Those that are no test of the forecast, by the reason, none of which is the call's own bill.
        unbroken: The others: those that the forecast expects to read an unbroken prefix.
        within: How many of them were read within 2 % of the forecast.
        lost: How many of them read less than the call before: the provider no longer had what it had.
        within_kept: How many of those that it still had were read within 2 %.
        expected: Tokens that were expected to be read in the unbroken ones.
        billed: Tokens that were.
    """

    name: str
    calls: int = 0
    left_out: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    unbroken: int = 0
    within: int = 0
    lost: int = 0
    within_kept: int = 0
    expected: int = 0
    billed: int = 0

    @property
    def kept(self) -> int:
        """Calls in which forecast and bill both see an unbroken prefix."""
        return self.unbroken - self.lost

    def add(self, other: Tally) -> None:
        self.left_out += other.left_out
        for name in ("calls", "unbroken", "within", "lost", "within_kept", "expected", "billed"):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def take(self, step: Step, before: int | None) -> None:
        """One billed call, and what the one before it read."""
        forecast, bill = step.request.forecast, step.billed
        self.calls += 1
        if (reason := why_left_out(step)) or before is None:
            self.left_out[reason or "first request"] += 1
            return
        within = abs(forecast.read - bill.cached) <= TOLERANCE * bill.cached
        lost = bill.cached < before
        self.unbroken += 1
        self.within += within
        self.lost += lost
        self.within_kept += within and not lost
        self.expected += forecast.read
        self.billed += bill.cached


def why_left_out(step: Step) -> str:
    """Why a call says nothing of the forecast; empty where it does."""
    forecast = step.request.forecast
    if not step.comparable:
        return "not as recorded"
    return forecast.cause or forecast.note


def half(name: str) -> Literal["one half", "other half"]:
    """The half that a recording belongs to, so that a rule found on one can be tried on the other.

    By its name without the number of its snapshot: those of one session stay together.
    """
    return "one half" if hashlib.blake2b(name.partition("__0")[0].encode()).digest()[0] % 2 else "other half"


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
    tally = Tally(name)
    before: dict[str, int] = {}
    for step in replay.steps():
        if step.request is not None and step.billed is not None:
            tally.take(step, before.get(step.session))
            before[step.session] = step.billed.cached
    return tally


def table(rows: list[Tally]) -> str:
    """For people: calls, those that are a test, and what came of them."""
    head = f"{'':44}   calls  unbroken  within 2 %     lost  both see it  within 2 %     expected       billed"
    return "\n".join([head, *map(_line, rows)])


def _line(one: Tally) -> str:
    left_out = ", ".join(f"{count:,} {why}" for why, count in one.left_out.most_common())
    cells = f"{one.calls:8,}{one.unbroken:10,}{_share(one.within, one.unbroken):>12}{one.lost:9,}{one.kept:13,}"
    cells += f"{_share(one.within_kept, one.kept):>12}{one.expected:13,}{one.billed:13,}"
    return f"{one.name[:44]:44}{cells}  {left_out}"


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else "-"
