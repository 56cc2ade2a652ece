"""The tail: todo, one-shot repairs, file transactions, and what becomes of it once sent (R4.3 to R4.6)."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from agents import ADAPTERS, CAPS, answers, compacted, exchange, says, session, texts, unmarked, work
from muntin.todo import Step


@pytest.fixture(params=sorted(ADAPTERS))
def provider(request):
    return request.param


@pytest.fixture(params=["sticky", "in_result"])
def kept(request):
    return request.param


def ready(provider, tail="volatile", **kwargs):
    s = session(provider, policy=mt.Policy(tail=tail, **kwargs))
    run = s.start_run("go")
    exchange(run, says("", "c0"))
    return s, run


# --- repairs --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kind", ["empty_response", "transaction_prose", "own"])
def test_a_repair_serves_exactly_the_next_request_and_a_failed_one_keeps_it(provider, kind):
    s, run = ready(provider)
    run.repair(kind, "SAY-THIS" if kind == "own" else "")
    first = run.prepare(CAPS)
    run.fail(first, "503")
    second = run.prepare(CAPS)
    assert kind in texts(first)
    assert first.body == second.body
    assert mt.Segment.REPAIR in {share.segment for share in second.usage.shares}
    run.record(second, says("answer"))
    assert f'kind=\\"{kind}' not in texts(run.prepare(CAPS))


def test_a_repair_raised_while_a_request_is_in_flight_waits_for_the_next(provider):
    s, run = ready(provider)
    request = run.prepare(CAPS)
    run.repair("own", "SAY-THIS")
    run.record(request, says("answer"))
    assert "SAY-THIS" in texts(run.prepare(CAPS))
    again = mt.Session.from_events(s.events_since(0))
    assert "SAY-THIS" in texts(again.run.prepare())


def test_a_repair_of_an_own_kind_needs_a_text():
    s, run = ready("openai_chat")
    with pytest.raises(mt.InputError, match=r"'own' needs a text.*empty_response, transaction_prose"):
        run.repair("own")


# --- transactions ---------------------------------------------------------------------------------------------------
FIELDS = ["transactionId", "filePath", "operation", "strategy", "status", "expectedDraftRevision", "nextIndex",
          "allowedNextActions"]  # fmt: skip


def shown(request):
    found = re.findall(r"<file_transaction>\\n(.*?)\\n</file_transaction>", texts(request))
    return [json.loads(one.replace('\\"', '"')) for one in found]


def test_the_snapshot_has_exactly_its_fields_and_is_gone_when_the_transaction_is_finished(provider):
    s, run = ready(provider)
    transaction = mt.FileTransaction.begin("t1", "src/a.py")
    run.transaction(transaction)
    (snapshot,) = shown(run.prepare(CAPS))
    assert list(snapshot) == FIELDS
    assert snapshot["allowedNextActions"] == ["append", "abort"]
    transaction = transaction.append(revision=0, index=0)
    run.transaction(transaction)
    request = run.prepare(CAPS)
    assert [(one["expectedDraftRevision"], one["nextIndex"], one["status"]) for one in shown(request)] == [
        (1, 1, "drafting")
    ]
    assert mt.Segment.TRANSACTION in {share.segment for share in request.usage.shares}
    run.transaction(transaction.commit(revision=1))
    assert shown(run.prepare(CAPS)) == []


def test_moves_that_are_not_allowed_are_refused_with_what_is():
    begun = mt.FileTransaction.begin("t1", "a.py")
    drafting = begun.append(revision=0, index=0)
    for move, message in [
        (lambda: begun.commit(revision=0), "commit .* is begun; allowed now is append, abort"),
        (lambda: begun.append(revision=0, index=3), "piece 3 is not the next one, 0"),
        (lambda: drafting.append(revision=0, index=1), "draft revision 0 is not the present one, 1"),
        (lambda: drafting.commit(revision=0), "draft revision 0"),
        (lambda: drafting.abort().append(revision=1, index=1), "is aborted; allowed now is nothing"),
        (lambda: drafting.commit(revision=1).abort(), "is committed; allowed now is nothing"),
    ]:
        with pytest.raises(mt.TransactionRefused, match=message):
            move()
    with pytest.raises(mt.InputError):
        mt.FileTransaction.begin("", "a.py")
    with pytest.raises(mt.InputError, match="must be a FileTransaction"):
        ready("openai_chat")[1].transaction({"transactionId": "t"})


@given(st.lists(st.sampled_from(["append", "commit", "abort"]), max_size=12))
def test_an_allowed_move_is_accepted_and_every_other_refused(moves):
    now = mt.FileTransaction.begin("t", "a.py")
    for move in moves:
        do = {
            "append": lambda now: now.append(revision=now.revision, index=now.index),
            "commit": lambda now: now.commit(revision=now.revision),
            "abort": lambda now: now.abort(),
        }[move]
        if move in now.allowed:
            now = do(now)
        else:
            with pytest.raises(mt.TransactionRefused) as refusal:
                do(now)
            assert refusal.value.allowed == now.allowed
    assert now.snapshot().finished == (now.status in ("committed", "aborted"))


# --- todo -----------------------------------------------------------------------------------------------------------
@given(st.data())
def test_the_reminder_always_shows_goal_progress_and_next_within_its_budget(data):
    size = st.sampled_from([0, 1, 30, 4_000])
    plan = [Step("completed", "x")] * data.draw(size)
    plan += [Step("in_progress", f"NOW{i} " + "now " * data.draw(size)) for i in range(data.draw(st.integers(1, 3)))]
    plan += [Step("pending", f"NEXT{i} " + "next " * data.draw(size)) for i in range(data.draw(st.integers(1, 3)))]
    count = ADAPTERS["openai_chat"].count
    text = mt.Todo(tuple(plan), "GOAL " + "goal " * data.draw(size)).reminder(count)
    assert count(text) <= 500
    for part in ("goal: GOAL", "[in progress] NOW0", "[pending] NEXT0"):
        assert part in text


# --- what becomes of it ---------------------------------------------------------------------------------------------
def test_case_i7_a_kept_reminder_leaves_the_prefix_unbroken_and_is_sent_once(provider, kept):
    s, run = ready(provider, kept)
    run.todo([("in_progress", "STEP-ONE")])
    before = None
    for i in range(5):
        request = exchange(run, says("", f"c{i + 1}"))
        assert texts(request).count("STEP-ONE") == 1
        assert request.forecast.cause == ""
        assert request.usage.tokens == ADAPTERS[provider].estimate(ADAPTERS[provider].recount(request.body))
        if before is not None:
            end = b"".join(ADAPTERS[provider].tail_pieces(before._frame)) + b"]}"
            assert unmarked(request).startswith(unmarked(before).removesuffix(end))
        before = request
    run.todo([("completed", "STEP-ONE"), ("in_progress", "STEP-TWO")])
    assert texts(run.prepare(CAPS)).count("STEP-TWO") == 1
    assert not any(b"<todo>" in event for event in s.events_since(0))


def test_case_i8_kept_reminders_do_not_pile_up(provider, kept):
    s, run = ready(provider, kept)
    for i in range(60):
        run.todo([("in_progress", f"STEP-{i} " + "words " * 200)])
        exchange(run, says("", f"c{i + 1}"))
    request = run.prepare(CAPS)
    assert texts(request).count("<todo>") < 14
    assert "STEP-59" in texts(request)


def test_what_is_still_true_is_said_again_after_a_compaction(provider, kept):
    s, run = ready(provider, kept, window=9_000, reserve_output=1_000, keep_recent=500)
    run.todo([("in_progress", "STEP-ONE")])
    while run.prepare(CAPS).usage.state == "ok":
        work(run, 1)
    assert isinstance(compacted(s), mt.Committed)
    request = run.prepare(CAPS)
    assert "STEP-ONE" in texts(request)
    assert mt.Session.from_events(s.events_since(0)).run.prepare().body == run.prepare(CAPS).body


def test_a_kept_reminder_goes_into_the_newest_result_where_that_is_asked_for(provider):
    s, run = ready(provider, "in_result")
    run.todo([("in_progress", "STEP-ONE")])
    body = run.prepare(CAPS).to_dict()
    last = (body.get("messages") or body.get("contents") or body["input"])[-1]
    blocks = last.get("parts") or last.get("content")
    holders = [
        block
        for block in (blocks if isinstance(blocks, list) and last.get("role") != "tool" else [last])
        if "STEP-ONE" in json.dumps(block)
    ]
    assert [kind for holder in holders for kind, _ in answers(holder)] == ["result"]


def test_a_model_that_binds_its_reasoning_keeps_reminders_in_their_place_unless_told_otherwise():
    model = mt.Model(name="claude-bound", ratio=1.2, binds_reasoning=True)
    for tail, times in (("auto", 2), ("volatile", 1)):
        s = mt.Session("s", adapter=mt.providers.anthropic(model), policy=mt.Policy(tail=tail))
        run = s.start_run("go")
        for i in range(2):
            run.todo([("in_progress", f"STEP-{i}")])
            request = exchange(run, says("", f"c{i}"))
        assert texts(request).count("<todo>") == times


def test_a_plan_and_a_transaction_are_had_back_after_a_restart():
    run = session().start_run("go")
    run.todo([("in_progress", "write"), ("pending", "check")], goal="a file")
    writing = mt.FileTransaction.begin("t1", "notes.md").append(revision=0, index=0)
    run.transaction(writing)
    run = mt.Session.from_events(run.session.events_since(0)).run
    assert run.plan == mt.Todo((Step("in_progress", "write"), Step("pending", "check")), "a file")
    assert [mt.FileTransaction.from_snapshot(one) for one in run.transactions] == [writing]
    run.transaction(writing.abort())
    assert run.transactions == ()


def test_a_snapshot_of_something_else_is_no_transaction():
    odd = mt.TransactionSnapshot("t1", "a", "create", "chunks", "paused", 0, 0, ("resume",))
    with pytest.raises(mt.InputError, match="'paused' and allows resume"):
        mt.FileTransaction.from_snapshot(odd)


@pytest.mark.parametrize("plan", [None, 3, "plan", [None], ["x"], [("pending",)], [("pending", 1)]])
def test_what_is_no_plan_of_steps_is_refused(plan):
    run = session().start_run("go")
    with pytest.raises(mt.InputError, match=r"a plan is|must be a pair"):
        run.todo(plan)
