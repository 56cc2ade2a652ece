"""Every example runs by itself, from anywhere, without a network, and says what it is there to show."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"

SAYS = {
    "adopt_messages.py": ["tools ['tide', 'web_fetch']", "tools ['tide'],", "the person is offline"],
    "agent_loop.py": ["Committed", "I have read 12 pages", "all 28 entries are kept"],
    "own_summarizer.py": ["POST /v1/messages to claude-haiku-4-5", "compacted from"],
    "quickstart.py": ["'current task'", "Forecast(read="],
    "store_and_resume.py": ["waiting for ['toolu_1']", "another writer was first", "'reviewer': 'Ada'"],
}


def test_every_example_is_run():
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(SAYS)


@pytest.mark.parametrize("name", sorted(SAYS))
def test_an_example_runs(name, tmp_path):
    command = [sys.executable, "-W", "error", str(EXAMPLES / name)]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    assert not [text for text in SAYS[name] if text not in result.stdout], result.stdout
