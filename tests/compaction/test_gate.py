"""The gate: what a summary must have, what may contradict it, and what is read before it is replaced (R6.3, R6.4)."""

from __future__ import annotations

import pytest

import muntin as mt
from agents import ADAPTERS, CAPS, compacted, exchange, fill, says, session, summary, texts, unmarked, work
from muntin.compaction.facts import Facts, contradiction


@pytest.fixture(params=sorted(ADAPTERS))
def small(request):
    policy = mt.Policy(window=16_000, reserve_output=2_000, keep_recent=1_000)
    return session(request.param, policy=policy, state={"branch": "main"})


def outcome_of(s, text, **kwargs):
    return s.commit_compaction(s.plan_compaction().run(lambda _: text), **kwargs)


def test_a_part_that_says_none_is_content_and_a_finished_thought_is_left_out(small):
    run = small.start_run("go")
    fill(run)
    outcome = outcome_of(small, f"<think>what was it</think>\n{summary('Go on.')}")
    assert isinstance(outcome, mt.Committed)
    body = texts(run.prepare(CAPS))
    assert "what was it" not in body
    assert "Go on." in body


@pytest.mark.parametrize(
    ("parts", "known"),
    [
        ({"unfinished": "- [ ] Mend the clock"}, "completed"),
        ({"next": "1. Mend the clock."}, "completed"),
        ({"evidence": "- Wind it: done"}, "open"),
        ({"decisions": "- [x] Wind it"}, "open"),
        ({"evidence": "tx-1 was committed"}, "unfinished"),
        ({"failures": "call c-ask was approved"}, "denied"),
    ],
)
def test_case_r6_4_what_is_known_now_beats_the_summary(small, parts, known):
    run = small.start_run("go")
    fill(run)
    exchange(run, says("", "c-ask"), "no")
    plan = small.plan_compaction().run(lambda _: summary(**parts))
    run.todo([("completed", "Mend the clock"), ("pending", "Wind it")])
    run.transaction(mt.TransactionSnapshot("tx-1", "a.py", "create", "append_chunks", "begun", 0, 0, ("append",)))
    run.deny("c-ask", why="not today")
    before = run.prepare(CAPS).body
    outcome = small.commit_compaction(plan)
    assert outcome.reason is mt.Reason.CONTRADICTED
    assert known in outcome.detail
    assert run.prepare(CAPS).body == before


@pytest.mark.parametrize(
    "parts",
    [
        {"unfinished": "- Mend the clock tower, which is another thing"},
        {"evidence": "- Mend the clock: done"},
        {"unfinished": "- Wind it"},
        {"evidence": "tx-1 is not finished"},
        {"failures": "call c-ask was denied"},
    ],
)
def test_what_agrees_with_the_facts_passes(parts):
    facts = Facts(
        completed=("Mend the clock",), open=("Wind it",), transactions=("tx-1",), approvals={"c-ask": "denied"}
    )
    assert not contradiction(summary(**parts), facts)


def test_a_summariser_is_told_what_is_known_now(small):
    run = small.start_run("go")
    run.todo([("completed", "Mend the clock"), ("pending", "Wind it")])
    fill(run)
    request = small.plan_compaction().next_request()
    assert b"open step: Wind it" in request.body
    assert request.facts.completed == ("Mend the clock",)


def test_a_validator_sees_what_would_be_covered_and_may_object(small):
    run = small.start_run("go")
    fill(run)
    seen = []

    def never_main(proposal):
        seen.append(proposal)
        return "it names no branch" if "branch" not in proposal.summary else ""

    outcome = outcome_of(small, summary("Go on."), validators=[never_main])
    assert (outcome.reason, outcome.detail) == (mt.Reason.OBJECTED, "it names no branch")
    assert small.epoch == 0
    assert seen[0].covered
    assert seen[0].state["branch"] == "main"
    assert isinstance(outcome_of(small, summary("On branch main."), validators=[never_main]), mt.Committed)


def test_a_validator_is_asked_again_when_something_happens_meanwhile(small):
    run = small.start_run("go")
    fill(run)
    facts = []

    def slow(proposal):
        facts.append(proposal.facts)
        if len(facts) == 1:
            run.todo([("pending", "New")])
        return ""

    assert isinstance(outcome_of(small, summary(), validators=[slow]), mt.Committed)
    assert [one.open for one in facts] == [(), ("New",)]

    fill(run)
    outcome = outcome_of(small, summary(), validators=[lambda _: run.recover("again") or ""])
    assert outcome.reason is mt.Reason.OBJECTED


def test_inputs_that_were_pinned_are_covered_when_their_run_is_over_for_they_were_read(small):
    run = small.start_run("THE-TASK")
    fill(run)
    plan = small.plan_compaction()
    run.finish()
    outcome = small.commit_compaction(plan.run(mt.ExtractiveSummarizer()))
    assert isinstance(outcome, mt.Committed)
    assert "THE-TASK" in texts(small.start_run("NEXT").prepare(CAPS))


