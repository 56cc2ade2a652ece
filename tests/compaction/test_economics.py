"""What compactions cost and save, when they pay, and that no cheaper legal cut is passed by (I10, I12)."""

from __future__ import annotations

import importlib.util
import math
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from agents import ADAPTERS, CAPS, exchange, says, session, work
from muntin.compaction.economics import Bill, Prices, bill, worth_it

BENCH = Path(__file__).parents[2] / "benches" / "compaction_cost.py"


def spent(prices, requests, *, view, hot, kept=None, summary=0, call=0.0):
    """What the next requests cost, one by one, for a view of so many tokens, or for a summary and what is kept."""
    after = view if kept is None else summary + kept
    first = (prices.cached if hot and kept is None else prices.written) * after
    return call + first + (requests - 1) * prices.cached * after


@given(
    st.integers(1, 200_000), st.integers(0, 8_000), st.integers(0, 50_000), st.floats(0, 50_000), st.booleans(),
    st.integers(1, 60),
)  # fmt: skip
def test_a_bill_is_what_adding_up_request_by_request_gives(dropped, summary, kept, call, hot, requests):
    prices = Prices(1.25, 0.1, 5.0)
    account = bill(prices, dropped=dropped, summary=summary, kept=kept, call=call, hot=hot)
    without = spent(prices, requests, view=dropped + kept, hot=hot)
    with_it = spent(prices, requests, view=0, hot=hot, kept=kept, summary=summary, call=call)
    saved = (requests - 1) * account.saves - account.call - account.rewrite
    assert saved == pytest.approx(without - with_it, abs=1e-6 * (dropped + kept + call + 1))
    if account.saves > 0 and account.break_even > 0:
        assert account.break_even * account.saves == pytest.approx(account.call + account.rewrite)


def test_the_figures_of_the_published_example():
    """20,000 of prefix, 150,000 of history, 130,000 dropped for 3,000, 20,000 kept: 4.6 requests on a shared prefix."""
    call = 0.1 * 170_000 + 5 * 3_000
    account = bill(Prices(1.25, 0.1, 5.0), dropped=130_000, summary=3_000, kept=20_000, call=call, hot=True)
    later = (account.call + (1.25 - 0.1) * 23_000) / account.saves
    assert later == pytest.approx(4.6, abs=0.05)
    assert account.break_even == pytest.approx(later - 1, abs=0.05)  # the next request is in the bill already


def test_what_never_pays_and_what_pays_at_once():
    assert Bill(10.0, 5.0, 0.0).break_even == math.inf
    assert Bill(0.0, -5.0, 1.0).break_even == 0
    assert worth_it(Bill(0.0, -5.0, 1.0), 0.0)
    assert not worth_it(Bill(10.0, 5.0, 100.0), 14.9)
    assert worth_it(Bill(10.0, 5.0, 0.1), 15.0)


