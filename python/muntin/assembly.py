"""From a conversation to a request: the tail, the indicator, and the refusal of what does not fit."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from muntin.budget import Budget, Share, WindowUsage
from muntin.conversation import Conversation
from muntin.exceptions import ContextOverflow, InputError, MuntinError
from muntin.layout import Segment
from muntin.providers.base import Frame, Unit
from muntin.request import Request

__all__ = ["answer_budget", "assembled", "floors", "tail"]

Tail = list[tuple[Segment, Unit]]


def assembled(conversation: Conversation, budget: Budget, head: bytes) -> Request:
    """The request that was prepared last. O(tail).

    Raises:
        ContextOverflow: It does not fit in the budget.
    """
    adapter, sent = conversation.adapter, conversation.last
    if sent is None:
        raise MuntinError("no request was prepared")
    end = tail(conversation, sent.history.group(sent.units - 1) if sent.units else None)
    units = tuple(unit for _, unit in end)
    frame = Frame(head, sent.tools, sent.front, sent.history, sent.units, units, sent.breakpoints, sent.front_marks)
    usage, total = _usage(conversation, frame, end, budget)
    if usage.remaining < 0:
        raise _overflow(conversation, usage)
    number = conversation.requests
    return Request(
        id=f"{conversation.session}#{number}",
        number=number,
        adapter=adapter,
        frame=frame,
        usage=usage,
        forecast=conversation.expected(sent, total),
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


def tail(conversation: Conversation, group: int | None) -> Tail:
    """Segments 12 to 14, made for one request alone, and what the wire format needs at the end.

    Args:
        conversation: Its state of now.
        group: The group of the unit that stands before the tail.
    """
    adapter = conversation.adapter
    units: Tail = [(one.segment, adapter.text_unit(one.text)) for one in conversation.tail.texts()]
    if units and group is not None and (bridge := adapter.bridge(group, units[0][1].group)):
        units.insert(0, (Segment.TIMELINE, bridge))
    ending = adapter.ending(units[-1][1].group if units else group)
    if ending:
        units.append((Segment.TIMELINE, ending))
    return units


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
    raw["tail"] = sum(unit.tokens for _, unit in tail(conversation, None))
    return {name: adapter.safe(tokens) for name, tokens in raw.items() if tokens}


def _usage(conversation: Conversation, frame: Frame, end: Tail, budget: Budget) -> tuple[WindowUsage, int]:
    """The indicator of a request, and its raw tokens."""
    adapter, lane, marks = conversation.adapter, conversation.lane, conversation.marks
    raw: dict[Segment, int] = {}
    for part in frame.front:
        raw[part.segment] = raw.get(part.segment, 0) + part.tokens
    edges = (0, lane.summary, marks.inputs, marks.skills, marks.run_state, marks.timeline, frame.units)
    for number, (start, stop) in enumerate(itertools.pairwise(edges), Segment.SUMMARY):
        if stop > start:
            raw[Segment(number)] = frame.history.total(start, stop)
    group = frame.history.group(frame.units - 1) if frame.units else None
    for segment, unit in end:
        raw[segment] = raw.get(segment, 0) + adapter.tail_tokens(group, (unit,))
        group = unit.group
    tools = frame.tools.tokens if frame.tools else 0
    framing = adapter.framing(frame)
    total = tools + sum(raw.values()) + framing
    learned, epoch = conversation.calibration, conversation.epoch
    estimate, safe = learned.estimate(adapter, total, epoch), learned.safe(adapter, total, epoch)
    remaining = budget.limit - safe
    usage = WindowUsage(
        tokens=estimate,
        safe=safe,
        tools=adapter.estimate(tools),
        framing=adapter.estimate(framing),
        shares=tuple(Share(segment, adapter.estimate(tokens)) for segment, tokens in sorted(raw.items())),
        window=budget.window,
        reserve=budget.reserve,
        remaining=remaining,
        state="full" if remaining < 0 else "compact" if safe >= budget.compact_at else "ok",
    )
    return usage, total


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
