"""What comes of a compaction: the view changed, or nothing did and there is a reason."""

from __future__ import annotations

import enum
from typing import TypeAlias

import msgspec

from muntin.budget import Share

__all__ = ["Committed", "CompactionReport", "Outcome", "Reason", "Rejected"]


class Reason(enum.StrEnum):
    """Why a compaction was rejected. Each equals its text."""

    UNFINISHED = "unfinished"
    """Requests of the plan wait for an answer."""
    FAILED = "failed"
    """The summariser broke down, or its answer could not be read."""
    CUT_OFF = "cut off"
    """The model did not finish its answer."""
    EMPTY = "empty"
    """There is no text, or every part says that there is nothing to say."""
    TOOL_CALL = "tool call"
    """The answer calls a tool, or its text is the protocol of a call."""
    REASONING = "reasoning"
    """The answer is a thought that was not brought to an end."""
    PARTS_MISSING = "parts missing"
    """One of the six parts is not there, or is a heading alone."""
    STALE_VIEW = "stale view"
    """The view that it was planned on is not the view any more."""
    SUPERSEDED = "superseded"
    """A newer plan was made."""
    NOT_READ = "not read"
    """It would cover entries that were not read for it."""
    CONTRADICTED = "contradicted"
    """What is known now says otherwise."""
    OBJECTED = "objected"
    """A validator objected."""
    NOT_WORTH_IT = "not worth it"
    """It would save less than breaking the prefix costs."""
    NOT_SHORTER = "not shorter"
    """The request would not be shorter by the margin that a broken prefix is worth."""


class CompactionReport(msgspec.Struct, frozen=True):
    """What a compaction came to, or would have.

    Tokens are by the best estimate: `before` and `after` with what bills have taught, as `WindowUsage.tokens`; those of
    a part for its text alone.

    Attributes:
        before: Tokens of the next request before it: tools, front, conversation and tail.
        after: Tokens of the same request after it; equal to `before` where it was rejected without being measured.
        covered: How many entries the summary stands for anew.
        summary: Tokens of the summary; 0 where there is none.
        grade: What ends at the cut: 3 a run, 2 a user's turn, 1 a tool exchange, 0 where nothing was cut.
        shares_before: Tokens by segment before it; empty where it was not measured.
        shares_after: Tokens by segment after it.
        cost: What it costs once, the summary's own requests and the rewriting of the cache, in tokens' worth of
            fresh input; negative where the next request alone is cheaper for it.
        saves: What each later request costs less, in the same unit.
        break_even: Requests after the next one until it has paid for itself; infinite where it never does.
    """

    before: int
    after: int
    covered: int
    summary: int
    grade: int
    shares_before: tuple[Share, ...] = ()
    shares_after: tuple[Share, ...] = ()
    cost: float = 0.0
    saves: float = 0.0
    break_even: float = 0.0


class Committed(msgspec.Struct, frozen=True):
    """The summary is the view now."""

    report: CompactionReport


class Rejected(msgspec.Struct, frozen=True):
    """Nothing was changed.

    Attributes:
        reason: Why, in a word.
        report: What it would have come to.
        detail: Why, in a sentence, where there is more to say.
    """

    reason: Reason
    report: CompactionReport
    detail: str = ""


Outcome: TypeAlias = Committed | Rejected
