"""A session that goes from one provider to another and back: nothing is refused, nothing foreign is sent."""

from __future__ import annotations

import itertools

import pytest

import muntin as mt
from agents import ADAPTERS, CAPS, answers, exchange, says
from wire.rules import refused

FORMATS = ("anthropic", "bedrock", "gemini", "ollama", "openai_chat", "openai_responses")
IDS = {
    "anthropic": "toolu_01AbC",
    "bedrock": "tooluse_a.b:c",
    "gemini": "fc 1",
    "ollama": "call_0",
    "openai_chat": "call_abcDEF",
    "openai_responses": "call_" + "x" * 64,
}
"""Ids that the providers have made; some are too long or too odd for others."""

PNG = mt.Image("image/png", data="iVBORw0KGgo=")
PDF = mt.Image("application/pdf", data="JVBERi0xLjQ=")

SERVERS = ADAPTERS | {
    f"openai_chat:{name}": mt.providers.openai_chat(mt.Model(name="vendor/model"), profile=name)
    for name in ("openrouter", "xai", "ollama")
}
"""Every format and every profile."""


def form(server):
    """The format that a server speaks."""
    return server.partition(":")[0]


def thinking(provider, text, *calls):
    """A turn with reasoning and a part that only its provider understands."""
    sealed = "SEALED" if provider == "openai_responses" else ""
    own = {
        "anthropic": '{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"q":"OPAQUE"}}',
        "bedrock": '{"citationsContent":{"content":[{"text":"OPAQUE"}]}}',
        "gemini": '{"executableCode":{"language":"PYTHON","code":"OPAQUE"}}',
        "openai_responses": '{"type":"web_search_call","id":"ws_1","status":"completed","action":'
        '{"type":"search","query":"OPAQUE"}}',
    }.get(provider)
    turn = says(text, *calls)
    opaque = [mt.Opaque(provider, own)] if own else []
    if provider == "gemini":  # which seals the call, not the thought
        said, *called = turn.parts
        seal = mt.Reasoning("", "U0VBTA==", provider)
        return mt.AssistantTurn((mt.Reasoning("THOUGHT", "", provider), *opaque, said, seal, *called), turn.finish)
    return mt.AssistantTurn((mt.Reasoning("THOUGHT", "rs_SEAL", provider, sealed), *opaque, *turn.parts), turn.finish)


@pytest.mark.parametrize(("first", "second"), list(itertools.permutations(SERVERS, 2)))
def test_a_session_may_go_from_any_provider_to_any_other_and_back(first, second):
    session = mt.Session("s", adapter=SERVERS[first], system="SYSTEM")
    run = session.start_run(["look", PNG, PDF])
    images = (mt.Text("ok"), PNG, PDF)  # a call of two brings pictures, the other fails
    exchange(run, thinking(first, "I look.", IDS[form(first)], (f"{IDS[form(first)]}-b", "read_file")), [images, "no"])
    exchange(run, says("", (f"{IDS[form(first)]}-c", "a tool.that never was"), f"{IDS[form(first)]}-d"))
    before = run.prepare(CAPS).body
    session.use(SERVERS[second])
    request = run.prepare(CAPS)
    assert refused(second, request.to_dict()) == []
    for foreign in (b"THOUGHT", b"SEAL", b"U0VBTA", b"OPAQUE"):
        assert foreign not in request.body
    pairs = answers(request)
    calls = [call for kind, call in pairs if kind == "call"]
    assert len(set(calls)) == len(calls) == 4
    assert sorted(calls) == sorted(call for kind, call in pairs if kind == "result")

    # What the other one says goes on under its own ids; one call is still open when the session goes back.
    turn = run.record(request, thinking(second, "And I.", IDS[form(second)], f"{IDS[form(second)]}-open"))
    run.tool_result(turn.tool_calls[0].id, "ok")
    session.use(SERVERS[first])
    again = run.prepare(CAPS)
    assert refused(first, again.to_dict()) == []
    kept = [call for kind, call in answers(again) if kind == "call"]
    assert len(set(kept)) == 6
    if form(first) not in ("ollama", "openai_chat"):
        assert b"OPAQUE" in again.body
    assert [repair.kind for repair in session.repairs if repair.kind == "dangling"] == ["dangling"]
    assert before.split(b"I look.")[0] == again.body.split(b"I look.")[0]  # its own words are rendered as they were


@pytest.mark.parametrize(("provider", "kept"), [
    ("anthropic", ["THOUGHT", "rs_SEAL"]), ("bedrock", ["THOUGHT", "rs_SEAL"]), ("gemini", ["U0VBTA=="]),
    ("ollama", ["THOUGHT"]), ("openai_responses", ["THOUGHT", "rs_SEAL", "SEALED"]),
    ("openai_chat:deepseek", ["THOUGHT"]),
])  # fmt: skip
def test_reasoning_goes_back_to_who_made_it(provider, kept):
    run = mt.Session("s", adapter=ADAPTERS[provider]).start_run("go")
    exchange(run, thinking(provider, "I look.", "call_0"))
    request = run.prepare(CAPS)
    assert refused(provider, request.to_dict()) == []
    assert all(word in request.body.decode() for word in kept)


@pytest.mark.parametrize("provider", FORMATS)
def test_ids_are_kept_for_the_provider_that_made_them(provider):
    if provider in ("gemini", "openai_responses"):
        pytest.skip("its id here is one that another server would have made")
    run = mt.Session("s", adapter=ADAPTERS[provider]).start_run("go")
    exchange(run, says("", IDS[provider]))
    assert answers(run.prepare(CAPS)) == [("call", IDS[provider]), ("result", IDS[provider])]


def test_a_tool_whose_name_gemini_does_not_take_is_called_by_its_own():
    caps = mt.Capabilities(stable=[mt.Tool("3d_view")])
    run = mt.Session("s", adapter=ADAPTERS["gemini"]).start_run("go")
    request = run.prepare(caps)
    (declared,) = request.to_dict()["tools"][0]["functionDeclarations"]
    assert declared["name"].startswith("tool_")
    part = {"functionCall": {"name": declared["name"], "args": {}}, "thoughtSignature": "c2ln"}
    response = {"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}]}
    turn = run.record(request, response)
    assert turn.tool_calls[0].name == "3d_view"
    run.tool_result(turn.tool_calls[0].id, "ok")
    assert refused("gemini", run.prepare(caps).to_dict()) == []