def test_case_d3_what_was_not_read_is_not_replaced(small):
    run = small.start_run("go", skills=[mt.SkillText("k", "SKILL-TEXT")])
    fill(run)
    plan = small.plan_compaction().run(lambda _: summary())
    run.finish()  # the skill is pinned no more, but nobody read it
    outcome = small.commit_compaction(plan)
    assert outcome.reason is mt.Reason.NOT_READ
    assert "SKILL-TEXT" in texts(small.start_run("next").prepare(CAPS))


def test_case_l3_one_plan_is_on_its_way_and_one_that_is_forgotten_is_not(small):
    run = small.start_run("go")
    fill(run)
    plan = small.plan_compaction()
    with pytest.raises(mt.CompactionInFlight):
        small.plan_compaction()
    plan.fail("gave up")
    small.plan_compaction()  # nobody keeps it
    assert isinstance(compacted(small), mt.Committed)


def test_an_answer_that_comes_late_or_twice_changes_nothing(small):
    run = small.start_run("go")
    fill(run)
    plan = small.plan_compaction()
    request = plan.next_request()
    plan.feed(request, summary("first"))
    with pytest.raises(mt.StateError, match="none waits"):
        plan.feed(request, summary("second"))
    assert plan.next_request() is None
    outcome = small.commit_compaction(plan)
    assert isinstance(outcome, mt.Committed)
    plan.feed(request, summary("third"))
    assert small.commit_compaction(plan) is outcome
    assert "first" in texts(run.prepare(CAPS))

    fill(run)
    late = small.plan_compaction()
    request = late.next_request()
    late.fail("timed out")
    late.feed(request, summary("too late"))
    assert small.commit_compaction(late).reason is mt.Reason.FAILED


def test_the_report_tells_segments_costs_and_when_it_pays(small):
    run = small.start_run("go")
    fill(run)
    report = compacted(small).report
    before, after = (
        {share.segment: share.tokens for share in shares} for shares in (report.shares_before, report.shares_after)
    )
    assert mt.Segment.SUMMARY not in before
    assert after[mt.Segment.SUMMARY] == report.summary
    assert after[mt.Segment.TIMELINE] < before[mt.Segment.TIMELINE]
    assert report.cost > 0
    assert report.saves > 0
    assert report.break_even == pytest.approx(report.cost / report.saves, abs=0.1)
    assert run.prepare(CAPS).usage.tokens == report.after


def test_a_summary_request_on_the_same_prefix_begins_as_the_last_request_did(small):
    run = small.start_run("go")
    work(run, 1)
    fill(run)
    last = exchange(run, says("I am here.", "c-end"), "fine")
    plan = small.plan_compaction(same_prefix=True)
    request = plan.next_request()
    # Where the provider's cache begins that lies behind the parameters.
    first = {"anthropic": b'"tools"', "gemini": b'"contents"', "openai_responses": b'"input"'}
    key = first.get(small.adapter.provider, b'"messages"')
    theirs, mine = unmarked(last), unmarked(request)
    start, there = theirs.index(key), mine.index(key)
    shared = len(theirs) - start - 60
    common = 0
    for one, other in zip(theirs[start:], mine[there:], strict=False):
        if one != other:
            break
        common += 1
    assert common >= shared
    assert plan.next_request() is request
    plan.feed(request, summary("All read."))
    assert plan.next_request() is None
    assert isinstance(small.commit_compaction(plan), mt.Committed)
    with pytest.raises(mt.InputError, match="redacted"):
        small.plan_compaction(same_prefix=True, redact=str)


def test_case_m3_secrets_leave_in_no_request_and_stay_in_no_summary(small):
    run = small.start_run("The key is AKIA-SECRET.")
    exchange(run, says("", "c1"), "AKIA-SECRET again " + "word " * 50)
    fill(run)
    plan = small.plan_compaction(redact=lambda text: text.replace("AKIA-SECRET", "[key]"))
    while request := plan.next_request():
        assert b"AKIA" not in request.body
        assert b"[key]" in request.body
        plan.feed(request, summary("The key is AKIA-SECRET."))
    assert "AKIA" not in plan.summary
    assert isinstance(small.commit_compaction(plan), mt.Committed)


def test_a_summary_with_a_lone_surrogate_is_rejected(small):
    fill(small.start_run("go"))
    outcome = outcome_of(small, summary("half of a pair: \ud800"))
    assert isinstance(outcome, mt.Rejected)
    assert "surrogate" in outcome.detail


@pytest.mark.parametrize("plan", [None, "plan", 3])
def test_what_is_no_plan_is_refused(small, plan):
    with pytest.raises(mt.InputError, match="plan_compaction"):
        small.commit_compaction(plan)
