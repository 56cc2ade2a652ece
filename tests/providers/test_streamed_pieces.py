"""Answers in very many pieces, in pieces of any form, and what a stream says to bytes that are no event."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from agents import ADAPTERS, CAPS, session
from muntin.calls import with_free_ids
from muntin.providers.pieces import Pieces
from streams import WHOLE_ARGUMENTS, streamed


class Weighed(str):
    """Text that counts the characters that are copied where it is added to other text."""

    __slots__ = ()
    copied = 0

    def __add__(self, other):
        return Weighed.sum(self, other)

    def __radd__(self, other):
        return Weighed.sum(other, self)

    @staticmethod
    def sum(first, second):
        Weighed.copied += len(first) + len(second)
        return Weighed(f"{first}{second}")


def weighed(value):
    """The same event with texts that count."""
    if isinstance(value, str):
        return Weighed(value)
    if isinstance(value, list):
        return [weighed(one) for one in value]
    return {key: weighed(one) for key, one in value.items()} if isinstance(value, dict) else value


def copied(provider, deltas):
    """Characters that are copied while a text and a call's arguments come in so many pieces."""
    calls = [] if provider in WHOLE_ARGUMENTS else [("c1", '{"a":"' + "x" * deltas * 3 + '"}')]
    accumulator = ADAPTERS[provider].accumulator()
    Weighed.copied = 0
    for event in streamed(provider, "abc" * deltas, calls):
        accumulator.feed(weighed(event))
    return Weighed.copied + len(str(accumulator.response()))


@pytest.mark.parametrize("provider", sorted(ADAPTERS))
def test_twice_the_pieces_are_twice_the_work(provider):
    assert copied(provider, 2_000) <= 2.1 * copied(provider, 1_000)


def test_citations_and_thoughts_are_put_together_once_too():
    accumulator = ADAPTERS["anthropic"].accumulator()
    start = {"type": "text", "text": "", "citations": []}
    accumulator.feed({"type": "content_block_start", "index": 0, "content_block": start})
    for i in range(3):
        delta = {"type": "citations_delta", "citation": {"cited_text": str(i)}}
        accumulator.feed({"type": "content_block_delta", "index": 0, "delta": delta})
    (block,) = accumulator.response()["content"]
    assert [one["cited_text"] for one in block["citations"]] == ["0", "1", "2"]
    assert start["citations"] == []  # the event is the caller's


def test_pieces_may_be_read_at_any_time():
    pieces = Pieces()
    assert pieces.text("a") == ""
    for i, piece in enumerate("abc", 1):
        assert pieces.add("a", piece) == piece
        assert pieces.text("a") == pieces.text("a") == "abc"[:i]
    with pytest.raises(TypeError, match="a piece of text is 5"):
        pieces.add("a", 5)


class Seen(dict):
    """A dictionary that counts how often it is asked."""

    asked = 0

    def __contains__(self, key):
        Seen.asked += 1
        return super().__contains__(key)


def asked(calls):
    Seen.asked = 0
    turn, renamed = with_free_ids(mt.AssistantTurn(tuple(mt.ToolCall("c", "f") for _ in range(calls))), Seen(c=1))
    assert len({call.id for call in turn.tool_calls}) == len(renamed) == calls
    return Seen.asked


def test_many_calls_of_one_id_are_told_apart_in_linear_work():
    assert asked(2_000) <= 2.1 * asked(1_000)


