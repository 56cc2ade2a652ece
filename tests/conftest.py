"""What all tests share: the recorded sessions, where they stand beside the checkout, and how hard hypothesis tries."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).resolve().parent.parent

settings.register_profile("dev", max_examples=50, deadline=None)
settings.register_profile("ci", max_examples=100, deadline=None, derandomize=True)
settings.register_profile("fuzz", max_examples=20_000, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "dev"))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of recorded sessions; a test that needs it is skipped where there is none."""
    folder = Path(os.environ.get("MUNTIN_SHARED", ROOT.parent / "shared"))
    if not (folder / "data").is_dir():
        pytest.skip(f"no recorded sessions in {folder}; name their folder in MUNTIN_SHARED")
    return folder
