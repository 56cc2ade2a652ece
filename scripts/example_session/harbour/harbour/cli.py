"""The command line."""

from __future__ import annotations

import argparse
import json
from datetime import UTC, date, datetime, time, timedelta

from harbour import ports, timetable
from harbour.board import as_json, board
from harbour.tides import extremes


def main(argv: list[str] | None = None) -> int:
    """Run a command. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="harbour")
    commands = parser.add_subparsers(dest="command", required=True)
    show = commands.add_parser("board", help="the departures of a day")
    show.add_argument("port")
    show.add_argument("day", type=date.fromisoformat)
    show.add_argument("--json", action="store_true")
    tides = commands.add_parser("tides", help="high and low waters, in UTC")
    tides.add_argument("port")
    tides.add_argument("day", type=date.fromisoformat)
    tides.add_argument("--days", type=int, default=1)
    options = parser.parse_args(argv)

    known = ports.load()
    if options.port not in known:
        parser.error(f"no port {options.port!r}; there are {', '.join(sorted(known))}")
    port = known[options.port]

    if options.command == "board":
        rows = board(port, options.day, timetable.load(), known)
        if options.json:
            print(json.dumps(as_json(port, options.day, rows), ensure_ascii=False, indent=1))
        else:
            for row in rows:
                print(f"{row.time}  {row.to:<18} {row.ship:<12} {row.status:<10} {row.depth:5.2f} m")
        return 0

    start = datetime.combine(options.day, time(), tzinfo=UTC)
    for extreme in extremes(port.mean, port.constituents, start, start + timedelta(days=options.days)):
        print(f"{extreme.moment:%Y-%m-%d %H:%M} UTC  {'high' if extreme.high else 'low':<4}  {extreme.height:5.2f} m")
    return 0
