"""The package's own format: a header line, then one event a line.

The header is a `Recording` without its events and with the key `muntin`, the version of the format. An event is the
JSON of its struct with the `type` that tells which, so that a session can be written by hand or by any program:

    {"muntin": 1, "id": "demo", "format": "muntin", "provider": "anthropic"}
    {"type": "prompt", "inputs": [{"type": "user", "content": [{"type": "text", "text": "Hello"}]}]}
    {"type": "response", "turn": {"parts": [{"type": "text", "text": "Hello! What shall we do?"}]}}
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import msgspec

from muntin.exceptions import TranscriptError
from muntin.transcripts.events import Event, Problem, Recording
from muntin.transcripts.lines import Lines

__all__ = ["DESCRIPTION", "NAME", "read", "recognises", "write"]

NAME: Final = "muntin"
DESCRIPTION = 'muntin\'s own: a header line {"muntin": 1, ...}, then one event a line'
VERSION = 1


def recognises(records: Sequence[Any]) -> bool:
    """Whether these JSON values are lines of this format."""
    return bool(records) and isinstance(records[0], dict) and "muntin" in records[0]


def read(lines: Lines) -> list[Recording]:
    """The one recording of a file. O(n).

    Raises:
        TranscriptError: The header is of another version, or not of the form of a header.
    """
    (_, header), *rest = lines.records
    version = header["muntin"]
    if version != VERSION:
        raise TranscriptError(f"this is version {version!r} of the muntin format; this muntin reads version {VERSION}")
    try:
        recording = msgspec.convert({"format": NAME, **header, "events": ()}, Recording)
    except msgspec.ValidationError as error:
        raise TranscriptError(f"the header of the recording is not usable: {error}") from error
    events: list[Event] = []
    problems = [*recording.problems, *lines.problems]
    for number, record in rest:
        try:
            events.append(msgspec.convert(record, Event))
        except msgspec.ValidationError as error:
            problems.append(Problem(number, f"not an event: {error}"))
    problems.sort(key=lambda problem: problem.line)
    return [msgspec.structs.replace(recording, events=tuple(events), problems=tuple(problems))]


def write(recording: Recording) -> bytes:
    """The recording in this format; reading it back gives an equal one. O(n)."""
    header = {"muntin": VERSION, **msgspec.to_builtins(recording)}
    del header["events"]
    return msgspec.json.Encoder().encode_lines([header, *recording.events])
