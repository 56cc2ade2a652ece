"""The height of the tide, as a sum of harmonic constituents."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

EPOCH = datetime(2000, 1, 1, tzinfo=UTC)

SPEEDS = {"M2": 28.9841042, "S2": 30.0, "N2": 28.4397295, "K1": 15.0410686, "O1": 13.9430356}
"""Degrees an hour."""


@dataclass(frozen=True)
class Constituent:
    """One term of the sum: amplitude in metres, phase lag in degrees."""

    name: str
    amplitude: float
    phase: float

    def at(self, hours: float) -> float:
        """Metres, `hours` after the epoch."""
        return self.amplitude * math.cos(math.radians(SPEEDS[self.name] * hours - self.phase))


@dataclass(frozen=True)
class Extreme:
    """A high or a low water."""

    moment: datetime
    height: float
    high: bool


def height(mean: float, constituents: tuple[Constituent, ...], moment: datetime) -> float:
    """Metres above chart datum."""
    hours = (moment - EPOCH) / timedelta(hours=1)
    return mean + sum(constituent.at(hours) for constituent in constituents)


def extremes(mean: float, constituents: tuple[Constituent, ...], start: datetime, end: datetime) -> list[Extreme]:
    """High and low waters between two moments, to the minute."""
    minute = timedelta(minutes=1)
    found = []
    before, here = (height(mean, constituents, start + n * minute) for n in (-1, 0))
    moment = start
    while moment < end:
        after = height(mean, constituents, moment + minute)
        if before < here >= after or before > here <= after:
            found.append(Extreme(moment, round(here, 2), before < here))
        before, here, moment = here, after, moment + minute
    return found
