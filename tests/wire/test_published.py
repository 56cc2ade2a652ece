"""Words of refusals that people have published, of chat completions, the servers that speak them, and Anthropic."""

from __future__ import annotations

import pytest

import muntin as mt

USER = {"role": "user", "content": "Look."}
NINE = "a" * 9


def chat(*messages, **more):
    return {"messages": list(messages), **more}


def asks(*ids, name="read", arguments="{}"):
    calls = [{"id": one, "type": "function", "function": {"name": name, "arguments": arguments}} for one in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def answers(key):
    return {"role": "tool", "tool_call_id": key, "content": "ok"}


def function(name):
    return {"type": "function", "function": {"name": name}}


def says(role, *blocks):
    return {"role": role, "content": list(blocks) or "Look."}


def use(key="t1", name="read"):
    return {"type": "tool_use", "id": key, "name": name, "input": {}}


def result(key="t1", **more):
    return {"type": "tool_result", "tool_use_id": key, **more}


def text(text="Look.", **more):
    return {"type": "text", "text": text, **more}


MARK = {"cache_control": {"type": "ephemeral"}}
IMAGE = {"type": "image", "source": {"type": "url", "url": "https://a/b.png"}}
NEW = {"model": "claude-opus-5"}

PUBLISHED = [
    ("openai_chat", "OC1", "The following tool_call_ids did not have response messages: call_1",
     chat(asks("call_1"), USER)),
    ("openai_chat:deepseek", "OC1", "must be followed by tool messages", chat(asks("c1", "c2"), answers("c1"), USER)),
    ("openai_chat", "OC2", "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
     chat(USER, answers("c1"))),
    ("openai_chat", "OC3", "Invalid 'messages[1].tool_calls': empty array. Expected an array with minimum length 1",
     chat(USER, {"role": "assistant", "content": "x", "tool_calls": []})),
    ("openai_chat", "OC4", "[] is too short - 'tools'", chat(USER, tools=[])),
    ("openai_chat", "OC4", "Invalid 'tools': array too long. Expected an array with maximum length 128",
     chat(USER, tools=[function(f"t{i}") for i in range(129)])),
    ("openai_chat", "OC5", "^[a-zA-Z0-9_-]", chat(asks("c1", name="fs.read"), answers("c1"))),
    ("openai_chat", "OC5", "Invalid 'messages[0].tool_calls[0].function.name': empty string",
     chat(asks("c1", name=""), answers("c1"))),
    ("openai_chat:mistral", "MI1", "Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9.",
     chat(USER, asks("call_1"), answers("call_1"))),
    ("openai_chat:mistral", "MI2", "Unexpected role 'system' after role 'assistant'",
     chat(USER, {"role": "assistant", "content": "x"}, {"role": "system", "content": "x"}, USER)),
    ("openai_chat:mistral", "MI2", "Unexpected role 'system' after role 'tool'",
     chat(USER, asks(NINE), answers(NINE), {"role": "system", "content": "x"}, USER)),
    ("openai_chat:mistral", "MI2", "Unexpected role 'tool' after role 'user'", chat(USER, answers(NINE))),
    ("openai_chat:mistral", "MI3", "Not the same number of function calls and responses",
     chat(USER, asks(NINE, "b" * 9), answers(NINE), USER)),
    ("openai_chat:deepseek", "DS1", "unknown variant `developer`, expected one of `system`, `user`, `assistant`, `to",
     chat({"role": "developer", "content": "x"}, USER)),
    ("openai_chat:deepseek", "DS2", "The `reasoning_content` in the thinking mode must be passed back to the API.",
     chat(USER, asks("c1") | {"reasoning_content": "hm"}, answers("c1"), asks("c2"), answers("c2"))),
    ("openai_chat:vllm", "CT1", "System message must be at the beginning.",
     chat(USER, {"role": "system", "content": "x"})),
    ("openai_chat:vllm", "CT2", "Conversation roles must alternate user/assistant/user/assistant/...",
     chat(USER, USER)),
    ("anthropic", "AM1", "`tool_use` ids were found without `tool_result` blocks immediately after: t1. Each `tool",
     chat(USER, says("assistant", use()), USER)),
    ("anthropic", "AM2", "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: t1. Each",
     chat(says("user", result()))),
    ("anthropic", "AM5", "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
     chat(USER, says("assistant", use("t:1")), says("user", result("t:1")))),
    ("anthropic", "AM6", "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
     chat(USER, tools=[{"name": "fs.read", "input_schema": {"type": "object"}}])),
    ("anthropic", "AM6", "tools: Tool names must be unique.",
     chat(USER, tools=[{"name": "f", "input_schema": {"type": "object"}}] * 2)),
    ("anthropic", "AM7", "messages: text content blocks must be non-empty", chat(says("user", text(""), text()))),
    ("anthropic", "AM7", "must contain non-whitespace text", chat(says("user", text(" \n")))),
    ("anthropic", "AM8", "messages: final assistant content cannot end with trailing whitespace",
     chat(USER, says("assistant", text("x ")))),
    ("anthropic", "AM8", "This model does not support assistant message prefill.",
     chat(USER, says("assistant", text("x")), **NEW)),
    ("anthropic", "AM9", "A maximum of 4 blocks with cache_control may be provided. Found 5.",
     chat(says("user", *[text(**MARK)] * 5))),
    ("anthropic", "AM10", "cache_control cannot be set for empty text blocks",
     chat(says("user", text(), text("", **MARK)))),
    ("anthropic", "AM11", "Invalid `signature` in `thinking` block",
     chat(USER, says("assistant", {"type": "thinking", "thinking": "hm", "signature": ""}, text()), USER)),
    ("anthropic", "AM15", "messages.0: use the top-level 'system' parameter", chat(says("system", text()), **NEW)),
    ("anthropic", "AM15", "messages.2: role 'system' must follow a 'user' message or an 'assistant' message ending",
     chat(USER, says("assistant", text()), says("system", text()), **NEW)),
    ("anthropic", "AM15", "role 'system' must precede an 'assistant' message or end the array",
     chat(USER, says("system", text()), USER, **NEW)),
    ("anthropic", "AM15", "role 'system' is not supported on this model",
     chat(USER, says("system", text()), model="claude-opus-4-5")),
    ("anthropic", "AM16", "messages.1: system content must contain at least one block",
     chat(USER, {"role": "system", "content": []}, **NEW)),
    ("anthropic", "AM16", "role 'system' supports text, tool_addition, and tool_removal blocks only",
     chat(USER, says("system", IMAGE), **NEW)),
    ("anthropic", "AM17", "all content must be type `text` if `is_error` is true",
     chat(USER, says("assistant", use()), says("user", result(is_error=True, content=[IMAGE])))),
    ("anthropic", "AM22", "betas_: Extra inputs are not permitted", chat(USER, betas_=[])),
    ("anthropic", "AM24", "Thinking may not be enabled when tool_choice forces tool use.",
     chat(USER, thinking={"type": "enabled"}, tool_choice={"type": "tool", "name": "f"})),
    ("anthropic", "AM19", "tools.0.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020",
     chat(USER, tools=[{"name": "f", "input_schema": {"type": "object", "properties": []}}])),
    ("bedrock", "BC10", "Conversation blocks and tool use blocks cannot be provided in the same turn.",
     {"modelId": "mistral.large", "messages": [
         {"role": "user", "content": [{"text": "x"}]},
         {"role": "assistant", "content": [{"text": "x"}, {"toolUse": {"toolUseId": "a", "name": "f", "input": {}}}]},
     ]}),
]  # fmt: skip


@pytest.mark.parametrize(("provider", "rule", "words", "body"), PUBLISHED, ids=lambda one: str(one)[:50])
def test_a_published_refusal_is_foretold_in_the_servers_words(provider, rule, words, body):
    found = mt.providers.check(provider, body)
    assert any(one.rule == rule and words in one.text for one in found), found
