"""Long tasks: what stays in view for days, and the focused task that starts from what was confirmed (R8.1)."""

from __future__ import annotations

import pytest

import muntin as mt
from agents import ADAPTERS, CAPS, compacted, exchange, fill, says, session, texts

TASK = mt.LongTask(
    goal="MOVE-TO-POSTGRES",
    done_when="all tests pass on both",
    constraints=("NEVER-PUSH-TO-MAIN",),
    milestones=(mt.Milestone("schema"), mt.Milestone("queries")),
)


@pytest.fixture(params=sorted(ADAPTERS))
def provider(request):
    return request.param


def test_case_e3_goal_constraints_and_end_survive_compactions_word_for_word(provider):
    policy = mt.Policy(window=9_000, reserve_output=1_000, keep_recent=500)
    s = session(provider, policy=policy)
    run = s.start_run("go", task=TASK)
    for round in range(3):
        run.long_task(run.task.progress("schema", facts=[f"FACT-{round}"]).constrained(f"RULE-{round}"))
        fill(run)
        assert isinstance(compacted(s), mt.Committed)
    run = mt.Session.from_events(s.events_since(0)).run
    behind = texts(run.prepare(CAPS)).split("</summary>")[1]
    for text in (
        "MOVE-TO-POSTGRES",
        "all tests pass on both",
        "NEVER-PUSH-TO-MAIN",
        "RULE-0",
        "RULE-2",
        "FACT-0",
        "FACT-2",
    ):
        assert text in behind
    assert run.task.milestones[0].facts == ("FACT-0", "FACT-1", "FACT-2")


def test_a_change_of_one_milestone_is_a_small_diff(provider):
    s = session(provider)
    run = s.start_run("go", task=TASK, state={"browser": "off"})
    exchange(run, says("", "c1"))
    run.long_task(TASK.progress("queries", remaining=["the report"]))
    version = s.version
    run.long_task(run.task)
    assert s.version == version
    (entry,) = [entry for entry in s.history() if isinstance(entry.item, mt.StateDiff)]
    assert entry.item.changes == {"task": {"milestones": {"02": {"remaining": ["the report"]}}}}
    assert run.prepare(CAPS).forecast.cause == ""


def test_the_next_stage_starts_from_what_was_confirmed_in_a_fresh_window(provider):
    s = session(provider, state={"branch": "pg"})
    run = s.start_run("THE-LONG-WAY", task=TASK)
    exchange(run, says("TRIED-THIS-AND-THAT", "c1"))
    run.long_task(run.task.progress("schema", facts=["12 tables moved, see report.txt"], reached=True))
    stage = s.next_stage("s/2", inputs=["Mind the indexes."])
    run.finish()
    body = texts(stage.prepare(CAPS))
    for text in ("MOVE-TO-POSTGRES", "NEVER-PUSH-TO-MAIN", "12 tables moved", "- queries", "Mind the indexes.", '"pg'):
        assert text.strip('"') in body
    assert "THE-LONG-WAY" not in body
    assert "TRIED-THIS-AND-THAT" not in body
    assert [one.title for one in stage.task.milestones] == ["queries"]
    with pytest.raises(mt.RunStateError, match="no long task"):
        s.next_stage("s/3")


def test_a_task_is_done_when_all_its_milestones_are_reached():
    task = TASK.progress("schema", remaining=["indexes"])
    assert task.milestones[0].remaining == ("indexes",)
    task = task.progress("schema", reached=True)
    assert task.milestones[0].remaining == ()
    assert not task.is_done
    task = task.progress("queries", reached=True)
    assert task.is_done
    assert "check that the task is done" in task.handover()
    assert not task.progress("docs").is_done
    assert mt.LongTask.from_state(task.state()) == task
    assert mt.LongTask.from_state(TASK.state()) == TASK
    assert not mt.LongTask(goal="x", done_when="y").is_done


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mt.LongTask(goal=" ", done_when="x"), "needs a goal"),
        (lambda: mt.LongTask(goal="x", done_when=""), "a way to tell that it is done"),
        (lambda: mt.LongTask(goal="x", done_when="y", milestones=(mt.Milestone("a"),) * 2), "'a' is given twice"),
        (lambda: mt.LongTask.from_state({"goal": "x"}), "no long task"),
    ],
)
def test_a_task_without_an_end_is_refused(make, message):
    with pytest.raises(mt.InputError, match=message):
        make()
