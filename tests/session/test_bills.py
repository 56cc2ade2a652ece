"""What a session learns from bills: of its model's counts, and that its window is another one (R7.2)."""

from __future__ import annotations

import pytest

import muntin as mt
from agents import ADAPTERS
from muntin.calibration import Calibration

REFUSALS = [
    (
        "openai_chat",
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130104.",
        128_000,
    ),
    ("anthropic", "prompt is too long: 213462 tokens > 200000 maximum", 200_000),
    ("gemini", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1_048_576),
    ("openai_chat:vllm", "The decoder prompt (length 40000) is longer than the maximum model length of 32768.", 32_768),
    ("ollama", "request (5000 tokens) exceeds the available context size (4096 tokens)", 4_096),
]


def session(model="claude-sonnet-4-5", window=400_000):
    return mt.Session("s", adapter=mt.providers.anthropic(model), policy=mt.Policy(window=window), system="Be exact.")


def answer(billed, text="Done."):
    return {
        "content": [{"type": "text", "text": text}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": billed, "output_tokens": 5},
    }


def test_a_bill_is_the_anchor_and_only_what_came_after_it_is_estimated():
    s = session()
    run = s.start_run("word, " * 2_000)
    first = run.prepare()
    billed = round(first.usage.tokens * 1.3)
    run.record(first, answer(billed))
    run.guide("Go on.")
    second = run.prepare()
    assert billed < second.usage.tokens < billed + 50
    assert first.usage.learned == 0 < second.usage.learned
    assert second.usage.tokens <= second.usage.safe < billed * 1.02
    replayed = mt.Session.from_events(s.events_since(0)).run.prepare()
    assert (replayed.usage.tokens, replayed.usage.safe) == (second.usage.tokens, second.usage.safe)


def test_what_was_learned_holds_in_another_view_too():
    s = session(window=16_000)
    run = s.start_run("Read.")
    while (request := run.prepare()).usage.state == "ok":
        run.record(request, answer(round(request.usage.tokens * 1.0) + 1, "word, " * 400))
        run.guide("Go on.")
    factor = s._conversation.calibration.factor
    fork = s.fork("f")
    assert fork._conversation.calibration.factor == factor
    assert fork.run.prepare().usage.tokens == request.usage.tokens


@pytest.mark.parametrize("billed", [150, 10, 1_000_000])
def test_a_first_bill_is_an_anchor_and_moves_no_factor(billed):
    s = session(window=2_000_000)
    run = s.start_run("word, " * 1_000)
    run.record(run.prepare(), answer(billed))
    assert s._conversation.calibration.factor == 1.0
    run.guide("Go on.")
    assert billed < run.prepare().usage.tokens < billed + 50


@pytest.mark.parametrize(("grown", "learns"), [(5_500, True), (4_000, True), (30_000, False), (100, False)])
def test_bills_that_grow_by_more_or_less_than_the_estimate_teach_what_texts_cost(grown, learns):
    adapter = mt.providers.anthropic("claude-sonnet-4-5")
    first = Calibration().learned(adapter, 25_000, 5_000, 0)
    then = first.learned(adapter, 25_000 + grown, 10_000, 0)
    assert (then.factor != 1.0) == learns
    assert then.estimate(adapter, 10_000) == 25_000 + grown
    if learns:
        assert abs(then.factor - grown / 5_000) < abs(1 - grown / 5_000)


@pytest.mark.parametrize("billed", [0, 1, 40, 900, 5_000, 100_000])
def test_what_is_dropped_is_dropped_from_the_bill_and_never_more_than_there_was(billed):
    adapter = mt.providers.anthropic("claude-sonnet-4-5")
    learned = Calibration().learned(adapter, billed, 1_000, 0)
    for raw in (0, 1, 500, 1_000, 1_001, 90_000):
        for epoch in (0, 1):
            assert 0 <= learned.estimate(adapter, raw) <= learned.safe(adapter, raw, epoch)
    assert learned.estimate(adapter, 1_000) == billed


def test_what_is_hidden_is_left_in_the_figures_by_a_compaction_and_planned_with():
    policy = mt.Policy(window=60_000, reserve_output=2_000, keep_recent=1_000)
    s = mt.Session("s", adapter=mt.providers.anthropic("claude-sonnet-4-5"), policy=policy)
    run = s.start_run("go")
    while (request := run.prepare()).usage.state == "ok":
        run.record(request, answer(request.usage.tokens - request.usage.learned + 20_000, "word, " * 300))
        run.guide("Go on.")
    s.commit_compaction(s.plan_compaction().run(mt.ExtractiveSummarizer()))
    after = run.prepare().usage
    assert 20_000 < after.tokens < 26_000
    assert after.learned == pytest.approx(20_000, rel=0.05)


@pytest.mark.parametrize(("provider", "error", "window"), REFUSALS)
def test_case_r7_2_a_refusal_that_states_another_window_is_said_once(provider, error, window):
    s = mt.Session("s", adapter=ADAPTERS[provider], policy=mt.Policy(window=500_000))
    run = s.start_run("go")
    with pytest.warns(UserWarning, match=f"{window:,} tokens.*window of 500,000"):
        run.fail(run.prepare(), error)
    assert s.window_mismatch == mt.WindowMismatch(500_000, window, "refusal")
    run.fail(run.prepare(), error)  # no second warning: the test run makes an error of it
    assert mt.Session.from_events(s.events_since(0)).window_mismatch == s.window_mismatch


def test_case_r7_2_a_bill_beyond_the_window_shows_that_it_is_larger():
    s = session(window=16_000)
    run = s.start_run("go")
    with pytest.warns(UserWarning, match="took a request of 50,000 tokens"):
        run.record(run.prepare(), answer(50_000))
    assert s.window_mismatch.by == "bill"


@pytest.mark.parametrize(
    "error",
    [
        "connection reset",
        "rate limit of 30000 tokens a minute",
        "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 35000.",
        "This model's maximum context length is 127999 tokens. However, your messages resulted in 130104 tokens.",
        "",
    ],
)
def test_other_failures_say_nothing_of_the_window(error):
    s = mt.Session("s", adapter=ADAPTERS["openai_chat"], policy=mt.Policy(window=128_000))
    run = s.start_run("go")
    run.fail(run.prepare(), error)
    assert s.window_mismatch is None
