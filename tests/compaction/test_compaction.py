"""Compaction: legal boundaries, pins, the gate (R6; cases A, C, D, E, L)."""

from __future__ import annotations

import pytest

import muntin as mt
from agents import (
    ADAPTERS,
    CAPS,
    answers,
    compacted,
    exchange,
    fill,
    says,
    session,
    summary,
    texts,
    work,
)
from muntin.compaction.parts import PARTS


@pytest.fixture(params=sorted(ADAPTERS))
def provider(request):
    return request.param


@pytest.fixture
def small(provider):
    """A session with a window in which some twenty exchanges are too many."""
    policy = mt.Policy(window=16_000, reserve_output=2_000, keep_recent=1_000)
    return session(provider, policy=policy, state={"branch": "main"})


def calls_without_results(request):
    calls = {call for kind, call in answers(request) if kind == "call"}
    return calls ^ {call for kind, call in answers(request) if kind == "result"}


def test_a_compaction_of_the_current_run_keeps_its_inputs_word_for_word(small):
    run = small.start_run(["THE-TASK", "AND-MORE"], skills=[mt.SkillText("k", "SKILL")], state={"tab": "RUN-STATE"})
    assert fill(run).usage.state == "compact"
    outcome = compacted(small)
    assert isinstance(outcome, mt.Committed)
    assert outcome.report.after < outcome.report.before
    request = run.prepare(CAPS)
    assert request.usage.state == "ok"
    body = texts(request)
    order = [body.index(mark) for mark in ("<summary>", '"THE-TASK"', '"AND-MORE', "<skill", "RUN-STATE")]
    assert order == sorted(order)
    assert not calls_without_results(request)
    assert {share.segment for share in request.usage.shares} == {1, 5, 6, 8, 9, 10, 11}
    assert request.forecast.cause == "compaction"
    adapter = small.adapter
    assert request.usage.tokens == adapter.estimate(adapter.recount(request.body))


def test_old_runs_are_covered_before_the_current_one_is_touched(small):
    for task in ("FIRST-TASK", "SECOND-TASK"):
        run = small.start_run(task)
        work(run, 4)
        run.finish()
    run = small.start_run("THIRD-TASK")
    exchange(run, says("one", "c-last"), "LAST-RESULT")
    assert isinstance(compacted(small), mt.Committed)
    request = run.prepare(CAPS)
    shares = {share.segment: share.tokens for share in request.usage.shares}
    assert mt.Segment.SUMMARY in shares
    body = texts(request)
    assert "LAST-RESULT" in body
    assert body.index("<summary>") < body.index('"THIRD-TASK"')


def test_the_store_keeps_everything(small):
    run = small.start_run("go")
    fill(run)
    entries = list(small.history())
    assert isinstance(compacted(small), mt.Committed)
    after = list(small.history())
    assert after[: len(entries)] == entries
    summary = after[len(entries)].item
    assert isinstance(summary, mt.Summary)
    covered = {number for first, last in summary.covers for number in range(first, last + 1)}
    assert covered < {entry.id for entry in entries}
    assert 0 not in covered  # the input is pinned, not covered


def test_what_one_compaction_kept_is_covered_or_kept_by_the_next(small):
    run = small.start_run("go")
    fill(run)
    compacted(small)
    first = next(e.item for e in reversed(list(small.history())) if isinstance(e.item, mt.Summary))
    fill(run)
    assert isinstance(compacted(small), mt.Committed)
    second = next(e.item for e in reversed(list(small.history())) if isinstance(e.item, mt.Summary))
    covered = [{n for a, b in s.covers for n in range(a, b + 1)} for s in (first, second)]
    assert covered[0] < covered[1]
    request = run.prepare(CAPS)
    assert texts(request).count("<summary>") == 1
    lane = small._conversation.lane
    seen = {lane.history.entry(unit) for unit in range(len(lane.history))} | covered[1]
    turns = {e.id for e in small.history() if isinstance(e.item, mt.AssistantTurn | mt.ToolResult | mt.UserInput)}
    assert turns <= seen


def test_the_boundary_never_separates_a_batch_from_its_results(small):
    run = small.start_run("go")
    for i in range(8):
        ids = [f"p{i}-{k}" for k in range(4)]
        exchange(run, says("", *ids), [f"{n} " + "word " * 300 for n in ids])
    compacted(small)
    assert not calls_without_results(run.prepare(CAPS))


