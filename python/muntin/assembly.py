"""From a conversation to a request: the indicator, and the refusal of what does not fit."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple

from muntin.budget import Budget, Share, WindowUsage
from muntin.calibration import Calibration
from muntin.capabilities import Capabilities
from muntin.conversation import Conversation
from muntin.ending import Ending
from muntin.exceptions import ContextOverflow, InputError, MuntinError, PayloadOverflow
from muntin.lane import Lane
from muntin.layout import Segment
from muntin.prefix import Sent
from muntin.providers import Adapter
from muntin.providers.base import Frame
from muntin.request import Request

__all__ = ["answer_budget", "assembled", "floors", "lightens", "too_large"]

_OF_UNITS: Final = tuple(Segment(number) for number in range(Segment.SUMMARY, Segment.TODO))
"""The segments that are made of the conversation's units, 6 to 11."""

JOINTS: Final = 512
"""Bytes that hold the parts of a body together, at most: keys, brackets, commas, marks that ask for caching."""


def assembled(conversation: Conversation, budget: Budget, head: bytes) -> Request:
    """The request that was prepared last. O(1).

    Raises:
        ContextOverflow: It does not fit in the budget.
        PayloadOverflow: It would, but has too many bytes or images.
    """
    adapter, sent = conversation.adapter, conversation.last
    if sent is None:
        raise MuntinError("no request was prepared")
    frame = Frame(
        head,
        sent.tools,
        sent.front,
        sent.history,
        sent.units,
        conversation.end.units,
        sent.breakpoints,
        sent.front_marks,
    )
    measured = _measured(conversation, sent, len(head), budget)
    if measured.safe > budget.limit:
        raise _overflow(conversation, _usage(measured))
    if 0 < budget.max_bytes < measured.size or 0 < budget.max_images < measured.images:
        raise _payload_overflow(conversation, _usage(measured))
    number = conversation.requests
    return Request(
        id=f"{conversation.session}#{number}",
        number=number,
        adapter=adapter,
        capabilities=conversation.capabilities or Capabilities(),
        frame=frame,
        usage=functools.partial(_usage, measured),
        forecast=conversation.expectation(sent),
    )


def answer_budget(conversation: Conversation, params: Mapping[str, Any]) -> tuple[Budget, int]:
    """The budget with room for the answer that the caller asked for, and the limit of the answer.

    Raises:
        InputError: The answer alone would fill the window.
    """
    budget, model = conversation.budget, conversation.adapter.model
    wanted = conversation.adapter.max_tokens_of(params) if params else None
    if wanted is None:
        return budget, min(budget.reserve, model.max_output) or model.max_output
    if not isinstance(wanted, int):
        raise InputError(f"a limit of output tokens must be a whole number, not {wanted!r}")
    if not 0 < wanted < budget.window:
        raise InputError(f"an answer of {wanted} tokens does not fit in the window of {budget.window}")
    return (budget.with_reserve(wanted) if wanted > budget.reserve else budget), wanted


def floors(conversation: Conversation) -> dict[str, int]:
    """Tokens that no compaction can remove now, by the safe estimate and by what they belong to."""
    adapter, sent, marks = conversation.adapter, conversation.last, conversation.marks
    history = conversation.lane.history
    raw: dict[str, int] = {}
    if sent is not None:
        if sent.tools:
            raw["tools"] = sent.tools.tokens
        for part in sent.front:
            raw[part.segment.name.lower()] = raw.get(part.segment.name.lower(), 0) + part.tokens
    raw["task"] = history.total(marks.inputs, marks.timeline)
    raw["not yet observed"] = history.total(min(max(conversation.observed, marks.timeline), len(history)))
    raw["hidden"] = conversation.calibration.hidden(adapter)
    raw["tail"] = sum(unit.tokens for unit in conversation.ending(None).units)
    return {name: adapter.safe(tokens) for name, tokens in raw.items() if tokens}


def too_large(conversation: Conversation) -> bool:
    """Whether the conversation alone has more bytes or images than the provider takes in one request. O(log units)."""
    budget, lane = conversation.budget, conversation.lane
    return 0 < budget.max_images < lane.images or 0 < budget.max_bytes < lane.history.byte_len()


def lightens(conversation: Conversation, other: Lane) -> bool:
    """Whether another view has less of what this one has too much of, be it bytes or images. O(log units)."""
    budget, lane = conversation.budget, conversation.lane
    if 0 < budget.max_images < lane.images:
        return other.images < lane.images
    return too_large(conversation) and other.history.byte_len() < lane.history.byte_len()


class _Measured(NamedTuple):
    """A request whose tokens are known, and all that tells them by segment; nothing of it ever changes.

    Attributes:
        sent: What is remembered of the request.
        learned: What bills had taught.
        raw: Raw tokens of the whole.
        safe: Billed tokens by the upper estimate.
        size: Bytes of the body, never too low.
        images: How many it holds.
        edges: Where segments 6 to 11 begin among the units, and where the last of them ends.
    """

    adapter: Adapter
    sent: Sent
    end: Ending
    budget: Budget
    learned: Calibration
    raw: int
    safe: int
    size: int
    images: int
    edges: tuple[int, ...]


