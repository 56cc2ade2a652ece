"""The timetable: departures by the wall clock of the port, turned into UTC."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from pathlib import Path
from zoneinfo import ZoneInfo

from harbour.ports import DATA


@dataclass(frozen=True)
class Route:
    """A route and its daily departures, by the wall clock of the port that it leaves."""

    origin: str
    to: str
    ship: str
    departures: tuple[time, ...]


@dataclass(frozen=True)
class Timetable:
    """All routes, and what a ship needs under it. `need` is metres."""

    routes: tuple[Route, ...]
    need: float

    def leaving(self, port: str) -> list[Route]:
        """The routes that leave a port."""
        return [route for route in self.routes if route.origin == port]


def load(path: Path = DATA / "timetable.json") -> Timetable:
    """The timetable of a file."""
    table = json.loads(path.read_text())
    routes = tuple(
        Route(entry["from"], entry["to"], entry["ship"], tuple(map(time.fromisoformat, entry["departures"])))
        for entry in table["routes"]
    )
    return Timetable(routes, table["draught"] + table["margin"])


def departures(route: Route, day: date, zone: ZoneInfo) -> list[datetime]:
    """The departures of a day, in UTC."""
    midnight = datetime.combine(day, time(), tzinfo=zone)
    offset = midnight.utcoffset()
    return [datetime.combine(day, clock, tzinfo=UTC) - offset for clock in route.departures]
