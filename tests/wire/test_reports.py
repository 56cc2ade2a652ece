"""Reports of what other agents sent and of what came of it: the smallest input, and what muntin sends instead."""

from __future__ import annotations

import json
import re

import pytest

import muntin as mt
from agents import ADAPTERS, CAPS, compacted, exchange, fill, says, session
from wire.rules import refused

POLICY = mt.Policy(window=9_000, reserve_output=1_000, keep_recent=500)


def adopted(provider, body, caps=CAPS):
    """A body of somebody else's as muntin goes on from it, and the session; never one that would be refused."""
    session = mt.Session.from_messages(ADAPTERS[provider], body)
    made = (session.run or session.start_run("go on")).prepare(caps).to_dict()
    assert refused(provider, made) == []
    return made, session


def kinds(session):
    return [repair.kind for repair in session.repairs]


def use(key="t1"):
    return {"type": "tool_use", "id": key, "name": "read_file", "input": {}}


def result(key="t1"):
    return {"type": "tool_result", "tool_use_id": key, "content": "ok"}


def user(*blocks):
    return {"role": "user", "content": list(blocks) or "Look."}


def assistant(*blocks):
    return {"role": "assistant", "content": list(blocks)}


CALL = {"type": "function_call", "call_id": "c1", "name": "read_file", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "ok"}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA"}
ASKED = {"role": "user", "content": "Look."}


def test_claude_code_24670_a_result_whose_call_is_gone_is_left_out():
    made, session = adopted("anthropic", {"messages": [user(result()), assistant({"type": "text", "text": "x"})]})
    assert "tool_result" not in json.dumps(made)
    assert kinds(session) == ["orphan", "opening"]


def test_kilocode_5163_a_call_that_nobody_answered_is_answered_as_interrupted():
    made, session = adopted("anthropic", {"messages": [user(), assistant(use()), user()]})
    first, *_ = made["messages"][2]["content"]
    assert (first["type"], first["is_error"]) == ("tool_result", True)
    assert kinds(session) == ["dangling"]


def test_openminis_222_an_output_without_its_call_is_left_out():
    made, session = adopted("openai_responses", {"input": [ASKED, OUTPUT]})
    assert "function_call_output" not in json.dumps(made)
    assert kinds(session) == ["orphan"]


@pytest.mark.parametrize("provider", sorted(ADAPTERS))
def test_vscode_unify_chat_provider_152_and_openai_agents_2317_no_compaction_parts_a_call_from_its_output(provider):
    s = session(provider, policy=POLICY)
    run = s.start_run("go")
    turn = run.record(fill(run), says("", "still", "open"))
    assert isinstance(compacted(s), mt.Committed)
    assert s.open_calls == turn.tool_calls  # a compaction between a call and its result forgets neither
    run.tool_result("still", "ok")
    run.tool_result("open", "ok")
    assert refused(provider, run.prepare(CAPS).to_dict()) == []
    assert not s.repairs


def test_openai_node_1567_and_vercel_ai_7099_reasoning_goes_with_what_it_led_to_or_not_at_all():
    made, _ = adopted("openai_responses", {"input": [ASKED, THOUGHT, CALL, OUTPUT, THOUGHT | {"id": "rs_2"}, ASKED]})
    items = [item.get("id") or item.get("type") or item["role"] for item in made["input"]]
    assert items == ["user", "rs_1", "function_call", "function_call_output", "user"]


def test_software_agent_sdk_1754_a_message_behind_reasoning_keeps_its_id_and_status():
    said = {"type": "message", "role": "assistant", "id": "msg_1", "status": "completed"}
    said["content"] = [{"type": "output_text", "text": "x", "annotations": []}]
    made, _ = adopted("openai_responses", {"input": [ASKED, THOUGHT, said, ASKED]})
    assert made["input"][2] == said


def test_agora_141_reasoning_without_a_summary_has_an_empty_one():
    made, _ = adopted("openai_responses", {"input": [ASKED, THOUGHT, CALL, OUTPUT]})
    assert made["input"][1]["summary"] == []


def test_senpi_271_an_id_that_is_not_the_servers_is_left_out():
    made, _ = adopted("openai_responses", {"input": [ASKED, CALL | {"id": "custom"}, OUTPUT]})
    assert "id" not in made["input"][1]


