"""A plan belongs to one session and one view of it (K2, L1, L6)."""

from __future__ import annotations

import gc

import pytest

import muntin as mt
from agents import CAPS, fill, session, summary, texts

POLICY = mt.Policy(window=16_000, reserve_output=2_000, keep_recent=1_000)


@pytest.fixture
def full():
    s = session(policy=POLICY)
    fill(s.start_run("go"))
    return s


def good(_):
    return summary("On.")


def test_case_k2_a_plan_given_to_a_fork_is_refused_and_still_good_for_its_own_session(full):
    plan = full.plan_compaction().run(good)
    fork = full.fork("f")
    with pytest.raises(mt.UnknownPlan, match="made for session 's', not for 'f'"):
        fork.commit_compaction(plan)
    assert (fork.epoch, fork.version) == (0, full.version + 1)
    assert isinstance(full.commit_compaction(plan), mt.Committed)


def test_a_plan_of_another_tenant_with_a_session_of_the_same_name_is_refused():
    def of(tenant):
        s = mt.Session("s", adapter=mt.providers.openai_chat("gpt-4o"), policy=POLICY, tenant=tenant)
        fill(s.start_run("go"))
        return s

    plan = of("a").plan_compaction().run(good)
    with pytest.raises(mt.UnknownPlan, match="of tenant 'a'"):
        of("b").commit_compaction(plan)


def test_case_l1_a_session_that_is_loaded_again_takes_the_plan_that_was_made_before(full):
    plan = full.plan_compaction()
    again = mt.Session.from_events(full.events_since(0))
    again.run.guide("SAID-MEANWHILE")
    assert isinstance(again.commit_compaction(plan.run(good)), mt.Committed)
    assert "SAID-MEANWHILE" in texts(again.run.prepare(CAPS))


def test_case_l6_a_view_with_the_same_number_and_another_past_is_another_view(full):
    twin = mt.Session.from_events(full.events_since(0))
    twin.rewind(twin.last_entry)
    full.clear_results(keep=5_000, force=True)
    fill(full.run)
    assert full.epoch == twin.epoch == 1
    plan = full.plan_compaction().run(good)
    outcome = twin.commit_compaction(plan)
    assert outcome.reason is mt.Reason.STALE_VIEW
    assert "another one" in outcome.detail


def test_a_plan_that_was_superseded_stays_so_when_the_newer_one_is_forgotten(full):
    old = full.plan_compaction()
    request = old.next_request()
    full.plan_compaction(supersede=True)
    gc.collect()
    old.feed(request, summary("On."))
    assert old.next_request() is None
    assert full.commit_compaction(old).reason is mt.Reason.SUPERSEDED
    assert full.epoch == 0


@pytest.mark.parametrize(
    ("reason", "said"),
    [(ConnectionError("no line"), "ConnectionError('no line')"), ({"status": 503}, "{'status': 503}"), (None, "None")],
)
def test_a_plan_fails_for_any_reason_that_can_be_said(full, reason, said):
    plan = full.plan_compaction()
    plan.fail(reason)
    outcome = full.commit_compaction(plan)
    assert (outcome.reason, outcome.detail) == (mt.Reason.FAILED, said)
    again = mt.Session.from_events(full.events_since(0))
    assert again.version == full.version
