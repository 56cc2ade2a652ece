"""Answers that no provider should give, and some do: mended or refused, they never make a later request invalid."""

from __future__ import annotations

import json

import pytest

import muntin as mt
from agents import CAPS, session


def fed(provider, events):
    run = session(provider).start_run("go")
    stream = run.stream(run.prepare(CAPS))
    for event in events:
        stream.feed(event)
    return run, stream.commit()


def test_a_tool_of_the_server_that_was_cut_off_is_left_out():
    block = {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}
    cut = {"type": "input_json_delta", "partial_json": '{"query":"wea'}
    run, turn = fed("anthropic", [
        {"type": "message_start", "message": {"content": [], "usage": {}}},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": cut},
        {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}},
        {"type": "message_stop"},
    ])  # fmt: skip
    assert turn.parts == ()
    json.loads(run.prepare(CAPS).body)


def part(index, call, name, arguments):
    function = {"name": name, "arguments": arguments}
    return {"choices": [{"delta": {"tool_calls": [{"index": index, "id": call, "function": function}]}}]}


@pytest.mark.parametrize("indices", [(0, 0, 0), (None, None, None), (0, 1, 1), (None, 0, 0)])
def test_another_id_is_another_call_whatever_its_index(indices):
    first, second, third = indices
    _, turn = fed("openai_chat", [
        part(first, "a", "read_file", '{"path":"x"}'),
        part(second, "b", "read_file", '{"path":'),
        part(third, "b", "read_file", '"y"}'),
        {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]},
    ])  # fmt: skip
    calls = [(call.id, call.name, call.arguments) for call in turn.tool_calls]
    assert calls == [("a", "read_file", '{"path":"x"}'), ("b", "read_file", '{"path":"y"}')]


@pytest.mark.parametrize("response", [
    {"choices": [{"message": None}]},
    {"choices": [{"message": {"tool_calls": [{"id": "a", "function": {"name": None, "arguments": "{}"}}]}}]},
    {"choices": [{"message": {"tool_calls": [{"id": ["a"], "function": {"name": "f", "arguments": "{}"}}]}}]},
    {"choices": [{"message": {"content": "x"}}], "usage": 5},
    b"[" * 200_000,
])  # fmt: skip
def test_what_is_of_no_form_is_a_response_error_and_leaves_the_request_open(response):
    run = session("openai_chat").start_run("go")
    request = run.prepare(CAPS)
    with pytest.raises(mt.ResponseError):
        run.record(request, response)
    run.record(request, {"choices": [{"message": {"content": "fine"}}]})


class Unread:
    @property
    def text(self):
        raise RuntimeError("not read")


@pytest.mark.filterwarnings("ignore:the provider says that its window")
def test_a_failure_is_told_whatever_the_error_holds():
    run = session("anthropic").start_run("go")
    error = RuntimeError("429")
    error.response = Unread()
    for given in (error, "[" * 200_000, f"prompt is too long: {'9' * 5_000} tokens > 10 maximum"):
        assert isinstance(run.fail(run.prepare(CAPS), given), mt.Failure)


def test_a_call_is_signed_though_another_part_of_its_turn_is():
    run = session("gemini").start_run("go")
    signed = {"functionCall": {"name": "read_file", "args": {}}, "thoughtSignature": "c2ln"}
    spoken = [{"text": "I look.", "thoughtSignature": "c2ln"}, {"functionCall": {"name": "read_file", "args": {}}}]
    for parts in ([signed], spoken):
        answer = {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]}
        turn = run.record(run.prepare(CAPS), answer)
        run.tool_result(turn.tool_calls[0].id, "ok")
    run.session.use(mt.providers.gemini("gemini-3-pro-preview"))
    body = run.prepare(CAPS).body
    assert mt.providers.check("gemini", body) == []
    assert body.count(b"thoughtSignature") == 3


