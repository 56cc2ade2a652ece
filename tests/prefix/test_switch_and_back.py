"""A session that goes to another model, other tools or other parameters, and comes back while the cache lives."""

from __future__ import annotations

import pytest

import muntin as mt
from agents import CAPS, READ, session
from muntin.answered import BEGINNINGS
from prefix.test_forecast import LONG, claude

FEWER = mt.Capabilities(stable=[READ])


def ask(run, caps=CAPS, *, now=0.0, written=3_000, **params):
    """One request with its answer and bill; gives its forecast."""
    request = run.prepare(caps, now=now, **params)
    run.record(request, claude(0, written))
    run.guide("Go on.")
    return request.forecast


def test_other_tools_and_back_reads_what_was_left_before():
    run = session("anthropic", system=LONG).start_run("go")
    ask(run)
    assert ask(run, FEWER, now=60).cause == "tool removed"
    back = run.prepare(CAPS, now=120)
    assert (back.forecast.read, back.forecast.cause) == (3_000, "")
    assert back.to_dict()["messages"][0]["content"][-1].get("cache_control")  # a mark stands where the first one ended


def test_another_model_and_back_reads_what_was_left_before():
    s = session("anthropic", system=LONG)
    one, other = s.adapter, mt.providers.anthropic("claude-opus-4-5")
    run = s.start_run("go")
    ask(run)
    s.use(other)
    assert ask(s.run, now=60).cause == "model changed"
    s.use(one)
    forecast = s.run.prepare(CAPS, now=120).forecast
    assert (forecast.read, forecast.cause) == (3_000, "")


def test_what_has_expired_meanwhile_is_not_counted_on():
    run = session("anthropic", system=LONG).start_run("go")
    ask(run)
    ask(run, FEWER, now=200)
    forecast = run.prepare(CAPS, now=400).forecast
    assert (forecast.read, forecast.cause) == (0, "tool added")


def test_so_many_beginnings_are_remembered_and_no_more():
    run = session("anthropic", system=LONG).start_run("go")
    ask(run)
    others = [mt.Capabilities(stable=[mt.Tool(f"t{n}", "Do it.")]) for n in range(BEGINNINGS)]
    for caps in others[:-1]:
        ask(run, caps)
    assert run.prepare(CAPS).forecast.read == 3_000
    ask(run, others[-1])
    assert run.prepare(CAPS).forecast.read == 0


def test_it_is_the_same_after_loading_and_after_going_back():
    s = session("anthropic", system=LONG)
    run = s.start_run("go")
    ask(run)
    ask(run, FEWER)
    again = mt.Session.from_events(s.events_since(0))
    assert again.run.prepare(CAPS).forecast == s.fork("f").run.prepare(CAPS).forecast
    s.rewind(s.last_entry - 1)
    assert s.run.prepare(CAPS).forecast.read > 0


@pytest.mark.parametrize("provider", ["openai_chat", "gemini", "bedrock"])
def test_every_provider_is_expected_to_read_more_after_the_way_back_than_after_the_way_there(provider):
    run = session(provider, system=LONG).start_run("go")
    forecasts = []
    for caps in (CAPS, FEWER, CAPS):
        request = run.prepare(caps)
        forecasts.append(request.forecast)
        run.record(request, mt.AssistantTurn((mt.Text("Done."),)))
        run.guide("Go on.")
    assert forecasts[2].read > forecasts[1].read == 0
