"""What comes in while a run goes on: answers, decisions, waiting, late results, what broke (R2.1, R3.5)."""

from __future__ import annotations

import pytest

import muntin as mt
from agents import ADAPTERS, CAPS, compacted, exchange, says, session, texts, unmarked
from streams import streamed


@pytest.fixture(params=sorted(ADAPTERS))
def provider(request):
    return request.param


def test_a_run_waits_for_a_person_and_goes_on_with_the_answer(provider):
    s = session(provider)
    run = s.start_run("go")
    run.record(run.prepare(CAPS), says("", "c1"))
    run.wait("the answer to c1")
    s = mt.Session.from_events(s.events_since(0))
    run = s.run
    assert run.waiting == "the answer to c1"
    with pytest.raises(mt.RunStateError, match=r"waits for the answer to c1.*Run\.resume"):
        run.prepare(CAPS)
    run.answer("c1", "BLUE")
    run.tool_result("c1", "answered")
    assert run.waiting == ""
    assert '<answer call=\\"c1\\">\\nBLUE' in texts(run.prepare(CAPS))


@pytest.mark.parametrize("go_on", ["guide", "approve", "deny", "resume", "finish"])
def test_guidance_a_decision_or_resuming_ends_the_waiting(go_on):
    s = session()
    run = s.start_run("go")
    run.record(run.prepare(CAPS), says("", "c1"))
    run.wait()
    {
        "guide": lambda: run.guide("go on"),
        "approve": lambda: run.approve("c1"),
        "deny": lambda: run.deny("c1"),
        "resume": run.resume,
        "finish": run.finish,
    }[go_on]()
    (s.run or s.start_run("next")).prepare(CAPS)


def test_what_was_ignored_and_what_broke_stand_where_they_happened(provider):
    run = session(provider).start_run("go")
    exchange(run, says("FIRST", "c1"))
    run.ignore("Which port?", why="no answer for an hour", call="c1")
    run.recover("The application was restarted.")
    exchange(run, says("SECOND", "c2"))
    body = texts(run.prepare(CAPS))
    marks = ["FIRST", "Which port?", "no answer for an hour", "<recovery>", "SECOND"]
    places = [body.index(mark) for mark in marks]
    assert places == sorted(places)
    with pytest.raises(mt.UnknownCall):
        run.ignore("what", call="nope")


def test_a_call_in_the_background_is_answered_now_and_its_result_comes_later(provider):
    s = session(provider)
    run = s.start_run("go")
    run.record(run.prepare(CAPS), says("", "c1"))
    run.tool_pending("c1", "job 7")
    before = exchange(run, says("meanwhile", "c2"))
    run.finish()
    s = mt.Session.from_events(s.events_since(0))
    run = s.start_run("next")
    run.tool_late("c1", "REAL-RESULT")
    request = run.prepare(CAPS)
    body = texts(request)
    assert body.index("job 7") < body.index("meanwhile") < body.index("next") < body.index("REAL-RESULT")
    assert request.forecast.cause == ""
    assert unmarked(request).startswith(unmarked(before)[: unmarked(before).index(b"job 7")])
    assert not s.repairs
    with pytest.raises(mt.UnknownCall, match="nothing is awaited of call 'c1'"):
        run.tool_late("c1", "again")


def test_a_late_result_before_the_next_request_stands_behind_its_batch(provider):
    run = session(provider).start_run("go")
    run.record(run.prepare(CAPS), says("", "c1", "c2"))
    run.tool_pending("c1")
    run.tool_late("c1", "REAL-RESULT", is_error=True)
    run.tool_result("c2", "OTHER-RESULT")
    body = texts(run.prepare(CAPS))
    assert body.index("still running") < body.index("OTHER-RESULT") < body.index("late_error")
    with pytest.raises(mt.DuplicateResult):
        run.tool_result("c1", "x")


# --- other providers, children, going back --------------------------------------------------------------------------
def other_of(provider):
    return ADAPTERS["anthropic" if provider == "openai_chat" else "openai_chat"]