def test_opencode_1680_and_magentic_276_and_ironclaw_1241_ids_for_mistral_have_nine_letters_and_digits():
    calls = [{"id": "call_1", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}]
    answer = {"role": "tool", "tool_call_id": "call_1", "content": "ok"}
    body = {"messages": [ASKED, {"role": "assistant", "content": None, "tool_calls": calls}, answer]}
    made, _ = adopted("openai_chat:mistral", body)
    (call,) = made["messages"][1]["tool_calls"]
    assert re.fullmatch("[a-zA-Z0-9]{9}", call["id"])
    assert made["messages"][2]["tool_call_id"] == call["id"]


@pytest.mark.parametrize("provider", sorted(ADAPTERS))
@pytest.mark.parametrize("nothing", ["", " ", "\n"])
def test_hermes_agent_55092_and_41985_an_empty_result_says_so(provider, nothing):
    run = session(provider).start_run("go")
    exchange(run, says("", "c1"), nothing)
    request = run.prepare(CAPS)
    assert refused(provider, request.to_dict()) == []
    if provider in ("anthropic", "bedrock") or not nothing:
        assert b"(no output)" in request.body or b"(no content)" in request.body or b"empty" in request.body


@pytest.mark.parametrize("provider", ["anthropic", "bedrock", "gemini"])
def test_verifiers_1522_results_of_one_batch_share_one_message(provider):
    run = session(provider).start_run("go")
    exchange(run, says("", "c1", "c2", "c3"))
    body = run.prepare(CAPS).to_dict()
    assert [message["role"] for message in body.get("messages") or body["contents"]][0::2] == ["user", "user"]


@pytest.mark.parametrize("provider", ["anthropic", "bedrock"])
def test_req_llm_480_and_langchain4j_3051_four_cache_marks_are_never_exceeded(provider):
    caps = mt.Capabilities(stable=[mt.Tool(f"tool_{i}") for i in range(9)], guides={"web": "W"}, switches={"web": True})
    s = session(provider, state={"a": 1})
    run = s.start_run("go", catalogue="C", collaboration="D")
    for i in range(6):
        request = exchange(run, says("x", f"c{i}"), caps=caps)
        assert 1 <= len(re.findall(rb'"cache_control"|"cachePoint"', request.body)) <= 4


@pytest.mark.parametrize("provider", ["anthropic", "bedrock", "gemini", "openai_chat:mistral"])
def test_forgecode_1872_a_request_never_ends_with_what_the_model_said(provider):
    run = session(provider).start_run("go")
    run.record(run.prepare(CAPS), says("x "))
    body = run.prepare(CAPS).to_dict()
    assert refused(provider, body) == []
    assert (body.get("messages") or body["contents"])[-1]["role"] == "user"


def test_opencode_24722_and_warp_11587_deepseek_gets_its_reasoning_back_in_all_turns_with_calls():
    provider = "openai_chat:deepseek"
    run = session(provider).start_run("go")
    for i in range(2):
        exchange(run, mt.AssistantTurn((mt.Reasoning(f"hm {i}", provider=provider), *says("", f"c{i}").parts)))
    exchange(run, says("", "foreign"))
    body = run.prepare(CAPS).to_dict()
    told = [message["reasoning_content"] for message in body["messages"] if message.get("tool_calls")]
    assert told == ["hm 0", "hm 1", ""]


def test_vllm_6862_and_41114_one_system_message_in_front_and_roles_that_alternate():
    body = {"messages": [{"role": "system", "content": "S"}, ASKED, ASKED, {"role": "system", "content": "late"}]}
    made, _ = adopted("openai_chat:vllm", body)
    assert [message["role"] for message in made["messages"]] == ["system", "user"]


def test_gemini_cli_11814_a_history_does_not_begin_with_a_call():
    called = {"role": "model", "parts": [{"functionCall": {"name": "read_file", "args": {}}}]}
    answered = {"role": "user", "parts": [{"functionResponse": {"name": "read_file", "response": {"output": "ok"}}}]}
    made, session = adopted("gemini", {"contents": [called, answered]})
    assert [content["role"] for content in made["contents"]] == ["user", "model", "user"]
    assert kinds(session) == ["opening"]


def test_vscode_299295_there_are_as_many_responses_as_calls():
    called = {"role": "model", "parts": [{"functionCall": {"name": "read_file", "args": {"n": i}}} for i in range(3)]}
    answered = {"role": "user", "parts": [{"functionResponse": {"name": "read_file", "response": {"output": "ok"}}}]}
    made, session = adopted("gemini", {"contents": [{"role": "user", "parts": [{"text": "x"}]}, called, answered]})
    assert len(made["contents"][2]["parts"]) == 3
    assert kinds(session) == ["dangling", "dangling"]


