"""Causes that come from a change of the view or of the front, each by its smallest session."""

from __future__ import annotations

import muntin as mt
from agents import CAPS, compacted, exchange, fill, says, session
from muntin.diagnosis import broken_front
from muntin.layout import Segment
from muntin.providers.base import Part

SMALL = mt.Policy(window=16_000, reserve_output=2_000, keep_recent=1_000)


def filled():
    """A session whose history is long enough to be made shorter."""
    s = session("anthropic", system="Be exact. " * 900, policy=SMALL)
    fill(s.start_run("go"))
    return s


def test_a_new_skill_catalogue_is_named_and_leaves_the_prompt_readable():
    s = session("anthropic", system="Be exact. " * 2_000, state={"branch": "main"})
    run = s.start_run("go", catalogue="Skills: a")
    exchange(run, says("done"))
    run.finish()
    forecast = s.start_run("next", catalogue="Skills: a, b").prepare(CAPS).forecast
    assert forecast.cause == "skill catalogue changed"
    assert forecast.broken.segment is Segment.CATALOGUE
    assert forecast.read > 1_500


def test_a_full_state_that_differs_is_named():
    old, new = (Part(Segment.STATE, text, 5) for text in (b'{"branch":"main"}', b'{"branch":"fix"}'))
    same, broken = broken_front([old], [new])
    assert (same, broken.cause, broken.byte) == (0, "full state changed", 11)
    assert "Session.update_state" in broken.advice


def test_a_change_of_state_is_appended_and_breaks_nothing():
    s = session("anthropic", system="Be exact. " * 900, state={"branch": "main"})
    exchange(s.start_run("go"), says("I look.", "c1"))
    s.update_state({"branch": "fix"})
    assert s.run.prepare(CAPS).forecast.cause == ""


def test_results_that_were_cleared_are_named():
    s = filled()
    assert isinstance(s.clear_results(force=True), mt.Committed)
    assert s.run.prepare(CAPS).forecast.cause == "clearing of old results"


def test_a_compaction_that_was_undone_before_it_was_sent_breaks_nothing_and_one_after_it_is_named():
    s = filled()
    compacted(s)
    s.undo_compaction()
    assert s.run.prepare(CAPS).forecast.cause == ""
    compacted(s)
    exchange(s.run, says("I look.", "c-new"))
    s.undo_compaction()
    assert s.run.prepare(CAPS).forecast.cause == "undoing of a view change"
