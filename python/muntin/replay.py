"""Replay: what muntin would have sent for every model request of a recorded session."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator
from typing import Any

import msgspec

from muntin.budget import Policy
from muntin.capabilities import Capabilities, Tool
from muntin.compaction.extractive import ExtractiveSummarizer
from muntin.compaction.outcome import Committed, CompactionReport, Outcome
from muntin.compaction.plan import Summarizer
from muntin.exceptions import CannotCompact, ContextOverflow, StateError
from muntin.items import Attachment, Guidance, SkillText, ToolResult, UserInput, as_content
from muntin.lane import Repair
from muntin.providers import Adapter, adapter
from muntin.providers.ids import wire_name
from muntin.providers.profiles import profile
from muntin.request import Request
from muntin.run import Run
from muntin.session import Session
from muntin.suspects import Suspect, UnstablePrefixWarning, described, find_suspects
from muntin.todo import Step as TodoStep
from muntin.todo import Todo as Plan
from muntin.transcripts.events import (
    Capability,
    Decision,
    Event,
    Fork,
    Interruption,
    Prompt,
    Recording,
    Response,
    Result,
    State,
    Steering,
    Todo,
)
from muntin.usage import Usage

__all__ = ["Replay", "Step", "adapter_of", "suspects_of"]

_FORMAT_OF = {"anthropic": "anthropic", "openai": "openai_chat"}
"""The wire format that a recorded vendor's sessions are rendered in by default."""