def test_a_session_goes_on_with_another_provider_as_if_it_had_always_used_it(provider):
    s = session(provider, state={"n": 1})
    run = s.start_run("go")
    for i in range(3):
        exchange(run, says(f"answer {i}", f"c{i}"))
    inflight = run.prepare(CAPS)
    plan_before = s.epoch
    s.use(other_of(provider))
    answer = inflight.adapter.accumulator()
    for event in streamed(provider, "late answer"):
        answer.feed(event)
    run.record(inflight, answer.response())
    request = run.prepare(CAPS)
    assert request.adapter.provider != inflight.adapter.provider
    assert "late answer" in texts(request)
    assert request.forecast.cause.startswith("model changed")
    assert s.epoch > plan_before
    again = mt.Session.from_events(s.events_since(0))
    assert again.adapter.provider == s.adapter.provider
    assert again.run.prepare(CAPS).body == run.prepare(CAPS).body


def test_another_provider_is_held_to_its_own_window_and_tools(provider):
    s = session(provider)
    run = s.start_run("word " * 3_000)
    run.prepare(CAPS)
    small = mt.Model(name="small", window=3_000, max_output=500)
    s.use(type(other_of(provider))(small))
    with pytest.raises(mt.ContextOverflow):
        run.prepare(CAPS)
    with pytest.raises(mt.InputError, match="use an adapter"):
        s.use("gpt-5")


def test_a_plan_from_before_another_provider_is_stale(provider):
    s = session(provider, policy=mt.Policy(window=9_000, reserve_output=1_000, keep_recent=500))
    run = s.start_run("go")
    for i in range(8):
        exchange(run, says("", f"c{i}"), "word " * 500)
    plan = s.plan_compaction()
    s.use(other_of(provider))
    outcome = s.commit_compaction(plan.run(mt.ExtractiveSummarizer()))
    assert isinstance(outcome, mt.Rejected)
    assert outcome.reason == "stale view"


def test_case_i14_a_child_that_inherits_the_prefix_begins_with_the_same_bytes(provider):
    s = session(provider)
    run = s.start_run("go")
    exchange(run, says("one", "c1"))
    request = run.prepare(CAPS)
    run.record(request, says("", ("task", "read_file")))
    child = s.child("s/a", inherit="prefix")
    theirs = child.start_run("PART").prepare(CAPS)
    end = b"".join(ADAPTERS[provider].tail_pieces(request._frame)) + b"]}"
    assert unmarked(theirs).startswith(unmarked(request).removesuffix(end))
    assert "PART" not in texts(run.prepare(CAPS))
    assert s.open_calls
    assert not child.open_calls
    with pytest.raises(mt.InputError, match="inherit='state'"):
        s.child("s/b", system="OTHER", inherit="prefix")


def test_a_child_has_its_own_history_and_what_state_it_is_given(provider):
    s = session(provider, state={"branch": "main"}, tenant="acme")
    exchange(s.start_run("PARENT-TASK"), says("done"), caps=mt.Capabilities(stable=CAPS.stable, switches={"web": True}))
    s.update_state({"branch": "fix"})
    child = s.child("s/a", system="CHILD-SYSTEM")
    body = texts(child.start_run("PART").prepare(CAPS))
    assert "CHILD-SYSTEM" in body
    assert "PARENT-TASK" not in body
    assert (child.state, child.tenant) == ({"branch": "fix"}, "acme")
    assert s.child("s/b", inherit="nothing").state == {}


def test_case_k4_rewinding_goes_by_entries_and_deletes_nothing(provider):
    s = session(provider)
    run = s.start_run("go")
    exchange(run, says("ONE", "c1"))
    before = run.prepare(CAPS)
    here = s.last_entry
    exchange(run, says("TWO", "c2"))
    exchange(run, says("", "c3"))
    run.finish()
    s.start_run("OTHER-TASK")
    count = len(list(s.history()))
    s.rewind(here)
    run = s.run
    assert run.number == 1
    request = run.prepare(CAPS)
    assert unmarked(request) == unmarked(before)
    assert request.forecast.cause == "rewinding"
    assert len(list(s.history())) == count
    turn = run.record(request, says("THREE", "c2"))
    assert [call.id for call in turn.tool_calls] == ["c2-2"]
    assert [entry.id for entry in s.history()] == list(range(count + 1))
    run.finish()
    assert s.start_run("next").number == 3
    again = mt.Session.from_events(s.events_since(0))
    assert again.run.prepare(CAPS).body == s.run.prepare(CAPS).body
    with pytest.raises(mt.InputError, match="no entry 999"):
        s.rewind(999)


