"""What a forecast costs, and how near it comes to what recorded sessions were billed.

The history is that of `bench_session`, 10,000 messages. The table of bills is printed with `pytest -s`.
"""

from __future__ import annotations

import pytest
from bench_session import CAPS, history, one_more

import muntin as mt
import recorded
from prefix.bills import FOLDERS, Tally, half, table, tallies

ANSWER = mt.AssistantTurn((mt.Text("Done."),))
OTHER = mt.Capabilities(stable=[*CAPS.stable, mt.Tool("web_fetch", "Fetch a page.")])


def test_forecast_after_one_append_to_10_000_units(benchmark):
    """At most 20 µs."""
    session = history(10_000).fork("f")
    one_more(session)
    conversation = session._conversation
    forecast = benchmark(conversation.expected, conversation.last)
    assert not forecast.cause
    assert benchmark.stats is None or benchmark.stats["min"] <= 20e-6


def test_diagnosis_of_a_changed_tool(benchmark):
    """At most 1 ms."""
    session = history(10_000).fork("f")
    session.run.prepare(OTHER)
    conversation = session._conversation
    forecast = benchmark(conversation.expected, conversation.last)
    assert forecast.broken.place == "tool 'web_fetch'"
    assert benchmark.stats is None or benchmark.stats["min"] <= 1e-3


def test_diagnosis_of_a_history_gone_back(benchmark):
    """At most 1 ms: no chunk is shared, so that the digests have to find the place."""
    session = history(10_000).fork("f")
    session.rewind(session.last_entry - 2_000)
    session.run.prepare(CAPS)
    conversation = session._conversation
    forecast = benchmark(conversation.expected, conversation.last)
    assert forecast.cause == "rewinding"
    assert benchmark.stats is None or benchmark.stats["min"] <= 1e-3


@pytest.mark.timeout(900)
@pytest.mark.parametrize("folder", FOLDERS)
def test_forecasts_against_bills(benchmark, folder):
    """At least 90 % within 2 % where both see an unbroken prefix."""
    if not (recorded.ROOT / "data").is_dir():
        pytest.skip(f"no recorded data in {recorded.ROOT}")
    found = benchmark.pedantic(lambda: list(tallies(recorded.ROOT / "data" / folder)), rounds=1)
    sums = {name: Tally(f"{folder}, {name}") for name in ("one half", "other half", "all")}
    for one in found:
        sums[half(one.name)].add(one)
        sums["all"].add(one)
    print("\n" + table([*found, *sums.values()]))
    whole = sums["all"]
    benchmark.extra_info["within"] = whole.within_kept / whole.kept
    assert whole.within_kept >= 0.9 * whole.kept
