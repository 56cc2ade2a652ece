"""Undoing, recalling, forking around boundaries: nothing is lost, little is listed (R6.5, R6.6; K2, K4, M10)."""

from __future__ import annotations

import pytest
from test_compaction import calls_without_results

import muntin as mt
from agents import ADAPTERS, CAPS, compacted, exchange, fill, says, session, summary, texts, unmarked, work


@pytest.fixture(params=sorted(ADAPTERS))
def small(request):
    policy = mt.Policy(window=16_000, reserve_output=2_000, keep_recent=1_000)
    return session(request.param, policy=policy)


def reloaded(s):
    return mt.Session.from_events(s.events_since(0))


def test_undoing_brings_the_view_back_with_all_that_came_since(small):
    run = small.start_run("go")
    fill(run)
    twin = small.fork("twin")
    assert isinstance(compacted(small), mt.Committed)
    for one in (run, twin.run):
        exchange(one, says("SINCE", "c-since"), "SINCE-RESULT")
    small.undo_compaction()
    request = run.prepare(CAPS)
    assert unmarked(request) == unmarked(twin.run.prepare(CAPS))
    assert request.forecast.cause == "undoing of a view change"
    assert any(isinstance(entry.item, mt.Summary) for entry in small.history())
    assert unmarked(reloaded(small).run.prepare(CAPS)) == unmarked(request)
    with pytest.raises(mt.NothingToUndo):
        small.undo_compaction()


def test_two_compactions_are_undone_one_after_the_other(small):
    run = small.start_run("go")
    fill(run)
    compacted(small)
    fill(run)
    first = unmarked(run.prepare(CAPS))
    compacted(small)
    small.undo_compaction()
    assert texts(run.prepare(CAPS)).count("<summary>") == 1
    assert unmarked(run.prepare(CAPS)) == first
    small.undo_compaction()
    with pytest.raises(mt.ContextOverflow):
        run.prepare(CAPS)
    assert isinstance(compacted(small), mt.Committed)
    assert not calls_without_results(run.prepare(CAPS))
    assert unmarked(reloaded(small).run.prepare(CAPS)) == unmarked(run.prepare(CAPS))


def test_a_request_in_flight_is_recorded_after_an_undoing(small):
    run = small.start_run("go")
    fill(run)
    compacted(small)
    request = run.prepare(CAPS)
    small.undo_compaction()
    run.record(request, says("ANSWERED"))
    assert "ANSWERED" in texts(reloaded(small).run.prepare(CAPS))


def test_reasoning_that_was_made_on_a_summary_is_not_replayed_without_it():
    s = session("anthropic", policy=mt.Policy(window=16_000, reserve_output=2_000, keep_recent=1_000))
    run = s.start_run("go")
    exchange(run, mt.AssistantTurn((mt.Reasoning("EARLY", "sig", "anthropic"), mt.ToolCall("e", "read_file"))))
    fill(run)
    compacted(s)
    exchange(run, mt.AssistantTurn((mt.Reasoning("LATER", "sig", "anthropic"), mt.ToolCall("l", "read_file"))))
    s.undo_compaction()
    body = texts(run.prepare(CAPS))
    assert "EARLY" in body
    assert "LATER" not in body
    assert unmarked(reloaded(s).run.prepare(CAPS)) == unmarked(run.prepare(CAPS))


def test_case_k4_rewinding_over_an_undoing_sees_what_was_seen_then(small):
    run = small.start_run("go")
    fill(run)
    compacted(small)
    exchange(run, says("ON-THE-SUMMARY", "c-s"), "yes")
    there = small.last_entry
    small.undo_compaction()
    exchange(run, says("ON-ALL", "c-a"), "yes")
    back = small.last_entry
    small.rewind(there)
    assert "<summary>" in texts(small.run.prepare(CAPS))
    small.rewind(back)
    body = texts(small.run.prepare(CAPS))
    assert "<summary>" not in body
    assert "ON-ALL" in body
    assert unmarked(reloaded(small).run.prepare(CAPS)) == unmarked(small.run.prepare(CAPS))


def test_case_k2_forks_from_before_inside_and_after_a_boundary(small):
    run = small.start_run("go")
    work(run, 2)
    before = small.last_entry
    fill(run)
    inside = small.last_entry
    compacted(small)
    exchange(run, says("", "c-after"), "after")
    for at, seen in ((before, 0), (inside, 0), (None, 1)):
        other = small.fork(f"f{at}", at=at)
        request = other.run.prepare(CAPS)
        assert texts(request).count("<summary>") == seen
        assert not calls_without_results(request)
        body = request.to_dict()
        last = (body.get("messages") or body.get("contents") or body["input"])[-1]
        assert last.get("role", last.get("type")) in ("user", "tool", "function_call_output")
        assert len(other.reachable) <= 12 * seen


def test_few_exact_entries_are_recalled_by_their_number(small):
    run = small.start_run("go")
    for i in range(3):
        exchange(run, says("", f"e{i}"), "x")
        run.guide(f"REMARK-{i}")
    fill(run)
    number = next(entry.id for entry in small.history() if isinstance(entry.item, mt.ToolResult))
    plan = small.plan_compaction().run(lambda _: summary(f"As [#{number}] says."))
    assert isinstance(small.commit_compaction(plan), mt.Committed)
    assert number in small.reachable
    assert len(small.reachable) <= 12
    assert small.recall(number).item.call == "e0"
    assert f"#{number} result of e0: x" in texts(run.prepare(CAPS))
    covered = next(entry.item for entry in reversed(list(small.history())) if isinstance(entry.item, mt.Summary)).covers
    other = next(n for first, last in covered for n in range(first, last + 1) if n not in small.reachable)
    with pytest.raises(mt.InputError, match="not among those"):
        small.recall(other)
    assert reloaded(small).reachable == small.reachable


def test_what_a_summary_covers_is_said_in_it(small):
    run = small.start_run("go")
    fill(run)
    compacted(small)
    item = next(entry.item for entry in reversed(list(small.history())) if isinstance(entry.item, mt.Summary))
    entries = sum(last - first + 1 for first, last in item.covers)
    assert f"{entries} earlier entries, #{item.covers[0][0]} to #{item.covers[-1][1]}," in texts(run.prepare(CAPS))


def test_no_entry_is_ever_lost_through_many_compactions_and_undoings(small):
    run = small.start_run("go")
    for turn in range(6):
        fill(run)
        compacted(small)
        if turn % 3 == 2:
            small.undo_compaction()
            compacted(small)
        lane = small._conversation.lane
        seen = {lane.history.entry(unit) for unit in range(len(lane.history))}
        item = small._conversation.log.entry(lane.history.entry(0)).item
        seen |= {n for first, last in item.covers for n in range(first, last + 1)}
        said = mt.AssistantTurn | mt.ToolResult | mt.UserInput | mt.Guidance
        assert {e.id for e in small.history() if isinstance(e.item, said)} <= seen
        assert not calls_without_results(run.prepare(CAPS))
