"""A compaction on its way: which units it covers, and the requests that summarise them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal, Protocol, TypeAlias

import msgspec

from muntin.compaction.request import INSTRUCTIONS, Stage, SummaryRequest, staged, summary_body
from muntin.exceptions import StateError
from muntin.items import AssistantTurn, Entry, Text
from muntin.providers.base import Adapter

__all__ = ["Committed", "CompactionReport", "Outcome", "Plan", "Rejected", "Summarized", "Summarizer"]

SUMMARY_TOKENS: Final = 4_000
"""Tokens that a summary may have at most, by the summariser's own count."""

FRAMING: Final = 200
"""Tokens that the tags and messages of a summary request have at most."""

LEAST_STAGE: Final = 500
"""Tokens of the stretch that a request reads at least, so that every request gets on."""

Summarized: TypeAlias = str | AssistantTurn | Mapping[str, Any] | bytes
"""An answer to a summary request: finished text, a turn, or the provider's response."""


class Summarizer(Protocol):
    """Anything that answers summary requests: a call of a model, or `ExtractiveSummarizer`."""

    def __call__(self, request: SummaryRequest, /) -> Summarized:
        """The summary of one request."""
        ...


class CompactionReport(msgspec.Struct, frozen=True):
    """What a compaction came to, or would have. Tokens are by the best estimate.

    Attributes:
        before: Tokens of the conversation before it.
        after: Tokens of the conversation after it; equal to `before` where it was rejected without being measured.
        covered: How many entries the summary stands for anew.
        summary: Tokens of the summary; 0 where there is none.
        grade: What ends at the cut: 3 a run, 2 a user's turn, 1 a tool exchange.
    """

    before: int
    after: int
    covered: int
    summary: int
    grade: int


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

    reason: Literal["unfinished", "failed", "cut off", "empty", "tool call", "stale view", "superseded", "not shorter"]
    report: CompactionReport
    detail: str = ""


Outcome: TypeAlias = Committed | Rejected


class Plan:
    """A frozen stretch of the conversation and the requests that summarise it.

    Send what `next_request` gives to any model, on any thread, while the run goes on, and hand the answer to `feed`;
    or give a `Summarizer` to `run`. `Session.commit_compaction` judges the result.

    Attributes:
        epoch: The view that it was made on.
        cut: The first unit that is kept as it is.
        grade: What ends at the cut.
        summary: The summary so far; complete once `next_request` gives None.
        failure: Why no summary came of it, or None.
        detail: What is known of the failure.
    """

    def __init__(
        self,
        *,
        epoch: int,
        cut: int,
        grade: int,
        adapter: Adapter,
        entries: Iterable[Entry],
        earlier: str,
        max_tokens: int,
        limit: int,
    ) -> None:
        self.epoch = epoch
        self.cut = cut
        self.grade = grade
        self.summary = earlier
        self.failure: Literal["failed", "cut off", "empty", "tool call"] | None = None
        self.detail = ""
        self.outcome: Outcome | None = None
        self._adapter = adapter
        self._max_tokens = max_tokens
        # Room for the instructions, the earlier summary and the format's own overhead.
        used = adapter.count(INSTRUCTIONS) + max(max_tokens, adapter.count(earlier)) + FRAMING
        budget = max(adapter.raw(limit - max_tokens) - used, LEAST_STAGE)
        self._stages = staged(entries, adapter.count, budget)
        self._request: SummaryRequest | None = None
        self._number = 0
        self._finished = False

    @property
    def finished(self) -> bool:
        """Whether every request was answered by a usable summary."""
        return self._finished and self.failure is None

    def next_request(self) -> SummaryRequest | None:
        """The request to send now; the same one until it was answered, None when there is nothing more to send."""
        if self._finished or self.failure:
            return None
        if self._request is None:
            stage = next(self._stages, None)
            if stage is None:
                self._finished = True
                return None
            self._number += 1
            self._request = self._requested(stage)
        return self._request

    def feed(self, request: SummaryRequest, response: Summarized) -> None:
        """Take the answer to a request.

        An answer that was cut off, is empty or calls a tool makes the plan fail; it raises nothing.

        Raises:
            StateError: The request is not the one that waits for an answer.
            ResponseError: The response is not of the summariser's wire format; the plan failed.
        """
        if self._request is None or request.number != self._request.number:
            waiting = f"request {self._request.number}" if self._request else "none"
            raise StateError(f"an answer to summary request {request.number}, but {waiting} waits for one")
        self._request = None
        self.fail("the response could not be read")
        if isinstance(response, str):
            turn = AssistantTurn((Text(response),))
        elif isinstance(response, AssistantTurn):
            turn = response
        else:
            turn = self._adapter.parse(response).turn
        self.failure, self.detail = _flaw(turn), f"finish reason {turn.finish!r}, {len(turn.text)} characters"
        if self.failure is None:
            self.summary = turn.text.strip()

    def fail(self, detail: str) -> None:
        """The summariser could not be reached or broke down: the plan comes to nothing."""
        self.failure, self.detail = "failed", detail

    def run(self, summarizer: Summarizer) -> Plan:
        """Answer all requests with a summariser. An exception of its own makes the plan fail and passes through."""
        while request := self.next_request():
            try:
                answer = summarizer(request)
                self.feed(request, answer)
            except BaseException as reason:
                self.fail(repr(reason))
                raise
        return self

    def _requested(self, stage: Stage) -> SummaryRequest:
        body = summary_body(self._adapter, stage, self.summary, self._max_tokens)
        return SummaryRequest(self._number, body, self.summary, stage.text, stage.entries, self._max_tokens)


def _flaw(turn: AssistantTurn) -> Literal["cut off", "empty", "tool call"] | None:
    if turn.tool_calls:
        return "tool call"
    if turn.finish != "stop":
        return "cut off"
    if not turn.text.strip():
        return "empty"
    return None
