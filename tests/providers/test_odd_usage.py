"""Bills as servers and SDKs give them, odd ones too: what is said counts, and what cannot be teaches nothing."""

from __future__ import annotations

import pytest

import muntin as mt
from agents import ADAPTERS, CAPS, session

LONG = "The harbour clock is late and nobody knows why it is so. " * 100


def answer(**usage):
    return {"choices": [{"message": {"content": "ok"}, "finish_reason": "stop"}], "usage": usage}


def test_a_count_that_is_null_at_the_end_of_a_stream_leaves_what_was_said_at_its_beginning():
    accumulator = ADAPTERS["anthropic"].accumulator()
    first = {"input_tokens": 50, "cache_read_input_tokens": 4_000, "cache_creation_input_tokens": 10}
    last = {"output_tokens": 7, "input_tokens": None, "cache_read_input_tokens": None, "server_tool_use": None}
    for event in [
        {"type": "message_start", "message": {"content": [], "usage": {**first, "output_tokens": 1}}},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": last},
        {"type": "message_stop"},
    ]:
        accumulator.feed(event)
    usage = ADAPTERS["anthropic"].read(accumulator.response()).usage
    assert usage == mt.Usage(input=4_060, cached=4_000, written=10, output=7)


def test_deepseek_says_what_was_cached_under_a_key_of_its_own():
    usage = ADAPTERS["openai_chat:deepseek"].read(answer(prompt_tokens=100, prompt_cache_hit_tokens=64)).usage
    assert usage == mt.Usage(input=100, cached=64)


@pytest.mark.parametrize("usage", [
    {"prompt_tokens": 0, "completion_tokens": 3},
    {"prompt_tokens": -5},
    {"prompt_tokens": 900, "prompt_tokens_details": {"cached_tokens": 5_000}},
    {"prompt_tokens": 900, "prompt_tokens_details": {"cached_tokens": -1}},
])  # fmt: skip
def test_a_bill_that_cannot_be_is_no_anchor_and_no_part_of_the_report(usage):
    counts = []
    for given in (usage, None):
        spoken = session("openai_chat")
        for _ in range(3):
            run = spoken.start_run(LONG)
            request = run.prepare(CAPS)
            run.record(request, {**answer(), "usage": given})
            run.finish()
        counts.append((request.usage.tokens, request.usage.safe, str(spoken.cache_report())))
    assert counts[0] == counts[1]
