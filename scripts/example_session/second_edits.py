"""What the agent writes in its second run: Onomichi, departures around midnight, columns of wide letters."""

SPEEDS_BEFORE = """\
SPEEDS = {"M2": 28.9841042, "S2": 30.0, "N2": 28.4397295, "K1": 15.0410686, "O1": 13.9430356}
"""
SPEEDS_AFTER = """\
SPEEDS = {
    "SA": 0.0410686,
    "O1": 13.9430356,
    "P1": 14.9589314,
    "K1": 15.0410686,
    "N2": 28.4397295,
    "M2": 28.9841042,
    "S2": 30.0,
    "K2": 30.0821373,
}
"""

PORTS_BEFORE = """\
"O1": [0.05, 16.0]}
  }
}
"""
PORTS_AFTER = """\
"O1": [0.05, 16.0]}
  },
  "onomichi": {
    "name": "尾道", "zone": "Asia/Tokyo", "mean": 2.04, "sill": 3.2,
    "constituents": {"SA": [0.152, 151.8], "M2": [1.034, 308.7], "S2": [0.406, 340.1], "N2": [0.181, 300.2],
                     "K2": [0.113, 335.6], "K1": [0.339, 216.4], "O1": [0.252, 195.3], "P1": [0.108, 214.0]}
  },
  "mukaishima": {
    "name": "向島", "zone": "Asia/Tokyo", "mean": 2.04, "sill": 2.9,
    "constituents": {"SA": [0.152, 151.8], "M2": [1.034, 308.7], "S2": [0.406, 340.1], "N2": [0.181, 300.2],
                     "K2": [0.113, 335.6], "K1": [0.339, 216.4], "O1": [0.252, 195.3], "P1": [0.108, 214.0]}
  }
}
"""

PHASES_BEFORE = """\
  "onomichi": {
    "name": "尾道", "zone": "Asia/Tokyo", "mean": 2.04, "sill": 3.2,
    "constituents": {"SA": [0.152, 151.8], "M2": [1.034, 308.7], "S2": [0.406, 340.1], "N2": [0.181, 300.2],
                     "K2": [0.113, 335.6], "K1": [0.339, 216.4], "O1": [0.252, 195.3], "P1": [0.108, 214.0]}
  },
  "mukaishima": {
    "name": "向島", "zone": "Asia/Tokyo", "mean": 2.04, "sill": 2.9,
    "constituents": {"SA": [0.152, 151.8], "M2": [1.034, 308.7], "S2": [0.406, 340.1], "N2": [0.181, 300.2],
                     "K2": [0.113, 335.6], "K1": [0.339, 216.4], "O1": [0.252, 195.3], "P1": [0.108, 214.0]}
  }
"""
PHASES_AFTER = """\
  "onomichi": {
    "name": "尾道", "zone": "Asia/Tokyo", "mean": 2.04, "sill": 3.2,
    "constituents": {"SA": [0.152, 151.4], "M2": [1.034, 47.8], "S2": [0.406, 70.1], "N2": [0.181, 44.2],
                     "K2": [0.113, 64.9], "K1": [0.339, 81.0], "O1": [0.252, 69.8], "P1": [0.108, 79.4]}
  },
  "mukaishima": {
    "name": "向島", "zone": "Asia/Tokyo", "mean": 2.04, "sill": 2.9,
    "constituents": {"SA": [0.152, 151.4], "M2": [1.034, 47.8], "S2": [0.406, 70.1], "N2": [0.181, 44.2],
                     "K2": [0.113, 64.9], "K1": [0.339, 81.0], "O1": [0.252, 69.8], "P1": [0.108, 79.4]}
  }
"""

