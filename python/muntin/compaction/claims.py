"""What a line of a summary says of a step, or of a call or a transaction: that it is done, that it is open, or neither.

A line counts only where it says no more than that. Of other words nothing is known here, and a summary that is rejected
for what it does not say is paid for twice; so a line with a word of its own makes no claim.
"""

from __future__ import annotations

import enum
import re
import unicodedata
from typing import Final

__all__ = ["Said", "decision", "named", "normal", "of_id", "of_step"]


class Said(enum.Enum):
    """What a line says of something."""

    DONE = enum.auto()
    OPEN = enum.auto()
    NAMED = enum.auto()
    """It is named, without a state."""


def _any_of(words: str) -> re.Pattern[str]:
    """Some words, where they are no part of an id such as `c-done`."""
    return re.compile(rf"(?<![\w-])(?:{words})(?![\w-])")


_DROPPED: Final = re.compile(r"[`*\"'“”„‘’«»\u200b\u200c\u200d\u2060\ufeff]|(?<!\w)_+|_+(?!\w)")
_DASHES: Final = re.compile(r"[\u2010-\u2015\u2212]")
_MARK: Final = re.compile(
    r"^\s*(?:[-+•·>]\s+)?(?:\(?\d+[.)]\s*)?(?:[-+•·]\s+)?(?:\[(?P<box>[^\]]{0,12})\]\s*)?(?:[-:]\s*)?"
)
_SIGNS: Final = str.maketrans({
    "✓": " done ", "✔": " done ", "✅": " done ", "☑": " done ", "🗹": " done ",
    "☐": " open ", "⬜": " open ", "⏳": " open ", "🚧": " open ", "✗": " open ", "❌": " open ", "|": ":",
})  # fmt: skip

_NOT_YET: Final = r"(?: yet| been)*(?: (?:done|complete|completed|finished|started|begun))?(?: yet)?"
_OPEN_PHRASES: Final = re.compile(
    r"\b(?:in progress|to be (?:done|finished|completed)|(?:still )?to do"
    rf"|(?:(?:has|have|had|was|were|is|are) )?(?:not|never){_NOT_YET}"
    rf"|(?:is|are|was|were|has|have)nt{_NOT_YET})\b"
)
_DONE: Final = frozenset({"done", "complete", "completed", "finished", "fixed"})
_OPEN: Final = frozenset({
    "open", "pending", "todo", "unfinished", "incomplete", "undone", "outstanding", "remaining", "remains",
    "unstarted", "ongoing", "started",
})  # fmt: skip
_FILLERS: Final = frozenset({
    "the", "a", "step", "steps", "task", "item", "is", "are", "has", "have", "been", "be", "already", "now", "still",
    "also", "this", "that", "which", "we", "must", "needs", "need",
})  # fmt: skip

_ID_DONE: Final = _any_of(
    "done|complete|completed|finished|committed|succeeded|returned|answered|closed|ended|aborted|rolled back"
)
_ID_OPEN: Final = _any_of(
    "open|pending|unfinished|incomplete|uncommitted|unanswered|running|runs|ongoing|outstanding|in progress|wait|waits|"
    "waiting|await|awaiting"
)
_ID_NOT: Final = _any_of(
    "not|never|without|isnt|arent|wasnt|werent|hasnt|havent|hadnt|didnt|doesnt|cannot|cant|couldnt|wont"
)
_UNSURE: Final = _any_of(
    "until|once|when|before|after|if|unless|would|will|should|could|may|might|to be|unclear|whether"
)
_PAST: Final = _any_of("was|were|had")
_CLAUSES: Final = re.compile(r"[;]|\.\s|\bbut\b|\bwhile\b|\bwhereas\b|\bthough\b")
_PIECES: Final = re.compile(r",|\band\b")
_REFERS: Final = re.compile(
    r"\b(?:after|before|from|of|by|since|in|into|via|per|see|using|than|like|as)\s+"
    r"(?:(?:the|a|tool|call|transaction|file|result|output)\s+)*[#(:]*$"
)
_KIND: Final = re.compile(r"\b(?:call|calls|transaction|transactions|tx|id)\s*[#:(]*\s*$")

