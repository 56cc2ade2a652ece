"""The budget of a request: window, output reserve, limits beside tokens, thresholds, and the indicator of all that."""

from __future__ import annotations

import warnings
from typing import Final, Literal, NamedTuple, TypeAlias

import msgspec

from muntin.exceptions import InputError
from muntin.layout import LAYOUT, Band, Segment, TailMode
from muntin.limits import limits
from muntin.models import Model

__all__ = ["LEAST_RESULT", "Budget", "Limit", "Policy", "Share", "WindowUsage"]


RESERVE: Final = 16_000
"""Tokens that are kept free for the answer where the policy says nothing."""


LEAST_RESULT: Final = 200
"""Tokens that a result may always have, however many there are: less would not even say where the whole is."""


class Policy(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How a session uses its window.

    Attributes:
        window: Tokens of the context window; None takes the model's.
        reserve_output: Tokens kept free for the model's answer; never sent as text. None takes 16,000, or less where
            the model answers less or the window is small.
        compact_at: Fullness from which compaction is advised, as a fraction of window less reserve.
        compact_to: Fullness that a compaction aims at, as such a fraction.
        keep_recent: Tokens of the newest history that a compaction leaves word for word, where the budget allows it.
        result_tokens: Tokens of a tool result above which only a projection of it is shown, while the whole becomes an
            artifact. None takes a quarter of window less reserve.
        batch_tokens: Tokens that the results of one parallel batch share in this way. None takes half of it.
        max_bytes: Bytes that the body of a request may have; None takes the provider's limit, where one is known. Where
            a gateway takes less, it has to be said here.
        max_images: Images that a request may hold; None as above.
        tail: What becomes of reminders that were sent, `volatile`, `sticky` or `in_result`; `auto` takes what the
            wire format and the model need.
        spare_mark: Whether one of the places at which a request may ask for caching is left to somebody else, such as a
            gateway that adds a mark of its own.
        cache_key: Whether requests carry a key that routes those of a conversation and its forks to one cache, where
            the provider takes one and the caller gives none. Other servers that speak its format may refuse it.
    """

    window: int | None = None
    reserve_output: int | None = None
    compact_at: float = 0.80
    compact_to: float = 0.40
    keep_recent: int = 20_000
    result_tokens: int | None = None
    batch_tokens: int | None = None
    max_bytes: int | None = None
    max_images: int | None = None
    tail: Literal["auto"] | TailMode = "auto"
    spare_mark: bool = False
    cache_key: bool = False


class Budget(NamedTuple):
    """A policy applied to a model, in tokens; `max_bytes` and `max_images` are 0 where no limit is known."""

    window: int
    reserve: int
    limit: int
    compact_at: int
    compact_to: int
    keep_recent: int
    result: int
    batch: int
    max_bytes: int = 0
    max_images: int = 0

    @classmethod
    def of(cls, policy: Policy, model: Model, provider: str = "", *, warn: bool = True) -> Budget:
        """The budget of a policy on a model.

        Args:
            policy: What is wanted.
            model: What there is.
            provider: Whose limits beside tokens apply; without one only those of the policy do.
            warn: Whether to say what was clamped.

        Raises:
            InputError: A value that no request could work with.

        Warns:
            UserWarning: A mix that cannot work was clamped to the nearest that can.
        """
        window = model.window if policy.window is None else policy.window
        wanted = min(RESERVE, window // 4) if policy.reserve_output is None else policy.reserve_output
        if window <= 0 or wanted < 0 or policy.keep_recent < 0:
            raise InputError(
                f"window {window}, reserve_output {wanted} and keep_recent {policy.keep_recent} are "
                "tokens: the window must be positive and the others not negative"
            )
        for name, limit in (("max_bytes", policy.max_bytes), ("max_images", policy.max_images)):
            if limit is not None and limit < 1:
                raise InputError(f"{name} {limit} would let no request pass; give at least 1, or None")
        for name, limit in (("result_tokens", policy.result_tokens), ("batch_tokens", policy.batch_tokens)):
            if limit is not None and limit < LEAST_RESULT:
                raise InputError(f"{name} {limit} is too small to show anything; give at least {LEAST_RESULT}, or None")
        if not (0 < policy.compact_at <= 1 and 0 < policy.compact_to <= 1):
            raise InputError(
                f"compact_at {policy.compact_at} and compact_to {policy.compact_to} must be fractions above 0 and "
                "at most 1"
            )
        reserve = min(wanted, model.max_output)
        if reserve > window // 2:
            if warn:
                half = f"reserve_output {reserve} is more than half of the window {window}"
                warnings.warn(f"{half}; taking {window // 4}", stacklevel=3)
            reserve = window // 4
        limit = window - reserve
        compact_at = int(limit * policy.compact_at)
        compact_to = int(limit * policy.compact_to)
        if compact_to > compact_at * 3 // 4:
            if warn:
                near = f"compact_to {policy.compact_to} is too near to compact_at {policy.compact_at}"
                warnings.warn(
                    f"{near}: the next compaction would follow at once; taking {policy.compact_at / 2:.2f}",
                    stacklevel=3,
                )
            compact_to = compact_at // 2
        keep_recent = min(policy.keep_recent, compact_to // 2)
        result = max(limit // 4, LEAST_RESULT) if policy.result_tokens is None else policy.result_tokens
        batch = max(limit // 2, LEAST_RESULT) if policy.batch_tokens is None else policy.batch_tokens
        theirs = limits(provider)
        max_bytes = theirs.bytes if policy.max_bytes is None else policy.max_bytes
        max_images = theirs.images_for(window) if policy.max_images is None else policy.max_images
        return cls(window, reserve, limit, compact_at, compact_to, keep_recent, result, batch, max_bytes, max_images)

    def with_reserve(self, reserve: int) -> Budget:
        """The same budget with a larger reserve; thresholds shrink in proportion."""
        limit = self.window - reserve
        scale = limit / self.limit
        return self._replace(
            reserve=reserve,
            limit=limit,
            compact_at=int(self.compact_at * scale),
            compact_to=int(self.compact_to * scale),
        )


Limit: TypeAlias = Literal["tokens", "bytes", "images"]
"""What a request may have only so much of."""


class Share(NamedTuple):
    """The part of one segment: the estimate of its text alone, before what bills have taught of the whole."""

    segment: Segment
    tokens: int


class WindowUsage(msgspec.Struct, frozen=True):
    """How full the window is, for one request. All figures are tokens where nothing else is said.

    `safe` errs on the high side and is what decisions use; none of the figures is a bill.

    Attributes:
        tokens: Best estimate of the whole input.
        safe: Upper estimate of it.
        tools: Estimate of the tool schemas alone.
        framing: Estimate of what belongs to no segment: the opening of the request and of the reply.
        shares: Estimate by segment, in the order of the layout; segments without content are left out.
        window: The context window.
        reserve: Kept free for the answer.
        remaining: What is left for input, by the safe estimate; negative where the request does not fit.
        state: `ok`; `compact` from the policy's threshold on, be it of tokens, bytes or images; `full` where the
            request does not fit, which only the usage of a `ContextOverflow` is.
        bytes: Of the body, to within 1 KiB and never too low.
        images: How many the request holds.
        max_bytes: What the provider or the policy allows; 0 where no limit is known.
        max_images: The same of images.
        learned: How much of `tokens` is in no part, but is known from bills: a system prompt that a gateway puts in,
            and what the model's own estimate lacks; negative where it is too high.
    """

    tokens: int
    safe: int
    tools: int
    framing: int
    shares: tuple[Share, ...]
    window: int
    reserve: int
    remaining: int
    state: Literal["ok", "compact", "full"]
    learned: int = 0
    bytes: int = 0
    images: int = 0
    max_bytes: int = 0
    max_images: int = 0

    @property
    def tightest(self) -> Limit:
        """The limit that is nearest: what has to become less first."""
        parts: dict[Limit, float] = {
            "tokens": self.safe / (self.window - self.reserve),
            "bytes": self.bytes / self.max_bytes if self.max_bytes else 0.0,
            "images": self.images / self.max_images if self.max_images else 0.0,
        }
        return max(parts, key=lambda name: parts[name])

    def by_band(self) -> dict[str, int]:
        """Estimate by band, tools first; with `framing` and `learned` they add up to about `tokens`."""
        bands = {"tools": self.tools} | {band.value: 0 for band in Band}
        band_of = {row.segment: row.band for row in LAYOUT}
        for share in self.shares:
            bands[band_of[share.segment].value] += share.tokens
        return bands
