from datetime import date, timedelta
from itertools import pairwise

import pytest

from harbour import ports
from harbour.windows import SLACK, Window, windows

PORTS = ports.load()
DAY = date(2026, 3, 10)


@pytest.mark.parametrize("key", sorted(PORTS))
def test_windows_are_in_order_and_apart(key):
    found = windows(PORTS[key], DAY, 2.7)
    assert all(one.end < other.start for one, other in pairwise(found))


@pytest.mark.parametrize("key", sorted(PORTS))
def test_the_water_is_deep_when_a_window_opens(key):
    port = PORTS[key]
    first = windows(port, DAY, 2.7)[0]
    assert port.depth(first.start) >= 2.7


def test_a_window_covers_a_departure_with_its_slack():
    window = windows(PORTS["torsnes"], DAY, 2.7)[0]
    assert window.covers(window.start + SLACK)
    assert not window.covers(window.start + SLACK - timedelta(minutes=1))
    assert not Window(window.start, window.start).covers(window.start)
