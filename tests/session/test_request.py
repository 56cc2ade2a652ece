"""A request: its segments in order, its counts, its budget (R1, R3)."""

from __future__ import annotations

import json
import urllib.parse

import pytest

import muntin as mt
from agents import ADAPTERS, CAPS, FETCH, exchange, messages, says, session, texts, unmarked, work


@pytest.fixture(params=sorted(ADAPTERS))
def provider(request):
    return request.param


def full_session(provider):
    s = session(
        provider,
        system=mt.System(rules="SYSTEM-RULES", custom="CUSTOM"),
        state={"branch": "STATE-FULL"},
    )
    run = s.start_run(
        [
            "INPUT-ONE",
            mt.StateDiff("session", {"branch": "BETWEEN"}),
            mt.Attachment("log.txt", text="ATTACHED"),
            "INPUT-TWO",
        ],
        catalogue="CATALOGUE",
        collaboration="COLLABORATION",
        skills=[mt.SkillText("tides", "SKILL-TEXT")],
        state={"browser": "RUN-STATE"},
    )
    caps = mt.Capabilities(stable=CAPS.stable, dynamic=[FETCH], guides={"web": "WEB-GUIDE"}, switches={"web": True})
    run.todo([("in_progress", "TODO-STEP")])
    return s, run, caps


def test_segments_stand_in_the_order_of_the_layout(provider):
    s, run, caps = full_session(provider)
    exchange(run, says("TIMELINE-ANSWER", "c1"), "TIMELINE-RESULT", caps)
    body = texts(run.prepare(caps))
    marks = [
        "SYSTEM-RULES", "CUSTOM", "CATALOGUE", "COLLABORATION", "WEB-GUIDE", "STATE-FULL", "INPUT-ONE", "BETWEEN",
        "ATTACHED", "INPUT-TWO", "SKILL-TEXT", "RUN-STATE", "TIMELINE-ANSWER", "TIMELINE-RESULT", "TODO-STEP",
    ]  # fmt: skip
    places = [body.index(mark) for mark in marks]
    assert places == sorted(places)
    assert all(body.count(mark) == 1 for mark in marks)


def test_usage_names_every_segment_with_content_and_adds_up(provider):
    s, run, caps = full_session(provider)
    exchange(run, says("answer", "c1"), "result", caps)
    usage = run.prepare(caps).usage
    assert [share.segment for share in usage.shares] == [1, 2, 3, 4, 5, 8, 9, 10, 11, 12]
    parts = usage.tools + usage.framing + sum(share.tokens for share in usage.shares)
    assert abs(parts - usage.tokens) <= len(usage.shares) + 2  # each part is rounded up by itself
    assert usage.tokens <= usage.safe == usage.window - usage.reserve - usage.remaining


def test_tokens_equal_a_recount_from_scratch(provider):
    s, run, caps = full_session(provider)
    adapter = ADAPTERS[provider]
    for turn in (says("one", "c1", "c2"), says("two", "c3"), says("done")):
        request = exchange(run, turn, "résultat 日本語", caps)
        assert request.usage.tokens == adapter.estimate(adapter.recount(request.body))


def test_the_prefix_of_a_request_is_the_one_before_byte_for_byte(provider):
    s, run, caps = full_session(provider)
    before = None
    for i in range(6):
        request = exchange(run, says(f"answer {i}", f"a{i}", f"b{i}"), caps=caps)
        if before is not None:
            assert request.forecast.cause == ""
            stable, now = before.split(b"<todo>")[0], unmarked(request)
            cut = stable.rindex(b"}")  # what follows is the way to the tail
            assert now.startswith(stable[:cut])
        before = unmarked(request)


def test_runs_roll_over_into_history_as_they_were(provider):
    s, run, caps = full_session(provider)
    exchange(run, says("all done"), caps=caps)
    run.finish()
    run = s.start_run("NEXT-TASK")
    request = run.prepare(caps)
    shares = {share.segment for share in request.usage.shares}
    assert mt.Segment.HISTORY in shares
    assert not shares & {mt.Segment.SKILLS, mt.Segment.RUN_STATE}
    for text in ("INPUT-ONE", "SKILL-TEXT", "RUN-STATE", "all done"):
        assert texts(request).count(text) == 1
    assert request.forecast.cause == ""


def test_catalogue_changes_with_a_run_and_is_named_as_the_cause(provider):
    s, run, caps = full_session(provider)
    exchange(run, says("done"), caps=caps)
    run.finish()
    request = s.start_run("next", catalogue="OTHER").prepare(caps)
    assert request.forecast.cause == "skill catalogue at the run's start changed"
    assert request.forecast.lost > 0
    assert "CATALOGUE" not in texts(request)


def test_tools_are_sorted_stable_first_whatever_the_order_given(provider):
    def tool(name):
        return mt.Tool(name)

    one = mt.Capabilities(stable=[tool("b"), tool("a")], dynamic=[tool("d"), tool("c")])
    other = mt.Capabilities(stable=[tool("a"), tool("b")], dynamic=[tool("c"), tool("d")])
    bodies = [session(provider).start_run("go").prepare(caps).body for caps in (one, other)]
    assert bodies[0] == bodies[1]
    places = [bodies[0].index(f'"name":"{name}"'.encode()) for name in "abcd"]
    assert places == sorted(places)


def test_two_tools_of_one_name_are_refused():
    with pytest.raises(mt.DuplicateTool, match="'a' is given twice: as stable and as dynamic"):
        mt.Capabilities(stable=[mt.Tool("a")], dynamic=[mt.Tool("a")])


