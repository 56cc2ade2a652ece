"""What all tests share: where the recorded data is, and how hard hypothesis tries."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

import recorded

# No deadlines: a busy machine is no fault of the code. What is slow has a benchmark.
settings.register_profile("dev", deadline=None, max_examples=50)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True)
settings.register_profile("fuzz", deadline=None, max_examples=10_000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of the recorded data; the test is skipped where it is missing."""
    if not (recorded.ROOT / "data").is_dir():
        pytest.skip(f"no recorded data in {recorded.ROOT}; set MUNTIN_SHARED to the folder that holds `data`")
    return recorded.ROOT
