"""What a forecast costs, and how near it comes to what recorded sessions were billed.

The history is that of `bench_session`, 10,000 messages. The table of bills is printed with `pytest -s`.
"""

from __future__ import annotations

import functools
import operator

import pytest
from bench_session import CAPS, history, one_more

import muntin as mt
import recorded
from prefix.bills import FOLDERS, tallies

ANSWER = mt.AssistantTurn((mt.Text("Done."),))
OTHER = mt.Capabilities(stable=[*CAPS.stable, mt.Tool("web_fetch", "Fetch a page.")])


def test_forecast_after_one_append_to_10_000_units(benchmark):
    """At most 20 µs."""
    session = history(10_000).fork("f")
    total = one_more(session).usage.tokens
    conversation = session._conversation
    forecast = benchmark(conversation.expected, conversation.last, total)
    assert not forecast.cause
    assert benchmark.stats is None or benchmark.stats["min"] <= 20e-6


def test_diagnosis_of_a_changed_tool(benchmark):
    """At most 1 ms."""
    session = history(10_000).fork("f")
    session.run.prepare(OTHER)
    conversation = session._conversation
    forecast = benchmark(conversation.expected, conversation.last, 0)
    assert forecast.broken.place == "tool 'web_fetch'"
    assert benchmark.stats is None or benchmark.stats["min"] <= 1e-3


def test_diagnosis_of_a_history_gone_back(benchmark):
    """At most 1 ms: no chunk is shared, so that the digests have to find the place."""
    session = history(10_000).fork("f")
    session.rewind(session.last_entry - 2_000)
    session.run.prepare(CAPS)
    conversation = session._conversation
    forecast = benchmark(conversation.expected, conversation.last, 0)
    assert forecast.cause == "rewinding"
    assert benchmark.stats is None or benchmark.stats["min"] <= 1e-3


@pytest.mark.timeout(900)
@pytest.mark.parametrize("folder", FOLDERS)
def test_forecasts_against_bills(benchmark, folder):
    if not (recorded.ROOT / "data").is_dir():
        pytest.skip(f"no recorded data in {recorded.ROOT}")
    found = benchmark.pedantic(lambda: list(tallies(recorded.ROOT / "data" / folder)), rounds=1)
    whole = functools.reduce(operator.add, found)._replace(name=folder)
    print(f"\n{'':60}  calls  unbroken  within 2 %    expected      billed")
    for one in (*found, whole):
        share = f"{one.within / one.unbroken:.1%}" if one.unbroken else "-"
        numbers = f"{one.calls:7,}{one.unbroken:10,}{share:>12}{one.expected:12,}{one.billed:12,}"
        print(f"{one.name[:60]:60}{numbers}")
    benchmark.extra_info["within"] = whole.within / whole.unbroken
