"""The shape of single parts: each fault is found at its place and in the server's words."""

from __future__ import annotations

import copy
import re
from pathlib import Path

import pytest

import muntin as mt
from muntin import checks
from muntin.checks.schema import invalid

GOOD = {
    "openai_chat": {
        "model": "gpt-4o",
        "messages": [
            {
                "role": "user",
                "content": [{"type": "text", "text": "x"}, {"type": "image_url", "image_url": {"url": "u"}}],
            },
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "ok"},
        ],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
    },
    "openai_responses": {
        "model": "gpt-5",
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "x"}]},
            {"role": "assistant", "content": [{"type": "output_text", "text": "x"}]},
            {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "ok"},
        ],
        "tools": [{"type": "function", "name": "f", "parameters": {"type": "object"}, "strict": False}],
    },
    "anthropic": {
        "model": "claude-sonnet-4-5",
        "max_tokens": 9,
        "system": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
        "messages": [
            {"role": "user", "content": "x"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "f", "input": {}}]},
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "ok"}]},
                    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
                ],
            },
        ],
        "tools": [{"name": "f", "input_schema": {"type": "object", "properties": {"a": {"type": "string"}}}}],
    },
    "gemini": {
        "systemInstruction": {"parts": [{"text": "x"}]},
        "contents": [
            {"role": "user", "parts": [{"text": "x"}, {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]},
            {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "ok"}}}]},
        ],
        "tools": [{"functionDeclarations": [{"name": "f", "parameters": {"type": "OBJECT"}}]}],
    },
    "bedrock": {
        "system": [{"text": "x"}, {"cachePoint": {"type": "default"}}],
        "messages": [
            {
                "role": "user",
                "content": [
                    {"text": "x"},
                    {"document": {"name": "a [1]", "format": "pdf", "source": {"bytes": "AAAA"}}},
                ],
            },
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": "t1", "name": "f", "input": {}}}]},
            {"role": "user", "content": [{"toolResult": {"toolUseId": "t1", "content": [{"text": "ok"}]}}]},
        ],
        "toolConfig": {"tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": {"type": "object"}}}}]},
    },
    "ollama": {
        "model": "qwen3",
        "messages": [
            {"role": "user", "content": "x", "images": ["AAAA"]},
            {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]},
            {"role": "tool", "content": "ok", "tool_name": "f"},
        ],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
    },
}
GONE = object()

