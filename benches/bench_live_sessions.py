"""A thousand live sessions in one process: what the next request of any of them costs, bodies left out.

Each has a system prompt, nine tools and a guide, a skill catalogue, a skill, world state, a history of some 240 units
in eight runs, an open run with a plan and a file transaction, and nothing in common with the others. Rates are requests
for each second of processor time, so that other work on the machine does not count.
"""

from __future__ import annotations

import argparse
import functools
import time
from pathlib import Path

import pytest

import muntin as mt

SESSIONS = 1_000
SOURCE = Path(argparse.__file__).read_text(encoding="utf-8")
MODEL = mt.Model(name="bench", window=200_000, max_output=16_000)
PATH = {"type": "object", "properties": {"path": {"type": "string", "description": "Where it is."}}}
CAPS = mt.Capabilities(
    stable=[mt.Tool(f"tool_{i}", f"Does something of kind {i} with a file.", PATH) for i in range(8)],
    dynamic=[mt.Tool("web_fetch", "Fetch a page.", {"type": "object", "properties": {}}, "web")],
    guides={"web": "Fetch a page before you quote it."},
    switches={"web": True},
)
SKILL = mt.SkillText("release", "Run the tests, then the linters, then tag.\n" * 8)
PROMISED = 20_000
"""Requests a second on one core of an ordinary machine."""
SLACK = 0.5
"""What a busy or slow machine may leave of that; a body that is made, or work that grows, leaves less."""
BATCH = 27
"""Calls of one turn: few requests make a history of many units."""


def a_session(number: int, adapter: mt.providers.Adapter) -> mt.Session:
    """A session in the middle of its work."""
    session = mt.Session(
        f"s-{number}",
        adapter=adapter,
        system=mt.System(rules=f"You work for customer {number}. Be careful.", tool_guidance="Read before you write."),
        state={"cwd": "/srv/app", "branch": f"fix-{number}"},
    )
    for turn in range(8):
        if session.run:
            session.run.finish()
        text = SOURCE[(number * 811 + turn * 97) % 50_000 :][:200]
        run = session.start_run(text, catalogue="- release: how to release", skills=[SKILL], state={"browser": None})
        calls = tuple(mt.ToolCall(f"{turn}-{i}", "tool_1", '{"path":"/a/b.py"}') for i in range(BATCH))
        run.record(run.prepare(CAPS), mt.AssistantTurn(calls, "tool_calls"))
        for call in calls:
            run.tool_result(call.id, text)
        if turn < 7:
            run.record(run.prepare(CAPS), mt.AssistantTurn((mt.Text(text[:80]),)))
    run.todo([("completed", "Read"), ("in_progress", "Fix"), ("pending", "Test")], goal="The tests pass")
    run.transaction(mt.FileTransaction.begin("t-1", "a.py"))
    return session


@functools.cache
def live(provider: str) -> list[mt.Run]:
    """The open runs of all sessions, each with one request of its timeline behind it."""
    adapter = getattr(mt.providers, provider)(MODEL)
    sessions = [a_session(number, adapter) for number in range(SESSIONS)]
    for session in sessions:
        assert session.run.prepare(CAPS).usage.state == "ok"
    assert len(sessions[0]._conversation.lane.history) > 240
    return [session.run for session in sessions]


def again(runs: list[mt.Run]) -> None:
    """The next request of each, as when the one before it failed and is made again."""
    for run in runs:
        run.prepare(CAPS, now=1.0)


def reported(runs: list[mt.Run]) -> None:
    """The same with what is reported of each request."""
    for run in runs:
        request = run.prepare(CAPS, now=1.0)
        assert request.usage.state == "ok"
        assert request.forecast.read


@pytest.mark.parametrize("provider", ["openai_chat", "anthropic"])
@pytest.mark.parametrize("case", ["again", "with something new", "with its report"])
def test_a_request_of_each_of_1_000_sessions(benchmark, provider, case):
    runs = live(provider)
    work = reported if case == "with its report" else again
    spent = []

    def happen():
        if case == "with something new":
            for run in runs:
                run.guide("and then?")

    def timed():
        started = time.process_time()
        work(runs)
        spent.append(time.process_time() - started)

    benchmark.pedantic(timed, setup=happen, rounds=5, warmup_rounds=1)
    rate = SESSIONS / min(spent)
    benchmark.extra_info["requests_a_second"] = round(rate)
    # What is reported is made by whoever looks at it, and costs that much more.
    assert rate >= PROMISED * SLACK * (0.5 if case == "with its report" else 1)
