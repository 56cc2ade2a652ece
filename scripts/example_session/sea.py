"""The sea of the example: the tides at the ports of `harbour`, and the listings that are computed from them."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from example_session.workspace import Workspace

__all__ = ["comparison", "constituents_page", "gauge", "hourly_page", "tide_listing"]

# Degrees an hour.
SPEEDS = {
    "SA": 0.0410686, "SSA": 0.0821373, "MM": 0.5443747, "MSF": 1.0158958, "MF": 1.0980331, "2Q1": 12.8542862,
    "Q1": 13.3986609, "O1": 13.9430356, "M1": 14.4966939, "P1": 14.9589314, "S1": 15.0, "K1": 15.0410686,
    "J1": 15.5854433, "OO1": 16.1391017, "2N2": 27.8953548, "MU2": 27.9682084, "N2": 28.4397295, "NU2": 28.5125831,
    "M2": 28.9841042, "LAMDA2": 29.4556253, "L2": 29.5284789, "T2": 29.9589333, "S2": 30.0, "R2": 30.0410667,
    "K2": 30.0821373, "MN4": 57.4238337, "M4": 57.9682084, "MS4": 58.9841042, "M6": 86.9523127, "2MS6": 87.9682084,
}  # fmt: skip

# Amplitudes in centimetres and phase lags in degrees, against the first hour of 2000 by Japanese clocks.
ONOMICHI = {
    "SA": (15.2, 151.8), "M2": (103.4, 308.7), "S2": (40.6, 340.1), "N2": (18.1, 300.2), "K2": (11.3, 335.6),
    "K1": (33.9, 216.4), "O1": (25.2, 195.3), "P1": (10.8, 214.0),
}  # fmt: skip
ONOMICHI_MEAN = 204.0

EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)

Terms = dict[str, tuple[float, float]]
"""Amplitude and phase lag in degrees, by constituent."""


def gauge(workspace: Workspace, day: date, seed: int) -> str:
    """What the gauge at Tórsnes measured, every ten minutes, beside what was predicted."""
    rng = random.Random(seed)
    port = _ports(workspace)["torsnes"]
    surge = 0.04
    rows = ["utc,predicted_m,measured_m,quality"]
    for number in range(144):
        moment = _midnight(day) + number * 10 * MINUTE
        surge += (rng.random() - 0.5) * 0.02 - 0.05 * (surge - 0.04)
        spike = rng.random() < 0.02
        predicted = _height(port, moment)
        measured = predicted + surge + (0.9 if spike else 0.0)
        rows.append(f"{moment:%Y-%m-%dT%H:%MZ},{predicted:.2f},{measured:.2f},{'spike' if spike else 'ok'}")
    return "\n".join(rows) + "\n"


def tide_listing(workspace: Workspace, port: str, day: date, days: int) -> str:
    """What `harbour tides` prints: high and low waters, to the minute."""
    entry = _ports(workspace)[port]
    rows = []
    for number in range(days * 24 * 60):
        moment = _midnight(day) + number * MINUTE
        before, here, after = (_height(entry, moment + step * MINUTE) for step in (-1, 0, 1))
        if before < here >= after or before > here <= after:
            rows.append(f"{moment:%Y-%m-%d %H:%M} UTC  {'high' if before < here else 'low':<4}  {here:5.2f} m")
    return "\n".join(rows)


def comparison(workspace: Workspace) -> str:
    """Every departure of 2026 that is shown otherwise once the clock is right, as JSON."""
    spring, autumn = date(2026, 3, 29), date(2026, 10, 25)
    changes = [*_moved(workspace, spring, midnight=1, later=2), *_moved(workspace, autumn, midnight=2, later=1)]
    head = f'{{"year": 2026, "boards": {365 * 3}, "changed": {len({(row["day"], row["port"]) for row in changes})},'
    rows = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in changes)
    return f'{head} "departures": [\n{rows}\n]}}'


def constituents_page(seed: int) -> str:
    """The tide service's JSON for Onomichi."""
    rng = random.Random(seed)
    terms = {name: (round(0.2 + 0.7 * rng.random(), 1), round(360 * rng.random(), 1)) for name in SPEEDS} | ONOMICHI
    rows = ",\n".join(
        f'  {{"name": "{name}", "speed": {speed}, "amplitude_cm": {terms[name][0]}, "phase_deg": {terms[name][1]}}}'
        for name, speed in SPEEDS.items()
    )
    head = '{"station": "OM", "name": "尾道", "romaji": "Onomichi", "datum": "chart datum",'
    return f'{head} "z0_cm": {ONOMICHI_MEAN}, "constituents": [\n{rows}\n]}}'


def hourly_page(first: date, days: int) -> str:
    """The tide service's table of heights at every hour, in centimetres."""
    lines = [
        "OM 尾道 (Onomichi)  hourly heights from 8 major constituents, cm above chart datum, JST (UTC+9)",
        "date       " + "".join(f"{hour:>4}" for hour in range(24)),
    ]
    for number in range(days):
        day = first + timedelta(days=number)
        heights = (ONOMICHI_MEAN + _sum(ONOMICHI, _midnight(day) + hour * HOUR) for hour in range(24))
        lines.append(f"{day.isoformat()} " + "".join(f"{height:>4.0f}" for height in heights))
    return "\n".join(lines)


def _moved(workspace: Workspace, day: date, *, midnight: int, later: int) -> Iterator[dict[str, Any]]:
    """Departures of a day on which the clocks go from `midnight` to `later` hours ahead of UTC."""
    start, end = _midnight(day) - midnight * HOUR, _midnight(day) + (24 - later) * HOUR
    ports, table = _ports(workspace), json.loads(workspace.files["data/timetable.json"])
    need = table["draught"] + table["margin"]
    for route in table["routes"]:
        port = ports[route["from"]]
        for clock in route["departures"]:
            wall = datetime.combine(day, time.fromisoformat(clock), UTC)
            wrong, right = wall - midnight * HOUR, wall - later * HOUR
            yield {
                "day": day.isoformat(),
                "port": route["from"],
                "clock": clock,
                "shown": f"{wrong + later * HOUR:%H:%M}",
                "before": _status(port, wrong, need) if start <= wrong < end else "low water",
                "after": _status(port, right, need),
            }


def _status(port: dict[str, Any], moment: datetime, need: float) -> str:
    # A window ends with the five minutes that begin in deep water.
    depths = (port["sill"] + _height(port, moment + minutes * MINUTE) for minutes in (-10, -5, 0, 5))
    return "sails" if min(depths) >= need else "low water"


def _ports(workspace: Workspace) -> dict[str, Any]:
    ports: dict[str, Any] = json.loads(workspace.files["data/ports.json"])
    return ports


def _height(port: dict[str, Any], moment: datetime) -> float:
    mean: float = port["mean"]
    return mean + _sum(port["constituents"], moment)


def _sum(terms: Terms, moment: datetime) -> float:
    hours = (moment - EPOCH) / HOUR
    return sum(
        amplitude * math.cos(math.radians(SPEEDS[name] * hours - phase)) for name, (amplitude, phase) in terms.items()
    )


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), UTC)