@given(st.floats(1_000, 500_000), st.floats(10, 5_000), st.integers(1, 400))
def test_going_by_the_past_costs_at_most_twice_what_hindsight_would(once, growth, requests):
    """A view that grows evenly: each request carries what has come since; dropping it costs `once`."""
    paid = carried = since = 0.0
    for _ in range(requests):
        since += growth
        carried += 0.1 * since
        paid += 0.1 * since
        if worth_it(Bill(once, 0.0, 0.1 * since), carried):
            paid, carried, since = paid + once, 0.0, 0.0
    lengths = range(1, requests + 1)
    cycle = {n: 0.1 * growth * n * (n + 1) / 2 for n in lengths}
    best = min(requests // n * (cycle[n] + once) + (cycle[requests % n] if requests % n else 0) for n in lengths)
    best = min(best, cycle[requests])
    assert paid <= 2 * best + once


@pytest.mark.parametrize("provider", sorted(ADAPTERS))
@pytest.mark.parametrize("sizes", [[400] * 12, [50, 900, 50, 900, 300, 300, 700], [900] * 5, [60] * 60])
def test_no_legal_cut_that_keeps_what_the_policy_asks_for_is_cheaper_than_the_chosen(provider, sizes):
    s = session(provider, policy=mt.Policy(window=40_000, reserve_output=2_000, keep_recent=1_500))
    run = s.start_run("go")
    for size in sizes:
        work(run, 1, size)
    exchange(run, says("on", "c-end"))
    plan = s.plan_compaction(least_cost=True)
    conversation = s._conversation
    history, adapter = conversation.lane.history, s.adapter
    prices = Prices.of(adapter.model)
    recent = adapter.raw(conversation.budget.keep_recent)

    def cost(cut):
        kept = history.total(cut)
        account = bill(prices, dropped=history.total() - kept, summary=300, kept=kept, call=0.0, hot=True)
        return account.rewrite - 30 * account.saves

    cuts = range(conversation.marks.timeline + 1, conversation.observed + 1)
    cuts = [cut for cut in cuts if history.is_legal(cut) and history.grade(cut)]
    assert plan.cut in cuts
    # Cheaper is only what keeps less than the policy asks for, or nearly as much at a better place.
    assert all(cost(plan.cut) <= cost(cut) for cut in cuts if history.total(cut) > recent)
    kept = history.total(plan.cut)
    assert kept >= recent * 0.5 or kept == max(history.total(cut) for cut in cuts if history.total(cut) <= recent)


@pytest.mark.parametrize("provider", sorted(ADAPTERS))
def test_a_compaction_pays_when_carrying_has_cost_as_much(provider):
    s = session(provider, policy=mt.Policy(window=150_000, reserve_output=2_000, keep_recent=1_500))
    run = s.start_run("go")
    work(run, 3)
    assert not s.compaction_pays()
    for requests in range(400):
        if s.compaction_pays():
            break
        exchange(run, says("on", f"c-{provider}-{requests}"), "word " * 150)
    usage = run.prepare(CAPS).usage
    assert usage.state == "ok"
    outcome = s.commit_compaction(s.plan_compaction(least_cost=True).run(mt.ExtractiveSummarizer()))
    assert isinstance(outcome, mt.Committed)
    assert outcome.report.after < 8_000
    assert not s.compaction_pays()


def test_a_cold_cache_makes_it_pay_at_once():
    s = session("anthropic", policy=mt.Policy(window=150_000, reserve_output=2_000, keep_recent=1_500))
    run = s.start_run("go")
    for number in range(20):
        request = run.prepare(CAPS, now=1_000.0 + number)
        run.record(request, says("", f"k{number}"))
        run.tool_result(f"k{number}", "word " * 2_000)
    run.record(run.prepare(CAPS, now=1_020.0), says("", "k-end"))
    assert not s.compaction_pays(now=1_021.0)
    assert s.compaction_pays(now=1_021.0 + 86_400)
    cold = s.plan_compaction(least_cost=True, now=1_021.0 + 86_400).run(mt.ExtractiveSummarizer())
    report = s.commit_compaction(cold).report
    assert report.cost < 0.1 * report.before


@pytest.mark.shared
@pytest.mark.parametrize("provider", ["anthropic", "openai_responses", "gemini"])
def test_by_cost_is_cheaper_than_80_to_40_and_as_cheap_as_only_when_full_on_recordings(shared, provider):
    """In short; `benches/compaction_cost.py` takes all recordings and four windows."""
    spec = importlib.util.spec_from_file_location("compaction_cost", BENCH)
    bench = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bench)
    paths = (
        path
        for folder in ("codex", "claude-code")
        for path in sorted((shared / "data" / folder).glob("*.jsonl.xz"))[::6]
    )
    found = list(bench.recordings(list(paths)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for window in (64_000, 128_000):
            full, eighty, mine = (
                sum(bench.cost(one, provider, window, policy).tokens for one in found) for policy in bench.POLICIES
            )
            assert mine <= 1.02 * min(full, eighty)
            assert mine < eighty