@pytest.mark.parametrize(("provider", "body"), [
    ("gemini", {"contents": [], "tools": [{"functionDeclarations": [{}]}]}),
    ("anthropic", {"messages": [], "system": 5}),
    ("openai_chat", {"messages": [{"role": "assistant", "tool_calls": [None]}]}),
])  # fmt: skip
def test_a_body_of_no_form_is_an_input_error(provider, body):
    with pytest.raises(mt.InputError):
        mt.Session.from_messages(mt.providers.adapter(provider, "gpt-5"), body)


@pytest.mark.parametrize(("provider", "body"), [
    ("ollama", {"messages": [{"role": "user", "content": "a", "images": 1}]}),
])  # fmt: skip
def test_an_estimate_of_a_body_of_no_form_is_an_input_error(provider, body):
    with pytest.raises(mt.InputError, match="check says where"):
        mt.providers.estimate(provider, body, model="gpt-5")


def test_a_body_of_odd_parts_has_a_finding_and_is_no_crash():
    (found,) = mt.providers.check("openai_responses", {"model": "gpt-5", "input": [{"type": []}]})
    assert found.path == "input.0.type"


def test_an_answer_that_has_not_come_yet_is_none():
    run = session("openai_responses").start_run("go")
    request = run.prepare(CAPS)
    for status in ("queued", "in_progress", "cancelled"):
        with pytest.raises(mt.ResponseError, match="retrieve it"):
            run.record(request, {"id": "r", "status": status, "output": []})


def test_a_choice_that_failed_is_no_answer():
    run = session("openai_chat").start_run("go")
    choice = {"message": {"content": ""}, "finish_reason": "error", "error": {"code": 502, "message": "no upstream"}}
    with pytest.raises(mt.ResponseError, match="no upstream"):
        run.record(run.prepare(CAPS), {"choices": [choice]})


def test_calls_without_an_id_get_one_whole_or_streamed():
    calls = [{"function": {"name": "read_file", "arguments": "{}"}}] * 2
    whole = {"choices": [{"message": {"tool_calls": calls}, "finish_reason": "tool_calls"}]}
    run = session("openai_chat").start_run("go")
    _, streamed = fed("openai_chat", [
        *({"choices": [{"delta": {"tool_calls": [{"index": i, **call}]}}]} for i, call in enumerate(calls)),
        {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]},
    ])  # fmt: skip
    for turn in (run.record(run.prepare(CAPS), whole), streamed):
        assert [call.id for call in turn.tool_calls] == ["call_0", "call_1"]


def test_content_may_be_streamed_as_parts():
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Hm."}]}
    deltas = [{"content": [thought]}, {"content": [{"type": "text", "text": "It is"}]}, {"content": " late."}]
    _, turn = fed("openai_chat:mistral", [
        *({"choices": [{"delta": delta}]} for delta in deltas),
        {"choices": [{"delta": {}, "finish_reason": "stop"}]},
    ])  # fmt: skip
    assert turn.text == "It is late."


def test_what_a_stream_may_leave_out_a_whole_answer_may_too():
    sealed = {"reasoningContent": {"reasoningText": {"signature": "s"}}}
    for provider, response in {
        "bedrock": {"output": {"message": {"content": [sealed, {"text": "ok"}]}}, "stopReason": "end_turn"},
        "ollama": {"message": {"content": "ok"}, "done": True, "error": None},
    }.items():
        run = session(provider).start_run("go")
        assert run.record(run.prepare(CAPS), response).text == "ok"


def test_an_image_that_was_uploaded_is_named_where_a_body_is_adopted():
    block = {"type": "image", "source": {"type": "file", "file_id": "file_1"}}
    body = {"model": "claude-sonnet-4-5", "messages": [{"role": "user", "content": [block]}]}
    adopted = mt.providers.anthropic("claude-sonnet-4-5").adopt(body)
    assert adopted.items == (mt.UserInput("[image file_1]"),)
