"""What it costs to ask, before every request, whether and where to compact: at most 100 µs at a million units.

One run of calls and results of about 300 tokens, whose newest part the model has answered.
"""

from __future__ import annotations

import functools
import time

import pytest

import muntin as mt
from muntin.compaction.gate import _allowance, _chosen

LIMIT = 100e-6


@functools.cache
def session(units: int) -> mt.Session:
    """A session of so many units in one run. They are copies of the first ones: asking looks at no text."""
    model = mt.Model(name="bench", window=units * 400, max_output=16_000)
    session = mt.Session("bench", adapter=mt.providers.anthropic(model), system="You are careful.")
    run = session.start_run("go")
    for number in range(64):
        request = run.prepare(now=1_000.0 + number)
        run.record(request, mt.AssistantTurn((mt.ToolCall(f"c{number}", "read"),), "tool_calls"))
        run.tool_result(f"c{number}", "word " * 300)
    run.record(run.prepare(now=1_064.0), mt.AssistantTurn((mt.ToolCall("last", "read"),), "tool_calls"))
    conversation = session._conversation
    history = conversation.lane.history
    while len(history) < units:
        history.extend(history, 1, len(history))
    conversation.observed = len(history)
    conversation.base = history.total()
    return session


def chosen(session: mt.Session, *, least_cost: bool) -> int:
    conversation = session._conversation
    return _chosen(conversation, _allowance(conversation), least_cost=least_cost).cut


ASKED = {
    "by tokens": lambda s: chosen(s, least_cost=False),
    "at least cost": lambda s: chosen(s, least_cost=True),
    "does compacting pay": lambda s: s.compaction_pays(now=1_065.0),
    "does clearing pay": lambda s: s.clear_results(now=1_065.0),
}


@pytest.mark.parametrize("units", [1_000, 1_000_000])
@pytest.mark.parametrize("question", sorted(ASKED))
def test_ask(benchmark, question, units):
    s, ask = session(units), ASKED[question]
    spent = []
    for _ in range(200):
        started = time.perf_counter()
        ask(s)
        spent.append(time.perf_counter() - started)
    best = min(spent)  # noise only ever adds
    benchmark.extra_info |= {
        "microseconds": round(best * 1e6, 1),
        "correct": len(s._conversation.lane.history) >= units,
    }
    assert best <= LIMIT
    benchmark(ask, s)
