from datetime import date, time
from zoneinfo import ZoneInfo

import pytest

from harbour import ports, timetable
from harbour.timetable import Route, departures

OSLO = ZoneInfo("Europe/Oslo")
ROUTE = Route("torsnes", "aervik", "Makrellen", (time(5, 40), time(9, 30), time(20, 45)))


def clocks(day, zone=OSLO):
    return [moment.astimezone(zone).time() for moment in departures(ROUTE, day, zone)]


@pytest.mark.parametrize("day", [date(2026, 1, 14), date(2026, 7, 1)])
def test_departures_keep_the_wall_clock(day):
    assert clocks(day) == list(ROUTE.departures)


def test_departures_are_in_order():
    moments = departures(ROUTE, date(2026, 7, 1), OSLO)
    assert moments == sorted(moments)


def test_every_route_joins_known_ports():
    known = ports.load()
    assert all(route.origin in known and route.to in known for route in timetable.load().routes)
