"""The rules between messages: good bodies pass, and each rule finds its smallest bad body, at its place and alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from muntin.checks import anthropic as anthropic_rules
from muntin.checks import openai_chat as openai_chat_rules
from wire import bodies
from wire.strict import anthropic_findings, openai_chat_findings

# --- OpenAI chat completions ----------------------------------------------------------------------------------------
USER = {"role": "user", "content": "Look."}


def call(key: str = "c1", name: str = "read", arguments: str = "{}") -> dict[str, Any]:
    return {"id": key, "type": "function", "function": {"name": name, "arguments": arguments}}


def asks(*calls: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "tool_calls": list(calls)}


def answers(key: str = "c1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": key, "content": "ok"}


def function(name: str = "read") -> dict[str, Any]:
    return {"type": "function", "function": {"name": name}}


def chat(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": "gpt-4o", "messages": list(messages), **more}


OPENAI_CHAT = {
    "a call without an answer at the end": ("OC1: messages.0.tool_calls.0.id", chat(asks(call()))),
    "a call answered too late": (
        ("OC1: messages.0.tool_calls.0.id", "OC2: messages.2.tool_call_id"),
        chat(asks(call()), USER, answers()),
    ),
    "one of two calls without an answer": (
        "OC1: messages.0.tool_calls.1.id",
        chat(asks(call("c1"), call("c2")), answers("c1"), USER),
    ),
    "an answer without a call": ("OC2: messages.1.tool_call_id", chat(USER, answers())),
    "a second answer": ("OC2: messages.2.tool_call_id", chat(asks(call()), answers(), answers())),
    "two calls of one id": ("call-id-unique: messages.0.tool_calls.1.id", chat(asks(call(), call()), answers())),
    "no messages": ("messages-empty: messages", chat()),
    "no calls in tool_calls": ("OC3: messages.0.tool_calls", chat(asks() | {"content": "Done."})),
    "no tools in tools": ("OC4: tools", chat(USER, tools=[])),
    "129 tools": ("OC4: tools", chat(USER, tools=[function(f"t{i}") for i in range(129)])),
    "a name with a space": ("OC5: tools.0.function.name", chat(USER, tools=[function("read file")])),
    "an empty name in a call": (
        "OC5: messages.0.tool_calls.0.function.name",
        chat(asks(call(name="")), answers()),
    ),
    "a name of 65 characters": ("OC5: tools.0.function.name", chat(USER, tools=[function("a" * 65)])),
    "an id of 65 characters": (
        ("OC6: messages.0.tool_calls.0.id", "OC6: messages.1.tool_call_id"),
        chat(asks(call("c" * 65)), answers("c" * 65)),
    ),
    "arguments cut off": (
        "OC7: messages.0.tool_calls.0.function.arguments",
        chat(asks(call(arguments='{"path"')), answers()),
    ),
    "arguments that only Python reads": (
        "OC7: messages.0.tool_calls.0.function.arguments",
        chat(asks(call(arguments='{"line": NaN}')), answers()),
    ),
    "arguments of another type": (
        "OC7: messages.0.tool_calls.0.function.arguments",
        chat(asks(call(arguments="[]")), answers()),
    ),
    "null content without calls": ("OC7: messages.0.content", chat({"role": "assistant", "content": None})),
    "an image in a tool message": (
        "OC8: messages.1.content.0",
        chat(asks(call()), answers() | {"content": [{"type": "image_url", "image_url": {"url": "https://a/b.png"}}]}),
    ),
}
# --- Anthropic messages ---------------------------------------------------------------------------------------------
IMAGE = {"type": "image", "source": {"type": "url", "url": "https://a/b.png"}}
MARK = {"cache_control": {"type": "ephemeral"}}
TOOL = {"name": "read", "input_schema": {"type": "object"}}


def text(text: str = "Look.") -> dict[str, Any]:
    return {"type": "text", "text": text}


def use(key: str = "t1", name: str = "read") -> dict[str, Any]:
    return {"type": "tool_use", "id": key, "name": name, "input": {}}


def result(key: str = "t1", **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": key, **more}


def thinking(signature: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": "Hm.", "signature": signature}


def turns(*contents: Any, **more: Any) -> dict[str, Any]:
    """A request whose messages are the user's and the assistant's by turns."""
    messages = [{"role": ("user", "assistant")[i % 2], "content": content} for i, content in enumerate(contents)]
    return {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": messages, **more}


def with_system(body: dict[str, Any], at: int, content: Any = "The branch is main.") -> dict[str, Any]:
    messages = list(body["messages"])
    messages.insert(at, {"role": "system", "content": content})
    return body | {"messages": messages, "model": "claude-opus-4-8"}


ANTHROPIC = {
    "a tool use without a result": ("AM1: messages.1.content.0", turns("a", [use()], "b")),
    "a result too late": (
        ("AM1: messages.1.content.0", "AM2: messages.4.content.0"),
        turns("a", [use()], "b", "c", [result()]),
    ),
    "one of two tool uses without a result": (
        "AM1: messages.1.content.1",
        turns("a", [use("t1"), use("t2")], [result("t1")]),
    ),
    "a system message before the result": (
        (
            "AM15: messages.2",
            "AM15: messages.2",
            "AM1: messages.1.content.0",
            "AM2: messages.3.content.0",
        ),
        with_system(turns("a", [use()], [result()]), 2),
    ),
    "a result without a tool use": ("AM2: messages.0.content.0", turns([result()])),
    "a second result": ("result-unique: messages.2.content.1", turns("a", [use()], [result(), result()])),
    "a result after text": ("AM4: messages.2.content.1", turns("a", [use()], [text(), result()])),
    "an id with a colon": (
        ("AM5: messages.1.content.0.id", "AM5: messages.2.content.0.tool_use_id"),
        turns("a", [use("t:1")], [result("t:1")]),
    ),
    "an id used twice": (
        "call-id-unique: messages.3.content.0.id",
        turns("a", [use()], [result()], [use()], [result()]),
    ),
    "a tool use of the user": (
        ("block-role: messages.0.content.0", "AM1: messages.0.content.0"),
        turns([use()]),
    ),
    "a name with a dot": ("AM6: tools.0.name", turns("a", tools=[TOOL | {"name": "fs.read"}])),
    "a name of 129 characters": ("AM6: tools.0.name", turns("a", tools=[TOOL | {"name": "a" * 129}])),
    "an empty name in a tool use": ("AM6: messages.1.content.0.name", turns("a", [use(name="")], [result()])),
    "two tools of one name": ("AM6: tools.1.name", turns("a", tools=[TOOL, TOOL])),
    "empty text": ("AM7: messages.0.content.0", turns([text(""), text()])),
    "empty text in a result": (
        "AM7: messages.2.content.0.content.0",
        turns("a", [use()], [result(content=[text("")])]),
    ),
    "an empty system text": ("AM7: system", turns("a", system="")),
    "a message of white space": ("AM7: messages.0", turns(" \n")),
    "an assistant message last, for a model that takes none": (
        "AM8: messages.1",
        turns("a", "b") | {"model": "claude-opus-4-8"},
    ),
    "an image in a system message": ("AM16: messages.1.content.0", with_system(turns("a"), 1, [IMAGE])),
    "white space at the end of the assistant's last text": ("AM8: messages.1.content", turns("a", "b ")),
    "no messages": ("messages-empty: messages", turns()),
    "a user message without blocks": ("content-empty: messages.0.content", turns([])),
    "five cache marks": ("AM9: messages.0.content.4.cache_control", turns([text() | MARK for _ in range(5)])),
    "a fifth cache mark inside a result": (
        "AM9: messages.2.content.0.content.0.cache_control",
        turns("a", [use()], [result(content=[text() | MARK])], system=[text() | MARK] * 3, tools=[TOOL | MARK]),
    ),
    "a cache mark on thinking": (
        "AM10: messages.1.content.0.cache_control",
        turns("a", [thinking("c2ln") | MARK, text()], "b"),
    ),
    "a cache mark on empty text": (
        ("AM7: messages.0.content.1", "AM10: messages.0.content.1.cache_control"),
        turns([text(), text("") | MARK]),
    ),
    "thinking without a signature": ("AM11: messages.1.content.0.signature", turns("a", [thinking(""), text()], "b")),
    "a system message first": (
        ("AM15: messages.0", "AM15: messages.0"),  # it follows nothing, and stands before the user's
        with_system(turns("a"), 0),
    ),
    "a system message after the assistant's": ("AM15: messages.2", with_system(turns("a", "b"), 2)),
    "a system message without blocks": ("AM16: messages.1.content", with_system(turns("a"), 1, [])),
    "an image in the result of a failed call": (
        "AM17: messages.2.content.0.content.0",
        turns("a", [use()], [result(is_error=True, content=[IMAGE])]),
    ),
    "a schema of another type": (
        "AM19: tools.0.input_schema.type",
        turns("a", tools=[TOOL | {"input_schema": {"type": "string"}}]),
    ),
    "a hundred thousand messages and one": ("AM3: messages.100000", turns(*["a"] * 100_001)),
    "a hundred images and one, in a narrow window": ("AM18: messages.0.content.100", turns([IMAGE] * 101)),
    "six hundred images and one": (
        "AM18: messages.0.content.600",
        turns([IMAGE] * 601) | {"model": "claude-opus-4-8"},
    ),
    "a budget of thinking, for a model that takes none": (
        "AM20: thinking.type",
        turns("a", model="claude-opus-4-8", thinking={"type": "enabled", "budget_tokens": 1_024}),
    ),
    "adaptive thinking, for a model that does not adapt": (
        "AM20: thinking.type",
        turns("a", model="claude-sonnet-4-5-20250929", thinking={"type": "adaptive"}),
    ),
    "no thinking, for a model that always thinks": (
        "AM20: thinking.type",
        turns("a", model="claude-fable-5-1", thinking={"type": "disabled"}),
    ),
    "a call that has to be made by a model that thinks": (
        "AM24: tool_choice.type",
        turns("a", tools=[TOOL], thinking={"type": "enabled", "budget_tokens": 1_024}, tool_choice={"type": "any"})
        | {"max_tokens": 2_048},
    ),
    "a system message, for a model that takes none": (
        "AM15: messages.1",
        with_system(turns("a"), 1) | {"model": "claude-sonnet-4-5"},
    ),
}
SHAPES = {"openai_chat": openai_chat_findings, "anthropic": anthropic_findings}
TABLES = {"openai_chat": OPENAI_CHAT, "anthropic": ANTHROPIC}
WRONG_SHAPE = {
    "an image in a tool message",
    "an image in a system message",
    "a cache mark on thinking",
    "a schema of another type",
}

CASES = pytest.mark.parametrize(
    ("wire", "name"), [(wire, name) for wire, table in sorted(TABLES.items()) for name in table]
)


def found(wire, body):
    return mt.providers.check(wire, body)


def places(findings):
    """Findings without their reasons."""
    return sorted(f"{finding.rule}: {finding.path}" for finding in findings)


def expected(case):
    return [case] if isinstance(case, str) else sorted(case)


@pytest.mark.parametrize("wire", sorted(TABLES))
def test_a_good_body_has_no_findings(wire):
    assert found(wire, getattr(bodies, wire)()) == []


@CASES
def test_what_a_provider_refuses_is_found(wire, name):
    case, body = TABLES[wire][name]
    assert places(found(wire, body)) == expected(case)


@CASES
def test_the_types_alone_would_not_have_found_it(wire, name):
    _, body = TABLES[wire][name]
    assert bool(SHAPES[wire](body)) == (name in WRONG_SHAPE)


@pytest.mark.parametrize(("wire", "module"), [("openai_chat", openai_chat_rules), ("anthropic", anthropic_rules)])
def test_every_rule_has_a_bad_body(wire, module):
    known = set(re.findall(r'Finding\(\s*"([\w-]+)"', Path(module.__file__).read_text(encoding="utf-8")))
    shown = {place.partition(": ")[0] for case, _ in TABLES[wire].values() for place in expected(case)}
    assert known == shown - {"AM18"}  # which has a module of its own, and more tests


def test_messages_that_the_provider_merges_may_share_the_results():
    body = turns("a", [use("t1"), use("t2")], [result("t1")])
    body["messages"].append({"role": "user", "content": [result("t2")]})
    assert found("anthropic", body) == []


def test_a_system_message_may_follow_the_results():
    assert found("anthropic", with_system(turns("a", [use()], [result()]), 3)) == []


@given(st.lists(st.integers(0, 3), max_size=8), st.data())
def test_a_pair_that_is_torn_apart_is_found_wherever_it_is(exchanges, data):
    body = bodies.openai_chat(exchanges)
    assert found("openai_chat", body) == []
    torn = [i for i, message in enumerate(body["messages"]) if message["role"] == "tool" or message.get("tool_calls")]
    if torn:
        del body["messages"][data.draw(st.sampled_from(torn))]
        assert {place.partition(":")[0] for place in places(found("openai_chat", body))} & {"OC1", "OC2"}


@given(st.lists(st.integers(0, 3), max_size=8), st.data())
def test_a_block_whose_partner_is_gone_is_found_wherever_it_is(exchanges, data):
    body = bodies.anthropic(exchanges)
    assert found("anthropic", body) == []
    torn = [
        (message["content"], i)
        for message in body["messages"]
        for i, block in enumerate(message["content"])
        if block["type"] in ("tool_use", "tool_result")
    ]
    if torn:
        content, i = data.draw(st.sampled_from(torn))
        kind = content.pop(i)["type"]
        assert {place.partition(":")[0] for place in places(found("anthropic", body))} == {
            {"tool_use": "AM2", "tool_result": "AM1"}[kind]
        }