def test_going_back_again_and_again_does_no_work_twice(provider):
    s = session(provider, policy=mt.Policy(window=9_000, reserve_output=1_000, keep_recent=500))
    run = s.start_run("go")
    filled(s, run)
    assert isinstance(compacted(s), mt.Committed)
    for i in range(60):
        exchange(s.run, says("", f"c{i}"), f"KEPT-{i}")
        here = s.last_entry
        exchange(s.run, says("", f"d{i}"), f"GONE-{i}")
        s.rewind(here)
    body = texts(s.run.prepare(CAPS))
    assert body.count("KEPT-") == 60
    assert "GONE-" not in body
    again = mt.Session.from_events(s.events_since(0))
    assert again.run.prepare(CAPS).body == s.run.prepare(CAPS).body


def test_case_k4_rewinding_across_a_compaction_brings_the_old_view_back(provider):
    s = session(provider, policy=mt.Policy(window=9_000, reserve_output=1_000, keep_recent=500))
    run = s.start_run("go")
    for i in range(8):
        exchange(run, says("", f"c{i}"), "word " * 500)
    here, before = s.last_entry, run.prepare(CAPS)
    assert isinstance(s.commit_compaction(s.plan_compaction().run(mt.ExtractiveSummarizer())), mt.Committed)
    exchange(run, says("LATER", "c"))
    epoch = s.epoch
    s.rewind(here)
    assert unmarked(s.run.prepare(CAPS)) == unmarked(before)
    assert s.epoch > epoch
    s.rewind(s.last_entry)
    assert "LATER" in texts(s.run.prepare(CAPS))


# --- other cases from the field -------------------------------------------------------------------------------------
def filled(s, run):
    while run.prepare(CAPS).usage.state == "ok":
        exchange(run, says("", f"fill{s.version}"), "word " * 500)


def test_case_e5_calls_that_still_run_are_not_forgotten_by_a_compaction(provider):
    s = session(provider, policy=mt.Policy(window=9_000, reserve_output=1_000, keep_recent=500))
    run = s.start_run("go")
    run.record(run.prepare(CAPS), says("", "job"))
    run.tool_pending("job", "started")
    for _ in range(2):
        filled(s, run)
        assert isinstance(compacted(s), mt.Committed)
        behind = texts(run.prepare(CAPS)).split("</summary>")[1]
        assert behind.count("Still running") == 1
        assert "job: read_file" in behind
    run.tool_late("job", "REAL-RESULT")
    filled(s, run)
    assert isinstance(compacted(s), mt.Committed)
    assert "Still running" not in texts(run.prepare(CAPS)).split("</summary>")[1]


def test_case_e1_the_plan_is_shown_from_the_store_after_a_compaction(provider):
    s = session(provider, policy=mt.Policy(window=9_000, reserve_output=1_000, keep_recent=500))
    run = s.start_run("go")
    run.todo([("completed", "ONE"), ("in_progress", "TWO"), ("pending", "THREE"), ("pending", "FOUR")])
    filled(s, run)
    assert isinstance(compacted(s), mt.Committed)
    behind = texts(run.prepare(CAPS)).split("</summary>")[1]
    assert all(step in behind for step in ("TWO", "THREE", "FOUR"))


def test_case_e2_skills_activated_on_the_way_stay_word_for_word(provider):
    s = session(provider, policy=mt.Policy(window=9_000, reserve_output=1_000, keep_recent=500))
    run = s.start_run("go", skills=[mt.SkillText("first", "SKILL-AT-START")])
    exchange(run, says("", "c1"))
    run.activate_skill(mt.SkillText("later", "SKILL-ON-THE-WAY"))
    filled(s, run)
    assert isinstance(compacted(s), mt.Committed)
    behind = texts(run.prepare(CAPS)).split("</summary>")[1]
    assert behind.index("go") < behind.index("SKILL-AT-START") < behind.index("SKILL-ON-THE-WAY")