def _measured(conversation: Conversation, sent: Sent, head: int, budget: Budget) -> _Measured:
    """A request's tokens and bytes altogether. O(1)."""
    adapter, lane, learned, raw = conversation.adapter, conversation.lane, conversation.calibration, sent.raw
    before, end = conversation.preface, conversation.end
    size = JOINTS + head + (before.size if before else 0) + sent.history.byte_len(0, sent.units) + end.size
    edges = (0, lane.summary, *conversation.marks, sent.units)
    safe = learned.safe(adapter, raw, sent.epoch)
    return _Measured(adapter, sent, end, budget, learned, raw, safe, size, lane.images, edges)


def _usage(measured: _Measured) -> WindowUsage:
    """The indicator of a request. O(segments)."""
    adapter, sent, end, budget, learned, total, safe, size, images, edges = measured
    estimate = learned.estimate(adapter, total)
    raw: dict[Segment, int] = {}
    for part in sent.front:
        raw[part.segment] = raw.get(part.segment, 0) + part.tokens
    for segment, start, stop in zip(_OF_UNITS, edges, edges[1:], strict=False):
        if stop > start:
            raw[segment] = sent.history.total(start, stop)
    group = sent.history.group(sent.units - 1) if sent.units else None
    for segment, unit in end.parts:
        raw[segment] = raw.get(segment, 0) + adapter.tail_tokens(group, (unit,))
        group = unit.group
    remaining = budget.limit - safe
    over = remaining < 0 or 0 < budget.max_bytes < size or 0 < budget.max_images < images
    # The policy's threshold is one of tokens; of the other limits it is the same part.
    threshold = budget.compact_at / budget.limit
    many = 0 < budget.max_bytes * threshold <= size or 0 < budget.max_images * threshold <= images
    return WindowUsage(
        tokens=estimate,
        safe=safe,
        tools=adapter.estimate(sent.tools.tokens) if sent.tools else 0,
        framing=adapter.estimate(sent.framing),
        shares=tuple(Share(segment, adapter.estimate(tokens)) for segment, tokens in sorted(raw.items())),
        window=budget.window,
        reserve=budget.reserve,
        remaining=remaining,
        state="full" if over else "compact" if many or safe >= budget.compact_at else "ok",
        learned=estimate - adapter.estimate(total),
        bytes=size,
        images=images,
        max_bytes=budget.max_bytes,
        max_images=budget.max_images,
    )


def _overflow(conversation: Conversation, usage: WindowUsage) -> ContextOverflow:
    fixed, compactable = floors(conversation), _compactable(conversation)
    limit = usage.window - usage.reserve
    advice = (
        "Compact the session and prepare again."
        if compactable and sum(fixed.values()) < limit
        else "These parts alone are too large: a larger window, a smaller reserve, fewer tools or a shorter system "
        "prompt would help."
    )
    return ContextOverflow(
        f"the request has {usage.safe} tokens by the safe estimate, {-usage.remaining} more than the {limit} that the "
        f"window of {usage.window} leaves beside a reserve of {usage.reserve}; {compactable} of them can be compacted. "
        f"Parts that cannot: {fixed}. {advice}",
        tokens=usage.safe,
        limit=limit,
        floors=fixed,
        compactable=compactable,
        usage=usage,
    )


def _payload_overflow(conversation: Conversation, usage: WindowUsage) -> PayloadOverflow:
    what: Literal["bytes", "images"] = "bytes" if 0 < usage.max_bytes < usage.bytes else "images"
    amount, most = (usage.bytes, usage.max_bytes) if what == "bytes" else (usage.images, usage.max_images)
    limit = usage.window - usage.reserve
    return PayloadOverflow(
        f"the request has {amount:,} {what}, {amount - most:,} more than the {most:,} that "
        f"{conversation.adapter.provider} takes in one request, though its {usage.safe:,} tokens fit in {limit:,}. "
        "Clear old results with Session.clear_results(keep=0, force=True), compact the session with least_cost=True, "
        f"or give images by their address{' or smaller' if what == 'bytes' else ''}; where more is taken, say so with "
        f"Policy(max_{what}=...)",
        what=what,
        amount=amount,
        most=most,
        tokens=usage.safe,
        limit=limit,
        floors=floors(conversation),
        compactable=_compactable(conversation),
        usage=usage,
    )


def _compactable(conversation: Conversation) -> int:
    """Tokens that a compaction could still cover, by the safe estimate."""
    lane, marks = conversation.lane, conversation.marks
    coverable = lane.history.total(0, min(conversation.observed, marks.inputs))
    coverable += lane.history.total(min(marks.timeline, conversation.observed), conversation.observed)
    return conversation.adapter.safe(coverable)
