"""Whatever happened in a session, no provider would refuse a request of it, nor one after a switch to another.

`MUNTIN_HISTORIES=100000` says how many histories are tried; `make accept` does.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, given, settings

from wire.histories import HISTORIES, played
from wire.rules import refused

COUNT = int(os.environ.get("MUNTIN_HISTORIES", "0"))


@pytest.mark.timeout(0 if COUNT else 120)
@settings(max_examples=COUNT or 40, suppress_health_check=list(HealthCheck))
@given(HISTORIES)
def test_no_request_of_any_history_would_be_refused_in_any_format(history):
    for provider, request in played(history):
        assert refused(provider, request.to_dict()) == [], provider
