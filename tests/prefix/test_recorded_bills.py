"""Forecasts against what recorded sessions of other clients were billed."""

from __future__ import annotations

import pytest

from prefix.bills import FOLDERS, Tally, tallies

pytestmark = [pytest.mark.shared, pytest.mark.timeout(600)]


@pytest.mark.parametrize("folder", FOLDERS)
def test_where_both_see_an_unbroken_prefix_nine_of_ten_bills_are_within_two_percent(shared, folder):
    whole = Tally(folder)
    for one in tallies(shared / "data" / folder):
        whole.add(one)
    assert whole.unbroken >= 0.9 * whole.calls
    assert whole.kept >= 0.75 * whole.calls
    assert whole.within_kept >= 0.9 * whole.kept
    if folder.startswith("claude"):  # OpenAI drops a prefix now and then for no reason that lies in the requests
        assert whole.within >= 0.9 * whole.unbroken