def test_what_the_model_has_not_observed_is_never_covered(small):
    run = small.start_run("go")
    fill(run)
    run.record(run.prepare(CAPS), says("", "unseen"))
    run.tool_result("unseen", "UNSEEN-RESULT")
    compacted(small)
    assert "UNSEEN-RESULT" in texts(run.prepare(CAPS))


def test_state_changes_that_were_covered_come_back_as_one_net_change(small):
    run = small.start_run("go", state={"tab": 1})
    for branch in ("a", "b", "c"):
        small.update_state({"branch": branch}, reason="switched")
        run.update_state({"tab": branch})
        work(run, 1)
    fill(run)
    compacted(small)
    request = run.prepare(CAPS)
    body = texts(request)
    assert body.count("<state_change") == 2
    assert small.state == {"branch": "c"}
    assert r"{\"branch\":\"c\"}" in body
    assert r"{\"tab\":\"c\"}" in body
    fill(run)
    assert isinstance(compacted(small), mt.Committed)
    assert r"{\"branch\":\"c\"}" in texts(run.prepare(CAPS))


def test_a_change_among_the_inputs_and_back_again_is_told_as_it_is(small):
    run = small.start_run(["go", mt.StateDiff("session", {"branch": "pinned"})])
    work(run, 3)
    small.update_state({"branch": "main"}, reason="back")
    fill(run)
    compacted(small)
    body = texts(run.prepare(CAPS))
    assert body.rindex(r"{\"branch\":\"main\"}") > body.rindex(r"{\"branch\":\"pinned\"}")


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "empty"),
        ("  \n ", "empty"),
        ("A long prose without any of the parts.", "parts missing"),
        ("\n".join(f"## {part}" for part in PARTS), "parts missing"),
        ("\n".join(f"## {part}\nnone" for part in PARTS), "empty"),
        ("<think>it ran and ran", "reasoning"),
        ('<tool_call>{"name": "read_file"}</tool_call>', "tool call"),
        (mt.AssistantTurn((mt.Text("half a"),), "length"), "cut off"),
        (mt.AssistantTurn((mt.Text("net::ERR"),), "error"), "cut off"),
        (mt.AssistantTurn((mt.ToolCall("x", "f"),), "tool_calls"), "tool call"),
        (mt.AssistantTurn((mt.Reasoning("thoughts only"),)), "empty"),
    ],
)
def test_cases_d_a_bad_summary_changes_nothing(small, answer, reason):
    run = small.start_run("go")
    fill(run)
    body, entries = run.prepare(CAPS).body, small.last_entry
    outcome = small.commit_compaction(small.plan_compaction().run(lambda _: answer))
    assert isinstance(outcome, mt.Rejected)
    assert outcome.reason == reason
    assert small.last_entry == entries
    assert small.epoch == 0
    assert run.prepare(CAPS).body == body


def test_case_c6_a_summary_that_is_not_shorter_is_rejected(small):
    run = small.start_run("go")
    fill(run)
    outcome = small.commit_compaction(small.plan_compaction().run(lambda request: summary(request.text * 2)))
    assert isinstance(outcome, mt.Rejected)
    assert outcome.reason == "not shorter"
    assert "were allowed" in outcome.detail


def test_case_d1_a_summariser_that_breaks_down_changes_nothing(small):
    run = small.start_run("go")
    fill(run)
    plan = small.plan_compaction()

    def broken(_):
        raise ConnectionError("reset by peer")

    with pytest.raises(ConnectionError):
        plan.run(broken)
    outcome = small.commit_compaction(plan)
    assert isinstance(outcome, mt.Rejected)
    assert outcome.reason == "failed"
    assert "reset by peer" in outcome.detail


def test_case_l1_what_is_appended_while_the_summary_is_made_is_kept(small):
    run = small.start_run("go")
    fill(run)
    plan = small.plan_compaction()
    exchange(run, says("MEANWHILE-ANSWER", "m1"), "MEANWHILE-RESULT")
    assert isinstance(small.commit_compaction(plan.run(mt.ExtractiveSummarizer())), mt.Committed)
    body = texts(run.prepare(CAPS))
    assert "MEANWHILE-ANSWER" in body
    assert "MEANWHILE-RESULT" in body


