"""What the agent writes in its first run: the tests of a day on which the clocks change, and the repair."""

TIMETABLE_TEST_BEFORE = """\
def test_departures_are_in_order():
"""
TIMETABLE_TEST_AFTER = """\
@pytest.mark.parametrize("day", [date(2026, 3, 29), date(2026, 10, 25)])
def test_departures_keep_the_wall_clock_when_the_clocks_change(day):
    assert clocks(day) == list(ROUTE.departures)


def test_departures_are_in_order():
"""

# Occurs in two tests, so that the tool refuses it.
BOARD_TEST_AMBIGUOUS = """\
    port, day = PORTS["torsnes"], date(2026, 1, 14)
"""
BOARD_TEST_BEFORE = """\
def test_the_command_prints_names_with_their_accents(capsys):
"""
BOARD_TEST_AFTER = """\
@pytest.mark.parametrize("day", [date(2026, 3, 29), date(2026, 10, 25)])
def test_the_board_shows_the_printed_times_when_the_clocks_change(day):
    table = timetable.load()
    printed = sorted(clock for route in table.leaving("torsnes") for clock in route.departures)
    rows = board(PORTS["torsnes"], day, table, PORTS)
    assert [row.time for row in rows] == [f"{clock:%H:%M}" for clock in printed]


def test_the_command_prints_names_with_their_accents(capsys):
"""
BOARD_IMPORT_BEFORE = """\
from datetime import date

from harbour import cli, ports, timetable
"""
BOARD_IMPORT_AFTER = """\
from datetime import date

import pytest

from harbour import cli, ports, timetable
"""
QUAY_TEST_AFTER = """\
@pytest.mark.parametrize(("clock", "status"), [("16:15", "sails"), ("20:45", "low water"), ("23:20", "sails")])
def test_the_water_is_that_of_the_printed_time(clock, status):
    rows = board(PORTS["torsnes"], date(2026, 3, 29), timetable.load(), PORTS)
    assert {row.time: row.status for row in rows}[clock] == status


def test_the_command_prints_names_with_their_accents(capsys):
"""

REPAIR_BEFORE = """\
    midnight = datetime.combine(day, time(), tzinfo=zone)
    offset = midnight.utcoffset()
    return [datetime.combine(day, clock, tzinfo=UTC) - offset for clock in route.departures]
"""
REPAIR_AFTER = """\
    # Each departure has its own offset: on two days of the year it is not that of midnight.
    return [datetime.combine(day, clock, tzinfo=zone).astimezone(UTC) for clock in route.departures]
"""

README_BEFORE = """\
read (`harbour/timetable.py`) and back into wall-clock time when a board is printed (`harbour/board.py`).
"""
README_AFTER = """\
read (`harbour/timetable.py`) and back into wall-clock time when a board is printed (`harbour/board.py`). Each departure
is turned by itself, since a day on which the clocks change has two offsets. A departure between 02:00 and 03:00 on the
spring day does not exist; it would be shown an hour later.
"""
