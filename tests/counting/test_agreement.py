"""A session adds up bit by bit what an estimate of its whole request body says, in every wire format."""

from __future__ import annotations

import json

import pytest

import muntin as mt
from agents import ADAPTERS, CAPS, compacted, fill, says

MORE = {
    "openai_chat:openrouter": mt.providers.openai_chat("openai/gpt-5", profile="openrouter"),
    "openai_chat:xai": mt.providers.openai_chat("grok-4", profile="xai"),
    "openai_responses, gpt-4o": mt.providers.openai_responses("gpt-4o"),
    "gemini, 2.5": mt.providers.gemini("gemini-2.5-pro"),
    "bedrock, text apart": mt.providers.bedrock("mistral.mistral-large-2402-v1:0"),
    "bedrock, nova": mt.providers.bedrock("amazon.nova-pro-v1:0"),
}
ALL = ADAPTERS | MORE

SMALL = mt.Image("image/png", data="iVBORw0KGgoAAAANSUhEUgAABAAAAAMACAIAAAA=")
FAR = mt.Image("image/png", url="https://a.example/b.png")
TOOL = mt.Tool("seek", "Seek.", {"type": "object", "properties": {"at": {"type": "integer"}}})

HOSTED = {
    "anthropic": {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "tides"}},
    "bedrock": {"citationsContent": {"content": [{"text": "tides"}], "citations": []}},
    "gemini": {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
    "openai_responses": {"type": "custom_tool_call", "call_id": "c9", "name": "seek", "input": "tides"},
}
CHOICES = {
    "anthropic": {"tool_choice": {"type": "tool", "name": "read_file", "disable_parallel_tool_use": True}},
    "bedrock": {"toolConfig": {"toolChoice": {"any": {}}}},
    "gemini": {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}},
    "openai_chat": {"tool_choice": "required", "parallel_tool_calls": False},
    "openai_responses": {"tool_choice": {"type": "function", "name": "read_file"}},
    "ollama": {"format": {"type": "object"}},
}
SCHEMA = {"type": "object", "properties": {"depth": {"type": "number"}}}
SCHEMAS = {
    "anthropic": {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
    "bedrock": {"outputConfig": {"textFormat": {"structure": {"jsonSchema": {"schema": json.dumps(SCHEMA)}}}}},
    "gemini": {"generationConfig": {"responseJsonSchema": SCHEMA}},
    "openai_chat": {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}}},
    "openai_responses": {"text": {"format": {"type": "json_schema", "name": "a", "schema": SCHEMA}}},
}


def agrees(request):
    found = mt.providers.estimate(request.adapter.provider, request.body, model=request.adapter.model)
    assert (request.usage.tokens, request.usage.safe) == (found.tokens, found.safe), request.body
    return found


def thoughts(adapter):
    """Reasoning as the provider gives it, and a part that only it understands."""
    form, made = adapter.provider.partition(":")[0], adapter.provider
    sealed = '[{"type":"reasoning.encrypted","data":"gAAAAABo"}]' if form == "openai_chat" else "gAAAAABoAAAAAAA="
    given = [mt.Reasoning("I think, so it is.", "", made), mt.Reasoning("And more.", "rs_1", made, sealed)]
    given[1:] = given[1:] if form in ("openai_chat", "openai_responses") else [mt.Reasoning("And.", "sig_" * 9, made)]
    return (*given, *((mt.Opaque(form, json.dumps(HOSTED[form])),) if form in HOSTED else ()))


@pytest.mark.parametrize("name", sorted(ALL))
def test_they_agree_on_images_failures_reasoning_and_what_only_the_provider_understands(name):
    adapter = ALL[name]
    run = mt.Session("s", adapter=adapter, system="Be exact.", state={"branch": "main"}).start_run(
        ["Look.", SMALL, "And there.", FAR, mt.Attachment("a.txt", "content", images=(SMALL,))]
    )
    agrees(run.prepare(CAPS))
    turn = says("Hm.", "a", "b", "c")
    said = (mt.Text("First. "), mt.Text("Second."))
    parts = (
        *thoughts(adapter),
        *said,
        *turn.parts[1:],
        mt.ToolCall("d", "seek", '{"at": 1.50, "b": '),
        mt.ToolCall("e", "seek", '{ "at" : 1.50 }'),
        mt.ToolCall("f", "seek", "{}"),
    )
    run.record(run.prepare(CAPS), mt.AssistantTurn(parts, "tool_calls"))
    run.tool_result("c", ["broken", SMALL], is_error=True)
    run.tool_result("a", '{"x": "日本語"}\n')
    run.tool_result("b", [SMALL])
    run.tool_result("d", "")
    run.guide("Look at this, too.", images=[FAR, SMALL])
    run.todo([("in_progress", "seek")], goal="found")
    agrees(run.prepare(CAPS))
    run.record(run.prepare(CAPS), mt.AssistantTurn((*thoughts(adapter), mt.Text("Done: `f(x)` = 12.5"))))
    agrees(run.prepare(CAPS))  # ends with what the model said
    run.repair("empty_response", "Say something.")
    agrees(run.prepare(mt.Capabilities(stable=[TOOL])))
    agrees(run.prepare())


@pytest.mark.parametrize("name", sorted(ALL))
@pytest.mark.parametrize("system", ["", "Be exact."])
def test_they_agree_on_what_the_parameters_ask_for(name, system):
    adapter = ALL[name]
    form = adapter.provider.partition(":")[0]
    run = mt.Session("s", adapter=adapter, system=system).start_run("Go.")
    plain = agrees(run.prepare(CAPS))
    agrees(run.prepare(CAPS, params=CHOICES[form]))
    agrees(run.prepare(params=CHOICES[form]))
    if form in SCHEMAS:
        assert agrees(run.prepare(CAPS, params=SCHEMAS[form])).tokens > plain.tokens or not adapter.costs.rules.schema


@pytest.mark.parametrize("name", sorted(ALL))
@pytest.mark.parametrize("system", ["", "Be exact."])
def test_they_agree_on_a_compacted_session(name, system):
    session = mt.Session("s", adapter=ALL[name], system=system, policy=mt.Policy(window=16_000))
    run = session.start_run("Go.")
    fill(run)
    compacted(session)
    agrees(run.prepare(CAPS))
    run.finish()
    run = session.start_run("Go on.")
    agrees(run.prepare(CAPS))
