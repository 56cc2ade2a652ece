"""The forecast: from bytes alone, and from the last bill once there is one."""

from __future__ import annotations

import pytest

import muntin as mt
from agents import ADAPTERS, CAPS, READ, RUN, compacted, exchange, fill, says, session
from muntin.cacherules import cache_rules

LONG = "Be exact. " * 2_000
DONE = mt.AssistantTurn((mt.Text("Done."),))


def claude(read, written, rest=8):
    """An answer of Anthropic's with its bill."""
    usage = {"input_tokens": rest, "cache_read_input_tokens": read, "cache_creation_input_tokens": written}
    return {"content": [{"type": "text", "text": "Done."}], "usage": {**usage, "output_tokens": 5}}


def marked_front(request):
    return ["cache_control" in block for block in request.to_dict()["system"]]


@pytest.fixture(params=sorted(ADAPTERS))
def provider(request):
    return request.param


def test_the_three_parts_add_up_to_the_whole_input(provider):
    run = session(provider, system=LONG).start_run("go")
    for _ in range(3):
        request = run.prepare(CAPS)
        forecast = request.forecast
        assert forecast.read + forecast.written + forecast.fresh == request.usage.tokens
        run.record(request, DONE)
        run.guide("Go on.")


def test_only_what_is_marked_is_expected_to_be_written():
    run = session("anthropic", system=LONG).start_run("go")
    run.todo([("in_progress", "step")])
    forecast = run.prepare(CAPS).forecast
    assert forecast.written > 2_000
    assert 0 < forecast.fresh < 60  # the reminder stands behind the last mark


def test_a_bill_is_where_the_next_forecast_starts_from():
    """A system prompt that a gateway puts in, of 30,000 tokens here, is in the figures from the first bill on."""
    run = session("anthropic").start_run("go")
    first = run.prepare(CAPS)
    assert first.forecast.read + first.forecast.written + first.forecast.fresh < 700
    run.record(first, claude(0, 30_400))
    run.guide("Go on.")
    forecast = run.prepare(CAPS).forecast
    assert forecast.read == 30_400
    assert 30_408 < forecast.read + forecast.written + forecast.fresh < 30_500


def test_a_bill_without_cache_expects_nothing_to_be_read():
    run = session("anthropic", system=LONG).start_run("go")
    run.record(run.prepare(CAPS), claude(0, 0, rest=2_500))
    forecast = run.prepare(CAPS).forecast
    assert forecast.read == 0
    assert not forecast.cause


