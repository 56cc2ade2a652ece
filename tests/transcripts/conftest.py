"""What the tests of the readers share: a log written on the spot, and the recorded sessions where they are."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from muntin.transcripts import read
from muntin.transcripts.events import Recording


@pytest.fixture
def log(tmp_path: Path) -> Callable[..., list[Recording]]:
    """Write lines to a file and read it: JSON values are encoded, strings and bytes stand as they are."""

    def written(*lines: object) -> list[Recording]:
        path = tmp_path / "log.jsonl"
        raw = [line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines]
        path.write_bytes(b"\n".join(raw) + b"\n")
        return read(path)

    return written


@pytest.fixture(scope="session")
def recorded(shared: Path) -> Callable[[str], list[Path]]:
    """The recorded sessions of a folder."""

    def folder(name: str) -> list[Path]:
        return sorted(path for path in (shared / "data" / name).iterdir() if path.name != "SOURCE.jsonl")

    return folder
