"""Capabilities: one snapshot a request, withdrawal with its reason, and the check at execution (R4.2, R5.1 to R5.3)."""

from __future__ import annotations

import itertools
import types

import pytest

import muntin as mt
from agents import ADAPTERS, CAPS, FETCH, READ, RUN, exchange, says, session, texts


@pytest.fixture(params=sorted(ADAPTERS))
def provider(request):
    return request.param


def web(on, why="", **kwargs):
    return mt.Capabilities(
        stable=[READ],
        dynamic=[FETCH],
        guides={"web": "WEB-GUIDE"},
        switches={"web": on},
        reasons={"web": why},
        **kwargs,
    )


def test_case_i5_whatever_order_tools_are_given_in_the_bytes_are_the_same(provider):
    shapes = [
        mt.Tool("a", "", {"type": "object", "properties": {"x": {}, "y": {}}}),
        mt.Tool("a", "", {"properties": {"y": {}, "x": {}}, "type": "object"}),
    ]
    bodies = {
        session(provider).start_run("go").prepare(mt.Capabilities(stable=order)).body
        for shape in shapes
        for order in itertools.permutations([shape, READ, RUN])
    }
    assert len(bodies) == 1


def test_mcp_tools_are_taken_as_a_server_lists_them():
    shape = {"name": "search", "title": "Search", "inputSchema": {"properties": {}}, "annotations": {}, "_meta": {}}
    sdk = types.SimpleNamespace(name="open", description="Opens.", inputSchema={"type": "object"})
    tools = mt.Capabilities(dynamic=[shape, sdk]).tools
    assert tools == (
        mt.Tool("open", "Opens.", {"type": "object"}),
        mt.Tool("search", "Search", {"type": "object", "properties": {}}),
    )
    assert mt.Tool.from_mcp(shape, name="docs_search", capability="docs").capability == "docs"


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ({"name": "a.b", "inputSchema": {}}, r"MCP tool 'a\.b'.*name=\.\.\."),
        ({"name": "a"}, "an MCP tool has a 'name' and an 'inputSchema'"),
        ({"name": 5, "inputSchema": {}}, "an MCP tool has"),
        ({"name": "a", "inputSchema": {"type": "string"}}, "not 'string'"),
    ],
)
def test_mcp_tools_that_no_provider_takes_are_refused_by_name(shape, message):
    with pytest.raises(mt.InvalidTool, match=message):
        mt.Tool.from_mcp(shape)


def test_a_duplicate_name_says_which_two_tools_have_it():
    one, other = mt.Tool("find", "Find a file."), mt.Tool("find", "Find a page.")
    with pytest.raises(mt.DuplicateTool, match=r"stable \('Find a file\.'\) and as stable \('Find a page\.'\)"):
        mt.Capabilities(stable=[one, other])


def test_a_withdrawn_capability_leaves_no_trace_of_its_guide(provider):
    s = session(provider)
    run = s.start_run("go")
    exchange(run, says("", "c1"), caps=web(True))
    request = run.prepare(web(False, "the person is offline"))
    assert "WEB-GUIDE" not in texts(request)
    assert "the person is offline" in texts(request)
    journal = s.events_since(0)
    record = [event for event in journal if b"offline" in event and b'"added"' in event]
    assert len(record) == 1
    assert b"WEB-GUIDE" not in record[0]


def test_a_guide_that_goes_without_a_switch_is_recorded_too(provider):
    s = session(provider)
    run = s.start_run("go")
    exchange(run, says("", "c1"), caps=mt.Capabilities(guides={"browser": "BROWSER-GUIDE"}))
    request = run.prepare(mt.Capabilities(reasons={"browser": "it crashed"}))
    assert "BROWSER-GUIDE" not in texts(request)
    assert s.state["guides"] == {"browser": "unavailable"}
    assert "it crashed" in texts(request)


def test_a_tool_that_is_gone_is_recorded_with_its_own_reason(provider):
    run = session(provider).start_run("go")
    run.prepare(CAPS)
    request = run.prepare(mt.Capabilities(stable=[READ], reasons={"run_tests": "no runner here"}))
    assert "run_tests: no runner here" in texts(request)


def test_the_check_at_execution_goes_by_the_settings_of_now(provider):
    run = session(provider).start_run("go")
    (call,) = run.record(run.prepare(web(True)), says("", ("c1", "web_fetch"))).tool_calls
    run.authorize(call, web(True))
    with pytest.raises(mt.ToolUnavailable, match=r"capability 'web' is off \(the person is offline\)") as refusal:
        run.authorize(call, web(False, "the person is offline"))
    assert (refusal.value.call, refusal.value.tool, refusal.value.reason) == (
        "c1",
        "web_fetch",
        "the person is offline",
    )
    with pytest.raises(mt.ToolUnavailable, match="no such tool"):
        run.authorize("c1", CAPS)


def test_the_check_at_execution_goes_by_approvals_and_the_task(provider):
    s = session(provider)
    run = s.start_run("go")
    run.record(run.prepare(CAPS), says("", "c1", "c2"))
    run.request_approval("c1")
    with pytest.raises(mt.ToolUnavailable, match="waits for a person's approval"):
        run.authorize("c1", CAPS)
    again = mt.Session.from_events(s.events_since(0))
    with pytest.raises(mt.ToolUnavailable):
        again.run.authorize("c1", CAPS)
    run.approve("c1", by="ann")
    run.authorize("c1", CAPS)
    run.deny("c2", why="too risky")
    with pytest.raises(mt.ToolUnavailable, match="denied"):
        run.authorize("c2", CAPS)
    run.tool_result("c1", "ok")
    with pytest.raises(mt.DuplicateResult):
        run.authorize("c1", CAPS)
    with pytest.raises(mt.UnknownCall):
        run.authorize("nope", CAPS)
    run.finish()
    with pytest.raises(mt.RunStateError):
        run.authorize("c2", CAPS)


def test_what_the_history_says_of_a_capability_gives_no_permission(provider):
    s = session(provider)
    run = s.start_run("go")
    exchange(run, says("done"), caps=web(True))
    run.finish()
    run = s.start_run("next")
    run.record(run.prepare(CAPS), says("", ("c9", "web_fetch")))
    with pytest.raises(mt.ToolUnavailable):
        run.authorize("c9", CAPS)
