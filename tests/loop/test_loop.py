"""The loop: the order of commits, retries, reminders, approvals, compaction, and going on after a crash."""

from __future__ import annotations

import asyncio

import pytest

import muntin as mt
from agents import CAPS, READ, says, session, texts
from driving import Model, drive, kinds


@pytest.fixture(params=["loop", "aloop"])
def how(request):
    return request.param


def test_a_task_is_worked_on_until_nothing_is_called(how):
    run = session().start_run("go")
    events = drive(run, Model(says("", "c1", "c2"), says("done")), how=how)
    assert kinds(events) == ["Sending", "Answered", "ToolDone", "ToolDone", "Sending", "Answered"]
    assert events[-1].turn.text == "done"
    assert "output of c2" in texts(events[4].request)
    run.finish()


def test_what_is_sent_and_what_was_said_are_stored_first(how, tmp_path):
    seen = []
    with mt.open_store(f"sqlite:///{tmp_path}/a.db") as store:
        s = session()
        model = Model(says("", "c1"), says("done"))

        def ask(request):
            seen.append(("sent", s.stored_version == s.version))
            return model(request)

        def do(call):
            seen.append(("carried out", s.stored_version == s.version))
            return "ok"

        drive(s.start_run("go"), ask, do, how=how, store=store)
        assert seen == [("sent", True), ("carried out", True), ("sent", True)]
        assert store.load("s").version == s.version


def test_a_request_that_fails_is_made_again_and_a_lasting_failure_is_raised(how):
    run = session().start_run("go")
    model = Model(OSError("503"), says("done"))
    assert kinds(drive(run, model, how=how)) == ["Sending", "Retrying", "Sending", "Answered"]
    assert model.requests[0].body == model.requests[1].body
    with pytest.raises(OSError, match="503"):
        drive(run, Model(*[OSError("503")] * 9), how=how, retries=2)
    with pytest.raises(OSError, match="401"):
        drive(run, Model(OSError("401")), how=how, retryable=lambda _: False)
    with pytest.raises(mt.ResponseError):
        drive(run, Model({}), how=how)
    drive(run, Model(says("fine")), how=how)


def test_a_tool_that_fails_or_is_not_allowed_gives_its_reason_to_the_model(how):
    run = session().start_run("go")

    def do(call):
        raise ValueError("no such file")

    model = Model(says("", "c1", ("c2", "web_fetch")), says("done"))
    events = drive(run, model, do, how=how)
    done = [(event.call.id, event.is_error) for event in events if isinstance(event, mt.ToolDone)]
    assert sorted(done) == [("c1", True), ("c2", True)]
    assert "ValueError: no such file" in texts(model.requests[1])
    assert "no such tool is available now" in texts(model.requests[1])


def test_capabilities_are_asked_for_when_a_call_is_carried_out(how):
    run = session().start_run("go")
    snapshots = iter([CAPS, mt.Capabilities(), CAPS])
    model = Model(says("", "c1"), says("done"))
    drive(run, model, how=how, caps=lambda: next(snapshots))
    assert "not carried out" in texts(model.requests[1])


def test_an_empty_answer_and_prose_in_a_transaction_are_reminded_of_and_not_for_ever(how):
    run = session().start_run("go")
    model = Model(says(""), says("done"))
    drive(run, model, how=how)
    assert "empty_response" in texts(model.requests[1])
    run.transaction(mt.FileTransaction.begin("t1", "a.py"))
    model = Model(*[says("prose")] * 3)
    with pytest.raises(mt.LoopStopped, match="'transaction_prose'"):
        drive(run, model, how=how)
    assert "transaction_prose" in texts(model.requests[1])
    with pytest.raises(mt.LoopStopped, match="1 requests were made"):
        drive(run, Model(says("", "c1")), how=how, max_requests=1)


def test_calls_that_need_a_decision_end_the_loop_until_there_is_one(how):
    s = session()
    run = s.start_run("go")
    model = Model(says("", "c1", "c2", "c3"), says("done"))
    events = drive(run, model, how=how, needs_approval=lambda call: call.id != "c1")
    assert [call.id for call in events[-1].calls] == ["c2", "c3"]
    s = mt.Session.from_events(s.events_since(0))
    run = s.run
    run.approve("c2")
    run.deny("c3")
    events = drive(run, model, how=how)
    body = texts(model.requests[-1])
    assert "output of c2" in body
    assert "a person denied it" in body
    assert kinds(events)[-1] == "Answered"


def test_calls_that_a_crash_left_open_are_not_carried_out_twice(how):
    s = session()
    run = s.start_run("go")
    run.record(run.prepare(CAPS), says("", "c1"))
    s = mt.Session.from_events(s.events_since(0))
    model = Model(says("done"))
    drive(s.run, model, lambda call: pytest.fail("carried out again"), how=how)
    assert "interrupted" in texts(model.requests[0])


def test_case_e6_a_window_that_fills_up_is_compacted_and_the_task_stays(how):
    policy = mt.Policy(window=9_000, reserve_output=1_000, keep_recent=500)
    run = session(policy=policy).start_run("THE-TASK")
    answers = [says("", f"c{i}") for i in range(40)]
    model = Model(*answers, says("done"))
    events = drive(run, model, lambda call: "word " * 400, how=how)
    compactions = [event.outcome for event in events if isinstance(event, mt.CompactionDone)]
    assert compactions
    assert all(isinstance(one, mt.Committed) for one in compactions)
    assert all("THE-TASK" in texts(request) for request in model.requests)


