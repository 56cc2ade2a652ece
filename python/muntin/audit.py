"""What the provider really read from its cache, against what was expected of it.

A single miss is the provider's: it may drop what it likes. A difference that is the same again and again says that the
rules here are wrong for the model, or that something between muntin and the provider changes requests.
"""

from __future__ import annotations

import collections
from typing import Final, Literal, TypeAlias

import msgspec

from muntin.prefix import Forecast, Note
from muntin.usage import Usage

__all__ = ["TOLERANCE", "Audit", "CacheReport", "Checked", "Verdict"]

TOLERANCE: Final = 0.02
"""A bill within this part of the forecast is as expected."""

SLACK: Final = 128
"""And one within so many tokens: some providers bill in steps of that."""

MISSES: Final = 32
"""Bills with little or nothing read, of which the newest are kept."""

_WINDOW: Final = 8
_ENOUGH: Final = 5

Verdict: TypeAlias = Literal[
    "as expected", "more", "first", "not cached", "broken", "expired", "below minimum", "nothing cached", "dropped"
]
"""What a bill says of a forecast.

`as expected`: within 2 % or 128 tokens. `more`: more was read, as where another session has the same beginning.
`first`, `not cached`, `broken`, `expired`, `below minimum`, `nothing cached`: nothing, or less, was expected for that
reason, and so it came.
`dropped`: less was read than expected, for no reason that lies in the requests: evicted, sent to another machine,
never written, or changed on its way.
"""


_BY_NOTE: Final[dict[Note, Verdict]] = {
    "not cached": "not cached",
    "below the minimum": "below minimum",
    "nothing cached": "nothing cached",
}


class Checked(msgspec.Struct, frozen=True):
    """One bill against its forecast, in tokens.

    Attributes:
        request: The number of the request in the session.
        expected: Expected to be read.
        read: What was read.
        input: The whole input.
        verdict: What that says.
        why: The reason in words, where there is one.
    """

    request: int
    expected: int
    read: int
    input: int
    verdict: Verdict
    why: str = ""

    def __str__(self) -> str:
        why = f": {self.why}" if self.why else ""
        return f"#{self.request}: expected {self.expected:,}, read {self.read:,} of {self.input:,}{why}"


class CacheReport(msgspec.Struct, frozen=True):
    """What the cache did for a session, in billed tokens, as far as its answers said.

    Attributes:
        requests: Answers that said what they cost.
        input: Their whole input.
        read: What of it was read from the cache.
        written: What of it was written to it.
        expected: What was expected to be read, of the requests that were checked.
        checked: How many those are; all but those that were made for another model than the session's of now.
        as_expected: How many of them were billed as expected, or better, whatever it was that was expected.
        misses: The newest of the others, and of those of which nothing, or less, was expected for a reason.
        steady: The part of the expected tokens by which the last unbroken requests were all read short (negative) or
            over, on the average; 0 where they differ for no one reason.
    """

    requests: int = 0
    input: int = 0
    read: int = 0
    written: int = 0
    expected: int = 0
    checked: int = 0
    as_expected: int = 0
    misses: tuple[Checked, ...] = ()
    steady: float = 0.0

    @property
    def hit_rate(self) -> float:
        """The part of all billed input that was read from the cache; 0 before the first bill."""
        return self.read / self.input if self.input else 0.0

    def __str__(self) -> str:
        billed = f"{self.requests:,} billed requests, {self.input:,} input tokens"
        lines = [
            f"{billed}, {self.read:,} ({self.hit_rate:.1%}) read from the cache, {self.written:,} written",
            f"{self.as_expected:,} of {self.checked:,} were read as expected",
        ]
        if self.steady:
            lines.append(
                f"the last ones were all read {abs(self.steady):.1%} {'short of' if self.steady < 0 else 'over'} the "
                "forecast: the cache rules of the model may be wrong, or requests are changed on their way"
            )
        return "\n".join([*lines, *map(str, self.misses)])


class Audit:
    """Sums up bills as they come. O(1) a bill."""

    __slots__ = ("_as_expected", "_checked", "_differences", "_expected", "_misses", "_sums")

    def __init__(self) -> None:
        self._sums = (0, 0, 0, 0)
        self._expected = self._checked = self._as_expected = 0
        self._misses: collections.deque[Checked] = collections.deque(maxlen=MISSES)
        self._differences: collections.deque[float] = collections.deque(maxlen=_WINDOW)

    def copy(self) -> Audit:
        """The same, to go on by itself."""
        other = Audit()
        other._sums = self._sums
        other._expected, other._checked, other._as_expected = self._expected, self._checked, self._as_expected
        other._misses, other._differences = self._misses.copy(), self._differences.copy()
        return other

    def add(self, request: int, usage: Usage, forecast: Forecast | None) -> None:
        """Take one bill.

        Args:
            request: The number of the request in the session.
            usage: What was billed.
            forecast: What was expected; None where the request was for another model than the rules of now.
        """
        requests, whole, read, written = self._sums
        self._sums = (requests + 1, whole + usage.input, read + usage.cached, written + usage.written)
        if forecast is None:
            return
        one = checked(request, usage, forecast)
        self._checked += 1
        self._expected += one.expected
        self._as_expected += one.verdict != "dropped"
        if one.verdict not in ("as expected", "more", "first"):
            self._misses.append(one)
        if forecast.read and not forecast.cause:
            self._differences.append((usage.cached - forecast.read) / forecast.read)

    def report(self) -> CacheReport:
        """What they come to until now."""
        requests, whole, read, written = self._sums
        return CacheReport(
            requests=requests,
            input=whole,
            read=read,
            written=written,
            expected=self._expected,
            checked=self._checked,
            as_expected=self._as_expected,
            misses=tuple(self._misses),
            steady=self._steady(),
        )

    def _steady(self) -> float:
        """The mean difference, where the last ones all lie on one side and none is within the tolerance."""
        found = self._differences
        one_sided = min(found, default=0) > TOLERANCE or max(found, default=0) < -TOLERANCE
        return sum(found) / len(found) if one_sided and len(found) >= _ENOUGH else 0.0


def checked(request: int, usage: Usage, forecast: Forecast) -> Checked:
    """One bill against its forecast."""
    expected, read = forecast.read, usage.cached
    tolerance = max(TOLERANCE * expected, SLACK)
    why = ""
    verdict: Verdict
    if read < expected - tolerance:
        verdict = "dropped"
        why = (
            "only what stands before the conversation was found"
            if 0 < read < expected // 2
            else "no change in the requests explains it: evicted, routed elsewhere, or changed on its way"
        )
    elif forecast.note == "first request":
        verdict = "first"
    elif read > expected + tolerance:
        verdict = "more"
    elif forecast.note == "expired":
        verdict, why = "expired", forecast.why
    elif forecast.cause:
        verdict, why = "broken", forecast.why
    elif forecast.note:
        verdict, why = _BY_NOTE[forecast.note], forecast.why
    else:
        verdict = "as expected"
    return Checked(request, expected, read, usage.input, verdict, why)
