"""Clearing old tool results: rarely, much at once, where it pays or the cache is cold; and back again (I10, I12)."""

from __future__ import annotations

import pytest
from test_compaction import calls_without_results

import muntin as mt
from agents import ADAPTERS, CAPS, exchange, fill, says, session, texts, unmarked, work
from muntin.compaction.economics import Prices


@pytest.fixture(params=sorted(ADAPTERS))
def small(request):
    policy = mt.Policy(window=16_000, reserve_output=2_000, keep_recent=1_000)
    return session(request.param, policy=policy)


def test_clearing_frees_old_results_and_keeps_the_newest(small):
    run = small.start_run("go")
    exchange(run, says("", "first"), "FIRST-RESULT " + "word " * 400)
    fill(run)
    exchange(run, says("", "last"), "LAST-RESULT " + "word " * 400)
    before = run.prepare(CAPS)
    outcome = small.clear_results(force=True)
    assert isinstance(outcome, mt.Committed)
    request = run.prepare(CAPS)
    assert request.usage.tokens == outcome.report.after < before.usage.tokens / 2
    assert request.usage.tokens == small.adapter.estimate(small.adapter.recount(request.body))
    body = texts(request)
    assert "FIRST-RESULT" not in body
    assert "LAST-RESULT" in body
    assert "cleared; it is entry #2" in body
    assert not calls_without_results(request)
    assert request.forecast.cause == "clearing of old results"
    assert small.recall(2).item.content[0].text.startswith("FIRST-RESULT")
    assert unmarked(mt.Session.from_events(small.events_since(0)).run.prepare(CAPS)) == unmarked(request)


def test_clearing_can_be_undone(small):
    run = small.start_run("go")
    fill(run)
    before = unmarked(run.prepare(CAPS))
    small.clear_results(force=True)
    small.undo_compaction()
    assert unmarked(run.prepare(CAPS)) == before
    assert small.reachable == ()


def test_case_i12_a_hot_cache_is_left_alone_until_it_pays_and_a_cold_one_is_not(small):
    if Prices.of(small.adapter.model).cached > 0.2:
        pytest.skip("a hit saves only half here, so that clearing pays at once")
    run = small.start_run("go")
    work(run, 4)
    run.record(run.prepare(CAPS, now=1_000.0), says("", "c-x"))
    run.tool_result("c-x", "word " * 300)
    hot = small.clear_results(now=1_010.0)
    assert hot.reason is mt.Reason.NOT_WORTH_IT
    assert hot.report.break_even > 1
    assert small.epoch == 0
    assert isinstance(small.clear_results(now=1_010.0 + 86_400), mt.Committed)
    again = small.clear_results(now=1_010.0 + 86_400)
    assert again.reason is mt.Reason.NOT_SHORTER


def test_what_was_cleared_is_read_whole_for_a_summary(small):
    run = small.start_run("go")
    exchange(run, says("", "first"), "FIRST-RESULT " + "word " * 400)
    fill(run)
    small.clear_results(force=True)
    while run.prepare(CAPS).usage.state == "ok":
        work(run, 2)
    plan = small.plan_compaction()
    read = ""
    while request := plan.next_request():
        read += request.text
        plan.feed(request, mt.ExtractiveSummarizer()(request))
    assert "FIRST-RESULT" in read
    assert isinstance(small.commit_compaction(plan), mt.Committed)
    assert not calls_without_results(run.prepare(CAPS))


def test_reasoning_behind_a_cleared_result_is_left_out():
    s = session("anthropic", policy=mt.Policy(window=16_000, reserve_output=2_000, keep_recent=500))
    run = s.start_run("go")
    for i in range(6):
        turn = mt.AssistantTurn((mt.Reasoning(f"THOUGHT-{i}", "sig", "anthropic"), mt.ToolCall(f"c{i}", "read_file")))
        exchange(run, turn, f"RESULT-{i} " + "word " * 300)
    assert isinstance(s.clear_results(force=True), mt.Committed)
    body = texts(run.prepare(CAPS))
    assert "THOUGHT-0" in body
    assert "THOUGHT-1" not in body
    assert "RESULT-5" in body


def test_a_plan_from_before_a_clearing_is_stale(small):
    run = small.start_run("go")
    fill(run)
    plan = small.plan_compaction().run(mt.ExtractiveSummarizer())
    small.clear_results(force=True)
    assert small.commit_compaction(plan).reason is mt.Reason.STALE_VIEW


def test_a_long_result_that_waits_for_its_last_word_is_left(small):
    run = small.start_run("go")
    run.record(run.prepare(CAPS), says("", "slow"))
    run.tool_pending("slow", "so far " * 500)
    for number in range(30):
        exchange(run, says("I look. " * 10, f"c{number}"), "short")
    outcome = small.clear_results(force=True)
    assert isinstance(outcome, mt.Rejected)
    assert outcome.reason is mt.Reason.NOT_SHORTER
