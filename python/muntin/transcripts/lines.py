"""From bytes to JSON values, one a line, whatever state the file is in.

Agents write their logs while they run and are killed while they write: a last line cut in two is normal, and so is a
tool output with half of a surrogate pair in it. Neither may cost the rest of the file.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from muntin.transcripts.events import Problem

__all__ = ["Lines", "compact", "parse", "split"]


class Lines(msgspec.Struct, frozen=True):
    """The JSON values of a file.

    Attributes:
        records: The number of the line, from 1, and its value. No string in it has a lone surrogate.
        problems: Lines that are not JSON.
    """

    records: tuple[tuple[int, Any], ...]
    problems: tuple[Problem, ...] = ()


def split(data: bytes) -> Lines:
    """Read JSON lines, or one JSON document over several lines. O(n) in the bytes.

    Blank lines are no problem and no record. A document that spans lines counts as line 1.
    """
    data = data.removeprefix(b"\xef\xbb\xbf")
    whole = data.strip()
    # Only a document that spans lines is worth the attempt: JSON lines fail it at the second line.
    if b"\n" in whole and whole[:1] in b"[{":
        try:
            return Lines(records=((1, parse(whole)),))
        except ValueError:
            pass
    records: list[tuple[int, Any]] = []
    problems: list[Problem] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        stripped = line.strip()
        if not stripped:
            continue
        try:
            records.append((number, parse(stripped)))
        except ValueError as error:
            problems.append(Problem(number, f"not JSON: {error}"))
    return Lines(tuple(records), tuple(problems))


def parse(text: bytes) -> Any:
    """The value of a JSON text; a lone surrogate or a byte that is not UTF-8 becomes U+FFFD.

    Raises:
        ValueError: The text is not JSON, or nested deeper than the interpreter can follow.
    """
    try:
        return msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        pass
    # msgspec refuses what the standard library lets pass: lone surrogates, NaN, raw control characters, bad UTF-8.
    try:
        return _scrub(json.loads(text.decode("utf-8", "replace"), strict=False))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def compact(value: Any) -> str:
    """The JSON text of a value without spaces, keys in their order.

    Raises:
        TypeError: The value is not made of JSON types.
    """
    return msgspec.json.encode(value).decode()


def _scrub(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, list):
        return [_scrub(item) for item in value]
    if isinstance(value, dict):
        return {_scrub(key): _scrub(item) for key, item in value.items()}
    # A log that says NaN means a number it does not know; JSON has no other word for it.
    if isinstance(value, float) and value - value != 0.0:
        return None
    return value
