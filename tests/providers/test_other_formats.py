"""What Responses, Gemini, Converse, Ollama and the compatible servers have of their own: seals, ids, names, roles."""

from __future__ import annotations

import json

import pytest

import muntin as mt
from agents import ADAPTERS, CAPS, answers, exchange, says
from muntin.providers.ids import given_name, short_id, wire_id, wire_name
from wire.rules import refused

PNG = mt.Image("image/png", data="iVBORw0KGgo=")


def started(provider, **kwargs):
    return mt.Session("s", adapter=ADAPTERS[provider], **kwargs).start_run("go")


def body(run, **kwargs):
    return run.prepare(kwargs.pop("caps", CAPS), **kwargs).to_dict()


# --- Responses ------------------------------------------------------------------------------------------------------
THOUGHT = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "A"}, {"type": "summary_text", "text": "B"}],
    "encrypted_content": "gAAAAA",
}
SAID = {
    "type": "message",
    "role": "assistant",
    "id": "msg_1",
    "status": "completed",
    "phase": "commentary",
    "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
}
CALLED = {"type": "function_call", "call_id": "c1", "name": "read_file", "arguments": '{"path":"a.py"}'}
RESPONSE = {"status": "completed", "output": [THOUGHT, SAID, CALLED | {"id": "fc_1", "status": "completed"}]}


def test_a_response_goes_back_as_it_came_but_for_ids_that_nobody_needs():
    run = started("openai_responses")
    run.record(run.prepare(CAPS), RESPONSE)
    run.tool_result("c1", "ok")
    assert body(run)["input"][-4:] == [
        THOUGHT,
        SAID,
        CALLED,
        {"type": "function_call_output", "call_id": "c1", "output": "ok"},
    ]


def test_without_its_reasoning_a_message_has_no_id_and_keeps_its_phase():
    adapter = ADAPTERS["openai_responses"]
    (unit,) = adapter.units(adapter.parse(RESPONSE).turn, reasoning=False)
    message = {"type": "message", "role": "assistant", "phase": "commentary", "content": "I look."}
    assert json.loads(b"[" + unit.wire + b"]") == [message, CALLED]


def test_reasoning_that_led_to_nothing_or_was_not_sealed_is_left_out():
    adapter = ADAPTERS["openai_responses"]
    for output in ([THOUGHT], [SAID, THOUGHT], [THOUGHT | {"encrypted_content": None}, CALLED]):
        for unit in adapter.units(adapter.parse({"output": output}).turn):
            assert b"rs_1" not in unit.wire


def test_responses_are_asked_to_keep_nothing():
    request = body(started("openai_responses"))
    assert request["store"] is False
    assert request["include"] == ["reasoning.encrypted_content"]
    assert "include" not in mt.providers.openai_responses("gpt-4o").fields({}, 5)


@pytest.mark.parametrize(("reason", "finish"), [("max_output_tokens", "length"), ("content_filter", "filter")])
def test_why_a_response_is_incomplete(reason, finish):
    response = {"status": "incomplete", "incomplete_details": {"reason": reason}, "output": [SAID]}
    assert ADAPTERS["openai_responses"].parse(response).turn.finish == finish


def test_a_failed_response_is_an_error():
    with pytest.raises(mt.ResponseError, match="server_error"):
        ADAPTERS["openai_responses"].parse({"status": "failed", "error": {"code": "server_error"}, "output": []})


# --- Gemini ---------------------------------------------------------------------------------------------------------
def gemini(*parts, **more):
    return {"candidates": [{"content": {"role": "model", "parts": list(parts)}, "finishReason": "STOP"}], **more}


def test_a_signature_goes_back_on_the_part_that_it_came_on():
    parts = [
        {"text": "I look."},
        {"functionCall": {"id": "c1", "name": "read_file", "args": {"path": "a.py"}}, "thoughtSignature": "c2ln"},
        {"functionCall": {"id": "c2", "name": "read_file", "args": {}}},
        {"text": "", "thoughtSignature": "ZW5k"},
    ]
    run = started("gemini")
    run.record(run.prepare(CAPS), gemini({"text": "hm", "thought": True}, *parts))
    assert body(run)["contents"][1] == {"role": "model", "parts": parts}


def test_calls_of_another_model_are_excused_from_signatures_once_a_turn_and_for_newer_models_only():
    turn = says("", "c1", "c2")
    (unit,) = ADAPTERS["gemini"].units(turn)
    first, second = json.loads(b"[" + unit.wire + b"]")
    assert first["thoughtSignature"] == "skip_thought_signature_validator"
    assert "thoughtSignature" not in second
    (unit,) = mt.providers.gemini("gemini-2.5-pro").units(turn)
    assert b"thoughtSignature" not in unit.wire


def test_results_are_named_like_their_calls_and_stand_alone():
    run = started("gemini")
    run.record(run.prepare(CAPS), says("", ("c1", "read_file"), ("c2", "run_tests")))
    run.tool_result("c2", [PNG])
    run.guide("and")
    *_, results, rest = body(run)["contents"]
    assert [part["functionResponse"]["name"] for part in results["parts"]] == ["read_file", "run_tests"]
    assert {key for part in rest["parts"] for key in part} == {"text", "inlineData"}