def test_a_capability_switched_off_is_gone_and_recorded_with_its_reason(provider):
    s, run, caps = full_session(provider)
    exchange(run, says("answer", "c1"), "result", caps)
    off = mt.Capabilities(
        stable=CAPS.stable, dynamic=[FETCH], guides={"web": "WEB-GUIDE"}, switches={"web": False},
        reasons={"web": "the person is offline"},
    )  # fmt: skip
    request = run.prepare(off)
    body = texts(request)
    assert "WEB-GUIDE" not in body
    assert '"name":"web_fetch"' not in body
    assert "the person is offline" in body
    assert request.forecast.cause == "tools changed"
    assert s.state["capabilities"] == {"web": False}


def test_the_output_reserve_is_kept_free(provider):
    s = session(provider, policy=mt.Policy(window=4_000, reserve_output=1_000))
    run = s.start_run("word " * 3_500)
    with pytest.raises(mt.ContextOverflow) as overflow:
        run.prepare(CAPS)
    assert overflow.value.limit == 3_000
    assert overflow.value.tokens > 3_000
    assert {"tools", "system", "task"} <= set(overflow.value.floors)


def test_a_window_smaller_than_the_fixed_segments_is_refused_with_their_floors(provider):
    s = session(provider, system="rule " * 3_000, policy=mt.Policy(window=2_000, reserve_output=500))
    with pytest.raises(mt.ContextOverflow, match="These parts alone are too large") as overflow:
        s.start_run("go").prepare(CAPS)
    assert overflow.value.floors["system"] > 2_000
    assert overflow.value.compactable == 0


def limited(provider, tokens):
    """Parameters that limit the answer."""
    return {
        "gemini": {"generationConfig": {"maxOutputTokens": tokens}},
        "bedrock": {"inferenceConfig": {"maxTokens": tokens}},
        "ollama": {"options": {"num_predict": tokens}},
        "openai_responses": {"max_output_tokens": tokens},
    }.get(provider, {"max_tokens": tokens})


def test_a_larger_answer_raises_the_reserve_for_that_request(provider):
    s = session(provider)
    run = s.start_run("go")
    reserve = run.prepare(CAPS).usage.reserve
    large = run.prepare(CAPS, params=limited(provider, 60_000))
    assert b":60000" in large.body
    assert large.usage.reserve == 60_000
    assert run.prepare(CAPS).usage.reserve == reserve
    with pytest.raises(mt.InputError, match="does not fit in the window"):
        run.prepare(CAPS, params=limited(provider, 10_000_000))


def test_parameters_of_the_adapter_are_refused(provider):
    run = session(provider).start_run("go")
    key = {"gemini": "contents", "openai_responses": "input"}.get(provider, "messages")
    with pytest.raises(mt.ParameterConflict, match=f"'{key}'"):
        run.prepare(CAPS, params={key: []})
    assert run.prepare(CAPS, params={"temperature": 0}).to_dict()["temperature"] == 0


def test_chunks_joined_are_the_body(provider):
    s, run, caps = full_session(provider)
    work(run, 5, caps=caps)
    request = run.prepare(caps)
    assert b"".join(request.chunks()) == request.body
    named = json.dumps(request.to_dict()) + urllib.parse.unquote(request.path)
    assert ADAPTERS[provider].model.name in named


def test_a_request_stays_as_it_is_when_the_session_goes_on(provider):
    s, run, caps = full_session(provider)
    request = run.prepare(caps)
    body = request.body
    run.record(request, says("answer", "c1"))
    run.tool_result("c1", "later")
    run.prepare(caps)
    assert request.body == body


def test_the_todo_reminder_is_short_and_never_piles_up(provider):
    s, run, caps = full_session(provider)
    run.todo(
        [("in_progress", "NOW"), *[("pending", f"a rather long step number {i} " * 5) for i in range(200)]], goal="GOAL"
    )
    exchange(run, says("", "c1"), caps=caps)
    request = run.prepare(caps)
    assert texts(request).count("<todo>") == 1
    assert "GOAL" in texts(request)
    assert "NOW" in texts(request)
    tokens = {share.segment: share.tokens for share in request.usage.shares}[mt.Segment.TODO]
    assert tokens < 650  # 500 estimated for the body, and its frame


def test_anthropic_marks_the_end_of_the_system_and_of_what_is_kept():
    s, run, caps = full_session("anthropic")
    exchange(run, says("answer", "c1"), caps=caps)
    body = run.prepare(caps).to_dict()
    marked = [block for message in body["messages"] for block in message["content"] if "cache_control" in block]
    assert "cache_control" in body["system"][-1]
    assert [block["type"] for block in marked] == ["text", "tool_result"]
    assert "cache_control" not in body["messages"][-1]["content"][-1]  # the tail stands behind the mark


def test_tools_alone_are_marked_where_there_is_no_system():
    request = session("anthropic", system="").start_run("go").prepare(CAPS)
    assert "cache_control" in request.to_dict()["tools"][-1]
    assert request.usage.tokens == ADAPTERS["anthropic"].estimate(ADAPTERS["anthropic"].recount(request.body))


def test_openai_messages_start_with_the_system_and_end_with_the_tail():
    s, run, caps = full_session("openai_chat")
    roles = [message["role"] for message in messages(run.prepare(caps))]
    assert roles[:5] == ["system"] * 5
    assert roles[-1] == "system"
