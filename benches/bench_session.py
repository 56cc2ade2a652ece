"""What one more request costs on a long history: prepare it, take its body.

The histories are user, call, result, answer, over and over, about 107 tokens a message, made of the standard library's
own sources; 10,000 messages are some 1.1 million tokens.
"""

from __future__ import annotations

import argparse
import functools
import time
from pathlib import Path

import pytest

import muntin as mt

SOURCE = Path(argparse.__file__).read_text(encoding="utf-8") * 4
CAPS = mt.Capabilities(stable=[mt.Tool("read_file", "Read a file."), mt.Tool("run_tests", "Run the tests.")])
MODEL = mt.Model(name="bench", window=200_000_000, max_output=16_000)


@functools.cache
def history(messages: int) -> mt.Session:
    """A session of so many messages, whose last run is open."""
    session = mt.Session("bench", adapter=mt.providers.openai_chat(MODEL), system="You are careful.")
    for turn in range(messages // 4):
        text = SOURCE[(turn * 811) % 200_000 :][:800]
        if session.run:
            session.run.finish()
        run = session.start_run(text)
        call = mt.ToolCall(f"call_{turn}", "read_file", f'{{"path":"/a/b/{turn}.py"}}')
        run.record(run.prepare(CAPS), mt.AssistantTurn((call,), "tool_calls"))
        run.tool_result(call.id, text)
        run.record(run.prepare(CAPS), mt.AssistantTurn((mt.Text(text[:200]),)))
    return session


def one_more(session: mt.Session) -> mt.Request:
    """Accept one input of a person, and prepare the request."""
    run = session.run
    assert run
    run.guide("and then?")
    return run.prepare(CAPS)


@pytest.mark.parametrize("messages", [1_000, 10_000, 100_000])
def test_prepare_without_the_body(benchmark, messages):
    session = history(messages).fork("f")
    request = benchmark(one_more, session)
    benchmark.extra_info["tokens"] = request.usage.tokens
    benchmark.extra_info["correct"] = request.usage.tokens > messages * 50


def test_prepare_with_the_body_of_10_000_messages(benchmark):
    """At most twice one copy of as many bytes, plus the preparation: measured in turn."""
    session = history(10_000).fork("f")
    source = bytearray(one_more(session).body)
    spent = {"copy": [], "prepare": [], "both": []}
    for _ in range(40):
        for name, work in (
            ("copy", lambda: bytes(source)),
            ("prepare", lambda: one_more(session)),
            ("both", lambda: one_more(session).body),
        ):
            started = time.perf_counter()
            work()
            spent[name].append(time.perf_counter() - started)
    copy, prepare, both = map(min, spent.values())  # noise only ever adds
    assert both <= 2 * copy + prepare
    benchmark.extra_info |= {"bytes": len(source), "copies": (both - prepare) / copy}
    benchmark(lambda: one_more(session).body)


@pytest.mark.parametrize("messages", [10_000])
def test_plan_a_compaction(benchmark, messages):
    session = history(messages).fork("f")
    small = mt.Policy(window=400_000, compact_to=0.2)
    session._conversation.budget = type(session._conversation.budget).of(small, MODEL)
    assert benchmark(session.plan_compaction, force=True, supersede=True).grade == 3


def test_fork_of_10_000_messages(benchmark):
    session = history(10_000)
    assert benchmark(session.fork, "f").version == session.version + 1


def test_prepare_on_100_000_messages_costs_what_it_does_on_1_000(benchmark):
    """At most half as much again, without the body; measured in turn."""
    sessions = {messages: history(messages).fork("f") for messages in (1_000, 100_000)}
    spent = {messages: [] for messages in sessions}
    for _ in range(200):
        for messages, session in sessions.items():
            started = time.perf_counter()
            one_more(session)
            spent[messages].append(time.perf_counter() - started)
    short, long = (sorted(times)[len(times) // 4] for times in spent.values())
    assert long <= 1.5 * short
    benchmark.extra_info["ratio"] = long / short
    benchmark(one_more, sessions[100_000])