_APPROVED: Final = _any_of("approved|allowed|granted|permitted")
_DENIED: Final = _any_of("denied|refused|rejected|declined|disallowed|disapproved|unapproved")
_TO_COME: Final = _any_of("until|once|when|if|unless|would|will|should|may|to be")


def normal(text: str) -> str:
    """A text without what does not change what it says: case, forms of letters, quotes, emphasis, dashes, spaces.

    Examples:
        >>> normal("**Mend  the “clock”** — done.")
        'mend the clock - done'
    """
    text = unicodedata.normalize("NFKC", text).translate(_SIGNS).casefold()
    text = _DROPPED.sub("", _DASHES.sub("-", text))
    return " ".join(text.split()).strip(" .;,:!")


def of_step(line: str, step: str) -> Said | None:
    """What a line says of a step, both as `normal` gives them; None where it is about something else. O(line)."""
    if not step:
        return None
    mark = _MARK.match(line)
    box = mark["box"] if mark else None
    rest = line[mark.end() :] if mark else line
    found = re.search(rf"(?<![\w-]){re.escape(step)}(?![\w-])", rest)
    if not found:
        return None
    around = f"{rest[: found.start()]} : {rest[found.end() :]}"
    if box is not None:
        around = f"{'done' if box in ('x', 'done', 'complete', 'completed') else 'open'} {around}"
    around = _OPEN_PHRASES.sub(" pending ", around)
    words = re.findall(r"[\w']+", around)
    if not _FILLERS.union(_DONE, _OPEN).issuperset(words):
        return None
    done, is_open = not _DONE.isdisjoint(words), not _OPEN.isdisjoint(words)
    if done and is_open:
        return None  # as in "pending, now done": who knows which is meant
    return Said.DONE if done else Said.OPEN if is_open else Said.NAMED


def of_id(line: str, id: str) -> Said | None:  # noqa: A002
    """What a line says of a call or a transaction; None where it is not named, or only referred to. O(line)."""
    clause = named(line, id)
    if clause is None:
        return None
    place = _place(clause, id)
    if place is None or _REFERS.search(clause[:place]):
        return None
    if _UNSURE.search(clause):
        return None
    done, is_open, negated = _ID_DONE.search(clause), _ID_OPEN.search(clause), _ID_NOT.search(clause)
    if (done and is_open) or (is_open and _PAST.search(clause)):
        return None
    if negated:
        return Said.OPEN if done else None
    return Said.DONE if done else Said.OPEN if is_open else Said.NAMED


def decision(line: str, id: str) -> str:  # noqa: A002
    """What a line says was decided on a call: `approved`, `denied`, or empty for neither or for what is not sure."""
    clause = named(line, id)
    if clause is None or _TO_COME.search(clause):
        return ""
    approved, denied, negated = _APPROVED.search(clause), _DENIED.search(clause), _ID_NOT.search(clause)
    if negated or bool(approved) == bool(denied):
        return ""
    return "approved" if approved else "denied"


def named(line: str, id: str) -> str | None:  # noqa: A002
    """The clause of a line, as `normal` gives it, that names an id; None for none. A number needs its kind before it.

    "tx-1 is committed, tx-2 is open" are two clauses; "tx-1 and tx-2 are committed" is one.
    """
    for clause in _CLAUSES.split(line):
        if _place(clause, id) is None:
            continue
        if _state_count(clause) < 2:
            return clause
        return next((piece for piece in _PIECES.split(clause) if _place(piece, id) is not None), clause)
    return None


def _state_count(clause: str) -> int:
    words = (_ID_DONE, _ID_OPEN, _APPROVED, _DENIED)
    return sum(len(word.findall(clause)) for word in words)


def _place(text: str, id: str) -> int | None:  # noqa: A002
    for found in re.finditer(rf"(?<![\w/-]){re.escape(id)}(?![\w-]|[./:]\w)", text):
        if not id.isdigit() or _KIND.search(text[: found.start()]):
            return found.start()
    return None
