"""What is mended on the wire: always the same, nothing left to mend afterwards, nothing that is stored."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from agents import ADAPTERS, CAPS, says, session, unmarked
from wire.rules import refused

IDS = st.sampled_from(["c1", "c2", "a b", "x" * 70])
ARGUMENTS = st.sampled_from(["{}", '{"path": "cut o', "", "[1]"])
TEXTS = st.sampled_from(["", " ", "hello"])
CALLS = st.lists(st.tuples(IDS, st.sampled_from(["read_file", "a.b", ""]), ARGUMENTS), max_size=3)
MESSAGES = st.one_of(
    st.builds(lambda text: {"role": "user", "content": text}, TEXTS),
    st.builds(lambda text: {"role": "system", "content": text}, TEXTS),
    st.builds(lambda call, text: {"role": "tool", "tool_call_id": call, "content": text}, IDS, TEXTS),
    st.builds(
        lambda text, calls: {
            "role": "assistant",
            "content": text,
            "tool_calls": [
                {"id": call, "type": "function", "function": {"name": name, "arguments": arguments}}
                for call, name, arguments in calls
            ],
        },
        TEXTS,
        CALLS,
    ),
)


@given(st.lists(MESSAGES, min_size=1, max_size=8), st.sampled_from(sorted(ADAPTERS)))
def test_whatever_is_broken_is_mended_once_and_on_the_wire_only(messages, provider):
    given_to = mt.Session.from_messages(ADAPTERS["openai_chat"], {"messages": messages})
    given_to.use(ADAPTERS[provider])
    run = given_to.run or given_to.start_run("go")
    stored = given_to.events_since(0)
    request = run.prepare(CAPS)
    assert refused(provider, request.to_dict()) == []
    assert given_to.events_since(0)[: len(stored)] == stored

    again = mt.Session.from_events(given_to.events_since(0))
    assert again.run.prepare(CAPS).body == run.prepare(CAPS).body
    assert again.repairs == given_to.repairs

    mended = mt.Session.from_messages(ADAPTERS[provider], request.body)
    assert unmarked((mended.run or mended.start_run("go")).prepare()) == unmarked(request)
    assert not mended.repairs


@pytest.mark.parametrize("provider", sorted(ADAPTERS))
def test_what_was_mended_is_reported_by_its_kind(provider):
    s = session(provider)
    run = s.start_run("go")
    run.record(run.prepare(CAPS), mt.AssistantTurn((mt.ToolCall("c1", "read_file", '{"path": "cut o'),), "length"))
    run.record(run.prepare(CAPS), mt.AssistantTurn(()))
    run.record(run.prepare(CAPS), says("", "c1"))
    run.prepare(CAPS)
    assert [(repair.kind, repair.call) for repair in s.repairs] == [
        ("arguments", "c1"), ("dangling", "c1"), ("empty", ""), ("renamed", "c1"), ("dangling", "c1-2"),
    ]  # fmt: skip
    run.prepare(CAPS)
    assert len(s.repairs) == 5
