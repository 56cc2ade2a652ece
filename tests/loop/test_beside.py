"""What goes on beside a loop (commits, summaries), what breaks off, and what is too large in other ways than tokens."""

from __future__ import annotations

import asyncio
import threading
import time

import pytest

import muntin as mt
from agents import CAPS, READ, says, session, summary, texts
from driving import Model, drive, kinds

SMALL = mt.Policy(window=9_000, reserve_output=1_000, keep_recent=500)


@pytest.fixture(params=["loop", "aloop"])
def how(request):
    return request.param


def test_case_l9_a_summary_is_written_while_the_run_goes_on(how):
    run = session(policy=SMALL).start_run("THE-TASK")
    sent, summarised = [], []
    go_on = threading.Event()

    def ask(request):
        sent.append(request)
        if summarised:
            go_on.set()  # a request was made while the summary was being written
        return says("", f"c{len(sent)}") if len(sent) < 40 else says("done")

    def summarizer(request):
        summarised.append(request)
        assert go_on.wait(20)
        return says(summary("Do THE-TASK."))

    events = drive(run, ask, lambda _: "word " * 300, how=how, summarizer=summarizer)
    outcomes = [event.outcome for event in events if isinstance(event, mt.CompactionDone)]
    assert outcomes
    assert all(isinstance(one, mt.Committed) for one in outcomes)
    assert any("Do THE-TASK." in texts(request) for request in sent)
    assert all("THE-TASK" in texts(request) for request in sent)


def test_a_full_window_waits_for_the_summary_that_is_on_its_way(how):
    run = session(policy=SMALL).start_run("go")
    begun = []

    def summarizer(request):
        begun.append(request)
        time.sleep(0.2)  # the model is much quicker than that
        return says(summary())

    model = Model(*[says("", f"c{i}") for i in range(30)], says("done"))
    events = drive(run, model, lambda _: "word " * 300, how=how, summarizer=summarizer)
    assert kinds(events).count("CompactionDone") >= 1
    assert kinds(events)[-1] in ("Answered", "CompactionDone")
    assert run.prepare(CAPS).usage.state != "full"


def test_a_summary_that_is_on_its_way_when_the_work_is_done_is_taken_all_the_same(how):
    s = session(policy=SMALL)
    run = s.start_run("go")
    model = Model(*[says("", f"c{i}") for i in range(9)], says("done"))

    def summarizer(_):
        time.sleep(0.1)
        return says(summary())

    events = drive(run, model, lambda _: "word " * 700, how=how, summarizer=summarizer)
    answered = kinds(events)
    assert "CompactionDone" in answered[answered.index("Answered") :]
    assert s.epoch >= 1


def test_in_the_foreground_the_request_that_fills_the_window_is_not_sent(how):
    run = session(policy=SMALL).start_run("go")
    model = Model(*[says("", f"c{i}") for i in range(30)], says("done"))
    drive(run, model, lambda _: "word " * 300, how=how, background=False)
    assert all(request.usage.state == "ok" for request in model.requests)


def test_an_asynchronous_loop_is_not_held_up_by_commits_or_a_summarizer():
    threads = []

    class Slow:
        def commit(self, session):
            threads.append(threading.current_thread())
            time.sleep(0.02)
            session.mark_stored(session.version)

    def summarizer(_):
        threads.append(threading.current_thread())
        return says(summary())

    async def ask(_):
        return answers.pop(0)

    async def do(_):
        return "word " * 300

    answers = [*[says("", f"c{i}") for i in range(25)], says("done")]

    async def work():
        beats = 0

        async def beat():
            nonlocal beats
            while True:
                await asyncio.sleep(0.005)
                beats += 1

        heart = asyncio.create_task(beat())
        run = session(policy=SMALL).start_run("go")
        caps = mt.Capabilities(stable=[READ])
        async for _ in mt.aloop(run, caps, ask, do, store=Slow(), summarizer=summarizer):
            pass
        heart.cancel()
        return beats

    assert asyncio.run(work()) > 50
    assert threads
    assert threading.main_thread() not in threads


