"""Bills against forecasts: single misses, breaks, and a difference that stays."""

from __future__ import annotations

import muntin as mt
from agents import CAPS, READ, session
from prefix.test_forecast import LONG, claude


def talk(bills, *, times=None, caps=None):
    """A session that was billed so: (read, written) a request."""
    s = session("anthropic", system=LONG)
    run = s.start_run("go")
    for n, (read, written) in enumerate(bills):
        now = times[n] if times else None
        run.record(run.prepare(caps[n] if caps else CAPS, now=now), claude(read, written))
        run.guide("Go on.")
    return s


def test_an_unbroken_session_is_read_as_expected():
    report = talk([(0, 3_000), (3_000, 40), (3_040, 40)]).cache_report()
    assert (report.requests, report.checked, report.as_expected) == (3, 3, 3)
    assert (report.read, report.expected, report.written) == (6_040, 6_040, 3_080)
    assert report.hit_rate == 6_040 / (3_008 + 3_048 + 3_088)
    assert not report.misses
    assert "66." in str(report).splitlines()[0]


def test_case_p35_a_miss_that_nothing_explains_is_named():
    miss = talk([(0, 3_000), (0, 3_040)]).cache_report().misses[0]
    assert (miss.request, miss.expected, miss.read, miss.verdict) == (2, 3_000, 0, "dropped")
    assert str(miss).startswith("#2: expected 3,000, read 0 of 3,048: no change in the requests")


def test_a_break_is_named_with_its_cause():
    caps = [CAPS, mt.Capabilities(stable=[READ])]
    miss = talk([(0, 3_000), (0, 2_990)], caps=caps).cache_report().misses[0]
    assert miss.verdict == "broken"
    assert miss.why == "broken: tool removed at tool 'run_tests'"


def test_an_expired_prefix_is_named():
    miss = talk([(0, 3_000), (0, 3_040)], times=[0, 1_000]).cache_report().misses[0]
    assert (miss.verdict, miss.why) == ("expired", "expired after 300 s")


def test_more_than_expected_is_no_miss():
    report = talk([(2_900, 100), (3_000, 40)]).cache_report()
    assert not report.misses


def test_case_p31_p33_a_steady_difference_says_that_the_rules_are_wrong():
    bills = [(0, 3_000)] + [(1_500, 1_540)] * 6  # half of it, again and again
    report = talk(bills).cache_report()
    assert -0.52 < report.steady < -0.45
    assert "the cache rules of the model may be wrong" in str(report)


def test_a_single_miss_is_no_steady_difference():
    bills = [(0, 3_000), (3_000, 40), (0, 3_080), (3_080, 40), (3_120, 40), (3_160, 40), (3_200, 40)]
    assert talk(bills).cache_report().steady == 0.0


def test_the_report_is_the_same_after_loading_and_goes_its_own_way_in_a_fork():
    s = talk([(0, 3_000), (0, 3_040)])
    again = mt.Session.from_events(s.events_since(0))
    assert again.cache_report() == s.cache_report()
    fork = s.fork("f")
    fork.run.record(fork.run.prepare(CAPS), claude(3_040, 10))
    assert fork.cache_report().requests == 3
    assert s.cache_report().requests == 2


def test_a_session_without_bills_has_an_empty_report():
    s = session("anthropic")
    s.start_run("go")
    assert s.cache_report() == mt.CacheReport()
    assert s.cache_report().hit_rate == 0.0
