"""Forecasts against what recorded sessions of other clients were billed."""

from __future__ import annotations

import functools
import operator

import pytest

from prefix.bills import tallies

pytestmark = [pytest.mark.shared, pytest.mark.timeout(600)]


@pytest.mark.parametrize("folder", ["claude-code-growth", "codex-growth", "claude-code"])
def test_where_both_see_an_unbroken_prefix_nine_of_ten_bills_are_within_two_percent(shared, folder):
    whole = functools.reduce(operator.add, tallies(shared / "data" / folder))
    assert whole.unbroken > whole.calls // 2
    assert whole.within >= 0.9 * whole.unbroken
