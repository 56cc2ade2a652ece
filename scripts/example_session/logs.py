"""Logs of the example: of the board service at Tórsnes, of a build, of a rehearsed publication."""

from __future__ import annotations

import random
from datetime import UTC, date, datetime, timedelta

__all__ = ["build_log", "rehearsal", "service_log"]

PORTS = ("torsnes", "aervik", "hoefn")
ROWS = {"torsnes": 14, "aervik": 8, "hoefn": 5, "onomichi": 18, "mukaishima": 17}
LOW_WATER_SHOWN = {28: {"torsnes": 5, "aervik": 0, "hoefn": 1}, 29: {"torsnes": 7, "aervik": 0, "hoefn": 1}}

# Low water at the beginning of April, by the tides of `sea`.
LOW_WATER = {
    "torsnes": (6, 5, 5, 4, 3, 2, 2, 3, 5, 6, 7, 7, 7, 6),
    "hoefn": (2, 1, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2),
}

DISPATCH = (
    "2026-03-29T07:31:40Z WARN  override port=torsnes ship=Makrellen shown=10:30 left=09:30 by=sunniva",
    "2026-03-29T08:12:05Z WARN  override port=torsnes ship=Måken shown=11:10 left=10:10 by=sunniva",
    "2026-03-29T14:16:51Z WARN  override port=torsnes ship=Makrellen shown='17:15 low water' left=16:15 by=sunniva",
    "2026-03-29T19:22:33Z WARN  override port=torsnes ship=Makrellen shown='21:45 sails' left=21:20 by=sunniva",
    "2026-03-29T21:21:10Z WARN  override port=torsnes ship=Makrellen shown='00:20 low water' left=23:20 by=sunniva",
)


def service_log(seed: int) -> str:
    """A night and a day of the service that renders the boards."""
    rng = random.Random(seed)
    moment = datetime(2026, 3, 28, 22, 0, 2, tzinfo=UTC)
    lines = [*DISPATCH]
    while moment < datetime(2026, 3, 29, 21, 30, tzinfo=UTC):
        day = 28 if moment < datetime(2026, 3, 28, 23, tzinfo=UTC) else 29
        stamp = f"{moment:%Y-%m-%dT%H:%M:%SZ}"
        port = rng.choice(PORTS)
        low, took = LOW_WATER_SHOWN[day][port], rng.randrange(31, 88)
        lines.append(
            f"{stamp} INFO  render port={port} day=2026-03-{day} rows={ROWS[port]} low_water={low} took={took}ms"
        )
        if port == "torsnes" and day == 29:
            lines.append(f"{stamp} WARN  render port=torsnes first row 00:20, first departure 05:40")
        chance = rng.random()
        if chance < 0.1:
            lines.append(f"{stamp} WARN  screen room-{rng.randrange(1, 5)} answered after {rng.randrange(3, 9)} s")
        elif chance < 0.2:
            lines.append(f"{stamp} INFO  gauge torsnes surge={rng.randrange(2, 9) / 100:+.2f}m quality=ok")
        moment += timedelta(minutes=rng.randrange(29, 39), seconds=rng.randrange(60))
    return "\n".join(sorted(lines)) + "\n"


def build_log(seed: int, commit: str) -> str:
    """The log of a build of the pushed branch."""
    rng = random.Random(seed)
    moment = datetime(2026, 3, 30, 8, 17, 4, tzinfo=UTC)
    jobs = []
    for version in ("3.12", "3.13", "3.14"):
        steps = [
            f"checkout: fetching {commit}",
            "checkout: 1 branch, 0 tags, depth 1",
            f"python: using {version} from the tool cache",
            "install: collecting pytest",
            *(
                f"install: {name} ({rng.randrange(9, 410)} kB)"
                for name in ("pytest", "pluggy", "iniconfig", "packaging")
            ),
            "install: harbour from . (editable)",
            *(f"test: {name} ... ok ({rng.randrange(2, 900)} ms)" for name in TESTS),
            f"test: {len(TESTS)} passed",
            "boards: rendering 2026-03-29 for every port as a smoke test",
            *(f"boards: {port} {ROWS[port]} rows ok" for port in PORTS),
            "done: success",
        ]
        for step in steps:
            moment += timedelta(milliseconds=rng.randrange(20, 1400))
            jobs.append(f"{moment:%H:%M:%S}.{moment.microsecond // 1000:03} [py{version}] {step}")
    return "\n".join(jobs)


TESTS = (
    "board/field_names_are_a_promise",
    "board/every_departure_is_on_the_board",
    "board/names_keep_their_accents",
    "board/clock_change_keeps_the_printed_times",
    "board/water_of_the_printed_time",
    "tides/lone_constituent",
    "tides/height_within_amplitudes",
    "tides/alternate",
    "tides/fourteen_high_waters",
    "timetable/wall_clock",
    "timetable/order",
    "timetable/known_ports",
    "timetable/clock_change",
    "windows/order",
    "windows/deep_enough",
    "windows/slack",
)


def rehearsal(seed: int) -> str:
    """What `tools/republish.py --rehearse` prints for the first two weeks of April."""
    rng = random.Random(seed)
    lines = []
    for number in range(14):
        day = date(2026, 4, 1) + timedelta(days=number)
        for port, rows in ROWS.items():
            low = LOW_WATER[port][number] if port in LOW_WATER else 0
            lines.append(f"{day} {port:<10} rows={rows:<3} low_water={low:<2} digest={rng.randrange(16**8):08x}")
    return "\n".join(lines)
