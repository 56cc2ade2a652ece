"""Large results: whole outside the view, a bounded projection in it, and windows to read the rest by.

An artifact is named by its content, so that storing it twice changes nothing and its bytes never change.
"""

from __future__ import annotations

import string
import unicodedata
from collections.abc import Callable
from typing import Final

import msgspec

from muntin.exceptions import ArtifactNotFound, InputError

__all__ = ["MemoryArtifacts", "Window", "artifact_id", "projected", "read_range"]

Count = Callable[[str], int]

HEAD: Final = 0.6
"""The part of a projection that shows the beginning; the rest shows the end, where errors and totals stand."""

_BASE64: Final = string.ascii_letters + string.digits + "+/-_=\r\n"
_LEAST_BASE64: Final = 60
"""Characters of a line from which letters and digits without a space are taken for base64."""

_JOINERS: Final = "\u200d\ufe0e\ufe0f"


def artifact_id(data: bytes) -> str:
    """The name of an artifact, from its content alone.

    Examples:
        >>> artifact_id(b"")
        'art-e3b0c44298fc1c149afbf4c8'
    """
    import hashlib  # noqa: PLC0415  (few sessions need it, and it costs start-up time)

    return f"art-{hashlib.sha256(data).hexdigest()[:24]}"


class MemoryArtifacts:
    """Artifacts of this process, for agents without a store."""

    def __init__(self) -> None:
        self._data: dict[str, bytes] = {}

    def put(self, data: bytes) -> str:
        """Keep bytes, once, and name them."""
        name = artifact_id(data)
        self._data.setdefault(name, data)
        return name

    def get(self, name: str) -> bytes:
        """The bytes of an artifact.

        Raises:
            ArtifactNotFound: Nothing is kept under this name.
        """
        try:
            return self._data[name]
        except KeyError:
            raise ArtifactNotFound(f"no artifact {name!r} among {len(self._data)} in memory") from None


class Window(msgspec.Struct, frozen=True, kw_only=True):
    """A part of an artifact, as the result of a tool that reads it; it is never offloaded again.

    Attributes:
        artifact: The artifact's name, or a file's.
        text: The part.
        start: Its first byte.
        stop: The byte behind its last.
        total: Bytes of the whole.
        line: The number of the line that it begins in, from 1.
    """

    artifact: str
    text: str
    start: int
    stop: int
    total: int
    line: int

    @property
    def next(self) -> int | None:
        """Where to read on, as `start`; None at the end."""
        return self.stop if self.stop < self.total else None

    @property
    def shown(self) -> str:
        """What the model sees: where this is, how to read on, and the text."""
        return _shown(self.artifact, self.text, self.start, self.stop, self.total, self.line)


def read_range(
    data: bytes | str,
    *,
    count: Count,
    start: int = 0,
    line: int | None = None,
    stop: int | None = None,
    max_tokens: int = 2_000,
    name: str = "",
) -> Window:
    """A part of something large, within a budget, whatever its lines are like.

    It ends at the end of a line where at least one line fits, otherwise inside the line, but never inside a character.
    Reading on from `Window.next` gives every byte once; each window has at least one character. O(window), and O(start)
    for the number of its line.

    Args:
        data: The whole, as UTF-8; bytes that are none are shown as U+FFFD.
        count: Tokens of a text.
        start: The byte to begin at; inside a character, the character's first.
        line: The line to begin at instead, from 1.
        stop: The byte to end before, at the latest.
        max_tokens: What the window may have as it is shown.
        name: The artifact's name; by default made from the content, which is O(data).

    Raises:
        InputError: A start, line or budget that there cannot be.
    """
    data = data.encode(errors="surrogatepass") if isinstance(data, str) else data
    total = len(data)
    if line is not None:
        start = _line_start(data, line)
    if not 0 <= start <= total:
        raise InputError(f"no byte {start} in {total}; start must be between 0 and {total}")
    start = _aligned(data, start)
    end = min(total, max(stop if stop is not None else total, start))
    name = name or artifact_id(data)
    number = data.count(b"\n", 0, start) + 1
    room = max_tokens - count(_shown(name, "", start, total, total + 1, number))
    if room < 1:
        raise InputError(f"max_tokens {max_tokens} leaves no room for text beside the note of where it is; give 100")
    # A token has seldom more than sixteen bytes, so that this is enough to choose from.
    raw = data[start : _aligned(data, min(end, start + 16 * room))].decode(errors="surrogateescape")
    part = _readable(raw)
    size = _fitting(part, room, count)
    if start + _length(raw[:size]) < end:
        size = part.rfind("\n", 0, size) + 1 or _whole(part, size)
    size = max(size, 1)
    stop = start + _length(raw[:size])
    return Window(artifact=name, text=part[:size], start=start, stop=stop, total=total, line=number)


