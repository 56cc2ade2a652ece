"""Refusals that people have published: each text of a server is found in the smallest body that provokes it.

Those of chat completions and Anthropic's messages have their tables of cases in `wire.test_rules`; here are the others,
and the words of the quoted ones of those two.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import muntin as mt
from muntin import checks

CALL = {"type": "function_call", "call_id": "c1", "name": "read", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c1", "output": "ok"}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA"}
USER = {"role": "user", "content": "Look."}


def items(*given, **more):
    return {"model": "gpt-5", "input": list(given), **more}


def parts(*contents, **more):
    """A Gemini request: lists of parts, the user's and the model's by turns."""
    return {"contents": [{"role": ("user", "model")[i % 2], "parts": c} for i, c in enumerate(contents)], **more}


def called(name="read", **more):
    return {"functionCall": {"name": name, "args": {}}, **more}


def responded(response=None):
    return {"functionResponse": {"name": "read", "response": {"output": "ok"} if response is None else response}}


TEXT = {"text": "Look."}


def turns(*contents, tools=True, **more):
    """A Converse request: lists of blocks, the user's and the assistant's by turns."""
    messages = [{"role": ("user", "assistant")[i % 2], "content": c} for i, c in enumerate(contents)]
    spec = {"toolSpec": {"name": "read", "inputSchema": {"json": {"type": "object"}}}}
    return {"messages": messages, **({"toolConfig": {"tools": [spec]}} if tools else {}), **more}


def use(key="t1", name="read"):
    return {"toolUse": {"toolUseId": key, "name": name, "input": {}}}


def result(key="t1", text="ok"):
    return {"toolResult": {"toolUseId": key, "content": [{"text": text}]}}


def spec(**more):
    return {"toolConfig": {"tools": [{"toolSpec": {"name": "read", "inputSchema": {"json": {}}, **more}}]}}


def chat(*messages, **more):
    return {"model": "m", "max_tokens": 9, "messages": list(messages), **more}


def ollama_call(arguments):
    return {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "read", "arguments": arguments}}]}


DECLARED = {"name": "f", "parameters": {"type": "OBJECT", "properties": {"a": {"type": "ARRAY"}}}}
SIGNED = {"thoughtSignature": "c2ln"}

QUOTED = {
    "openai_responses": {
        "OR1: input.0": ("No tool output found for function call c1", items(CALL)),
        "OR2: input.0": ("No tool call found for function call output with call_id c1", items(OUTPUT)),
        "OR3: input.0": (
            "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
            items(THOUGHT, USER),
        ),
        "OR4: input.0.summary": (
            "Input[0] missing required field `summary`",
            items({key: value for key, value in THOUGHT.items() if key != "summary"}, CALL, OUTPUT),
        ),
        "OR5: input.0": (
            "Item with id 'rs_1' not found. Items are not persisted when `store` is set to false",
            items(THOUGHT | {"encrypted_content": None}, CALL, OUTPUT, store=False),
        ),
        "OR6: input.0.id": (
            "Invalid 'input[0].id': 'custom'. Expected an ID that begins with 'fc'.",
            items(CALL | {"id": "custom"}, OUTPUT),
        ),
        "OR7: input.0.call_id": (
            "string too long. Expected a string with maximum length 64, but got a string with length 1324",
            items(CALL | {"call_id": "c" * 1324}, OUTPUT | {"call_id": "c" * 1324}),
        ),
        "OR8: input.0.name": ("string does not match pattern", items(CALL | {"name": "fs.read"}, OUTPUT)),
        "OR8: tools": (
            "Invalid 'tools': array too long. Expected an array with maximum length 128",
            items(USER, tools=[{"type": "function", "name": f"t{i}"} for i in range(129)]),
        ),
        "OR9: input.0.arguments": ("is not the JSON text of an object", items(CALL | {"arguments": "{"}, OUTPUT)),
        "OR10: input.0.role": ("Invalid value: 'tool'.", items({"role": "tool", "content": "ok"})),
    },
    "gemini": {
        "GG1: contents.0.role": (
            "Please use a valid role: user, model.",
            {"contents": [{"role": "system", "parts": [TEXT]}]},
        ),
        "GG2: contents.0.parts": ("must include at least one parts field", parts([])),
        "GG2: contents.0.parts.0": ("required oneof field 'data' must have one initialized field", parts([{}])),
        "GG3: contents.0": (
            "Please ensure that function call turn comes immediately after a user turn or after a function",
            {"contents": [{"role": "model", "parts": [called()]}, {"role": "user", "parts": [responded()]}]},
        ),
        "GG4: contents.0": (
            "Please ensure that function response turn comes immediately after a function call turn.",
            parts([responded()]),
        ),
        "GG5: contents.1": (
            "Please ensure that the number of function response parts is equal to the number of function call parts",
            parts([TEXT], [called(), called()], [responded()]),
        ),
        "GG6: tools.0.functionDeclarations.0.name": (
            "Invalid function name. Must start with a letter or an underscore.",
            parts([TEXT], tools=[{"functionDeclarations": [{"name": "1st"}]}]),
        ),
        "GG7: tools.0.functionDeclarations.0.parameters.properties.a": (
            "items: missing field",
            parts([TEXT], tools=[{"functionDeclarations": [DECLARED]}]),
        ),
        "GG8: contents.3.parts.0": (
            "Function call is missing a thought_signature in functionCall parts.",
            parts([TEXT], [called(**SIGNED)], [responded()], [called()], [responded()]),
        ),
        "GG9: contents.2.parts.0.functionResponse.response": (
            "Invalid value at",
            parts([TEXT], [called()], [responded("ok")]),
        ),
    },
    "bedrock": {
        "BC1: messages.1.role": (
            "roles must alternate between user and assistant",
            {"messages": [{"role": "user", "content": [TEXT]}] * 2},
        ),
        "BC2: messages.1.content": (
            "Expected toolResult blocks at messages.2.content for the following Ids: t2",
            turns([TEXT], [use(), use("t2")], [result()]),
        ),
        "BC3: messages.0.content": ("exceeds the number of toolUse blocks of previous turn", turns([result()])),
        "BC4: toolConfig": (
            "The toolConfig field must be defined when using toolUse and toolResult content blocks.",
            turns([TEXT], [use()], [result()], tools=False),
        ),
        "BC5: messages.0.content.1": ("text content blocks must be non-empty", turns([TEXT, {"text": ""}])),
        "BC5: messages.2.content.0.toolResult.content.0": (
            "text content blocks must contain non-whitespace text",
            turns([TEXT], [use()], [result(text=" ")]),
        ),
        "BC6: messages.1.content.0.toolUse.toolUseId": (
            "failed to satisfy constraint",
            turns([TEXT], [use("a b")], []),
        ),
        "BC7: toolConfig.tools.0.toolSpec.name": ("failed to satisfy constraint", turns([TEXT]) | spec(name="fs.read")),
        "BC8: toolConfig.tools.0.toolSpec.description": (
            "Invalid length for parameter",
            turns([TEXT]) | spec(description=""),
        ),
        "BC10: messages.0.content": (
            "Conversation blocks and tool result blocks cannot be provided in the same turn.",
            turns([result(), TEXT], modelId="meta.llama3-1-70b-instruct-v1:0"),
        ),
        "BC17: messages.0.content": (
            "A text block must be included when using documents.",
            turns([{"document": {"name": "a", "format": "pdf", "source": {"bytes": "JVBERi0="}}}]),
        ),
        "BC9: messages.0.content.0": ("Can only set one key", turns([TEXT | {"cachePoint": {"type": "default"}}])),
    },
    "ollama": {
        "OL1: messages.0.tool_calls.0.function.arguments": (
            "json: cannot unmarshal string into Go struct field ChatRequest.messages",
            chat(ollama_call("{}")),
        ),
        "OL2: messages.0.content": (
            "json: cannot unmarshal array into Go struct field ChatRequest.messages.content of type string",
            chat({"role": "user", "content": [TEXT]}),
        ),
        "OL3: messages.0.role": ("invalid role", chat({"role": "developer", "content": "x"})),
        "OL4: messages.0.images.0": (
            "illegal base64 data",
            chat({"role": "user", "content": "x", "images": ["https://a/b.png"]}),
        ),
    },
    "openai_chat": {
        "OC1: messages.0.tool_calls.0.id": (
            "The following tool_call_ids did not have response messages: c1",
            chat(
                {
                    "role": "assistant",
                    "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
                }
            ),
        ),
        "OC2: messages.0.tool_call_id": (
            "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
            chat({"role": "tool", "tool_call_id": "c1", "content": "ok"}),
        ),
        "OC3: messages.1.tool_calls": (
            "Invalid 'messages[1].tool_calls': empty array. Expected an array with minimum length 1",
            chat(USER, {"role": "assistant", "content": "x", "tool_calls": []}),
        ),
        "OC4: tools": ("[] is too short - 'tools'", chat(USER, tools=[])),
    },
    "anthropic": {
        "AM1: messages.1.content.0": (
            "`tool_use` ids were found without `tool_result` blocks immediately after: t1.",
            chat(
                USER,
                {"role": "assistant", "content": [{"type": "tool_use", "id": "t1", "name": "f", "input": {}}]},
                USER,
            ),
        ),
        "AM2: messages.0.content.0": (
            "unexpected `tool_use_id` found in `tool_result` blocks",
            chat({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1"}]}),
        ),
    },
}


@pytest.mark.parametrize(
    ("provider", "place"), [(provider, place) for provider in QUOTED for place in QUOTED[provider]]
)
def test_a_published_refusal_is_found_where_it_is_and_in_the_servers_words(provider, place):
    text, body = QUOTED[provider][place]
    found = {f"{finding.rule}: {finding.path}": finding for finding in mt.providers.check(provider, body)}
    assert text in found[place].text
    assert found[place].mend
    assert set(found) - {place} <= {
        "BC2: messages.1.content",
        "BC3: messages.0.content",
        "OR7: input.1.call_id",
    }  # a body that is too small to have two faults apart


@pytest.mark.parametrize("provider", ["openai_responses", "gemini", "bedrock", "ollama"])
def test_every_rule_is_quoted(provider):
    source = Path(checks.__file__).with_name(f"{provider}.py").read_text(encoding="utf-8")
    assert set(re.findall(r'Finding\(\s*"([\w-]+)"', source)) == {place.partition(":")[0] for place in QUOTED[provider]}


@pytest.mark.parametrize("provider", sorted(QUOTED))
def test_any_shape_of_the_parts_is_checked_without_a_fuss(provider):
    body = {"messages": "x", "input": 5, "contents": [1], "tools": {"a": 1}}
    assert isinstance(mt.providers.check(provider, json.dumps(body).encode()), list)


@pytest.mark.parametrize("provider", sorted(QUOTED))
@pytest.mark.parametrize("body", [{}, {"turns": []}])
def test_a_body_of_another_format_is_not_called_fine(provider, body):
    with pytest.raises(mt.InputError, match=r"the request body has no '\w+'.*whose is it\?"):
        mt.providers.check(provider, json.dumps(body).encode())


def test_what_is_no_json_object_is_refused():
    with pytest.raises(mt.InputError, match="no JSON object"):
        mt.providers.gemini.check(b"[]")
