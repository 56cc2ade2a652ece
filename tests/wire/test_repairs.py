"""What is mended on the wire: always the same, nothing left to mend afterwards, nothing that is stored."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from agents import ADAPTERS, CAPS, exchange, says, session, unmarked
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


CONVERSATION = {"gemini": "contents", "openai_responses": "input"}


def whole(provider):
    """A request of four exchanges, with calls of one and of several, a failure, an image and a person's words."""
    run = session(provider).start_run(["look", mt.Image("image/png", data="iVBORw0KGgo=")])
    exchange(run, says("I look.", "c1"), "ok")
    exchange(run, says("", "c2", "c3"), ["ok", "no"])
    run.guide("Be quick.")
    exchange(run, says("And again.", "c4"), "fine")
    exchange(run, says("Done."))
    run.guide("Thanks.")
    return run.prepare(CAPS).to_dict()


BROKEN = st.lists(
    st.tuples(st.sampled_from(["lose", "repeat", "move"]), st.integers(0, 30), st.integers(0, 30)), max_size=4
)


@given(st.sampled_from(sorted(ADAPTERS)), BROKEN)
def test_messages_that_are_lost_repeated_or_moved_are_mended_in_every_format_and_only_once(provider, faults):
    body = whole(provider)
    messages = body[CONVERSATION.get(provider.partition(":")[0], "messages")]
    for fault, first, second in faults:
        place = first % len(messages)
        message = messages[place] if fault == "repeat" else messages.pop(place)
        if fault != "lose":
            messages.insert(second % (len(messages) + 1), message)
        if not messages:
            return
    given_to = mt.Session.from_messages(ADAPTERS[provider], body)
    request = (given_to.run or given_to.start_run("go")).prepare(CAPS)
    assert refused(provider, request.to_dict()) == []
    again = mt.Session.from_messages(ADAPTERS[provider], request.body)
    assert unmarked((again.run or again.start_run("go")).prepare(CAPS)) == unmarked(request)
    assert not again.repairs
    # What was sent stays as it was sent, whatever comes.
    run = given_to.run
    run.record(request, says("On it.", "c9"))
    run.tool_result("c9", "ok")
    after, sent = unmarked(run.prepare(CAPS)), unmarked(request)
    assert after.startswith(sent.rpartition(b"]")[0].rpartition(b"]")[0] if provider in MERGED else sent[:-2])


MERGED = ("anthropic", "bedrock", "gemini", "openai_chat:vllm")
"""Formats whose last message may go on."""


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
