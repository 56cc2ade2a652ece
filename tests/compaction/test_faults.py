"""A crash or a bad summariser leaves the old view or the new one, and nothing in between (L1, L2, L7, D1, D11)."""

from __future__ import annotations

import contextlib
import threading

import pytest
from test_compaction import calls_without_results

import muntin as mt
from agents import ADAPTERS, CAPS, exchange, fill, says, session, summary, texts, unmarked

POLICY = mt.Policy(window=16_000, reserve_output=2_000, keep_recent=1_000)


@pytest.fixture(params=sorted(ADAPTERS))
def provider(request):
    return request.param


def body_of(events):
    return unmarked(mt.Session.from_events(events).run.prepare(CAPS))


def test_case_l7_cut_between_any_two_events_of_a_compaction_the_view_is_the_old_or_the_new(provider):
    s = session(provider, policy=POLICY)
    run = s.start_run("go")
    fill(run)
    start = s.version
    old = body_of(s.events_since(0))
    assert tries(s, "", summary("x " * 9_000), "prose") == ["empty", "not shorter", "parts missing"]
    assert isinstance(
        s.commit_compaction(s.plan_compaction(force=True).run(lambda _: summary("The task goes on."))), mt.Committed
    )
    new = body_of(s.events_since(0))
    events = s.events_since(0)
    bodies = [body_of(events[:stop]) for stop in range(start, len(events) + 1)]
    assert bodies[:-1] == [old] * (len(bodies) - 1)
    assert bodies[-1] == new != old


def tries(s, *answers):
    return [s.commit_compaction(s.plan_compaction().run(lambda _, text=text: text)).reason for text in answers]


def test_case_l2_a_store_that_fails_in_the_middle_keeps_the_old_view(provider, tmp_path):
    url = f"sqlite:///{tmp_path / 'a.db'}"
    with mt.open_store(url) as store:
        s = session(provider, policy=POLICY)
        run = s.start_run("go")
        fill(run)
        store.commit(s)
        old = unmarked(store.load("s").run.prepare(CAPS))
        plan = s.plan_compaction().run(lambda _: summary("On."))
        store.commit(s)
        assert unmarked(store.load("s").run.prepare(CAPS)) == old
        assert isinstance(s.commit_compaction(plan), mt.Committed)
        assert unmarked(store.load("s").run.prepare(CAPS)) == old  # not committed to the store yet
        store.commit(s)
        assert "<summary>" in texts(store.load("s").run.prepare(CAPS))


def test_case_l1_another_process_that_was_first_wins_and_nothing_is_lost(provider, tmp_path):
    url = f"sqlite:///{tmp_path / 'a.db'}"
    with mt.open_store(url) as store:
        s = session(provider, policy=POLICY)
        fill(s.start_run("go"))
        store.commit(s)
        mine, theirs = store.load("s"), store.load("s")
        theirs.run.guide("THEIRS")
        store.commit(theirs)
        assert isinstance(mine.commit_compaction(mine.plan_compaction().run(lambda _: summary("On."))), mt.Committed)
        with pytest.raises(mt.Conflict):
            store.commit(mine)
        body = texts(store.load("s").run.prepare(CAPS))
        assert "THEIRS" in body
        assert "<summary>" not in body


def test_case_l9_the_run_goes_on_while_a_slow_summary_is_made(provider):
    s = session(provider, policy=POLICY)
    run = s.start_run("go")
    fill(run)
    plan, go, outcomes = s.plan_compaction(), threading.Event(), []

    def slow(_):
        go.wait(10)
        return summary("Made slowly.")

    thread = threading.Thread(target=lambda: outcomes.append(s.commit_compaction(plan.run(slow))))
    thread.start()
    exchange(run, says("MEANWHILE", "c-m"), "MEANWHILE-RESULT")
    run.guide("MEANWHILE-GUIDANCE")
    go.set()
    thread.join(10)
    assert isinstance(outcomes[0], mt.Committed)
    request = run.prepare(CAPS)
    assert all(word in texts(request) for word in ("Made slowly.", "MEANWHILE-RESULT", "MEANWHILE-GUIDANCE"))
    assert not calls_without_results(request)


def test_one_of_many_commits_of_a_plan_decides(provider):
    s = session(provider, policy=POLICY)
    fill(s.start_run("go"))
    plan = s.plan_compaction().run(lambda _: summary("Once."))
    outcomes = []
    threads = [
        threading.Thread(target=lambda: outcomes.append(s.commit_compaction(plan, validators=[lambda _: ""])))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert len(outcomes) == 8
    assert all(outcome is outcomes[0] for outcome in outcomes)
    assert s.epoch == 1


@pytest.mark.parametrize("garbage", [b"\xff\xfe", b"{}", b"[]", {"choices": []}, {"content": 3}, b'{"content": [1'])
def test_case_d15_an_answer_that_cannot_be_read_changes_nothing(provider, garbage):
    s = session(provider, policy=POLICY)
    run = s.start_run("go")
    fill(run)
    before = run.prepare(CAPS).body
    plan = s.plan_compaction()
    with contextlib.suppress(mt.ResponseError):
        plan.feed(plan.next_request(), garbage)
    outcome = s.commit_compaction(plan)
    assert isinstance(outcome, mt.Rejected)
    assert run.prepare(CAPS).body == before