@pytest.mark.parametrize("given", [0, 1, 4])
def test_case_b5_and_b9_every_call_of_a_batch_is_answered_whatever_was_saved(provider, given):
    s = session(provider)
    run = s.start_run("go")
    run.record(run.prepare(CAPS), says("", *(f"c{i}" for i in range(5))))
    for i in range(given):
        run.tool_result(f"c{i}", "ok")
    s = mt.Session.from_events(s.events_since(0))
    body = texts(s.run.prepare(CAPS))
    assert body.count("interrupted") == 5 - given
    assert [repair.kind for repair in s.repairs] == ["dangling"] * (5 - given)


def test_case_a14_a_decision_on_a_call_never_stands_between_it_and_its_result(provider):
    s = session(provider, policy=mt.Policy(window=9_000, reserve_output=1_000, keep_recent=500))
    run = s.start_run("go")
    for i in range(8):
        run.record(run.prepare(CAPS), says("", f"c{i}", f"d{i}"))
        run.request_approval(f"c{i}")
        run.approve(f"c{i}")
        run.tool_result(f"c{i}", "word " * 250)
        run.deny(f"d{i}", why="no")
        run.tool_result(f"d{i}", "word " * 250)
    assert isinstance(compacted(s), mt.Committed)
    run.prepare(CAPS)
    assert not s.repairs


def test_case_k2_a_fork_after_a_compaction_has_the_whole_of_what_was_kept(provider):
    s = session(provider, policy=mt.Policy(window=9_000, reserve_output=1_000, keep_recent=500))
    run = s.start_run("go")
    filled(s, run)
    assert isinstance(compacted(s), mt.Committed)
    body = run.prepare(CAPS).body
    assert s.fork("now").run.prepare(CAPS).body == body
    assert unmarked(s.fork("then", at=s.last_entry).run.prepare(CAPS)) == unmarked(body)
    assert not s.fork("other").repairs


def test_case_i4_five_rounds_have_one_and_the_same_beginning(provider):
    s = session(provider, state={"branch": "main"})
    run = s.start_run("go", catalogue="CATALOGUE", collaboration="COLLABORATION")
    fronts = []
    for i in range(5):
        run.todo([("in_progress", f"step {i}")])
        run.activate_skill(mt.SkillText(f"skill-{i}", "text"))
        s.update_state({"branch": f"branch-{i}"})
        run.repair("own", f"reminder {i}")
        request = exchange(run, says("", f"c{i}"))
        fronts.append(unmarked(request).partition(b'"go"')[0])
    assert all(front == fronts[0] for front in fronts)


def test_case_b7_mending_the_wire_leaves_the_journal_as_it_is(provider):
    s = session(provider)
    run = s.start_run("go")
    run.record(run.prepare(CAPS), says("", "c1", "c1"))
    before = s.events_since(0)
    run.prepare(CAPS)
    assert s.repairs
    assert s.events_since(0)[: len(before)] == before
    assert b"interrupted" not in b"".join(s.events_since(0))


def test_case_m2_two_sessions_of_one_adapter_share_nothing(provider):
    one, other = session(provider), session(provider)
    mine, theirs = one.start_run("MINE"), other.start_run("THEIRS")
    mine.todo([("in_progress", "MY-STEP")])
    mine.repair("own", "MY-REMINDER")
    mine.transaction(mt.FileTransaction.begin("mine", "a.py"))
    exchange(mine, says("", "c1"))
    exchange(theirs, says("", "c1"))
    body = texts(theirs.prepare(CAPS))
    assert not [text for text in ("MINE", "MY-STEP", "MY-REMINDER", "file_transaction") if text in body]


@pytest.mark.parametrize("entry", [None, "3", [], 1.5])
def test_what_is_no_entry_is_refused(entry):
    s = session()
    s.start_run("go")
    with pytest.raises(mt.InputError, match="named by its id"):
        s.rewind(entry)
    with pytest.raises(mt.InputError, match="named by its id"):
        s.fork("other", at="3" if entry is None else entry)
