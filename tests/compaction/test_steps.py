"""Compactions are as many as the tokens that they free call for, however small the window (C1, C4, C5, C17)."""

from __future__ import annotations

import pytest

import muntin as mt
from agents import ADAPTERS, exchange, says, session


def tools(words):
    return mt.Capabilities(stable=[mt.Tool("read_file", "word " * words)])


@pytest.fixture(params=sorted(ADAPTERS))
def small(request):
    return session(request.param, policy=mt.Policy(window=16_000, reserve_output=4_000))


@pytest.mark.parametrize("words", [200, 3_000, 5_500])
def test_case_c17_each_compaction_frees_a_good_part_of_what_is_left_beside_tools(small, words):
    caps, freed, added = tools(words), [], 0
    run = small.start_run("go")
    tokens = fixed = run.prepare(caps).usage.safe
    for number in range(120):
        request = run.prepare(caps)
        added += max(0, request.usage.safe - tokens)
        if request.usage.state == "compact":
            try:
                plan = small.plan_compaction()
            except mt.CannotCompact:
                pass
            else:
                report = small.commit_compaction(plan.run(mt.ExtractiveSummarizer())).report
                freed.append(report.before - report.after)
                request = run.prepare(caps)
        tokens = request.usage.safe
        exchange(run, says("", f"c{number}"), "word " * 150, caps)
    room = 12_000 - fixed
    assert freed
    assert min(freed) >= 0.15 * room
    assert len(freed) <= 2 + added / (0.2 * room)


def test_case_c5_what_would_be_refused_all_the_same_is_not_compacted(small):
    few = tools(10)
    run = small.start_run("go " * 1_500)
    exchange(run, says("", "c1"), "word " * 1_000, few)
    exchange(run, says("", "c2"), "word " * 10, few)
    run.record(run.prepare(few), says("done"))
    run.guide("word " * 1_500)
    with pytest.raises(mt.ContextOverflow):
        run.prepare(tools(9_000))
    with pytest.raises(mt.CannotCompact, match="would be more than 12000 still") as refusal:
        small.plan_compaction()
    assert refusal.value.floors["tools"] > 8_000
    assert small.version == mt.Session.from_events(small.events_since(0)).version
