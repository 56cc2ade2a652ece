"""The board of a port: what leaves on a day, and whether it can."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import date

from harbour.ports import Port
from harbour.timetable import Timetable, departures
from harbour.windows import windows


@dataclass(frozen=True)
class Row:
    """One line of a board. `time` is the wall clock of the port, `depth` metres over the sill at departure."""

    time: str
    to: str
    ship: str
    status: str
    depth: float


def board(port: Port, day: date, timetable: Timetable, ports: dict[str, Port]) -> list[Row]:
    """The rows of a day, by departure."""
    open_water = windows(port, day, timetable.need)
    rows = []
    for route in timetable.leaving(port.key):
        for departure in departures(route, day, port.zone):
            sails = any(window.covers(departure) for window in open_water)
            rows.append(
                Row(
                    departure.astimezone(port.zone).strftime("%H:%M"),
                    ports[route.to].name,
                    route.ship,
                    "sails" if sails else "low water",
                    round(port.depth(departure), 2),
                )
            )
    return sorted(rows, key=lambda row: row.time)


def as_json(port: Port, day: date, rows: list[Row]) -> dict[str, object]:
    """The board as the waiting rooms read it."""
    return {"port": port.key, "name": port.name, "day": day.isoformat(), "rows": [asdict(row) for row in rows]}