@pytest.mark.parametrize("pieces", [[b"abc", b"de"], ["YWJj", "ZGU="]], ids=["boto3", "http"])
def test_sealed_reasoning_of_bedrock_may_come_in_two_pieces(pieces):
    accumulator = ADAPTERS["bedrock"].accumulator()
    for piece in pieces:
        delta = {"reasoningContent": {"redactedContent": piece}}
        accumulator.feed({"contentBlockDelta": {"contentBlockIndex": 0, "delta": delta}})
    accumulator.feed({"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"text": "x"}}})
    thought, _ = ADAPTERS["bedrock"].parse(accumulator.response()).turn.parts
    assert thought == mt.Reasoning("", "", "bedrock", "YWJjZGU=")


def test_results_of_bedrocks_own_tools_and_images_come_whole():
    accumulator = ADAPTERS["bedrock"].accumulator()
    start = {"toolResult": {"toolUseId": "t1", "type": "nova_grounding_result"}}
    events = [
        {"contentBlockStart": {"contentBlockIndex": 0, "start": start}},
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"toolResult": [{"text": "a"}]}}},
        {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"toolResult": [{"text": "b"}]}}},
        {"contentBlockStart": {"contentBlockIndex": 1, "start": {"image": {"format": "png"}}}},
        {"contentBlockDelta": {"contentBlockIndex": 1, "delta": {"image": {"source": {"bytes": b"abc"}}}}},
    ]
    for event in events:
        accumulator.feed(event)
    result, image = accumulator.response()["output"]["message"]["content"]
    assert result["toolResult"]["content"] == [{"text": "a"}, {"text": "b"}]
    assert image == {"image": {"format": "png", "source": {"bytes": b"abc"}}}


# --- what is no event -------------------------------------------------------------------------------------------------
def opened(provider):
    run = session(provider).start_run("go")
    return run, run.stream(run.prepare(CAPS))


@pytest.mark.parametrize("line", [
    b"data: \xff\xfe", b"\xff", "data: \ud800", bytearray(b"data: \xff"), 5, 10**12, None, [1], "data: [1]", object(),
])  # fmt: skip
def test_what_is_no_line_of_a_stream_is_a_response_error_and_leaves_the_stream_open(line):
    _, stream = opened("openai_chat")
    with pytest.raises(mt.ResponseError):
        stream.feed(line)
    stream.feed(b'data: {"choices": [{"delta": {"content": "fine"}, "finish_reason": "stop"}]}')
    assert stream.commit().text == "fine"


KEYS = [
    "type", "index", "delta", "content_block", "message", "choices", "tool_calls", "function", "name", "arguments",
    "id", "content", "candidates", "parts", "text", "functionCall", "args", "contentBlockDelta", "contentBlockStart",
    "contentBlockIndex", "start", "toolUse", "input", "reasoningContent", "redactedContent", "output_index", "item",
    "partial_json", "finish_reason", "finishReason", "done", "thinking", "messageStop", "stopReason", "response",
    "usage", "error",
]  # fmt: skip
WORDS = [
    "content_block_start", "content_block_delta", "text_delta", "input_json_delta", "message_start", "message_stop",
    "response.output_item.added", "response.output_text.delta", "response.completed", "citations_delta", "STOP", "a",
    "\ud800",
]  # fmt: skip
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-1, 3), st.sampled_from(WORDS), st.binary(max_size=2)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS), inner, max_size=4)),
    max_leaves=12,
)
REAL = st.builds(
    lambda provider, text: streamed(provider, text, [("c1", "{}")]), st.sampled_from(sorted(ADAPTERS)), st.just("hi")
)


@st.composite
def spoiled(draw):
    """Events of a real stream, in any of which something else may stand at any place."""
    events = []
    for sent in draw(REAL):
        event = dict(sent)
        if draw(st.booleans()):
            place = event
            while True:
                key = draw(st.sampled_from(sorted(place)))
                inner = place[key]
                if not isinstance(inner, dict) or not inner or draw(st.booleans()):
                    place[key] = draw(JSON)
                    break
                place[key] = place = dict(inner)
        events.append(event)
    return events


@given(st.sampled_from(sorted(ADAPTERS)), st.one_of(spoiled(), st.lists(JSON, max_size=4)), st.booleans())
def test_whatever_comes_a_stream_raises_nothing_but_an_input_error(provider, events, keeps):
    run, stream = opened(provider)
    for event in events:
        try:
            stream.feed(event)
        except mt.ResponseError:
            continue
    try:
        assert stream.tokens >= 0
        turn = stream.commit()
    except mt.InputError:  # of the answer's form, or of text that has no UTF-8
        stream.abort(keep="text" if keeps else "nothing")
    else:
        assert {type(call.arguments) for call in turn.tool_calls} <= {str}
    run.prepare(CAPS)