def test_litellm_26755_a_response_does_not_begin_a_history():
    answered = {"role": "user", "parts": [{"functionResponse": {"name": "read_file", "response": {"output": "ok"}}}]}
    made, session = adopted("gemini", {"contents": [answered, {"role": "user", "parts": [{"text": "x"}]}]})
    assert "functionResponse" not in json.dumps(made)
    assert kinds(session) == ["orphan"]


def test_neuron_ai_219_and_ollama_6451_ollama_gets_objects_and_texts():
    run = session("ollama").start_run(["look", mt.Image("image/png", data="iVBORw0KGgo=")])
    exchange(run, says("", "c1"))
    messages = run.prepare(CAPS).to_dict()["messages"]
    assert all(isinstance(message["content"], str) for message in messages)
    (calls,) = [message["tool_calls"] for message in messages if "tool_calls" in message]
    assert isinstance(calls[0]["function"]["arguments"], dict)


@pytest.mark.parametrize("provider", sorted(ADAPTERS))
def test_openai_node_1341_and_chatbox_2079_and_typebot_1205_no_list_is_empty(provider):
    run = session(provider).start_run("go")
    run.record(run.prepare(mt.Capabilities()), says("x"))
    request = run.prepare(mt.Capabilities())
    assert refused(provider, request.to_dict()) == []
    assert b"[]" not in request.body


@pytest.mark.parametrize(("binds", "kept"), [(False, ["7", "9"]), (True, ["9"])])
@pytest.mark.parametrize("provider", ["anthropic", "bedrock"])
def test_claude_code_24087_and_opencode_41738_a_compaction_alters_no_thinking(provider, binds, kept):
    model = mt.Model(name="anthropic.claude-x", provider=provider, binds_reasoning=binds)
    adapter = mt.providers.adapter(provider, model)
    s = mt.Session("s", adapter=adapter, policy=POLICY)
    run = s.start_run("go")
    for i in range(8):
        thought = mt.Reasoning(f"THOUGHT-{i}.", f"SEAL-{i}.", provider)
        exchange(run, mt.AssistantTurn((thought, *says("", f"c{i}").parts)), "word " * 500)
    assert isinstance(compacted(s), mt.Committed)
    exchange(run, mt.AssistantTurn((mt.Reasoning("THOUGHT-9.", "SEAL-9.", provider), *says("", "c9").parts)))
    body = run.prepare(CAPS).body.decode()
    # The newest turn, whose results the model has yet to see, keeps its own unless that is bound to what stood before.
    assert re.findall(r"THOUGHT-(\d+)", body) == re.findall(r"SEAL-(\d+)", body) == kept
    again = mt.Session.from_events(s.events_since(0))
    assert again.run.prepare(CAPS).body == run.prepare(CAPS).body


def test_hermes_agent_43900_and_openclaw_28278_ollama_is_told_the_window_and_says_what_it_kept():
    run = session("ollama").start_run("go")
    request = run.prepare(CAPS)
    assert request.to_dict()["options"]["num_ctx"] == ADAPTERS["ollama"].model.window
    usage = request.adapter.parse({"message": {"content": "x"}, "prompt_eval_count": 17_000, "eval_count": 3}).usage
    assert usage == mt.Usage(input=17_000, output=3)


def test_langchain_aws_141_text_stands_apart_from_calls_and_results_where_a_model_wants_it():
    name = "meta.llama3-1-70b-instruct-v1:0"
    adapter = mt.providers.bedrock(mt.Model(name=name, provider="bedrock"))
    s = mt.Session("s", adapter=adapter, system="SYSTEM")
    run = s.start_run("go")
    exchange(run, says("I look.", "c1", "c2"))
    run.guide("Be quick.")
    exchange(run, says("", "c3"))
    run.todo([("in_progress", "it")])
    request = run.prepare(CAPS)
    body = request.to_dict()
    assert refused("bedrock", body | {"modelId": name}) == []
    shapes = [
        (message["role"][0], *(next(iter(block)) for block in message["content"])) for message in body["messages"]
    ]
    assert shapes == [
        ("u", "text"), ("a", "text"), ("u", "text"), ("a", "toolUse", "toolUse"), ("u", "toolResult", "toolResult"),
        ("a", "text"), ("u", "text"), ("a", "toolUse"), ("u", "toolResult"), ("a", "text"), ("u", "text"),
    ]  # fmt: skip
    assert request.usage.tokens == adapter.estimate(adapter.recount(request.body))