@pytest.mark.parametrize("summary", ["", {"no": "summary"}, OSError("down")])
def test_case_c3_a_summariser_that_fails_is_not_asked_for_ever_and_the_work_goes_on_without_it(how, summary):
    policy = mt.Policy(window=9_000, reserve_output=1_000, keep_recent=500)
    run = session(policy=policy).start_run("THE-TASK")
    asked = []

    def summarizer(request):
        asked.append(request)
        if isinstance(summary, OSError):
            raise summary
        return summary

    model = Model(*[says("", f"c{i}") for i in range(60)], says("done"))
    events = drive(run, model, lambda call: "word " * 200, how=how, summarizer=summarizer)
    outcomes = [event.outcome for event in events if isinstance(event, mt.CompactionDone)]
    views = sum(isinstance(outcome, mt.Committed) for outcome in outcomes)  # without a model, at the wall
    assert run.session.epoch == views
    assert 0 < views <= 6
    assert len(asked) <= 4 * (views + 1)
    assert all("THE-TASK" in texts(request) for request in model.requests)


def test_case_c1_a_floor_above_the_window_is_refused_without_a_call(how):
    s = session(system="rule " * 3_000, policy=mt.Policy(window=2_000, reserve_output=500))
    model = Model()
    with pytest.raises(mt.ContextOverflow):
        drive(s.start_run("go"), model, how=how)
    assert not model.requests


def test_the_calls_of_a_turn_are_carried_out_at_the_same_time():
    both = asyncio.Event()
    started = []

    async def ask(request):
        return says("", "c1", "c2") if not started else says("done")

    async def do(call):
        started.append(call.id)
        if len(started) == 2:
            both.set()
        await asyncio.wait_for(both.wait(), 5)
        return "ok"

    async def collect():
        run = session().start_run("go")
        return [event async for event in mt.aloop(run, mt.Capabilities(stable=[READ]), ask, do)]

    assert kinds(asyncio.run(collect()))[-1] == "Answered"


def test_a_failure_that_waiting_does_not_help_is_raised_at_once(how):
    run = session().start_run("go")
    with pytest.raises(RuntimeError, match="insufficient"):
        drive(run, Model(RuntimeError("insufficient balance"), says("done")), how=how)
    run.record(run.prepare(CAPS), says("fine"))


def test_case_i12_a_loop_that_goes_by_cost_shortens_a_view_that_is_not_full(how):
    policy = mt.Policy(window=120_000, reserve_output=1_000, keep_recent=500)
    run = session("anthropic", policy=policy).start_run("THE-TASK")
    model = Model(*[says("", f"c{i}") for i in range(40)], says("done"))
    events = drive(run, model, lambda call: "word " * 400, how=how, by_cost=True)
    outcomes = [event.outcome for event in events if isinstance(event, mt.CompactionDone)]
    assert outcomes
    assert all(isinstance(one, mt.Committed) for one in outcomes)
    assert max(request.usage.tokens for request in model.requests) < 12_000
    assert len(outcomes) < 15


def test_a_failure_that_is_given_as_an_answer_is_one(how):
    run = session("anthropic").start_run("go")
    overloaded = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    assert "Retrying" in kinds(drive(run, Model(overloaded, says("done")), how=how))
    run = session("openai_chat").start_run("go")
    spent = {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}
    with pytest.raises(mt.ResponseError, match=r"You exceeded your current quota.*; give it to Run\.fail"):
        drive(run, Model(spent), how=how)


def test_an_output_that_cannot_be_shown_is_an_error_of_the_tool(how):
    run = session("anthropic").start_run("go")
    events = drive(run, Model(says("", "c1"), says("done")), lambda _: object(), how=how)
    assert [event.is_error for event in events if isinstance(event, mt.ToolDone)] == [True]
    assert "cannot be shown" in texts(run.prepare(CAPS))


@pytest.mark.filterwarnings("ignore:the provider says that its window")
def test_a_window_that_is_smaller_than_the_policy_says_is_recovered_from(how):
    policy = mt.Policy(window=60_000, reserve_output=1_000, keep_recent=500)
    run = session("anthropic", policy=policy).start_run("THE-TASK")

    class Small(Model):
        def __call__(self, request):
            if request.usage.tokens > 9_000:
                refused.append(request)
                raise RuntimeError(f"prompt is too long: {request.usage.tokens} tokens > 9000 maximum")
            return super().__call__(request)

    refused = []
    model = Small(*[says("", f"c{i}") for i in range(30)], says("done"))
    events = drive(run, model, lambda _: "word " * 500, how=how)
    assert len(refused) == 1  # after that the loop plans with the window that it has seen
    assert run.session.policy.window == 9_000
    assert kinds(events)[-1] == "Answered"
    assert all("THE-TASK" in texts(request) for request in model.requests)


def test_parameters_may_change_with_the_provider(how):
    run = session().start_run("go")
    adapter = mt.providers.anthropic("claude-sonnet-4-5")

    def params():
        return {} if run.session.adapter is adapter else {"parallel_tool_calls": False}

    def switch(call):
        run.session.use(adapter)
        return "ok"

    model = Model(says("", "c1"), says("done"))
    drive(run, model, switch, how=how, params=params)
    before, after = (request.to_dict() for request in model.requests)
    assert before["parallel_tool_calls"] is False
    assert "parallel_tool_calls" not in after
    assert "system" in after
