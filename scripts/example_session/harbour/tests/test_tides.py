from datetime import UTC, datetime, timedelta

import pytest

from harbour import ports
from harbour.tides import EPOCH, Constituent, extremes, height

PORTS = ports.load()


def test_a_lone_constituent_peaks_at_its_phase():
    m2 = Constituent("M2", 1.0, 0.0)
    assert height(2.0, (m2,), EPOCH) == pytest.approx(3.0)


@pytest.mark.parametrize("key", sorted(PORTS))
def test_the_height_stays_within_the_sum_of_the_amplitudes(key):
    port = PORTS[key]
    reach = sum(constituent.amplitude for constituent in port.constituents)
    for hour in range(0, 24 * 30, 7):
        moment = datetime(2026, 3, 1, tzinfo=UTC) + timedelta(hours=hour)
        assert abs(height(port.mean, port.constituents, moment) - port.mean) <= reach


@pytest.mark.parametrize("key", sorted(PORTS))
def test_high_and_low_waters_alternate(key):
    port = PORTS[key]
    start = datetime(2026, 3, 1, tzinfo=UTC)
    found = extremes(port.mean, port.constituents, start, start + timedelta(days=7))
    assert all(one.high != next_one.high for one, next_one in zip(found, found[1:], strict=False))


def test_a_week_has_about_fourteen_high_waters():
    port = PORTS["torsnes"]
    start = datetime(2026, 3, 1, tzinfo=UTC)
    found = extremes(port.mean, port.constituents, start, start + timedelta(days=7))
    assert 13 <= sum(one.high for one in found) <= 14