_MODEL_OF = {
    "anthropic": "claude-sonnet-4-5",
    "bedrock": "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "gemini": "gemini-2.5-pro",
    "ollama": "gpt-oss:20b",
    "openai_chat": "gpt-5",
    "openai_responses": "gpt-5",
}
"""The model that is taken where the recorded one does not speak the format."""


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One model request of a recording, as muntin would have sent it. Tokens are by the best estimate.

    Attributes:
        number: Its place among the requests of the recording, from 1.
        session: The session; a fork has its own.
        run: The number of the run.
        request: The request itself; None where it does not fit in the window, whatever is compacted.
        compactions: What was compacted before it, in order.
        error: Why there is no request.
        billed: What the recorded request was billed, where the log says so.
        comparable: Whether that bill says something of this request: it was made for the same model, in its whole
            window, and nothing was compacted that was not in the log.
        repairs: What was mended on the wire since the request before.
        problems: What the log holds that no agent loop could have done, such as a result without a call.
    """

    number: int
    session: str
    run: int
    request: Request | None
    compactions: tuple[CompactionReport, ...] = ()
    error: str = ""
    billed: Usage | None = None
    comparable: bool = False
    repairs: tuple[Repair, ...] = ()
    problems: tuple[str, ...] = ()


class Replay:
    """Feeds a recording through a session as an agent loop would.

    A conversation that begins in the middle gets a first input that says so. Tools that the log calls but does not
    declare are declared by their names.

    Args:
        recording: What happened.
        adapter: The wire format and model.
        policy: How the window is used.
        summarizer: Makes the summaries; by default by extraction, without a model.
    """

    def __init__(
        self,
        recording: Recording,
        adapter: Adapter,
        *,
        policy: Policy | None = None,
        summarizer: Summarizer | None = None,
    ) -> None:
        self._recording = recording
        self._summarizer = summarizer or ExtractiveSummarizer()
        with _quiet():
            self._session = Session(
                recording.id, adapter=adapter, policy=policy, system=recording.system, state=recording.state
            )
        self._tools = _declared(recording)
        self._switches: dict[str, bool] = dict.fromkeys(
            sorted({tool.capability for tool in self._tools if tool.capability} | set(recording.guides)), True
        )
        self._reasons: dict[str, str] = {}
        self._capabilities: Capabilities | None = None
        self._before: list[tuple[Session, int]] = []
        self._aliases: dict[str, str] = {}
        self._problems: list[str] = []
        self._reported = 0
        self._forks = 0
        self._number = 0
        self._retry_at = 0

    @property
    def session(self) -> Session:
        """The session, or the fork of it, that the last step belongs to."""
        return self._session

    def steps(self) -> Iterator[Step]:
        """Every model request, in order. Steps are made as they are asked for."""
        for event in self._recording.events:
            self._before.append((self._session, self._session.last_entry))
            if isinstance(event, Response):
                yield self._respond(event)
            else:
                self._happen(event)

    def _happen(self, event: Event) -> None:
        match event:
            case Prompt(inputs):
                self._start(inputs)
            case Result(result):
                self._result(result)
            case Steering(guidance):
                self._tell(guidance)
            case Decision(approval):
                self._run().accept(msgspec.structs.replace(approval, call=self._alias(approval.call)))
            case State(changes, reason):
                self._session.update_state(changes, reason=reason)
            case Capability(name, on, reason):
                self._switches[name] = on
                self._reasons[name] = reason
                self._capabilities = None
            case Todo(steps):
                self._run().todo(Plan(tuple(TodoStep(status, text) for status, text in steps)))  # type: ignore[arg-type]
            case Fork(at):
                self._fork(at)
            case Interruption() | Response():
                pass  # the next prompt ends the run; calls without a result are mended then

    def _bill(self, event: Response, request: Request) -> Usage | None:
        """The recorded bill, where it says something of this request: only while it is the one that was recorded."""
        model = event.model or self._recording.model
        if event.usage is None or model != self._session.adapter.model.name or self._session.epoch:
            return None
        # A smaller window is a supposition: what the recorded client hid was meant for the model's own.
        return event.usage if request.usage.window >= self._session.adapter.model.window else None

    # --- a request --------------------------------------------------------------------------------------------------
    def _respond(self, event: Response) -> Step:
        run = self._run()
        self._number += 1
        now = event.time or None
        reports: list[CompactionReport] = []
        request, error = self._prepared(run, now)
        if request is None or (request.usage.state != "ok" and self._session.version >= self._retry_at):
            reports = self._compacted()
            if reports:
                request, error = self._prepared(run, now)
        bill = None if request is None else self._bill(event, request)
        if request is None:
            run.accept(event.turn)
            turn = event.turn
        else:
            turn = run.record(request, event.turn, usage=bill)
        self._aliases |= {
            old.id: new.id for old, new in zip(event.turn.tool_calls, turn.tool_calls, strict=True) if old.id != new.id
        }
        repairs = self._session.repairs[self._reported :]
        self._reported += len(repairs)
        problems, self._problems = tuple(self._problems), []
        return Step(
            number=self._number,
            session=self._session.id,
            run=run.number,
            request=request,
            compactions=tuple(reports),
            error=error,
            billed=event.usage,
            comparable=bill is not None,
            repairs=repairs,
            problems=problems,
        )

    def _prepared(self, run: Run, now: float | None) -> tuple[Request | None, str]:
        if self._capabilities is None:
            self._capabilities = Capabilities(
                stable=self._tools, guides=self._recording.guides, switches=self._switches, reasons=self._reasons
            )
        try:
            with _quiet():
                return run.prepare(self._capabilities, now=now), ""
        except ContextOverflow as overflow:
            return None, str(overflow)

    def _compacted(self) -> list[CompactionReport]:
        """Compact once; where that comes to nothing, leave it until more has been added."""
        outcome: Outcome | None = None
        try:
            plan = self._session.plan_compaction().run(self._summarizer)
            outcome = self._session.commit_compaction(plan)
        except CannotCompact:
            pass
        if isinstance(outcome, Committed):
            return [outcome.report]
        self._retry_at = self._session.version + 20
        return []

    # --- what happens between ---------------------------------------------------------------------------------------
    def _start(self, inputs: tuple[UserInput | Attachment | SkillText, ...]) -> None:
        if self._session.run:
            self._session.run.finish()
        skills = [one for one in inputs if isinstance(one, SkillText)]
        given = [one for one in inputs if not isinstance(one, SkillText)]
        self._session.start_run(given or [UserInput(as_content("(no input)"))], skills=skills)

    def _run(self) -> Run:
        if self._session.run is None:
            self._session.start_run("(the record begins here)")
        assert self._session.run is not None  # noqa: S101  (just started)
        return self._session.run

    def _tell(self, guidance: Guidance) -> None:
        if self._session.run is None:
            self._session.start_run(guidance.text or "(no input)")
        else:
            self._session.run.accept(guidance)

    def _result(self, result: ToolResult) -> None:
        try:
            self._run().accept(msgspec.structs.replace(result, call=self._alias(result.call)))
        except StateError as reason:
            self._problems.append(str(reason))

    def _alias(self, call: str) -> str:
        return self._aliases.get(call, call)

    def _fork(self, at: int) -> None:
        session, entry = self._before[at]
        self._forks += 1
        name = f"{self._recording.id}/{self._forks}"
        self._session = session.fork(name, at=entry)
        self._reported = len(self._session.repairs)
        self._aliases.clear()
        self._retry_at = 0


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Nobody can mend a recording; `suspects_of` says what there would be to warn of."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnstablePrefixWarning)
        yield


def adapter_of(recording: Recording, provider: str | None = None, model: str | None = None) -> Adapter:
    """The wire format that was asked for, or the recorded one; the recorded model, where it speaks that format."""
    recorded = _FORMAT_OF.get(recording.provider, "")
    chosen = provider or recorded or "openai_chat"
    speaks = chosen == recorded and recording.model
    return adapter(chosen, model or (recording.model if speaks else _model_of(chosen)))


def _model_of(provider: str) -> str:
    server = provider.partition(":")[2]
    return profile(server).model if server else _MODEL_OF[provider]


def suspects_of(recording: Recording) -> list[Suspect]:
    """What in the recorded system text and tools is likely to have been another at each start. O(text)."""
    texts = [("system text", recording.system), *described(_declared(recording))]
    return [one for place, text in texts for one in find_suspects(text, place)]


def _declared(recording: Recording) -> list[Tool]:
    """The tools of a recording: those that it declares, or else one for every name that is called."""
    if recording.tools:
        return [
            Tool(t["name"], t.get("description", ""), t.get("parameters") or _open_schema(), t.get("capability", ""))
            for t in recording.tools
        ]
    turns = (event.turn for event in recording.events if isinstance(event, Response))
    names = sorted({wire_name(call.name) for turn in turns for call in turn.tool_calls})
    return [Tool(name, "", _open_schema()) for name in names]


def _open_schema() -> dict[str, Any]:
    return {"type": "object", "properties": {}}
