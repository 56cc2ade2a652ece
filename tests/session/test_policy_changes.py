"""A policy that changes while the session lives (R1.2, R7.2)."""

from __future__ import annotations

import pytest

import muntin as mt
from agents import ADAPTERS, CAPS, exchange, says, session, work


def test_another_policy_holds_from_the_next_request_on_and_after_loading():
    s = session(policy=mt.Policy(window=100_000))
    run = s.start_run("go")
    work(run, 4)
    before = run.prepare(CAPS)
    s.use(policy=mt.Policy(window=20_000, reserve_output=2_000, max_images=3))
    after = run.prepare(CAPS)
    assert (after.usage.window, after.usage.reserve, after.usage.max_images) == (20_000, 2_000, 3)
    assert after.body.partition(b"messages")[2] == before.body.partition(b"messages")[2]
    assert after.forecast.cause == ""
    again = mt.Session.from_events(s.events_since(0))
    assert again.policy == s.policy
    assert again.run.prepare(CAPS).body == run.prepare(CAPS).body


def test_a_policy_that_leaves_no_room_is_seen_when_a_request_is_prepared():
    s = session()
    run = s.start_run("go")
    work(run, 8)
    s.use(policy=mt.Policy(window=2_000, reserve_output=500))
    with pytest.raises(mt.ContextOverflow):
        run.prepare(CAPS)
    s.use(policy=mt.Policy())
    assert run.prepare(CAPS).usage.state == "ok"


def test_a_policy_that_cannot_work_is_refused_and_changes_nothing():
    s = session()
    events = s.events_since(0)
    with pytest.raises(mt.InputError, match="compact_at 2"):
        s.use(policy=mt.Policy(compact_at=2))
    with pytest.raises(UserWarning, match="compact_to"):  # warnings are errors here
        s.use(policy=mt.Policy(compact_at=0.5, compact_to=0.5))
    with pytest.raises(mt.InputError, match=r"use a policy such as"):
        s.use(policy={"window": 5})
    with pytest.raises(mt.InputError, match=r"use an adapter such as"):
        s.use()
    s.use(policy=s.policy)
    assert s.events_since(0) == events


def test_a_clamped_policy_is_said_once_and_loads_without_a_word():
    s = session()
    with pytest.warns(UserWarning, match="compact_to"):
        s.use(policy=mt.Policy(compact_at=0.5, compact_to=0.5))
    assert mt.Session.from_events(s.events_since(0)).policy.compact_to == 0.5


def test_adapter_and_policy_change_together_and_outlast_going_back():
    s = session("openai_chat")
    run = s.start_run("go")
    entry = s.last_entry
    exchange(run, says("one", "c1"))
    s.use(ADAPTERS["anthropic"], policy=mt.Policy(window=50_000))
    s.rewind(entry)
    assert s.run.prepare(CAPS).usage.window == 50_000
    assert s.policy.window == 50_000
    fork = s.fork("f")
    fork.use(policy=mt.Policy(window=60_000))
    assert (s.policy.window, fork.policy.window) == (50_000, 60_000)
