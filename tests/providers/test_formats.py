"""Each wire format by itself: what it reads of responses and bodies, and what it makes of single items."""

from __future__ import annotations

import json

import pytest

import muntin as mt
from agents import ADAPTERS, CAPS, says, unmarked
from muntin.providers.ids import wire_id, wire_name
from wire.rules import refused

PNG = mt.Image("image/png", data="iVBORw0KGgo=")


def test_case_f1_usage_is_the_whole_input_whatever_the_provider_counts():
    openai = ADAPTERS["openai_chat"].parse(
        {
            "choices": [{"message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 90}},
        }
    )
    anthropic = ADAPTERS["anthropic"].parse({
        "content": [{"type": "text", "text": "hi"}],
        "stop_reason": "end_turn",
        "usage": {
            "input_tokens": 10, "cache_read_input_tokens": 60, "cache_creation_input_tokens": 30, "output_tokens": 7,
        },
    })  # fmt: skip
    assert openai.usage == mt.Usage(input=100, cached=90, output=7)
    assert anthropic.usage == mt.Usage(input=100, cached=60, written=30, output=7)
    assert openai.turn == anthropic.turn == says("hi")


def test_a_response_is_read_the_same_from_bytes_and_from_what_an_sdk_decoded():
    response = {
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "sig"},
            {"type": "redacted_thinking", "data": "sealed"},
            {"type": "tool_use", "id": "t1", "name": "f", "input": {"z": 1, "a": {"b": []}}},
            {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
        ],
        "stop_reason": "tool_use",
    }
    adapter = ADAPTERS["anthropic"]
    assert adapter.parse(response) == adapter.parse(json.dumps(response).encode())
    thought, sealed, call, hosted = adapter.parse(response).turn.parts
    assert thought == mt.Reasoning("hm", "sig", "anthropic")
    assert sealed == mt.Reasoning("", "", "anthropic", "sealed")
    assert call == mt.ToolCall("t1", "f", '{"z":1,"a":{"b":[]}}')  # in the order of the model
    assert hosted.provider == "anthropic"


@pytest.mark.parametrize(
    ("reason", "finish"),
    [("stop", "stop"), ("length", "length"), ("content_filter", "filter"), ("tool_calls", "tool_calls")],
)
def test_finish_reasons_of_chat_completions(reason, finish):
    response = {"choices": [{"message": {"content": "x"}, "finish_reason": reason}]}
    assert ADAPTERS["openai_chat"].parse(response).turn.finish == finish


def test_a_refusal_is_what_the_model_said():
    response = {"choices": [{"message": {"content": None, "refusal": "I will not."}, "finish_reason": "stop"}]}
    assert ADAPTERS["openai_chat"].parse(response).turn.text == "I will not."


@pytest.mark.parametrize("provider", sorted(ADAPTERS))
def test_images_and_failures_in_parallel_results_are_accepted(provider):
    run = mt.Session("s", adapter=ADAPTERS[provider]).start_run([PNG, "look", mt.Attachment("a", images=(PNG,))])
    run.record(run.prepare(CAPS), says("", "a", "b", "c", "d"))
    run.tool_result("d", "")
    run.tool_result("b", [PNG])
    run.tool_result("a", ["broken", PNG], is_error=True)
    run.guide("and this", images=[PNG])
    run.tool_result("c", "fine")
    request = run.prepare(CAPS)
    body = request.to_dict()
    assert refused(provider, body) == []
    assert json.dumps(body).count(PNG.data) == 5
    adapter = ADAPTERS[provider]
    assert request.usage.tokens == adapter.estimate(adapter.recount(request.body))


@pytest.mark.parametrize("provider", sorted(ADAPTERS))
@pytest.mark.parametrize(
    "turn", [mt.AssistantTurn(()), says(" \n"), mt.AssistantTurn((mt.Reasoning("x", "s", "other"),))]
)
def test_turns_without_anything_to_show_are_left_out(provider, turn):
    run = mt.Session("s", adapter=ADAPTERS[provider]).start_run("go")
    run.record(run.prepare(CAPS), turn)
    assert refused(provider, run.prepare(CAPS).to_dict()) == []


def test_reasoning_and_opaque_parts_go_to_nobody_but_their_maker():
    turn = mt.AssistantTurn((
        mt.Reasoning("MINE", "sig", "anthropic"), mt.Reasoning("THEIRS", "sig", "openai"),
        mt.Opaque("openai", '{"x":"OPAQUE"}'),
        mt.Text("said"),
    ))  # fmt: skip
    (unit,) = ADAPTERS["anthropic"].units(turn)
    assert b"MINE" in unit.wire
    assert b"THEIRS" not in unit.wire
    assert b"OPAQUE" not in unit.wire
    (unit,) = ADAPTERS["openai_chat"].units(turn)
    assert json.loads(unit.wire) == {"role": "assistant", "content": "said"}


@pytest.mark.parametrize("provider", sorted(ADAPTERS))
def test_a_body_that_was_adopted_comes_out_as_it_was(provider):
    run = mt.Session("s", adapter=ADAPTERS[provider], system="SYSTEM").start_run(["one", PNG])
    run.record(run.prepare(CAPS), says("two", "c1", "c2"))
    run.tool_result("c1", "three")
    run.tool_result("c2", ["four"], is_error=False)
    request = run.prepare(CAPS)
    adopted = mt.Session.from_messages(ADAPTERS[provider], request.body)
    again = adopted.run.prepare()
    assert unmarked(again) == unmarked(request)


@pytest.mark.parametrize("provider", sorted(ADAPTERS))
@pytest.mark.parametrize(
    "body", [b"", b"[]", {}, {"messages": "x"}, {"messages": [1]}, {"messages": [{"content": "x"}]}]
)
def test_a_body_of_another_form_is_refused(provider, body):
    with pytest.raises(mt.InputError):
        mt.Session.from_messages(ADAPTERS[provider], body)


def test_ids_and_names_that_fit_are_kept_and_others_never_collide():
    odd = ["a b", "a:b", "é", "x" * 65, "x" * 66, ""]
    assert wire_id("toolu_01-A") == "toolu_01-A"
    assert wire_name("mcp__github__search") == "mcp__github__search"
    assert len({wire_id(one) for one in odd}) == len(odd)
    assert all(len(wire_id(one)) <= 64 and wire_id(wire_id(one)) == wire_id(one) for one in odd)


def test_headers_and_paths():
    anthropic = mt.Session("s", adapter=ADAPTERS["anthropic"]).start_run("go").prepare(CAPS)
    assert anthropic.path == "/v1/messages"
    assert anthropic.headers == {"content-type": "application/json", "anthropic-version": "2023-06-01"}
    assert anthropic.to_dict()["max_tokens"] == 16_000
    openai = mt.Session("s", adapter=ADAPTERS["openai_chat"]).start_run("go").prepare(CAPS)
    assert openai.path == "/v1/chat/completions"
    assert openai.to_dict()["max_completion_tokens"] == 16_000


def test_an_unknown_provider_is_refused_with_those_that_are_known():
    with pytest.raises(mt.InputError, match="'nope'; known are anthropic, bedrock, gemini"):
        mt.providers.adapter("nope", "gpt-5")


@pytest.mark.parametrize(("schema", "place"), [
    ({"type": "object", "anyOf": [{"required": ["a"]}]}, "anyOf"),
    ({"type": "object", "properties": {"a": {"items": [{}]}}}, "properties.a.items"),
])  # fmt: skip
def test_a_schema_that_anthropic_refuses_is_refused_with_its_tool_and_place(schema, place):
    run = mt.Session("s", adapter=ADAPTERS["anthropic"]).start_run("go")
    with pytest.raises(mt.InvalidTool, match=f"tool 'f' has '{place}'"):
        run.prepare(mt.Capabilities(stable=[mt.Tool("f", "", schema)]))
