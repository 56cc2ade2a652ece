"""What a forecast costs, and how near it comes to what recorded sessions were billed.

The history is that of `bench_session`, 10,000 messages. The table of bills is printed with `pytest -s`.
"""

from __future__ import annotations

import time

import pytest
from bench_session import CAPS, SOURCE, history, one_more

import muntin as mt
import recorded
from muntin._core import History
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


@pytest.mark.parametrize("size", [400, 4_000, 64_000])
def test_digest_and_chain_are_no_measurable_part_of_a_turn(benchmark, size):
    """At most 2 %, even with the copy and the columns that a unit gets beside them: measured in turn."""
    session = history(1_000).fork("f")
    run, text = session.run, SOURCE[:size]
    units, wire = History([(b"[", b"]", 4)]), text.encode()
    append, turn = [], []
    for n in range(60):
        started = time.perf_counter()
        run.record(run.prepare(CAPS), mt.AssistantTurn((mt.ToolCall(f"c{n}", "read_file", "{}"),), "tool_calls"))
        run.tool_result(f"c{n}", text)
        run.prepare(CAPS)
        turn.append(time.perf_counter() - started)
        started = time.perf_counter()
        units.append(0, wire, 1, n)
        append.append(time.perf_counter() - started)
    share = min(append) / min(turn)
    benchmark.extra_info["share"] = share
    benchmark(units.append, 0, wire, 1, 0)
    assert share <= 0.02


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
