"""No way to compact for ever: attempts are counted in the journal, whoever drives (C3, C4, C11, C13, L7)."""

from __future__ import annotations

import itertools

import pytest

import muntin as mt
from agents import ADAPTERS, CAPS, compacted, exchange, fill, says, session, summary


@pytest.fixture(params=sorted(ADAPTERS))
def small(request):
    policy = mt.Policy(window=16_000, reserve_output=2_000, keep_recent=1_000)
    return session(request.param, policy=policy)


def tried(s, answer=""):
    return s.commit_compaction(s.plan_compaction().run(lambda _: answer))


def test_case_c3_three_plans_that_come_to_nothing_are_enough_even_after_a_reload(small):
    run = small.start_run("go")
    fill(run)
    for _ in range(3):
        assert tried(small).reason is mt.Reason.EMPTY
    for s in (small, mt.Session.from_events(small.events_since(0))):
        with pytest.raises(mt.CompactionHalted, match="3 plans on this view") as halted:
            s.plan_compaction()
        assert (halted.value.attempts, halted.value.reason) == (3, "empty")
        assert halted.value.floors
    assert isinstance(
        small.commit_compaction(small.plan_compaction(force=True).run(mt.ExtractiveSummarizer())), mt.Committed
    )
    fill(run)
    assert isinstance(compacted(small), mt.Committed)


def test_case_l7_a_plan_that_ends_with_its_process_counts_as_an_attempt(small):
    run = small.start_run("go")
    fill(run)
    s = small
    for _ in range(3):
        s.plan_compaction().next_request()
        s = mt.Session.from_events(s.events_since(0))
    with pytest.raises(mt.CompactionHalted, match="no outcome"):
        s.plan_compaction()


def test_after_each_halt_the_conversation_has_to_grow_twice_as_much(small):
    run = small.start_run("go")
    fill(run, 50)
    calls = 0
    for number in itertools.count():
        try:
            tried(small)
            calls += 1
        except mt.CompactionHalted:
            try:
                exchange(run, says("", f"g{number}"), "word " * 50)
            except mt.ContextOverflow:
                break
    assert 3 <= calls <= 6


@pytest.mark.parametrize("provider", sorted(ADAPTERS))
@pytest.mark.parametrize(
    "answer",
    [
        "",
        "prose",
        summary("x" * 60_000),
        mt.AssistantTurn((mt.ToolCall("t", "read_file"),), "tool_calls"),
        ConnectionError("no line"),
        MemoryError("no room"),
        summary("short"),
    ],
    ids=["empty", "prose", "long", "call", "broken", "dead", "good"],
)
def test_the_loop_makes_few_summaries_whatever_comes_back(provider, answer):
    s = session(provider, policy=mt.Policy(window=16_000, reserve_output=2_000, keep_recent=1_000))
    run = s.start_run("go")
    asked = turns = 0

    def summarizer(_):
        nonlocal asked
        asked += 1
        if isinstance(answer, Exception):
            raise answer
        return answer

    def model(_):
        nonlocal turns
        turns += 1
        return says("", f"m{turns}") if turns < 120 else says("done")

    def tool(_):
        return "word " * 300

    events = list(mt.loop(run, CAPS, model, tool, summarizer=summarizer, sleep=lambda _: None))
    outcomes = [event.outcome for event in events if isinstance(event, mt.CompactionDone)]
    assert turns == 120
    if answer == summary("short"):
        assert asked <= 40
        assert all(isinstance(outcome, mt.Committed) for outcome in outcomes)
    else:  # what is committed then was made without a model
        views = sum(isinstance(outcome, mt.Committed) for outcome in outcomes)
        assert views <= 8
        assert asked <= 4 * (1 + views)
        before, run = asked, mt.Session.from_events(s.events_since(0)).run
        list(mt.loop(run, CAPS, model, tool, summarizer=summarizer, sleep=lambda _: None))
        assert asked <= before + 2


def test_case_c4_summaries_that_hardly_free_anything_are_few_for_what_was_added(small):
    """Every accepted compaction is paid for by new material: at least a twentieth of the limit."""
    run = small.start_run("go")
    fat = summary("word " * 550)
    made = added = 0
    for number in range(200):
        try:
            request = run.prepare(CAPS)
        except mt.ContextOverflow:
            break
        if request.usage.state == "compact":
            try:
                made += isinstance(tried(small, fat), mt.Committed)
                continue
            except mt.CannotCompact:
                pass
        exchange(run, says("", f"w{number}"), "word " * 100)
        added += 100
    assert made <= 2 + added / (14_000 * 0.05)
