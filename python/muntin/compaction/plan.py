"""A compaction on its way: which units it covers, and the requests that summarise them."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Protocol, TypeAlias

from muntin.compaction.facts import Facts
from muntin.compaction.outcome import Outcome, Reason
from muntin.compaction.parts import answered
from muntin.compaction.request import FRAMING, INSTRUCTIONS, Stage, SummaryRequest, staged, summary_body
from muntin.exceptions import CannotCompact, InvalidText, StateError
from muntin.items import AssistantTurn, Entry, Text
from muntin.providers.base import Adapter

__all__ = ["SUMMARY_TOKENS", "Plan", "Redact", "Summarized", "Summarizer"]

SUMMARY_TOKENS: Final = 4_000
"""Tokens that a summary may have at most, by the summariser's own count."""

LEAST_STAGE: Final = 200
"""Tokens of the stretch that a request reads at least, so that every request gets on."""

Summarized: TypeAlias = str | AssistantTurn | Mapping[str, Any] | bytes
"""An answer to a summary request: finished text, a turn, or the provider's response."""

Redact: TypeAlias = Callable[[str], str]
"""Takes secrets out of a text."""


class Summarizer(Protocol):
    """Anything that answers summary requests: a call of a model, or `ExtractiveSummarizer`."""

    def __call__(self, request: SummaryRequest, /) -> Summarized:
        """The summary of one request."""
        ...


