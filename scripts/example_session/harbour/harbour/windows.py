"""Windows: the stretches of a day in which a port is deep enough."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from harbour.ports import Port

STEP = timedelta(minutes=5)
SLACK = timedelta(minutes=10)
"""How long before and after its departure a ship needs the water."""


@dataclass(frozen=True)
class Window:
    """A stretch of time, in UTC. The end does not belong to it."""

    start: datetime
    end: datetime

    def covers(self, departure: datetime) -> bool:
        """Whether a ship can leave at this moment."""
        return self.start <= departure - SLACK and departure + SLACK <= self.end


def windows(port: Port, day: date, need: float) -> list[Window]:
    """The windows of a day by the port's own clock, in order."""
    moment, end = (_midnight(port, day + timedelta(days=n)) for n in (0, 1))
    found = []
    opened = None
    while moment < end:
        deep = port.depth(moment) >= need
        if deep and opened is None:
            opened = moment
        elif not deep and opened is not None:
            found.append(Window(opened, moment))
            opened = None
        moment += STEP
    if opened is not None:
        found.append(Window(opened, end))
    return found


def _midnight(port: Port, day: date) -> datetime:
    return datetime.combine(day, time(), tzinfo=port.zone).astimezone(UTC)