def test_a_blocked_prompt_is_a_turn_that_was_filtered():
    turn, usage = ADAPTERS["gemini"].parse({
        "promptFeedback": {"blockReason": "SAFETY"},
        "usageMetadata": {"promptTokenCount": 5},
    })  # fmt: skip
    assert turn == mt.AssistantTurn((), "filter")
    assert usage == mt.Usage(input=5)


def test_keys_of_the_sdk_are_refused_before_a_call_is_lost():
    with pytest.raises(mt.ResponseError, match="by_alias"):
        ADAPTERS["gemini"].parse(gemini({"function_call": {"name": "f", "args": {}}}))


# --- Converse -------------------------------------------------------------------------------------------------------
def test_tools_are_declared_as_long_as_calls_are_in_view():
    run = started("bedrock", system="SYSTEM")
    assert "toolConfig" not in body(run, caps=mt.Capabilities())
    exchange(run, says("", "c1"))
    request = run.prepare(mt.Capabilities())
    (tool,) = request.to_dict()["toolConfig"]["tools"]
    assert tool["toolSpec"]["name"] == "no_tool_is_available"
    assert refused("bedrock", request.to_dict()) == []
    assert request.usage.tokens == ADAPTERS["bedrock"].estimate(ADAPTERS["bedrock"].recount(request.body))


def test_cache_points_stand_where_a_model_takes_them():
    run = started("bedrock", system="SYSTEM")
    exchange(run, says("hm", "c1"))
    request = run.prepare(CAPS).body
    assert request.count(b"cachePoint") == 3  # the system text, what was read and what is written
    llama = mt.providers.bedrock(mt.Model(name="meta.llama3-1-70b-instruct-v1:0"))
    assert b"cachePoint" not in mt.Session("s", adapter=llama, system="S").start_run("go").prepare(CAPS).body


def test_a_tool_choice_stands_beside_the_tools():
    run = started("bedrock")
    choice = {"toolChoice": {"any": {}}}
    assert body(run, params={"toolConfig": choice})["toolConfig"]["toolChoice"] == {"any": {}}
    assert "toolConfig" not in body(run, caps=mt.Capabilities(), params={"toolConfig": choice})
    with pytest.raises(mt.InputError, match="toolChoice only"):
        run.prepare(CAPS, params={"toolConfig": {"tools": []}})


def test_bytes_of_boto3_and_base64_of_the_wire_are_read_the_same():
    def response(data):
        return {"output": {"message": {"content": [{"reasoningContent": {"redactedContent": data}}, {"text": "x"}]}}}

    assert ADAPTERS["bedrock"].parse(response(b"abc")) == ADAPTERS["bedrock"].parse(response("YWJj"))


def test_a_model_of_bedrock_is_known_by_its_vendors_name():
    adapter = ADAPTERS["bedrock"]
    assert adapter.model.max_output == mt.providers.anthropic("claude-sonnet-4-5").model.max_output
    assert adapter.path == "/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse"


# --- Ollama ---------------------------------------------------------------------------------------------------------
def test_ollama_is_told_the_window_that_was_counted_against():
    request = body(started("ollama"), params={"options": {"temperature": 0}})
    assert request["options"] == {"num_ctx": 131_072, "num_predict": 16_000, "temperature": 0}
    assert request["stream"] is False


def test_ollama_takes_objects_and_images_beside_the_text():
    run = started("ollama")
    run.record(run.prepare(CAPS), says("", "c1"))
    run.tool_result("c1", ["ok", PNG])
    asked, result, shown = body(run)["messages"][-3:]
    assert asked["tool_calls"][0]["function"]["arguments"] == {"path": "a.py"}
    assert result == {"role": "tool", "tool_name": "read_file", "tool_call_id": "c1", "content": "ok"}
    assert shown["images"] == [PNG.data]


def test_calls_without_ids_get_some():
    calls = [{"function": {"name": "read_file", "arguments": {}}}] * 2
    run = started("ollama")
    for _ in range(2):
        turn = run.record(run.prepare(CAPS), {"message": {"content": "", "tool_calls": calls}, "done_reason": "stop"})
        for call in turn.tool_calls:
            run.tool_result(call.id, "ok")
    assert len({call for kind, call in answers(run.prepare(CAPS)) if kind == "call"}) == 4


# --- usage ----------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("provider", "response"),
    [
        (
            "openai_responses",
            {
                "output": [SAID],
                "usage": {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 60}, "output_tokens": 7},
            },
        ),
        (
            "gemini",
            gemini(
                {"text": "I look."},
                usageMetadata={
                    "promptTokenCount": 100,
                    "cachedContentTokenCount": 60,
                    "candidatesTokenCount": 3,
                    "thoughtsTokenCount": 4,
                },
            ),
        ),
        (
            "bedrock",
            {
                "output": {"message": {"content": [{"text": "I look."}]}},
                "usage": {"inputTokens": 40, "cacheReadInputTokens": 60, "outputTokens": 7},
            },
        ),
    ],
)
def test_case_f1_usage_is_the_whole_input_in_every_format(provider, response):
    turn, usage = ADAPTERS[provider].parse(response)
    assert usage == mt.Usage(input=100, cached=60, output=7)
    assert turn.text == "I look."