def test_a_plan_on_an_older_view_is_stale_and_a_newer_plan_supersedes(small):
    run = small.start_run("go")
    fill(run)
    old = small.plan_compaction()
    with pytest.raises(mt.CompactionInFlight, match="request 0 out"):
        small.plan_compaction()
    new = small.plan_compaction(supersede=True)
    summarizer = mt.ExtractiveSummarizer()
    assert small.commit_compaction(old.run(summarizer)).reason == "superseded"
    committed = small.commit_compaction(new.run(summarizer))
    assert isinstance(committed, mt.Committed)
    assert small.commit_compaction(new) is committed
    fill(run)
    stale = small.plan_compaction().run(summarizer)
    small.undo_compaction()
    assert small.commit_compaction(stale).reason == "stale view"


def test_an_unfinished_plan_is_rejected(small):
    run = small.start_run("go")
    fill(run)
    plan = small.plan_compaction()
    assert plan.next_request() is plan.next_request()
    assert small.commit_compaction(plan).reason == "unfinished"


def test_case_c1_nothing_legal_to_cover_is_a_typed_answer_with_floors(small):
    run = small.start_run("word " * 5_000)
    exchange(run, says("", "c1"))
    with pytest.raises(mt.CannotCompact, match="no legal boundary") as refused:
        small.plan_compaction()
    assert refused.value.floors["task"] > 4_000


def test_case_d3_all_of_a_long_stretch_is_read_in_stages(provider):
    s = session(provider, policy=mt.Policy(window=24_000, reserve_output=2_000, keep_recent=1_000))
    run = s.start_run("go")
    for i in range(10):
        exchange(run, says("", f"c{i}"), f"BEGIN-{i} " + "word " * 1_500 + f"END-{i}")
    tiny = mt.Model(name="tiny", window=6_000, max_output=1_000)
    plan = s.plan_compaction(type(s.adapter)(tiny))
    read, earlier = "", []
    while request := plan.next_request():
        read += request.text
        earlier.append(request.earlier)
        assert len(request.body) < 6_000 * 5
        plan.feed(request, summary(f"summary {request.number}"))
    assert len(earlier) > 1
    assert earlier[1] == summary("summary 1")
    for i in range(3):
        assert f"BEGIN-{i}" in read
        assert f"END-{i}" in read


def test_the_extractive_summary_has_all_parts_and_invents_nothing(small):
    run = small.start_run("Repair the harbour clock")
    exchange(run, says("I chose to read first because it is safe.", "c1"), "clock.py has 12 lines")
    run.record(run.prepare(CAPS), says("", "c2"))
    run.tool_result("c2", "no such file", is_error=True)
    fill(run)
    request = small.plan_compaction().next_request()
    summary = mt.ExtractiveSummarizer()(request)
    headings = [line for line in summary.splitlines() if line.startswith("## ")]
    assert headings == [
        "## Goal", "## Decisions", "## Evidence of completion", "## Failures and approvals", "## Unfinished work",
        "## Next steps",
    ]  # fmt: skip
    assert "no such file" in summary
    assert mt.ExtractiveSummarizer()(request) == summary


def test_reasoning_of_kept_turns_is_left_out_when_its_prefix_is_gone():
    s = session("anthropic", policy=mt.Policy(window=16_000, reserve_output=2_000, keep_recent=1_000))
    run = s.start_run("go")
    for i in range(20):
        turn = mt.AssistantTurn((mt.Reasoning(f"THOUGHT-{i}", "sig", "anthropic"), mt.ToolCall(f"c{i}", "read_file")))
        exchange(run, turn, "word " * 300)
    assert "THOUGHT-19" in texts(run.prepare(CAPS))
    assert isinstance(compacted(s), mt.Committed)
    request = run.prepare(CAPS)
    assert "THOUGHT" not in texts(request)
    assert not calls_without_results(request)
    exchange(run, mt.AssistantTurn((mt.Reasoning("NEW-THOUGHT", "sig", "anthropic"), mt.Text("x"))))
    run.guide("on")
    assert "NEW-THOUGHT" in texts(run.prepare(CAPS))


def test_case_c8_shorter_is_measured_on_the_rendered_request(provider):
    """A summary that is no longer than it may be can still leave the request as long as it was."""
    s = session(provider, policy=mt.Policy(window=2_400, reserve_output=200, keep_recent=100))
    run = s.start_run("go")
    work(run, 2, 180)
    run.prepare(CAPS)

    def longest(r):
        made = (summary("word " * words) for words in range(2 * r.max_tokens, 0, -5))
        return next(text for text in made if s.adapter.count(text) < 2 * r.max_tokens)

    outcome = s.commit_compaction(s.plan_compaction().run(longest))
    assert outcome.reason == "not shorter"
    assert "tokens before" in outcome.detail
    assert outcome.report.after > outcome.report.before * 0.98