class Plan:
    """A frozen stretch of the conversation and the requests that summarise it. To be used from any thread.

    Send what `next_request` gives to any model, on any thread, while the run goes on, and hand the answer to `feed`;
    or give a `Summarizer` to `run`. `Session.commit_compaction` judges the result.

    Attributes:
        session: The tenant and the name of the session that it was made for.
        epoch: The view that it was made on.
        past: The digest of that view up to the cut: two views may have one number, never one digest.
        cut: The first unit that is kept as it is.
        grade: What ends at the cut: 3 a run, 2 a user's turn, 1 a tool exchange.
        adapter: What its requests are rendered with.
        max_tokens: Tokens that the summary may have.
        facts: What todo, transactions, approvals and calls said when it was made.
        hot: Whether the provider was expected to have the session's prefix then.
        asked: Tokens of its requests until now, by the safe estimate.
        said: Tokens of the answers until now.
        summary: The summary so far; complete once `next_request` gives None.
        read: Ids of the entries that answered requests have shown to the summariser.
        superseded: Whether a newer plan has taken its place.
        failure: Why no summary came of it, or None.
        detail: What is known of the failure.
        outcome: What was decided on it, or None.
    """

    def __init__(
        self,
        *,
        session: tuple[str, str],
        epoch: int,
        past: bytes,
        cut: int,
        grade: int,
        adapter: Adapter,
        entries: Iterable[Entry],
        earlier: str,
        max_tokens: int,
        limit: int,
        facts: Facts | None = None,
        redact: Redact | None = None,
        whole: bytes | None = None,
        hot: bool = True,
    ) -> None:
        facts = facts or Facts()
        self.session = session
        self.epoch = epoch
        self.past = past
        self.cut = cut
        self.grade = grade
        self.facts = facts
        self.read: set[int] = set()
        self.superseded = False
        self.failure: Reason | None = None
        self.detail = ""
        self.outcome: Outcome | None = None
        self._lock = threading.Lock()
        self.adapter = adapter
        self._redact = redact
        self.max_tokens = max_tokens
        self._limit = limit
        self._whole = whole
        self.hot = hot
        self.asked = self.said = 0
        self.summary = redact(earlier) if redact else earlier
        self._facts = redact(facts.text) if redact else facts.text
        if whole is None:
            self._stages = staged(entries, adapter.count, self._room(), redact)
        else:
            self._stages = _at_once(entries)
        self._request: SummaryRequest | None = None
        self._entries: tuple[Entry, ...] = ()
        self._number = 0
        self._finished = False

    def _room(self) -> int:
        """Raw tokens of the stretch that fit in one request.

        Raises:
            CannotCompact: The summariser's window leaves none.
        """
        adapter = self.adapter
        # The instructions, the earlier summary or the one to come, what is known now, and the format's own overhead.
        used = adapter.count(INSTRUCTIONS) + max(self.max_tokens, adapter.count(self.summary))
        room = adapter.raw(self._limit - self.max_tokens) - used - adapter.count(self._facts) - FRAMING
        if room < LEAST_STAGE:
            raise CannotCompact(
                f"the window of summariser {adapter.model.name!r} leaves {max(room, 0)} tokens for what it reads, "
                f"beside {used} of instructions and summary and {self.max_tokens} for its answer; take one with a "
                "larger window",
                floors={"summariser": used + self.max_tokens},
            )
        return room

    @property
    def finished(self) -> bool:
        """Whether every request was answered by a usable summary."""
        return self._finished and self.failure is None

    @property
    def requests(self) -> int:
        """How many requests it has given out."""
        return self._number

    @property
    def on_same_prefix(self) -> bool:
        """Whether its request begins as the session's own did."""
        return self._whole is not None

    @property
    def is_open(self) -> bool:
        """Whether something may still come of it."""
        return self.failure is None and self.outcome is None and not self.superseded

    def next_request(self) -> SummaryRequest | None:
        """The request to send now; the same one until it was answered, None when there is nothing more to send."""
        with self._lock:
            if self._finished or not self.is_open:
                return None
            if self._request is None:
                stage = next(self._stages, None)
                if stage is None:
                    self._finished = True
                    return None
                self._number += 1
                self._entries = stage.entries
                self._request = self._requested(stage)
                tokens = self.adapter.safe(self.adapter.recount(self._request.body))
                if tokens + self.max_tokens > self._limit:
                    self._fail(f"request {self._number} has {tokens} tokens, more than {self._limit} leave")
                    return None
                self.asked += tokens
            return self._request

    def feed(self, request: SummaryRequest, response: Summarized) -> None:
        """Take the answer to a request.

        An answer that is no summary makes the plan fail; it raises nothing. One that comes after the plan has failed or
        was decided on changes nothing.

        Raises:
            StateError: The request is not the one that waits for an answer.
            ResponseError: The response is not of the summariser's wire format; the plan failed.
        """
        with self._lock:
            if not self.is_open:
                return
            if self._request is None or request.number != self._request.number:
                waiting = f"request {self._request.number}" if self._request else "none"
                raise StateError(f"an answer to summary request {request.number}, but {waiting} waits for one")
            self._request = None
            self._fail("the response could not be read")
            if isinstance(response, str):
                turn = AssistantTurn((Text(response),))
            elif isinstance(response, AssistantTurn):
                turn = response
            else:
                turn = self.adapter.read(response).turn
            try:
                self.said += self.adapter.estimate(self.adapter.count(turn.text))
            except InvalidText as reason:
                self._fail(str(reason))
                return
            text, self.failure, self.detail = answered(turn)
            if self.failure is None:
                self.summary = self._redact(text) if self._redact else text
                self.read.update(entry.id for entry in self._entries)

    def fail(self, reason: object) -> None:
        """The summariser could not be reached or broke down: the plan comes to nothing.

        Args:
            reason: Why, as text, as the exception, or as anything else that says it.
        """
        with self._lock:
            if self.is_open:
                self._fail(reason if isinstance(reason, str) else repr(reason))

    def _fail(self, detail: str) -> None:
        self.failure, self.detail = Reason.FAILED, detail

    def run(self, summarizer: Summarizer) -> Plan:
        """Answer all requests with a summariser. An exception of its own makes the plan fail and passes through."""
        while request := self.next_request():
            try:
                answer = summarizer(request)
                self.feed(request, answer)
            except BaseException as reason:
                self.fail(reason)
                raise
        return self

    def _requested(self, stage: Stage) -> SummaryRequest:
        body = self._whole or summary_body(self.adapter, stage, self.summary, self._facts, self.max_tokens)
        path, headers = self.adapter.path, self.adapter.headers()
        return SummaryRequest(
            self._number, body, self.summary, stage.text, stage.entries, self.max_tokens, self.facts, path, headers
        )


def _at_once(entries: Iterable[Entry]) -> Iterator[Stage]:
    """One stage, for a request that shows the conversation itself."""
    yield Stage("", tuple(entries))