def test_an_implicit_cache_holds_the_whole_input_in_steps():
    run = session("openai_chat", system=LONG).start_run("go")
    answer = {
        "choices": [{"message": {"role": "assistant", "content": "Done."}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 5_000, "completion_tokens": 5},
    }
    run.record(run.prepare(CAPS), answer)
    assert run.prepare(CAPS).forecast.read == 4_992  # 39 steps of 128


def test_a_new_model_starts_anew_and_its_forecast_without_the_other_s_bill():
    s = session("anthropic", system=LONG)
    run = s.start_run("go")
    run.record(run.prepare(CAPS), claude(0, 30_400))
    s.use(mt.providers.anthropic("claude-opus-4-5"))
    forecast = run.prepare(CAPS).forecast
    assert (forecast.read, forecast.cause) == (0, "model changed")
    assert forecast.broken.place == "claude-sonnet-4-5 → claude-opus-4-5"
    assert forecast.read + forecast.written + forecast.fresh < 10_000


def test_an_expired_prefix_is_not_expected():
    run = session("anthropic", system=LONG).start_run("go")
    run.record(run.prepare(CAPS, now=0), DONE)
    assert run.prepare(CAPS, now=301).forecast.note == "expired after 300 s"


def test_a_parameter_that_breaks_messages_leaves_tools_and_system_readable():
    run = session("anthropic", system=LONG).start_run("go " * 300)
    run.record(run.prepare(CAPS, params={"tool_choice": {"type": "auto"}}), DONE)
    forecast = run.prepare(CAPS, params={"tool_choice": {"type": "any"}}).forecast
    assert (forecast.cause, forecast.broken.place) == ("parameter changed", "tool_choice")
    assert forecast.broken.before == '{"type":"auto"}'
    assert forecast.read > 1_500
    assert forecast.lost > 200


def test_a_parameter_that_breaks_nothing_is_no_cause(provider):
    run = session(provider, system=LONG).start_run("go")
    run.record(run.prepare(CAPS, params={"temperature": 0}), DONE)
    assert run.prepare(CAPS, params={"temperature": 1}).forecast.cause == ""


# --- causes -----------------------------------------------------------------------------------------------------------
def after(before, then, provider="anthropic"):
    run = session(provider, system=LONG).start_run("go")
    run.record(run.prepare(before), DONE)
    return run.prepare(then).forecast


FETCH = mt.Tool("web_fetch", "Fetch a page.")


@pytest.mark.parametrize(
    ("before", "then", "cause", "place"),
    [
        ([READ], [READ, RUN], "tool added", "tool 'run_tests'"),
        ([READ, RUN], [READ], "tool removed", "tool 'run_tests'"),
        ([READ, RUN], [RUN], "tool removed", "tool 'read_file'"),
        ([RUN], [READ, RUN], "tool added", "tool 'read_file'"),
        ([READ], [mt.Tool("read_file", "Read it.")], "tool changed", "tool 'read_file'"),
        ([], [READ], "tool added", "tool 'read_file'"),
    ],
)
def test_a_change_of_tools_is_named(provider, before, then, cause, place):
    forecast = after(mt.Capabilities(stable=before), mt.Capabilities(stable=then), provider)
    assert (forecast.cause, forecast.broken.place, forecast.read) == (cause, place, 0)
    assert forecast.broken.advice
    assert forecast.lost > 0


@pytest.mark.parametrize(
    ("before", "then", "cause"),
    [
        ({}, {"web": "WEB"}, "guide added"),
        ({"web": "WEB"}, {}, "guide withdrawn"),
        ({"web": "WEB"}, {"web": "OTHER"}, "guide changed"),
    ],
)
def test_a_change_of_guides_leaves_the_stable_prompt_readable(provider, before, then, cause):
    forecast = after(mt.Capabilities(guides=before), mt.Capabilities(guides=then), provider)
    assert (forecast.cause, forecast.broken.segment) == (cause, mt.Segment.GUIDES)
    # A guide that was never there leaves no mark behind the prompt for Anthropic to read at.
    assert forecast.read > 1_500 or (provider == "anthropic" and cause == "guide added")


def test_a_changed_text_shows_its_first_byte_and_both_sides():
    forecast = after(mt.Capabilities(guides={"w": "press A"}), mt.Capabilities(guides={"w": "press B"}))
    broken = forecast.broken
    assert (broken.before[-5:-2], broken.after[-5:-2]) != (broken.before, broken.after)
    assert "press A" in broken.before
    assert "press B" in broken.after
    assert "guide changed at guides of enabled capabilities" in str(broken)


def test_a_compaction_is_named_with_its_first_unit():
    s = session("anthropic", policy=mt.Policy(window=16_000, reserve_output=2_000, keep_recent=1_000), system=LONG)
    run = s.start_run("go")
    fill(run)
    assert isinstance(compacted(s), mt.Committed)
    forecast = run.prepare(CAPS).forecast
    assert forecast.cause == "compaction"
    assert forecast.broken.unit == 0
    assert forecast.broken.segment == mt.Segment.SUMMARY
    assert forecast.read > 1_500  # the system text stands


def test_going_back_reads_what_an_earlier_request_left():
    s = session("anthropic", system=LONG)
    run = s.start_run("go")
    places = []
    for n in range(6):
        exchange(run, says("I look. " * 40, f"c{n}"))
        places.append(s.last_entry)
    whole = run.prepare(CAPS).forecast.read
    s.rewind(places[2])
    s.run.guide("Another way.")
    request = s.run.prepare(CAPS)
    forecast = request.forecast
    assert forecast.cause == "rewinding"
    assert 1_500 < forecast.read < whole
    assert forecast.written < 50  # only the new guidance
    assert request.body.count(b'"cache_control"') == 3


# --- breakpoints ------------------------------------------------------------------------------------------------------
def test_the_stable_prompt_has_a_mark_of_its_own_where_more_stands_behind_it():
    s = session("anthropic", system=LONG, state={"branch": "main"})
    assert marked_front(s.start_run("go").prepare(CAPS)) == [True, True]


@pytest.mark.parametrize("policy", [mt.Policy(spare_mark=True), mt.Policy()])
def test_case_p13_a_place_is_left_to_a_gateway_or_to_the_provider_s_own_mark(policy):
    params = {} if policy.spare_mark else {"cache_control": {"type": "ephemeral"}}
    run = session("anthropic", system=LONG, state={"branch": "main"}, policy=policy).start_run("go")
    run.record(run.prepare(CAPS, params=params), DONE)
    run.guide("Go on.")
    request = run.prepare(CAPS, params=params)
    assert marked_front(request) == [False, True]
    assert request.body.count(b'"cache_control"') == 3 + len(params)


def test_a_prompt_below_the_minimum_has_no_mark_of_its_own():
    s = session("anthropic", state={"branch": "main"})
    assert marked_front(s.start_run("go").prepare(CAPS)) == [False, True]


def test_case_p12_p34_new_notes_leave_the_stable_prompt_readable():
    s = session("anthropic", system=LONG, state={"branch": "main"})
    run = s.start_run("go", collaboration="Ask Ada.")
    exchange(run, says("done"))
    run.finish()
    forecast = s.start_run("next", collaboration="Ask Bob.").prepare(CAPS).forecast
    assert forecast.cause == "collaboration notes changed"
    assert forecast.read > 1_500


def test_case_p1_p2_p3_marks_of_a_request_stand_where_those_of_the_last_one_stood():
    """So that no turn is too long for the provider to find the entry, however many blocks it has."""
    run = session("anthropic", system=LONG).start_run("go")
    for size in (1, 30, 3):
        calls = [f"c{size}-{i}" for i in range(size)]
        request = exchange(run, says("I look.", *calls))
    last = run.prepare(CAPS)
    written = request._frame.breakpoints[-1]
    assert written in last._frame.breakpoints
    assert last.body.count(b'"cache_control"') <= 4


def test_a_longer_lifetime_is_asked_for_in_every_mark():
    model = mt.Model(name="claude-x", provider="anthropic", cache_ttl=3_600)
    s = mt.Session("s", adapter=mt.providers.anthropic(model), system=LONG)
    body = s.start_run("go").prepare(CAPS).body
    assert body.count(b'"ttl":"1h"') == body.count(b'"cache_control"') == 2
    assert s.adapter.recount(body) > 0


def test_rules_name_prices_by_lifetime_and_model():
    rules = cache_rules("anthropic", "claude-sonnet-4-5")
    assert (rules.read, rules.write_price(300), rules.write_price(3_600)) == (0.1, 1.25, 2.0)
    assert cache_rules("anthropic", "claude-opus-5-5").read == 0.05
    assert cache_rules("openai_chat", "gpt-4.1-mini").read == 0.25
    assert cache_rules("openai_chat", "gpt-4.1").write_price(300) == 1.0


# --- routing ----------------------------------------------------------------------------------------------------------
def test_case_p32_a_conversation_and_its_forks_share_a_key():
    s = session("openai_chat", policy=mt.Policy(cache_key=True), tenant="acme")
    run = s.start_run("go")
    key = run.prepare(CAPS).to_dict()["prompt_cache_key"]
    assert len(key) == 32
    assert "acme" not in key
    assert s.fork("f").run.prepare(CAPS).to_dict()["prompt_cache_key"] == key
    other = session("openai_chat", policy=mt.Policy(cache_key=True), tenant="other")
    assert other.start_run("go").prepare(CAPS).to_dict()["prompt_cache_key"] != key
    assert run.prepare(CAPS, params={"prompt_cache_key": "mine"}).to_dict()["prompt_cache_key"] == "mine"


def test_no_key_is_sent_unasked_or_where_the_provider_takes_none():
    assert "prompt_cache_key" not in session("openai_chat").start_run("go").prepare(CAPS).to_dict()
    s = session("anthropic", policy=mt.Policy(cache_key=True))
    assert "prompt_cache_key" not in s.start_run("go").prepare(CAPS).to_dict()


def estimated(request):
    return request.adapter.estimate_body(request.body).tokens


@pytest.mark.parametrize("share", [0.8, 1.25])
def test_what_a_compaction_leaves_is_forecast_by_the_measure_of_the_bills(share):
    policy = mt.Policy(window=60_000, reserve_output=2_000, keep_recent=1_000)
    s = session("anthropic", system=LONG, policy=policy)
    run = s.start_run("go")
    for i in range(30):
        run.guide(f"{i} " + "word " * 900)
        request = run.prepare(CAPS)
        run.record(request, claude(0, round(estimated(request) * share), 0))
    compacted(s)
    request = run.prepare(CAPS)
    whole = request.forecast.read + request.forecast.written + request.forecast.fresh
    assert whole == request.usage.tokens == pytest.approx(estimated(request) * share, rel=0.05)
