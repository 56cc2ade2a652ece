"""Write `python/muntin/transcripts/example.jsonl`, the bundled session. The same bytes on every run.

python scripts/make_example_session.py
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import msgspec
from example_session import sea
from example_session.first_run import DAY, GAUGE, LOG, first_run
from example_session.header import GUIDES, STATE, SYSTEM, TOOLS
from example_session.logs import service_log
from example_session.recorder import Recorder
from example_session.second_run import second_run
from example_session.third_run import third_run
from example_session.workspace import Workspace

ROOT = Path(__file__).parent.parent
TARGET = ROOT / "python" / "muntin" / "transcripts" / "example.jsonl"
PROJECT = Path(__file__).parent / "example_session" / "harbour"

HEADER = {
    "muntin": 1,
    "id": "harbour",
    "format": "muntin",
    "provider": "anthropic",
    "model": "claude-sonnet-4-5",
    "system": SYSTEM,
    "tools": TOOLS,
    "state": STATE,
    "guides": GUIDES,
}
SEED = 29
MONDAY_MORNING = datetime(2026, 3, 30, 8, 5, tzinfo=UTC)
HOURS_APART = 5
"""Between the first run and the second; the third is begun on the next day."""


def recorded() -> Recorder:
    """The session from its first prompt to its last answer."""
    workspace = Workspace.of_folder(PROJECT)
    workspace.files[LOG] = service_log(SEED)
    workspace.files[GAUGE] = sea.gauge(workspace, DAY, SEED)
    workspace.commit()
    session = Recorder(workspace, seed=SEED, start=int(MONDAY_MORNING.timestamp()))
    first_run(session)
    repaired = session.mark()
    session.wait(HOURS_APART * 3600)
    second_run(session)
    session.wait(16 * 3600)
    session.fork(repaired)
    third_run(session)
    return session


def content() -> bytes:
    """The file, byte for byte."""
    return msgspec.json.Encoder().encode_lines([HEADER, *recorded().events])


if __name__ == "__main__":
    TARGET.write_bytes(content())
