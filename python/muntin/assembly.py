"""From a conversation to a request: the indicator, and the refusal of what does not fit."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from muntin.budget import Budget, Share, WindowUsage
from muntin.conversation import Conversation
from muntin.exceptions import ContextOverflow, InputError, MuntinError
from muntin.layout import Segment
from muntin.prefix import Sent
from muntin.providers.base import Frame
from muntin.request import Request

__all__ = ["answer_budget", "assembled", "floors"]


def assembled(conversation: Conversation, budget: Budget, head: bytes) -> Request:
    """The request that was prepared last. O(tail).

    Raises:
        ContextOverflow: It does not fit in the budget.
    """
    adapter, sent = conversation.adapter, conversation.last
    if sent is None:
        raise MuntinError("no request was prepared")
    end = tuple(unit for _, unit in conversation.end)
    frame = Frame(head, sent.tools, sent.front, sent.history, sent.units, end, sent.breakpoints, sent.front_marks)
    usage = _usage(conversation, sent, budget)
    if usage.remaining < 0:
        raise _overflow(conversation, usage)
    number = conversation.requests
    return Request(
        id=f"{conversation.session}#{number}",
        number=number,
        adapter=adapter,
        frame=frame,
        usage=usage,
        forecast=conversation.expected(sent),
    )


def answer_budget(conversation: Conversation, params: Mapping[str, Any]) -> tuple[Budget, int]:
    """The budget with room for the answer that the caller asked for, and the limit of the answer.

    Raises:
        InputError: The answer alone would fill the window.
    """
    budget, model = conversation.budget, conversation.adapter.model
    wanted = conversation.adapter.max_tokens_of(params)
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
    raw["tail"] = sum(unit.tokens for _, unit in conversation.ending(None))
    return {name: adapter.safe(tokens) for name, tokens in raw.items() if tokens}


def _usage(conversation: Conversation, sent: Sent, budget: Budget) -> WindowUsage:
    """The indicator of the request that was prepared last."""
    adapter, lane, marks = conversation.adapter, conversation.lane, conversation.marks
    raw: dict[Segment, int] = {}
    for part in sent.front:
        raw[part.segment] = raw.get(part.segment, 0) + part.tokens
    edges = (0, lane.summary, marks.inputs, marks.skills, marks.run_state, marks.timeline, sent.units)
    for number, (start, stop) in enumerate(itertools.pairwise(edges), Segment.SUMMARY):
        if stop > start:
            raw[Segment(number)] = sent.history.total(start, stop)
    group = sent.history.group(sent.units - 1) if sent.units else None
    for segment, unit in conversation.end:
        raw[segment] = raw.get(segment, 0) + adapter.tail_tokens(group, (unit,))
        group = unit.group
    learned, total = conversation.calibration, sent.raw
    estimate, safe = learned.estimate(adapter, total), learned.safe(adapter, total, sent.epoch)
    remaining = budget.limit - safe
    return WindowUsage(
        tokens=estimate,
        safe=safe,
        tools=adapter.estimate(sent.tools.tokens) if sent.tools else 0,
        framing=adapter.estimate(sent.framing),
        shares=tuple(Share(segment, adapter.estimate(tokens)) for segment, tokens in sorted(raw.items())),
        window=budget.window,
        reserve=budget.reserve,
        remaining=remaining,
        state="full" if remaining < 0 else "compact" if safe >= budget.compact_at else "ok",
        learned=estimate - adapter.estimate(total),
    )


def _overflow(conversation: Conversation, usage: WindowUsage) -> ContextOverflow:
    fixed = floors(conversation)
    limit = usage.window - usage.reserve
    lane, marks = conversation.lane, conversation.marks
    coverable = lane.history.total(0, min(conversation.observed, marks.inputs))
    coverable += lane.history.total(min(marks.timeline, conversation.observed), conversation.observed)
    compactable = conversation.adapter.safe(coverable)
    advice = (
        "Compact the session and prepare again."
        if coverable and sum(fixed.values()) < limit
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