def test_a_cancelled_loop_leaves_no_summary_behind():
    stopped = []

    async def summarizer(_):
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            stopped.append(True)
            raise

    async def ask(request):
        return says("", f"c{request.number}")

    async def do(_):
        return "word " * 400

    async def work():
        run = session(policy=SMALL).start_run("go")

        async def loop():
            async for _ in mt.aloop(run, CAPS, ask, do, summarizer=summarizer):
                pass

        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(loop(), 0.5)
        await asyncio.sleep(0)
        return run

    run = asyncio.run(work())
    assert stopped == [True]
    assert not run.session.open_calls or run.session.run is run


def test_a_stream_that_breaks_off_is_made_again(how):
    for provider, events in (
        ("openai_chat", [{"choices": [{"delta": {"content": "half of"}}]}]),  # and then the line is dead
        ("anthropic", [{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}]),
        ("openai_chat", [{"error": {"message": "upstream", "code": 502}}]),
    ):
        run = session(provider).start_run("go")
        tries = []

        def ask(request, run=run, tries=tries, events=events):
            tries.append(request.body)
            if len(tries) > 1:
                return says("done")
            stream = run.stream(request)
            for event in events:
                stream.feed(event)
            return stream.commit()

        assert kinds(drive(run, ask, how=how)) == ["Sending", "Retrying", "Sending", "Answered"]
        assert tries[0] == tries[1]


def test_a_stream_whose_turn_was_committed_is_recorded_once(how):
    run = session().start_run("go")

    def ask(request):
        stream = run.stream(request)
        stream.feed({"choices": [{"delta": {"content": "done"}, "finish_reason": "stop"}]})
        return stream.commit()

    events = drive(run, ask, how=how)
    assert kinds(events) == ["Sending", "Answered"]
    assert events[-1].turn.text == "done"


def test_a_stream_that_the_provider_refuses_is_not_made_again(how):
    run = session("anthropic").start_run("go")

    def ask(request):
        stream = run.stream(request)
        stream.feed({"type": "error", "error": {"type": "authentication_error", "message": "no"}})

    with pytest.raises(mt.StreamBroken):
        drive(run, ask, how=how)


def test_case_g5_a_loop_clears_old_screenshots_before_there_are_too_many(how):
    run = session(policy=mt.Policy(max_images=10)).start_run("look")
    model = Model(*[says("", f"c{i}") for i in range(40)], says("done"))
    pixel = mt.Image("image/png", data="aWJt", width=1, height=1)
    events = drive(run, model, lambda _: [mt.Text("the screen"), pixel], how=how)
    assert kinds(events)[-1] == "Answered"
    assert max(request.usage.images for request in model.requests) <= 10
    assert kinds(events).count("CompactionDone") <= 8


def test_an_mcp_error_is_told_as_one(how):
    run = session().start_run("go")
    output = {"content": [{"type": "text", "text": "no such table"}], "isError": True}
    model = Model(says("", "c1"), says("done"))
    events = drive(run, model, lambda _: output, how=how)
    assert [event.is_error for event in events if isinstance(event, mt.ToolDone)] == [True]
    assert "no such table" in texts(model.requests[1])


def test_a_loop_that_stops_leaves_no_plan_in_flight():
    run = session(policy=SMALL).start_run("THE-TASK")
    asked, go_on = [], threading.Event()

    def ask(request):
        return says("", f"c{request.number}")

    def summarizer(request):
        asked.append(request)
        go_on.wait(20)
        return "too late"

    # The exception is kept, and with it the frames of the loop and all that they refer to.
    with pytest.raises(mt.LoopStopped) as kept:
        drive(run, ask, lambda _: "word " * 300, summarizer=summarizer, max_requests=21)
    go_on.set()
    assert asked
    assert kept.value.__traceback__
    assert run.session.plan_compaction().is_open


def test_a_tool_that_answers_its_call_itself_takes_nothing_from_the_others(how):
    run = session().start_run("THE-TASK")
    model = Model(says("", "a", "b"), says("done"))

    def carry_out(call):
        if call.id == "a":
            run.tool_pending(call, "started")
        return "RESULT-OF-" + call.id

    drive(run, model, carry_out, how=how)
    shown = str(texts(run.prepare(CAPS)))
    assert "started" in shown
    assert "RESULT-OF-b" in shown
    assert "RESULT-OF-a" not in shown