ROUTES_BEFORE = """\
"15:20", "19:15", "22:50"]}
"""
ROUTES_AFTER = """\
"15:20", "19:15", "22:50"]},
    {"from": "onomichi", "to": "mukaishima", "ship": "かもめ", "departures": ["00:05", "05:40", "06:20", "07:00", "07:40", "08:20", "09:30", "11:00", "12:30", "14:00", "15:30", "17:00", "17:40", "18:20", "19:00", "20:30", "22:10", "23:55"]},
    {"from": "mukaishima", "to": "onomichi", "ship": "かもめ", "departures": ["06:00", "06:40", "07:20", "08:00", "08:40", "10:00", "11:30", "13:00", "14:30", "16:00", "17:20", "18:00", "18:40", "19:20", "21:00", "22:40", "23:35"]}
"""  # noqa: E501  (a line of the timetable is a line)

ONOMICHI_TEST = """\
from datetime import date

import pytest

from harbour import ports, timetable
from harbour.board import board

PORTS = ports.load()


@pytest.mark.parametrize("key", ["onomichi", "mukaishima"])
def test_a_port_that_is_always_deep_lets_every_ship_leave(key):
    rows = board(PORTS[key], date(2026, 4, 1), timetable.load(), PORTS)
    assert [row.time for row in rows if row.status != "sails"] == []
"""
HEIGHTS_TEST_BEFORE = """\
from datetime import date

import pytest

from harbour import ports, timetable
from harbour.board import board

PORTS = ports.load()
"""
HEIGHTS_TEST_AFTER = """\
from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest

from harbour import ports, timetable
from harbour.board import board

PORTS = ports.load()
TOKYO = ZoneInfo("Asia/Tokyo")


@pytest.mark.parametrize(
    ("clock", "centimetres"), [("2026-04-01T02:00", 356), ("2026-04-01T20:00", 55), ("2026-04-04T05:00", 335)]
)
def test_heights_are_those_of_the_printed_table(clock, centimetres):
    port = PORTS["onomichi"]
    moment = datetime.fromisoformat(clock).replace(tzinfo=TOKYO)
    assert port.depth(moment) - port.sill == pytest.approx(centimetres / 100, abs=0.05)
"""

WINDOWS_BEFORE = """\
    \"\"\"The windows of a day by the port's own clock, in order.\"\"\"
    moment, end = (_midnight(port, day + timedelta(days=n)) for n in (0, 1))
    found = []
"""
WINDOWS_AFTER = """\
    \"\"\"The windows of a day by the port's own clock, in order.

    They reach `SLACK` into the days before and after, so that a ship can leave right after midnight or right before it.
    \"\"\"
    moment, end = _midnight(port, day) - SLACK, _midnight(port, day + timedelta(days=1)) + SLACK
    found = []
"""

COLUMNS_BEFORE = """\
                print(f"{row.time}  {row.to:<18} {row.ship:<12} {row.status:<10} {row.depth:5.2f} m")
"""
COLUMNS_AFTER = """\
                print(f"{row.time}  {padded(row.to, 18)} {padded(row.ship, 12)} {row.status:<10} {row.depth:5.2f} m")
"""
COLUMNS_IMPORT_BEFORE = """\
from harbour.board import as_json, board
from harbour.tides import extremes
"""
COLUMNS_IMPORT_AFTER = """\
from harbour.board import as_json, board
from harbour.columns import padded
from harbour.tides import extremes
"""
COLUMNS = """\
\"\"\"Columns for a terminal.\"\"\"

from unicodedata import combining, east_asian_width


def width(text: str) -> int:
    \"\"\"Columns that a text takes: two for a wide letter, none for a combining mark.\"\"\"
    return sum(0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def padded(text: str, columns: int) -> str:
    \"\"\"The text, filled up with spaces.\"\"\"
    return text + " " * (columns - width(text))
"""
COLUMNS_TEST = """\
import pytest

from harbour.columns import padded, width


@pytest.mark.parametrize(
    ("text", "columns"), [("Ærvik", 5), ("尾道", 4), ("かもめ", 6), ("Höfn", 4), ("Ho\\u0308fn", 4)]
)
def test_wide_letters_take_two_columns(text, columns):
    assert width(text) == columns


def test_padding_lines_up():
    assert {width(padded(text, 12)) for text in ("Måken", "かもめ")} == {12}
"""
