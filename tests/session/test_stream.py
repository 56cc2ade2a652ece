"""Answers that arrive in pieces: the same turn as the whole, counted on the way, committed or given up (R7.3)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from agents import ADAPTERS, CAPS, exchange, says, session, texts
from streams import WHOLE_ARGUMENTS, streamed


@pytest.fixture(params=sorted(ADAPTERS))
def provider(request):
    return request.param


@given(
    provider=st.sampled_from(sorted(ADAPTERS)),
    text=st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    calls=st.lists(st.sampled_from(["{}", '{"b":1,"a":{"c":"é"}}', '{"path": "cut o']), max_size=3),
    size=st.integers(1, 9),
)
def test_a_streamed_answer_is_the_turn_that_the_whole_would_be(provider, text, calls, size):
    if provider in WHOLE_ARGUMENTS:
        calls = [one for one in calls if one.endswith("}")]
    run = session(provider).start_run("go")
    request = run.prepare(CAPS)
    stream = run.stream(request)
    said = "".join(map(stream.feed, streamed(provider, text, [(f"c{i}", one) for i, one in enumerate(calls)], size)))
    adapter = ADAPTERS[provider]
    # Where the tokenizer is not the model's own, what is to come decides a little of what a text is estimated at.
    off = 0 if adapter.costs.rules.weights.are_exact else 5 + len(said)
    assert abs(stream.tokens - adapter.estimate(adapter.count(said))) <= off
    assert said == text + "".join("read_file" + one for one in calls)
    turn = stream.commit()
    assert turn.text == text
    assert [call.arguments for call in turn.tool_calls] == calls
    for call in turn.tool_calls:
        run.tool_result(call.id, "ok")
    run.prepare(CAPS)


def test_lines_of_server_sent_events_are_read_as_they_come(provider):
    run = session(provider).start_run("go")
    stream = run.stream(run.prepare(CAPS))
    for event in streamed(provider, "hello"):
        for line in (b"event: x\n", b": comment\n", b"data: " + json.dumps(event).encode() + b"\n", "\n"):
            stream.feed(line)
    stream.feed("data: [DONE]")
    assert stream.commit().text == "hello"


def test_an_unfinished_answer_is_not_committed_but_its_text_may_be_kept(provider):
    s = session(provider)
    run = s.start_run("go")
    stream = run.stream(run.prepare(CAPS))
    for event in streamed(
        provider, "partial text", [] if provider in WHOLE_ARGUMENTS else [("c1", '{"pa')], finish=False
    ):
        stream.feed(event)
    with pytest.raises(mt.ResponseError, match="not complete"):
        stream.commit()
    turn = stream.abort(keep="text")
    assert turn == mt.AssistantTurn((mt.Text("partial text"),), "interrupted")
    assert not s.open_calls
    with pytest.raises(mt.StateError, match="committed or given up"):
        stream.commit()
    run.guide("go on")
    assert "partial text" in texts(run.prepare(CAPS))


def test_an_answer_given_up_leaves_nothing_and_its_request_has_failed(provider):
    run = session(provider).start_run("go")
    request = run.prepare(CAPS)
    stream = run.stream(request)
    stream.feed(streamed(provider, "partial")[0])
    assert stream.abort() is None
    with pytest.raises(mt.UnknownRequest):
        run.record(request, says("late"))
    assert run.prepare(CAPS).body == request.body
    exchange(run, says("fine"))


@pytest.mark.parametrize(
    "event",
    [b"data: no json", {"error": {"message": "overloaded"}, "type": "error"}, {"type": "content_block_delta"},
     {"choices": [5]}],
)  # fmt: skip
def test_events_of_another_form_are_refused(event):
    refused = 0
    for provider in ADAPTERS:
        run = session(provider).start_run("go")
        try:
            run.stream(run.prepare(CAPS)).feed(event)
        except mt.ResponseError:
            refused += 1
    assert refused


def joined(provider, *events):
    """The turn and usage that events come to."""
    accumulator = ADAPTERS[provider].accumulator()
    for event in events:
        accumulator.feed(event)
    assert accumulator.finished
    return ADAPTERS[provider].parse(accumulator.response())


def test_reasoning_is_streamed_with_its_seal():
    responses = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}]}
    call = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"}
    turn, _ = joined(
        "openai_responses",
        {"type": "response.output_item.added", "output_index": 0, "item": {**responses, "summary": []}},
        {"type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "hm"},
        {"type": "response.output_item.done", "output_index": 0, "item": {**responses, "encrypted_content": "S"}},
        {"type": "response.output_item.done", "output_index": 1, "item": call},
        {"type": "response.completed", "response": {"output": []}},  # as some servers end
    )
    assert turn.parts == (mt.Reasoning("hm", "rs_1", "openai_responses", "S"), mt.ToolCall("c1", "f"))
    parts = [{"text": "h", "thought": True}, {"text": "m", "thought": True}, {"text": "a"}, {"text": "b"}]
    parts.append({"text": "", "thoughtSignature": "S"})
    chunks = [{"candidates": [{"content": {"parts": [part]}}]} for part in parts]
    turn, _ = joined("gemini", *chunks, {"candidates": [{"finishReason": "STOP"}]})
    assert turn.parts == (
        mt.Reasoning("hm", "", "gemini"), mt.Text("ab"), mt.Reasoning("", "S", "gemini"), mt.Text(""),
    )  # fmt: skip
    deltas = [{"text": "h"}, {"text": "m"}, {"signature": "S"}]
    blocks = [{"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"reasoningContent": d}}} for d in deltas]
    turn, _ = joined("bedrock", *blocks, {"messageStop": {"stopReason": "end_turn"}})
    assert turn.parts == (mt.Reasoning("hm", "S", "bedrock"),)
    lines = [{"message": {"thinking": part}} for part in "hm"]
    turn, _ = joined("ollama", *lines, {"done": True})
    assert turn.parts == (mt.Reasoning("hm", "", "ollama"),)
    choices = [{"choices": [{"delta": {"reasoning_content": part}}]} for part in "hm"]
    turn, _ = joined("openai_chat:deepseek", *choices, {"choices": [{"finish_reason": "stop"}]})
    assert turn.parts == (mt.Reasoning("hm", "", "openai_chat:deepseek"),)


@pytest.mark.parametrize("provider", sorted(ADAPTERS))
def test_a_stream_brings_its_usage(provider):
    _, usage = joined(provider, *streamed(provider, "hello"))
    assert usage == mt.Usage(input=10, output=5)


@pytest.mark.parametrize(
    ("provider", "event"),
    [
        ("openai_responses", {"type": "response.failed", "response": {"error": {"code": "server_error"}}}),
        ("openai_responses", {"type": "error", "code": "rate_limit_exceeded"}),
        ("gemini", {"error": {"code": 503, "status": "UNAVAILABLE"}}),
        ("bedrock", {"throttlingException": {"message": "slow down"}}),
        ("ollama", {"error": "model runner has stopped"}),
    ],
)
def test_a_stream_that_the_provider_breaks_off_is_an_error(provider, event):
    with pytest.raises(mt.ResponseError, match="broke the stream off"):
        ADAPTERS[provider].accumulator().feed(event)


def test_where_a_stream_is_asked_for():
    paths = {name: session(name).start_run("go").prepare(CAPS).stream_path for name in ADAPTERS}
    assert paths["gemini"] == "/v1beta/models/gemini-3-pro-preview:streamGenerateContent?alt=sse"
    assert paths["bedrock"].endswith("/converse-stream")
    assert paths["openai_chat"] == ADAPTERS["openai_chat"].path