FAULTS = [
    (
        "openai_chat",
        "messages",
        5,
        "OC12",
        "Invalid type for 'messages': expected an array, but got an integer instead.",
    ),
    ("openai_chat", "messages.0", "x", "OC12", "Invalid type for 'messages[0]': expected an object, but got a string"),
    ("openai_chat", "messages.0.role", GONE, "OC12", "Missing required parameter: 'messages[0].role'."),
    ("openai_chat", "messages.0.role", "human", "OC13", "Invalid value: 'human'. Supported values are: 'system', 'dev"),
    ("openai_chat", "messages.0.content", {}, "OC12", "expected a string or an array, but got an object instead."),
    (
        "openai_chat",
        "messages.0.content.0.text",
        GONE,
        "OC13",
        "Missing required parameter: 'messages[0].content[0].text'",
    ),
    (
        "openai_chat",
        "messages.0.content.0.type",
        "input_text",
        "OC13",
        "Invalid value: 'input_text'. Supported values are",
    ),
    (
        "openai_chat",
        "messages.0.content.1.image_url.url",
        5,
        "OC12",
        "Invalid type for 'messages[0].content[1].image_url.u",
    ),
    (
        "openai_chat",
        "messages.1.tool_calls.0.id",
        GONE,
        "OC12",
        "Missing required parameter: 'messages[1].tool_calls[0].i",
    ),
    (
        "openai_chat",
        "messages.1.tool_calls.0.type",
        GONE,
        "OC12",
        "Missing required parameter: 'messages[1].tool_calls[0]",
    ),
    (
        "openai_chat",
        "messages.1.tool_calls.0.function.name",
        GONE,
        "OC12",
        "Missing required parameter: 'messages[1].too",
    ),
    ("openai_chat", "messages.2.tool_call_id", GONE, "OC12", "Missing required parameter: 'messages[2].tool_call_id'."),
    ("openai_chat", "tools.0.function", GONE, "OC12", "Missing required parameter: 'tools[0].function'."),
    (
        "openai_responses",
        "input.0.content.0.type",
        "text",
        "OR13",
        "Invalid value: 'text'. Supported values are: 'input_te",
    ),
    (
        "openai_responses",
        "input.1.content.0.type",
        "input_text",
        "OR13",
        "Supported values are: 'output_text', and 'refusal'",
    ),
    (
        "openai_responses",
        "input.2.type",
        "tool_call",
        "OR13",
        "Invalid value: 'tool_call'. Supported values are: 'function",
    ),
    ("openai_responses", "input.2.name", GONE, "OR13", "Missing required parameter: 'input[2].name'."),
    (
        "openai_responses",
        "input.3.output",
        {},
        "OR13",
        "Invalid type for 'input[3].output': expected a string or an array",
    ),
    ("openai_responses", "tools.0.name", GONE, "OR13", "Missing required parameter: 'tools[0].name'."),
    (
        "anthropic",
        "messages.0.role",
        "tool",
        "AM21",
        "messages.0.role: Input should be 'user', 'assistant' or 'system'",
    ),
    ("anthropic", "messages.0.content", GONE, "AM21", "messages.0.content: Field required"),
    (
        "anthropic",
        "messages.1.content.0.type",
        "image_url",
        "AM21",
        "Input tag 'image_url' found using 'type' does not mat",
    ),
    (
        "anthropic",
        "messages.1.content.0.input",
        "{}",
        "AM21",
        "messages.1.content.0.input: Input should be a valid diction",
    ),
    (
        "anthropic",
        "messages.2.content.0.content.0.text",
        GONE,
        "AM21",
        "messages.2.content.0.content.0.text: Field requir",
    ),
    (
        "anthropic",
        "messages.2.content.1.source.media_type",
        "image/bmp",
        "AM21",
        "Input should be 'image/jpeg', 'image/png",
    ),
    ("anthropic", "system.0.cache_control.ttl", "2h", "AM21", "ttl: Input should be '5m' or '1h'"),
    ("anthropic", "tools.0.input_schema", GONE, "AM21", "tools.0.input_schema: Field required"),
    (
        "anthropic",
        "tools.0.input_schema.anyOf",
        [{}],
        "AM19",
        "does not support oneOf, allOf, or anyOf at the top level",
    ),
    ("anthropic", "tools.0.input_schema.properties.a.type", "str", "AM19", "It must match JSON Schema draft 2020-12"),
    ("gemini", "contents.0.parts.0.text", 5, "GG11", "Invalid value at 'contents[0].parts[0].text' (TYPE_STRING), 5"),
    ("gemini", "contents.0.parts", {}, "GG11", "Invalid value at 'contents[0].parts', expected a list"),
    ("gemini", "contents.0.parts.1.inlineData.mimeType", GONE, "GG11", "required field is missing"),
    (
        "gemini",
        "contents.1.parts.0.functionCall.args",
        "{}",
        "GG11",
        "Invalid value at 'contents[1].parts[0].functionCall",
    ),
    ("gemini", "systemInstruction", "x", "GG11", "Invalid value at 'systemInstruction', expected an object"),
    (
        "gemini",
        "tools.0.functionDeclarations.0.parameters.$schema",
        "x",
        "GG12",
        'Unknown name "$schema" at \'tools[0].',
    ),
    ("bedrock", "messages.0.role", "tool", "BC12", "Member must satisfy enum value set: [user, assistant, system]"),
    ("bedrock", "messages.0.content", "x", "BC12", "Invalid type for parameter messages[0].content, value: 'x'"),
    (
        "bedrock",
        "messages.0.content.0",
        {"type": "text"},
        "BC12",
        'Unknown parameter in messages[0].content[0]: "type"',
    ),
    ("bedrock", "messages.0.content.1.document.name", "a.pdf", "BC13", "failed to satisfy constraint"),
    (
        "bedrock",
        "messages.1.content.0.toolUse.input",
        GONE,
        "BC12",
        "Missing required parameter in messages[1].content[0]",
    ),
    ("bedrock", "messages.2.content.0.toolResult.status", "failed", "BC12", "enum value set: [success, error]"),
    ("bedrock", "system.1.cachePoint.ttl", "2h", "BC12", "enum value set: [5m, 1h]"),
    ("bedrock", "toolConfig.toolChoice", {"none": {}}, "BC12", 'Unknown parameter in toolConfig.toolChoice: "none"'),
    ("bedrock", "toolConfig.tools", [], "BC12", "Invalid length for parameter toolConfig.tools, value: 0"),
    (
        "ollama",
        "messages.0.role",
        5,
        "OL6",
        "cannot unmarshal integer into Go struct field ChatRequest.messages.role of type",
    ),
    (
        "ollama",
        "messages.0.images",
        "AAAA",
        "OL6",
        "json: cannot unmarshal string into Go struct field ChatRequest.messages",
    ),
    (
        "ollama",
        "messages.1.tool_calls.0.function.name",
        GONE,
        "OL6",
        "messages.1.tool_calls.0.function.name is missing",
    ),
    (
        "ollama",
        "tools.0.function",
        "f",
        "OL6",
        "json: cannot unmarshal string into Go struct field ChatRequest.tools.func",
    ),
    ("openai_chat", "model", GONE, "OC12", "Missing required parameter: 'model'."),
    ("openai_chat", "thinking", {}, "OC14", "Unrecognized request argument supplied: thinking"),
    ("openai_responses", "model", GONE, "OR14", "Missing required parameter: 'model'."),
    ("openai_responses", "input", [], "OR14", 'One of "input" or "previous_response_id" or'),
    ("openai_responses", "messages", [], "OR14", "Unknown parameter: 'messages'."),
    ("anthropic", "model", GONE, "AM21", "model: Field required"),
    ("anthropic", "max_tokens", GONE, "AM21", "max_tokens: Field required"),
    ("anthropic", "stop", [], "AM22", "stop: Extra inputs are not permitted"),
    ("gemini", "messages", [], "GG13", 'Unknown name "messages": Cannot find field.'),
    ("bedrock", "max_tokens", 9, "BC12", 'Unknown parameter in input: "max_tokens", must be one of: '),
    ("ollama", "model", GONE, "OL6", "model is missing"),
]


