"""Recorded sessions in small windows: every request is within its budget, or a typed error says why it cannot be."""

from __future__ import annotations

import itertools
import warnings

import pytest

import muntin as mt
from muntin.replay import Replay, adapter_of
from muntin.transcripts import read

pytestmark = [pytest.mark.shared, pytest.mark.timeout(600)]

REQUESTS = 250
"""Of each recording: enough to fill the largest of these windows several times."""


def recordings(folder, most):
    paths = [path for path in sorted(folder.glob("*.json*")) if not path.name.startswith("SOURCE")]
    paths.sort(key=lambda path: -path.stat().st_size)
    for path in paths[:most]:
        yield from read(path)


@pytest.mark.parametrize("window", [16_000, 32_000, 64_000, 128_000])
@pytest.mark.parametrize("folder", ["claude-code", "codex"])
def test_every_request_is_in_budget_and_compactions_are_few(shared, folder, window):
    requests = compactions = refused = 0
    for recording in recordings(shared / "data" / folder, 3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            adapter = adapter_of(recording, None, None)
        policy = mt.Policy(window=window, reserve_output=4_000)
        replay = Replay(recording, adapter, policy=policy)
        largest = 0
        for step in itertools.islice(replay.steps(), REQUESTS):
            requests += 1
            compactions += len(step.compactions)
            for report in step.compactions:
                assert report.after < report.before
                assert sum(share.tokens for share in report.shares_after) <= report.after
            if step.request is None:
                refused += 1
                assert "window" in step.error
                continue
            assert step.request.usage.remaining >= 0
            largest = max(largest, step.request.usage.safe)
        assert largest <= window - 4_000
        conversation = replay.session._conversation
        assert conversation.attempts <= 8
    assert requests > 100
    # Tools and instructions of some of them nearly fill the smallest window: there every other result overflows it.
    assert compactions <= requests / (2 if window == 16_000 else 3)
