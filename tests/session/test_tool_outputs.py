"""What tools give back: text, JSON, results of MCP servers as dicts and as an SDK's objects (Deliver 2)."""

from __future__ import annotations

import json

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from agents import ADAPTERS, CAPS, says, session
from muntin.artifacts import read_range
from muntin.outputs import given as as_given


def accepted(output, provider="openai_chat", **kwargs):
    s = session(provider)
    run = s.start_run("go")
    run.record(run.prepare(CAPS), says("", "c1"))
    run.tool_result("c1", output, **kwargs)
    run.prepare(CAPS)
    (result,) = [entry.item for entry in s.history() if isinstance(entry.item, mt.ToolResult)]
    return result


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ({"b": 1, "a": {"d": None, "c": "é"}}, '{"a":{"c":"é","d":null},"b":1}'),
        ([1, {"b": 2, "a": 1}], '[1,{"a":1,"b":2}]'),
        (3, "3"),
        (2.5, "2.5"),
        (False, "false"),
        ({"content": "a field of the tool's own"}, '{"content":"a field of the tool\'s own"}'),
        ({"content": []}, '{"content":[]}'),
        ({"type": "text"}, '{"type":"text"}'),
    ],
)
def test_json_values_are_shown_with_sorted_keys(output, text):
    assert accepted(output).content == (mt.Text(text),)


def test_none_is_no_content():
    assert accepted(None).content == ()


@pytest.mark.parametrize("provider", sorted(ADAPTERS))
def test_an_mcp_result_is_taken_as_it_comes_off_the_wire(provider):
    output = {
        "content": [
            {"type": "text", "text": "hello", "annotations": {"audience": ["user"]}},
            {"type": "image", "data": "aWJt", "mimeType": "image/png"},
            {"type": "resource", "resource": {"uri": "file:///a.txt", "text": "inside", "mimeType": "text/plain"}},
            {"type": "resource", "resource": {"uri": "file:///a.png", "blob": "aWJt", "mimeType": "image/png"}},
            {"type": "resource", "resource": {"uri": "file:///a.bin", "blob": "aWJt"}},
            {"type": "resource_link", "uri": "file:///b.txt", "name": "b"},
            {"type": "audio", "data": "aWJt", "mimeType": "audio/wav"},
        ],
        "structuredContent": {"n": 1},
        "isError": False,
        "_meta": {"x": 1},
    }
    result = accepted(output, provider)
    assert not result.is_error
    assert [part.text if isinstance(part, mt.Text) else part.media_type for part in result.content] == [
        "hello",
        "image/png",
        "file:///a.txt\ninside",
        "image/png",
        "(file:///a.bin: application/octet-stream, 4 characters of base64, cannot be shown)",
        "file:///b.txt - b",
        "(audio/wav, 4 characters of base64, cannot be shown)",
        '{"n":1}',
    ]


def test_structured_content_that_is_said_as_text_too_is_shown_once():
    output = {"content": [{"type": "text", "text": '{"b": 2, "a": 1}'}], "structuredContent": {"a": 1, "b": 2}}
    assert accepted(output).content == (mt.Text('{"b": 2, "a": 1}'),)
    assert accepted({"content": [], "structuredContent": {"a": 1}}).content == (mt.Text('{"a":1}'),)


def test_an_mcp_error_is_an_error():
    assert accepted({"content": [{"type": "text", "text": "no"}], "isError": True}).is_error
    assert accepted({"content": [{"type": "text", "text": "no"}]}, is_error=True).is_error


def test_an_sdks_objects_are_taken_too():
    class Block(pydantic.BaseModel):
        type: str = "text"
        text: str = "hi"

    class Result(pydantic.BaseModel):
        content: list[Block] = [Block()]
        structured: dict[str, int] | None = pydantic.Field(None, serialization_alias="structuredContent")
        is_error: bool = pydantic.Field(True, serialization_alias="isError")

    result = accepted(Result())
    assert (result.content, result.is_error) == ((mt.Text("hi"),), True)
    assert accepted([Block(text="a"), "b"]).content == (mt.Text("a"), mt.Text("b"))


def test_a_window_may_come_late():
    s = session()
    run = s.start_run("go")
    run.record(run.prepare(CAPS), says("", "c1"))
    run.tool_pending("c1")
    run.tool_late("c1", read_range(b"line\n" * 10, count=s.adapter.count, max_tokens=100))
    assert "line" in run.prepare(CAPS).body.decode()


@pytest.mark.parametrize("output", [b"bytes are no text", object(), {1: object()}, {"a": float}])
def test_what_has_no_json_form_is_refused_and_the_call_stays_open(output):
    s = session()
    run = s.start_run("go")
    run.record(run.prepare(CAPS), says("", "c1"))
    with pytest.raises(mt.InputError, match="has no JSON form"):
        run.tool_result("c1", output)
    assert s.open_calls


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["type", "content", "text", "isError", "a"]), inner, max_size=4)
    ),
    max_leaves=8,
)


@given(JSON)
def test_any_json_is_shown_whatever_its_keys(value):
    content = as_given(value).content
    assert all(isinstance(part, mt.Text | mt.Image) for part in content)
    if isinstance(value, dict) and not value.keys() & {"type", "content"}:
        assert json.loads(content[0].text) == value