def spoiled(provider, path, value):
    body = copy.deepcopy(GOOD[provider])
    *way, last = (int(part) if part.isdigit() else part for part in path.split("."))
    place = body
    for key in way:
        place = place[key]
    if value is GONE:
        del place[last]
    else:
        place[last] = value
    return body


@pytest.mark.parametrize("provider", sorted(GOOD))
def test_a_good_body_has_no_findings(provider):
    assert mt.providers.check(provider, GOOD[provider]) == []


@pytest.mark.parametrize(("provider", "path", "value", "rule", "text"), FAULTS, ids=lambda one: str(one)[:40])
def test_a_fault_of_shape_is_found_where_it_is_and_in_the_servers_words(provider, path, value, rule, text):
    found = mt.providers.check(provider, spoiled(provider, path, value))
    assert any(one.rule == rule and one.path.startswith(path) and text in one.text for one in found), found
    assert all(one.mend for one in found)


def test_every_rule_of_shape_has_a_fault_here():
    folder = Path(checks.__file__).parent
    source = "".join(path.read_text(encoding="utf-8") for path in folder.glob("*_shapes.py"))
    assert set(re.findall(r'"([A-Z]{2}\d+)"', source)) == {rule for *_, rule, _ in FAULTS}


@pytest.mark.parametrize("server", ["vllm", "openrouter"])
def test_roles_and_parts_that_another_server_has_are_left_to_it(server):
    video = {"type": "video_url", "video_url": {"url": "u"}}
    body = spoiled("openai_chat", "messages.0.content", [video])
    assert [one.rule for one in mt.providers.check("openai_chat", body)] == ["OC13"]
    assert mt.providers.check(f"openai_chat:{server}", body) == []


@pytest.mark.parametrize(("schema", "place"), [
    ({"type": "object", "properties": {"a": {"type": ["string", "null"]}}, "required": ["a"]}, ""),
    ({"$defs": {"a": {"enum": [1, None]}}, "properties": {"b": {"$ref": "#/$defs/a"}}, "items": False}, ""),
    ({"properties": {"a": {"type": "array", "items": [{"type": "string"}]}}}, "properties.a.items"),
    ({"properties": {"a": {"minimum": 0, "exclusiveMinimum": True}}}, "properties.a.exclusiveMinimum"),
    ({"properties": {"a": {"type": "string", "required": True}}}, "properties.a.required"),
    ({"properties": []}, "properties"),
    ({"required": ["a", "a"]}, "required"),
    ({"anyOf": []}, "anyOf"),
    ({"properties": {"a": "string"}}, "properties.a"),
    ({"properties": {"a": {"type": "any"}}}, "properties.a.type"),
    ({"minLength": -1}, "minLength"),
])  # fmt: skip
def test_a_schema_is_held_against_the_draft(schema, place):
    assert invalid(schema) == place