# --- compatible servers -----------------------------------------------------------------------------------------------
def test_deepseek_gets_its_reasoning_back_with_calls_and_nobody_elses():
    adapter = ADAPTERS["openai_chat:deepseek"]
    called = says("", "c1")
    own = mt.AssistantTurn((mt.Reasoning("hm", provider=adapter.provider), *called.parts))
    foreign = mt.AssistantTurn((mt.Reasoning("THEIRS", "s", "anthropic"), *called.parts))
    spoken = mt.AssistantTurn((mt.Reasoning("hm", provider=adapter.provider), mt.Text("x")))
    wires = [json.loads(adapter.units(turn)[0].wire) for turn in (own, foreign, spoken)]
    assert [wire.get("reasoning_content") for wire in wires] == ["hm", "", None]
    old = mt.providers.openai_chat("deepseek-reasoner", profile="deepseek")
    assert b"reasoning_content" not in old.units(own)[0].wire


def test_openrouter_gets_its_sealed_reasoning_back_as_it_came():
    with pytest.warns(UserWarning, match="nothing is known"):
        adapter = mt.providers.openai_chat("vendor/new", profile="openrouter")
    details = [{"type": "reasoning.encrypted", "data": "x", "id": "r1"}]
    message = {"content": "hi", "reasoning": "hm", "reasoning_details": details}
    turn = adapter.parse({"choices": [{"message": message, "finish_reason": "stop"}]}).turn
    assert json.loads(adapter.units(turn)[0].wire)["reasoning_details"] == details


def test_a_chat_template_gets_one_system_message_and_roles_that_alternate():
    run = started("openai_chat:vllm", system="SYSTEM", state={"a": 1})
    run.guide("and")
    messages = body(run)["messages"]
    assert [message["role"] for message in messages] == ["system", "user"]
    assert [len(message["content"]) for message in messages] == [2, 2]


def test_a_profile_is_reopened_from_what_was_stored_and_an_unknown_one_is_refused():
    session = mt.Session("s", adapter=ADAPTERS["openai_chat:mistral"])
    session.start_run("go").prepare(CAPS)
    again = mt.Session.from_events(session.events_since(0))
    assert again.adapter.provider == "openai_chat:mistral"
    assert again.run.prepare(CAPS).body == session.run.prepare(CAPS).body
    with pytest.raises(mt.InputError, match="unknown profile 'nope'"):
        mt.providers.adapter("openai_chat:nope", "gpt-5")


@pytest.mark.parametrize(
    ("server", "place", "messages"),
    [
        ("mistral", "MI1: messages.1.tool_calls.0.id", [{"role": "user"}, {"tool_calls": [{"id": "call_1"}]}]),
        ("mistral", "MI2: messages.2.role", [{"role": "user"}, {"role": "assistant"}, {"role": "system"}]),
        ("mistral", "MI3: messages.1", [{"role": "user"}, {"role": "assistant", "tool_calls": [{"id": "a" * 9}]}]),
        ("mistral", "MI4: messages.1.role", [{"role": "user"}, {"role": "assistant"}]),
        ("mistral", "MI5: messages.0.role", [{"role": "developer"}, {"role": "user"}]),
        ("deepseek", "DS1: messages.0.role", [{"role": "developer"}]),
        (
            "deepseek",
            "DS2: messages.0.reasoning_content",
            [{"tool_calls": [{"id": "a"}]}, {"tool_calls": [{"id": "b"}], "reasoning_content": "hm"}],
        ),
        ("vllm", "CT1: messages.1.role", [{"role": "user"}, {"role": "system"}]),
        ("vllm", "CT2: messages.2.role", [{"role": "system"}, {"role": "user"}, {"role": "user"}]),
    ],
)
def test_a_rule_of_a_compatible_server_finds_its_smallest_bad_body(server, place, messages):
    found = mt.providers.check(f"openai_chat:{server}", {"messages": messages})
    assert place in [f"{finding.rule}: {finding.path}" for finding in found]


# --- ids and names ----------------------------------------------------------------------------------------------------
def test_ids_are_kept_by_who_made_them_and_never_collide_elsewhere():
    ids = ["toolu_01", "call_1", "tooluse_a.b:c", "D681PevKs", "chatcmpl-tool-" + "a" * 80, "chatcmpl-tool-" + "a" * 81]
    for mapped in (wire_id, short_id, lambda call: wire_id(call, more=".:")):
        assert len({mapped(call) for call in ids}) == len(ids)
        assert all(mapped(mapped(call)) == mapped(call) for call in ids)
    assert wire_id("tooluse_a.b:c", more=".:") == "tooluse_a.b:c"
    assert short_id("D681PevKs") == "D681PevKs"


def test_a_mapped_name_leads_back_to_its_tool():
    tools = ["read file", "a.b", "plain"]
    assert [given_name(wire_name(tool), tools) for tool in tools] == tools
    assert given_name("tool_unknown", tools) == "tool_unknown"
