"""Answers that arrive in pieces: the same turn as the whole, counted on the way, committed or given up (R7.3)."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from agents import ADAPTERS, CAPS, exchange, says, session, texts


@pytest.fixture(params=sorted(ADAPTERS))
def provider(request):
    return request.param


def pieces(text, size):
    return [text[at : at + size] for at in range(0, len(text), size)]


def streamed(provider, text, calls=(), size=3, finish=True):
    """The events of an answer, as the provider sends them."""
    if provider == "openai_chat":
        deltas = [{"role": "assistant", "content": ""}, *({"content": part} for part in pieces(text, size))]
        for i, (id, arguments) in enumerate(calls):
            first = {"index": i, "id": id, "function": {"name": "read_file", "arguments": ""}}
            deltas += [{"tool_calls": [first]}]
            deltas += [{"tool_calls": [{"index": i, "function": {"arguments": p}}]} for p in pieces(arguments, size)]
        events = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
        if finish:
            events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls" if calls else "stop"}]})
            events.append({"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5}})
        return events
    usage = {"input_tokens": 10, "output_tokens": 1}
    events = [{"type": "message_start", "message": {"content": [], "usage": usage}}, {"type": "ping"}]
    if text:
        events.append({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
        for part in pieces(text, size):
            delta = {"type": "text_delta", "text": part}
            events.append({"type": "content_block_delta", "index": 0, "delta": delta})
        events.append({"type": "content_block_stop", "index": 0})
    for i, (id, arguments) in enumerate(calls, 1):
        block = {"type": "tool_use", "id": id, "name": "read_file", "input": {}}
        events.append({"type": "content_block_start", "index": i, "content_block": block})
        for part in pieces(arguments, size):
            delta = {"type": "input_json_delta", "partial_json": part}
            events.append({"type": "content_block_delta", "index": i, "delta": delta})
    if finish:
        stop = {"stop_reason": "tool_use" if calls else "end_turn"}
        events.append({"type": "message_delta", "delta": stop, "usage": {"output_tokens": 5}})
        events.append({"type": "message_stop"})
    return events


@given(
    provider=st.sampled_from(sorted(ADAPTERS)),
    text=st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    calls=st.lists(st.sampled_from(["{}", '{"b":1,"a":{"c":"é"}}', '{"path": "cut o']), max_size=3),
    size=st.integers(1, 9),
)
def test_a_streamed_answer_is_the_turn_that_the_whole_would_be(provider, text, calls, size):
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
    for event in streamed(provider, "partial text", [("c1", '{"pa')], finish=False):
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
