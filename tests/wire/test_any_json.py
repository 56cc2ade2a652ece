"""A check takes any JSON object of its format and never raises, and no shape that the SDK's types refuse passes it."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from agents import ADAPTERS, CAPS, exchange, says, session

NAMES = sorted(mt.providers.names())
KEYS = [
    "messages", "input", "contents", "role", "content", "parts", "type", "text", "tool_calls", "id", "function", "name",
    "arguments", "tool_call_id", "tools", "parameters", "input_schema", "tool_use_id", "cache_control", "signature",
    "call_id", "output", "summary", "encrypted_content", "functionCall", "functionResponse", "response", "args",
    "thoughtSignature", "functionDeclarations", "system", "toolConfig", "toolSpec", "toolUse", "toolUseId",
    "toolResult", "images", "model", "modelId", "store", "thinking", "source", "document", "cachePoint", "prefix",
    "reasoning_content", "properties", "items", "anyOf", "required", "ttl", "status", "phase", "systemInstruction",
    "toolChoice", "image", "image_url", "url", "inlineData", "data", "mimeType", "media_type", "bytes", "file",
    "file_data", "max_tokens",
]  # fmt: skip
WORDS = [
    "user", "assistant", "system", "model", "tool", "text", "tool_use", "tool_result", "function", "function_call",
    "function_call_output", "reasoning", "message", "thinking", "image", "object", "array", "ephemeral", "a", "",
    "claude-opus-4-8", "meta.llama", "deepseek-reasoner", "input_image", "iVBORw0KGgoAAAANSUhEUgAA////////AAA=",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA////////AAA=", "/9j/4AAQ", "JVBERi0",
]  # fmt: skip
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-1, 2),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(WORDS),
    st.text(max_size=3),
)
JSON = st.recursive(
    VALUES,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.sampled_from(KEYS), inner, max_size=5)),
    max_leaves=25,
)


@given(st.sampled_from(NAMES), JSON, JSON, JSON)
def test_any_json_gives_findings_and_no_exception(provider, conversation, tools, system):
    body = dict.fromkeys(("messages", "input", "contents"), conversation) | dict.fromkeys(
        ("tools", "toolConfig"), tools
    )
    body |= dict.fromkeys(("system", "systemInstruction"), system)
    for finding in mt.providers.check(provider, body):
        assert all(isinstance(word, str) and word for word in (finding.rule, finding.path, finding.text, finding.mend))


def test_a_schema_of_any_depth_is_walked():
    deep = {"type": "object"}
    for _ in range(2_000):
        deep = {"type": "object", "properties": {"a": deep}}
    functions = [{"name": "f", "parameters": deep}]
    for provider, tools in {
        "anthropic": [{"name": "f", "input_schema": deep}],
        "gemini": [{"functionDeclarations": functions}],
        "openai_chat": [{"type": "function", "function": functions[0]}],
    }.items():
        key = ADAPTERS[provider].messages
        assert not any(
            found.path.startswith("tools") for found in mt.providers.check(provider, {key: [], "tools": tools})
        )


def sent(provider):
    """A request with everything in it that the format has a place for."""
    run = session(provider).start_run(["look", mt.Image("image/png", data="iVBORw0KGgo=")])
    exchange(run, says("I look.", "c1", "c2"), [[mt.Text("ok"), mt.Image("image/png", data="iVBORw0KGgo=")], "no"])
    return run.prepare(CAPS).to_dict()


def places(value, path=()):
    """The path of every value below another."""
    inner = enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) else ()
    for key, one in inner:
        yield (*path, key)
        yield from places(one, (*path, key))


@given(st.data(), st.sampled_from(sorted(ADAPTERS)), JSON)
def test_a_request_with_anything_at_any_place_is_checked_too(data, provider, value):
    body = copy.deepcopy(sent(provider))
    *way, last = data.draw(st.sampled_from(list(places(body))))
    place = body
    for key in way:
        place = place[key]
    place[last] = value
    if ADAPTERS[provider].messages in body:
        assert isinstance(mt.providers.check(provider, json.dumps(body).encode()), list)


CONVERSATION = {"gemini": "contents", "openai_responses": "input"}


@pytest.mark.parametrize("provider", ["anthropic", "bedrock", "gemini", "ollama", "openai_chat", "openai_responses"])
def test_no_message_part_or_call_that_lacks_a_needed_key_or_has_it_of_another_type_passes(provider):
    """Each string, list and object below the conversation by turns: a number in its place is always refused."""
    good = sent(provider)
    assert mt.providers.check(provider, good) == []
    free = {"input", "args", "response", "arguments"}
    for path in places(good[CONVERSATION.get(provider, "messages")]):
        if any(key in free for key in path[:-1]):
            continue  # whatever the tool takes
        body = copy.deepcopy(good)
        place = body[CONVERSATION.get(provider, "messages")]
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = 7
        assert mt.providers.check(provider, body), path