def projected(text: str, budget: int, count: Count, artifact: str) -> str:
    """The beginning and the end of a text within a budget, and between them what is left out and where it is.

    No cut lies inside a character or inside base64.

    Args:
        text: The whole.
        budget: Tokens that the projection may have.
        count: Tokens of a text.
        artifact: Where the whole is.
    """
    size = len(text.encode(errors="surrogatepass"))
    notice = f"\n[… the middle is left out: all {size} bytes are artifact {artifact}; read them by range …]\n"
    room = max(budget - count(notice) - 2, 0)
    head = _whole(text, _fitting(text, int(room * HEAD), count))
    if _in_base64(text, head):
        head = len(text[:head].rstrip(_BASE64))
    tail = len(text) - _fitting(text[head:], room - count(text[:head]), count, from_end=True)
    if _in_base64(text, tail):
        tail = len(text) - len(text[tail:].lstrip(_BASE64))
    while _joined(text, tail):
        tail += 1
    return text[:head] + notice + text[tail:]


def _fitting(text: str, budget: int, count: Count, *, from_end: bool = False) -> int:
    """How many characters of a text fit in a budget. O(budget), not O(text)."""

    def part(size: int) -> str:
        return text[len(text) - size :] if from_end else text[:size]

    low, high = 0, min(len(text), 4 * budget)
    while high < len(text) and high < 64 * budget and count(part(high)) <= budget:
        low, high = high, min(len(text), 2 * high)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(part(middle)) <= budget else (low, middle - 1)
    return low


def _joined(text: str, at: int) -> bool:
    """Whether a place lies inside a character, with its accents and joiners."""
    return 0 < at < len(text) and bool(
        unicodedata.combining(text[at]) or text[at] in _JOINERS or text[at - 1] == "\u200d"
    )


def _whole(text: str, at: int) -> int:
    """A place to cut, moved back before the character that it lies in."""
    while _joined(text, at):
        at -= 1
    return at


def _in_base64(text: str, at: int) -> bool:
    """Whether a cut at a place would divide base64."""
    left, right = text[max(0, at - 400) : at], text[at : at + 400]
    left, right = left[len(left.rstrip(_BASE64)) :], right[: len(right) - len(right.lstrip(_BASE64))]
    longest = max((left + right).split(), key=len, default="") if left and right else ""
    kinds = (str.isdigit, str.isupper, str.islower)
    return len(longest) >= _LEAST_BASE64 and all(any(map(kind, longest)) for kind in kinds)


def _line_start(data: bytes, line: int) -> int:
    if line < 1:
        raise InputError(f"no line {line}; lines are numbered from 1")
    at = 0
    for passed in range(1, line):
        at = data.find(b"\n", at) + 1
        if not at:
            raise InputError(f"no line {line}; the last one is {passed}")
    return at


def _aligned(data: bytes, at: int) -> int:
    """A place in UTF-8, moved back to the beginning of the character that it lies in."""
    for lead in range(at - 1, max(at - 4, -1), -1):
        if 0 < at < len(data) and data[at] & 0xC0 == 0x80 and data[lead] >= 0xC0:
            size = 2 if data[lead] < 0xE0 else 3 if data[lead] < 0xF0 else 4
            try:
                data[lead : lead + size].decode()
            except UnicodeDecodeError:
                return at
            return lead if lead + size > at else at
    return at


def _readable(raw: str) -> str:
    """Text in which U+FFFD stands for each byte that is no UTF-8."""
    if raw.isascii() or not any("\udc80" <= letter <= "\udcff" for letter in raw):
        return raw
    return "".join("\ufffd" if "\udc80" <= letter <= "\udcff" else letter for letter in raw)


def _length(raw: str) -> int:
    return len(raw.encode(errors="surrogateescape"))


def _shown(name: str, text: str, start: int, stop: int, total: int, line: int) -> str:
    on = f"; read on with start={stop}" if stop < total else "; this is the end"
    return f"[{name}: bytes {start} to {stop} of {total}, from line {line}{on}]\n{text}"
