"""Cases P36 to P41: an engine's own faults, as far as its client sees them, in the forecast or in the bills."""

from __future__ import annotations

import pytest

import muntin as mt
from agents import CAPS


def engine(block):
    """A session with a server that keeps whole blocks of so many tokens."""
    model = mt.Model(name="engine/m", window=100_000, cache_min=block, cache_step=block)
    return mt.Session("s", adapter=mt.providers.openai_chat(model, profile="vllm"), system="Be exact.")


def answer(whole, cached):
    usage = {"prompt_tokens": whole, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": cached}}
    return {
        "choices": [{"message": {"role": "assistant", "content": "Done."}, "finish_reason": "stop"}],
        "usage": usage,
    }


def billed(session, reads, whole=2_000):
    """The report of a session whose requests grew by 20 tokens each, and read so much of a cache."""
    run = session.start_run("go")
    for n, cached in enumerate(reads):
        run.record(run.prepare(CAPS), answer(whole + 20 * n, cached))
        run.guide("Go on.")
    return session.cache_report()


def test_case_p36_a_beginning_shorter_than_a_block_is_expected_to_be_read_not_at_all_and_says_so():
    session = engine(784)
    run = session.start_run("go")
    run.record(run.prepare(CAPS), answer(240, 0))
    run.guide("Go on.")
    forecast = run.prepare(CAPS).forecast
    assert (forecast.read, forecast.why) == (0, "below the minimum of 784 tokens")


@pytest.mark.parametrize(("tokens", "read"), [(1_024, 0), (1_025, 1_024)])
def test_case_p37_the_last_token_is_never_read_so_that_a_prompt_of_just_one_block_is_not(tokens, read):
    session = engine(1_024)
    run = session.start_run("go")
    place = session.last_entry
    run.record(run.prepare(CAPS), answer(tokens, 0))
    session.rewind(place)
    assert session.run.prepare(CAPS).forecast.read == read


def test_case_p38_p41_a_cache_that_never_hits_is_told_as_a_steady_difference():
    """A router that hashes otherwise than its engine (P38), an index that gets no events (P41)."""
    report = billed(engine(16), [0] * 7)
    assert report.steady == -1.0
    assert "100.0% short of the forecast" in str(report)


def test_case_p39_a_cache_that_stops_hitting_is_told_once_no_good_bill_is_among_the_last():
    good = [0, *(2_000 + 20 * n for n in range(6))]
    report = billed(engine(16), [*good, *[0] * 8])
    assert report.steady == -1.0
    assert "no change in the requests explains it" in str(report.misses[-1])


def test_case_p40_a_match_that_stops_after_one_block_is_told_as_a_steady_difference():
    report = billed(engine(16), [0] + [16] * 7)
    assert report.steady < -0.98
    assert report.misses[-1].read == 16
