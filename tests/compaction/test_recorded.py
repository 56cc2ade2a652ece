"""Recorded sessions in small windows: every request is within its budget, or a typed error says why it cannot be.

A few recordings in short; all of them, whole, by `make accept`.
"""

from __future__ import annotations

import itertools
import os
import warnings

import msgspec
import pytest
from test_compaction import calls_without_results

import muntin as mt
from muntin.replay import Replay, adapter_of
from muntin.transcripts import read

pytestmark = [pytest.mark.shared, pytest.mark.timeout(0 if os.environ.get("MUNTIN_ACCEPT") == "all" else 600)]

ALL = os.environ.get("MUNTIN_ACCEPT") == "all"
REQUESTS = None if ALL else 250
"""Of each recording: enough to fill the largest of these windows several times."""


def recordings(folder, most):
    paths = [path for path in sorted(folder.glob("*.json*")) if not path.name.startswith("SOURCE")]
    paths.sort(key=lambda path: -path.stat().st_size)
    for path in paths[:most]:
        yield from read(path)


def task(session):
    """The texts of segment 8: what the current run began with."""
    conversation = session._conversation
    marks, history = conversation.marks, conversation.lane.history
    items = [conversation.log.entry(number).item for number in history.entries(marks.inputs, marks.skills)]
    return [
        part.text for item in items if isinstance(item, mt.UserInput) for part in item.content if type(part) is mt.Text
    ]


def fixed(report):
    """Tokens that no compaction removes: tools, instructions, what is hidden, and pins."""
    covered = {mt.Segment.SUMMARY, mt.Segment.HISTORY, mt.Segment.TIMELINE}
    return report.before - sum(share.tokens for share in report.shares_before if share.segment in covered)


@pytest.mark.parametrize("window", [16_000, 32_000, 64_000, 128_000])
@pytest.mark.parametrize("folder", ["claude-code", "codex", "openai-chat"])
def test_every_request_is_in_budget_with_its_task_and_compactions_are_worth_it(shared, folder, window):
    requests = 0
    limit = window - 4_000
    for recording in recordings(shared / "data" / folder, None if ALL else 3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            adapter = adapter_of(recording, None, None)
        replay = Replay(recording, adapter, policy=mt.Policy(window=window, reserve_output=4_000))
        compactions = freed = fitting = room = 0
        for step in itertools.islice(replay.steps(), REQUESTS):
            requests += 1
            for report in step.compactions:
                compactions, freed = compactions + 1, freed + report.before - report.after
                room += limit - fixed(report)
                assert report.before - report.after >= 0.04 * limit  # the least, by the safe estimate
                assert sum(share.tokens for share in report.shares_after) <= report.after
            if step.request is None:
                assert "window" in step.error
                assert not step.compactions  # nothing was paid for what would not fit all the same
                continue
            fitting += 1
            usage = step.request.usage
            assert 0 <= usage.remaining <= limit
            if step.compactions or fitting % 25 == 0:
                assert not calls_without_results(step.request)
                body = step.request.body
                assert all(msgspec.json.encode(text)[1:-1] in body for text in task(replay.session)), recording.id
        assert replay.session._conversation.attempts <= 8
        # In proportion to what they free: on average a good part of all that is neither fixed nor pinned.
        assert freed >= 0.15 * room, recording.id
        if room > compactions * limit / 2:
            assert compactions <= 2 + fitting / 3, recording.id
    assert requests > 50
