"""Readers of recorded agent sessions: `read` a log of any known tool, get what happened in it as `Recording`s."""

from __future__ import annotations

import gzip
import lzma
import os
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from muntin.exceptions import TranscriptError
from muntin.transcripts import claude_code, codex, native, openai_chat
from muntin.transcripts.events import Recording
from muntin.transcripts.lines import Lines, split
from muntin.transcripts.native import write

__all__ = ["formats", "read", "write"]


class _Format(Protocol):
    """What a reader's module has."""

    @property
    def NAME(self) -> str: ...  # noqa: N802

    @property
    def DESCRIPTION(self) -> str: ...  # noqa: N802

    def recognises(self, records: Sequence[Any], /) -> bool: ...

    def read(self, lines: Lines, /) -> list[Recording]: ...


FORMATS: tuple[_Format, ...] = (native, claude_code, codex, openai_chat)

# The first lines tell the format; a damaged one among them does not hide it.
SNIFFED = 100


def formats() -> dict[str, str]:
    """The formats that `read` knows: name and description.

    Examples:
        >>> sorted(formats())
        ['claude-code', 'codex', 'muntin', 'openai-chat']
    """
    return {known.NAME: known.DESCRIPTION for known in FORMATS}


def read(path: str | os.PathLike[str]) -> list[Recording]:
    """The conversations of a recorded session, the main one first; never an empty list. O(n) in the file's size.

    The format is told from the content, whatever the name; files that xz or gzip compressed are opened as they are.
    Lines that cannot be read are skipped and stand in `Recording.problems` of the first recording.

    Raises:
        TranscriptError: The file is empty, damaged as a whole, or of no known format; the message says what to do.
        OSError: The file cannot be opened.
    """
    data = Path(path).read_bytes()
    try:
        lines = split(_unpacked(data))
        return _format_of(lines).read(lines)
    except TranscriptError as error:
        raise TranscriptError(f"{os.fspath(path)}: {error}") from error.__cause__


def _format_of(lines: Lines) -> _Format:
    records = [record for _, record in lines.records[:SNIFFED]]
    for known in FORMATS:
        if known.recognises(records):
            return known
    raise TranscriptError(f"{_found(lines)}; {_advice()}")


def _unpacked(data: bytes) -> bytes:
    try:
        if data.startswith(b"\xfd7zXZ\x00"):
            return lzma.decompress(data)
        if data.startswith(b"\x1f\x8b"):
            return gzip.decompress(data)
    except (lzma.LZMAError, zlib.error, EOFError, OSError) as error:
        raise TranscriptError(f"the compressed file is damaged or cut off ({error}); copy it again") from error
    return data


def _found(lines: Lines) -> str:
    if lines.records:
        number, record = lines.records[0]
        if isinstance(record, dict):
            keys = ", ".join(f"`{key}`" for key in list(record)[:6])
            return f"line {number} is a JSON object with the keys {keys or '(none)'}, which is no known format"
        kind = "a JSON array" if isinstance(record, list) else "a single JSON value"
        return f"line {number} is {kind} of no known format"
    if lines.problems:
        return f"there is no JSON in it (line {lines.problems[0].line}: {lines.problems[0].why})"
    return "the file is empty"


def _advice() -> str:
    known = "; ".join(f"{name}: {description}" for name, description in formats().items())
    return f"give the log that the agent itself wrote. Formats that can be read: {known}"
