"""A session: one conversation of one agent, from its first request to its last. No I/O, no clock, no network."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from muntin.budget import Budget, Policy, Share, WindowUsage
from muntin.capabilities import Capabilities, capability_change
from muntin.compaction.choice import choose
from muntin.compaction.plan import SUMMARY_TOKENS, Committed, CompactionReport, Outcome, Plan, Rejected
from muntin.compaction.view import covered_units, net_changes, rebuilt
from muntin.conversation import Conversation
from muntin.exceptions import (
    ContextOverflow,
    DuplicateResult,
    InputError,
    RunStateError,
    UnknownCall,
    UnknownRequest,
)
from muntin.front import System
from muntin.items import (
    AssistantTurn,
    Attachment,
    Entry,
    Item,
    SkillText,
    StateDiff,
    StateFull,
    Summary,
    Text,
    ToolCall,
    ToolResult,
    UserInput,
    as_content,
)
from muntin.journal import (
    Added,
    Compacted,
    Event,
    Failed,
    Forked,
    Log,
    Opened,
    Planned,
    Prepared,
    Recorded,
    RunFinished,
    RunStarted,
    Snapshot,
)
from muntin.lane import Repair
from muntin.layout import Segment
from muntin.prefix import forecast
from muntin.providers import Adapter, adapter as adapter_of
from muntin.providers.base import Frame, Unit
from muntin.request import Request
from muntin.run import Run
from muntin.todo import Todo

__all__ = ["Session"]

Input = str | UserInput | Attachment | StateDiff


class Session:
    """One conversation. Its methods may be called from any thread.

    Args:
        id: Its name, unique within the tenant.
        adapter: The wire format and model that requests are rendered for.
        policy: How the window is used.
        system: The stable system prompt: text, or a `System` of several parts.
        state: The world state at the beginning, a JSON object.
        tenant: Whose session it is; part of the key of all that is kept.
    """

    def __init__(
        self,
        id: str,  # noqa: A002
        *,
        adapter: Adapter,
        policy: Policy | None = None,
        system: System | str = "",
        state: Mapping[str, Any] | None = None,
        tenant: str = "",
    ) -> None:
        self._begin(Conversation(adapter))
        system = System(rules=system) if isinstance(system, str) else system
        self._take(Opened(id, tenant, adapter.provider, adapter.model, policy or Policy(), system, dict(state or {})))

    def _begin(self, conversation: Conversation, stored: int = 0) -> None:
        self._lock = threading.RLock()
        self._conversation = conversation
        self._run: Run | None = Run(self, conversation.run) if conversation.is_open else None
        self._plan: Plan | None = None
        self._stored = stored

    def __repr__(self) -> str:
        return f"Session({self.id!r}, {len(self._conversation.lane.history)} units, epoch {self.epoch})"

    # --- other beginnings -------------------------------------------------------------------------------------------
    @classmethod
    def from_messages(
        cls,
        adapter: Adapter,
        body: Mapping[str, Any] | bytes,
        *,
        id: str = "adopted",  # noqa: A002
        policy: Policy | None = None,
        tenant: str = "",
    ) -> Session:
        """A session from a request body of the adapter's provider. O(body).

        A run begins at each input that follows an answer without calls. The last run is open where the model's answer
        is still to come; see `run`.

        Raises:
            InputError: The body is not of the provider's form.
        """
        adopted = adapter.adopt(body)
        session = cls(id, adapter=adapter, policy=policy, system=adopted.system, tenant=tenant)
        if adopted.tools:
            session._take(Snapshot(Capabilities(stable=adopted.tools)))
        items = list(adopted.items)
        idle = True
        for item in items:
            if idle and isinstance(item, UserInput):
                if session._run:
                    session.finish(session._run)
                session.start_run([item])
                idle = False
                continue
            if not session._run:
                session._start(None, None)
            session._adopt(item)
            if isinstance(item, AssistantTurn):
                idle = not item.tool_calls
        if session._run and idle:
            session.finish(session._run)
        return session

    @classmethod
    def from_events(cls, events: Sequence[bytes], *, adapter: Adapter | None = None) -> Session:
        """A session from its stored events, rendered byte for byte as it was. O(text).

        Args:
            events: As `events_since(0)` gave them.
            adapter: Instead of the one that the events name.

        Raises:
            InputError: The events do not begin with the opening of a session.
        """
        first = Log.decoded(events[0]) if events else None
        if not isinstance(first, Opened):
            raise InputError(f"stored events must begin with the opening of a session, not with {first!r}")
        conversation = Conversation.replayed(adapter or adapter_of(first.provider, first.model), list(events))
        session = cls.__new__(cls)
        session._begin(conversation, stored=len(events))
        return session

    def fork(self, id: str, *, at: int | None = None) -> Session:  # noqa: A002
        """A session that shares the past and goes on by itself.

        Args:
            id: Its name.
            at: The last entry that it shares; by default all. From now it costs O(events); from earlier O(text), since
                the past is rendered anew, to the same bytes.
        """
        with self._lock:
            if at is None:
                conversation = self._conversation.fork()
            else:
                past = self._conversation.log.upto(at)
                conversation = Conversation.replayed(self._conversation.adapter, past)
        other = Session.__new__(Session)
        other._begin(conversation)
        other._take(Forked(id))
        return other

    # --- what it is now ---------------------------------------------------------------------------------------------
    @property
    def id(self) -> str:
        """Its name."""
        return self._conversation.session

    @property
    def tenant(self) -> str:
        """Whose it is."""
        return self._conversation.tenant

    @property
    def adapter(self) -> Adapter:
        """What its requests are rendered with."""
        return self._conversation.adapter

    @property
    def run(self) -> Run | None:
        """The run that is open now."""
        return self._run

    @property
    def state(self) -> dict[str, Any]:
        """The world state now."""
        return self._conversation.state

    @property
    def epoch(self) -> int:
        """The number of the view: a compaction raises it, appending does not."""
        return self._conversation.epoch

    @property
    def open_calls(self) -> tuple[ToolCall, ...]:
        """Calls that wait for their result, in the order in which they were made."""
        return tuple(self._conversation.open_calls.values())

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """What was mended on the wire until now; the stored history is as it was."""
        return tuple(self._conversation.lane.repairs)

    @property
    def version(self) -> int:
        """How many events there are; a store commits those that it does not have."""
        return len(self._conversation.log)

    @property
    def stored_version(self) -> int:
        """How many events the store is known to have."""
        return self._stored

    def events_since(self, version: int) -> list[bytes]:
        """The stored forms of all events from number `version` on."""
        with self._lock:
            return self._conversation.log.since(version)

    def mark_stored(self, version: int) -> None:
        """Note that a store has the first `version` events."""
        self._stored = version

    def history(self) -> Iterator[Entry]:
        """Everything that was ever accepted, in causal order, whatever the model sees of it. O(text)."""
        return self._conversation.log.entries()

    # --- runs -------------------------------------------------------------------------------------------------------
    def start_run(
        self,
        inputs: Input | Sequence[Input],
        *,
        catalogue: str | None = None,
        collaboration: str | None = None,
        skills: Sequence[SkillText] = (),
        state: Mapping[str, Any] | None = None,
    ) -> Run:
        """Accept a task.

        Args:
            inputs: What the person said, with the attachments and state changes between, in their order.
            catalogue: The skill catalogue of now; None keeps the last one.
            collaboration: The collaboration notes of now; None keeps the last ones.
            skills: Skills that are active from the start.
            state: The run's state, a JSON object.

        Raises:
            RunStateError: The run before is still open.
            InputError: There is no input.
        """
        inputs = [inputs] if isinstance(inputs, Input) else list(inputs)
        if not inputs:
            raise InputError("a run needs at least one input")
        items = [UserInput(as_content(one)) if isinstance(one, str) else one for one in inputs]
        with self._lock:
            run = self._start(catalogue, collaboration)
            for item in items:
                self._add(item, Segment.INPUTS)
            for skill in skills:
                self._add(skill, Segment.SKILLS)
            if state is not None:
                self._add(StateFull("run", dict(state)), Segment.RUN_STATE)
            return run

    def update_state(self, changes: Mapping[str, Any], *, reason: str = "") -> None:
        """The world state changes, by an RFC 7396 merge patch; the model sees the change where it happened."""
        with self._lock:
            self._add(StateDiff("session", dict(changes), reason))

    def accept(self, run: Run, item: Item) -> None:
        """Accept an item of a run's timeline. `Run` has a method for each kind."""
        with self._lock:
            self._require(run)
            conversation = self._conversation
            if isinstance(item, ToolResult) and item.call not in conversation.open_calls:
                if item.call in conversation.answered:
                    raise DuplicateResult(f"call {item.call!r} has a result already; the first one stands")
                waiting = ", ".join(map(repr, conversation.open_calls)) or "none"
                raise UnknownCall(f"no open call {item.call!r} in run {run.number}; calls that wait for a result: {waiting}")
            self._add(item)

    def plan_todo(self, run: Run, todo: Todo) -> None:
        """Store a run's plan; see `Run.todo`."""
        with self._lock:
            self._require(run)
            self._take(Planned(todo))

    def finish(self, run: Run) -> None:
        """End a run; see `Run.finish`."""
        with self._lock:
            self._require(run)
            self._take(RunFinished(run.number))
            self._run = None

    # --- requests ---------------------------------------------------------------------------------------------------
    def prepare(self, run: Run, capabilities: Capabilities, params: Mapping[str, Any], now: float | None) -> Request:
        """The next request of a run; see `Run.prepare`."""
        with self._lock:
            self._require(run)
            conversation, adapter = self._conversation, self._conversation.adapter
            adapter.check_params(params)
            budget, max_tokens = self._answer_budget(params)
            self._switch(capabilities)
            self._take(Prepared(conversation.requests + 1, now))
            sent = conversation.last
            assert sent is not None  # noqa: S101  (the event just taken made it)
            tail = self._tail(sent.history.group(sent.units - 1) if sent.units else None)
            frame = Frame(
                params, max_tokens, sent.tools, sent.front, sent.history, sent.units, tuple(unit for _, unit in tail),
                sent.breakpoints,
            )  # fmt: skip
            usage, total = self._usage(frame, tail, budget)
            if usage.remaining < 0:
                raise self._overflow(usage)
            number = conversation.requests
            expected = forecast(adapter, conversation.before, sent, total)
            name = f"{conversation.session}#{number}"
            return Request(id=name, number=number, adapter=adapter, frame=frame, usage=usage, forecast=expected)

    def record(self, run: Run, request: Request, response: Mapping[str, Any] | bytes | AssistantTurn) -> AssistantTurn:
        """Accept the model's answer; see `Run.record`."""
        with self._lock:
            conversation = self._conversation
            before = conversation.observation
            if before and before.request == request.number and self._owns(request):
                return before.turn
            self._require(run)
            self._require_inflight(request)
            usage = None
            if isinstance(response, AssistantTurn):
                turn = response
            else:
                turn, usage = conversation.adapter.parse(response)
            turn, renamed = self._with_free_ids(turn)
            self._take(Recorded(request.number, self._entry(turn), usage, renamed))
            return turn

    def fail(self, run: Run, request: Request, error: object) -> None:
        """Say that a request came to nothing; see `Run.fail`."""
        with self._lock:
            self._require(run)
            self._require_inflight(request)
            self._take(Failed(request.number, str(error)))

    # --- compaction -------------------------------------------------------------------------------------------------
    def plan_compaction(self, summariser: Adapter | None = None) -> Plan:
        """Plan to put a summary in the place of old history, in the model's view. O(log units).

        The view may grow while the plan is carried out. A newer plan supersedes an older one.

        Args:
            summariser: The wire format and model that the summary requests are rendered for; by default the session's.

        Raises:
            CannotCompact: No legal boundary frees enough; names the floor of each segment.
        """
        with self._lock:
            conversation, adapter = self._conversation, summariser or self._conversation.adapter
            lane, marks = conversation.lane, conversation.marks
            limit = conversation.budget.limit
            allowance = min(SUMMARY_TOKENS, max(limit // 20, 200))
            tail = sum(unit.tokens for _, unit in self._tail(None))
            fixed = lane.adapter.primer + tail + self._front_tokens()
            choice = choose(
                lane, marks, conversation.observed, conversation.budget,
                fixed=fixed, summary=lane.adapter.raw(allowance), floors=self._floors(),
            )  # fmt: skip
            units = list(covered_units(lane, marks, choice.cut))
            numbers = list(dict.fromkeys(lane.history.entry(unit) for unit in units))
            log = conversation.log
            earlier = ""
            if lane.summary:
                item = log.entry(lane.history.entry(0)).item
                earlier = item.text if isinstance(item, Summary) else ""
            self._plan = Plan(
                epoch=conversation.epoch, cut=choice.cut, grade=choice.grade, adapter=adapter,
                entries=lambda: map(log.entry, numbers), earlier=earlier, max_tokens=allowance,
                limit=Budget.of(conversation.policy, adapter.model).limit,
            )  # fmt: skip
            return self._plan

    def commit_compaction(self, plan: Plan) -> Outcome:
        """Judge a plan's summary and make it the view, or leave everything as it is and say why.

        Never raises for a bad summary. A plan that was judged gives the same outcome again.
        """
        with self._lock:
            if plan.outcome is None:
                plan.outcome = self._judged(plan)
                if self._plan is plan:
                    self._plan = None
            return plan.outcome

    def _judged(self, plan: Plan) -> Outcome:
        conversation = self._conversation
        lane, adapter = conversation.lane, conversation.adapter
        before = adapter.estimate(lane.history.total())
        unmeasured = CompactionReport(before, before, 0, 0, plan.grade)
        if plan.failure:
            return Rejected(plan.failure, unmeasured, plan.detail)
        if not plan.finished:
            return Rejected("unfinished", unmeasured, "requests of the plan wait for an answer")
        if plan.epoch != conversation.epoch:
            return Rejected("stale view", unmeasured, f"planned on view {plan.epoch}, now {conversation.epoch}")
        if plan is not self._plan:
            return Rejected("superseded", unmeasured, "a newer plan was made")
        marks = conversation.marks
        units = list(covered_units(lane, marks, plan.cut))
        summary = Entry(conversation.log.next_entry, conversation.run, Summary(plan.summary, self._covers(units)))
        diffs = net_changes(lane, marks, plan.cut, conversation.front.state, conversation.log.entry)
        net = tuple(Entry(summary.id + i, summary.run, diff) for i, diff in enumerate(diffs, 1))
        candidate, _ = rebuilt(lane, marks, plan.cut, summary, net, conversation.log.entry)
        after = adapter.estimate(candidate.history.total())
        tokens = adapter.estimate(candidate.history.total(0, candidate.summary))
        report = CompactionReport(before, after, len(units), tokens, plan.grade)
        if after >= before - before // 50:
            return Rejected("not shorter", report, f"{before} tokens before, {after} after")
        self._take(Compacted(conversation.epoch + 1, plan.cut, summary, net))
        return Committed(report)

    def _covers(self, units: list[int]) -> tuple[tuple[int, int], ...]:
        """Ranges of the entries that a summary stands for, those of the summary before it included."""
        conversation = self._conversation
        history = conversation.lane.history
        covered = {history.entry(unit) for unit in units}
        if conversation.lane.summary:
            earlier = conversation.log.entry(history.entry(0)).item
            if isinstance(earlier, Summary):
                covered |= {number for first, last in earlier.covers for number in range(first, last + 1)}
        ranges: list[tuple[int, int]] = []
        for number in sorted(covered):
            if ranges and ranges[-1][1] == number - 1:
                ranges[-1] = (ranges[-1][0], number)
            else:
                ranges.append((number, number))
        return tuple(ranges)

    # --- inside -----------------------------------------------------------------------------------------------------
    def _take(self, event: Event) -> None:
        self._conversation.take(event)

    def _entry(self, item: Item) -> Entry:
        return Entry(self._conversation.log.next_entry, self._conversation.run, item)

    def _add(self, item: Item, segment: Segment = Segment.TIMELINE) -> None:
        self._take(Added(self._entry(item), segment))

    def _start(self, catalogue: str | None, collaboration: str | None) -> Run:
        if self._run is not None:
            raise RunStateError(f"run {self._run.number} is still open; finish it before the next one starts")
        self._take(RunStarted(self._conversation.run + 1, catalogue, collaboration))
        self._run = Run(self, self._conversation.run)
        return self._run

    def _adopt(self, item: Item) -> None:
        """Accept an item that came from elsewhere, whatever its calls and results look like; the wire is mended."""
        if isinstance(item, AssistantTurn):
            item, _ = self._with_free_ids(item)
        self._add(item)

    def _require(self, run: Run) -> None:
        if run is not self._run:
            now = f"run {self._run.number} is open" if self._run else "no run is open"
            raise RunStateError(f"run {run.number} of session {self.id!r} is over; {now}")

    def _owns(self, request: Request) -> bool:
        return request.id == f"{self.id}#{request.number}"

    def _require_inflight(self, request: Request) -> None:
        if request.number not in self._conversation.inflight or not self._owns(request):
            raise UnknownRequest(
                f"request {request.id!r} does not wait for an answer in session {self.id!r}: it was answered, has failed, "
                "or was prepared by another session"
            )

    def _switch(self, capabilities: Capabilities) -> None:
        """Take a new snapshot, and write what changed into the timeline."""
        before = self._conversation.capabilities
        if before is capabilities or (before is not None and before.identity == capabilities.identity):
            return
        self._take(Snapshot(capabilities))
        change = capability_change(before, capabilities) if before is not None else None
        if change is not None:
            self._add(change)

    def _with_free_ids(self, turn: AssistantTurn) -> tuple[AssistantTurn, tuple[str, ...]]:
        """The turn with call ids that no other call of the run has, and which of them were taken."""
        conversation = self._conversation
        taken = {*conversation.open_calls, *conversation.answered}
        renamed: list[str] = []
        parts = []
        for part in turn.parts:
            if isinstance(part, ToolCall):
                name, copy = part.id, 1
                while name in taken:
                    copy += 1
                    name = f"{part.id}-{copy}"
                taken.add(name)
                if name != part.id:
                    renamed.append(part.id)
                    part = ToolCall(name, part.name, part.arguments)  # noqa: PLW2901
            parts.append(part)
        return (AssistantTurn(tuple(parts), turn.finish), tuple(renamed)) if renamed else (turn, ())

    def _answer_budget(self, params: Mapping[str, Any]) -> tuple[Budget, int]:
        """The budget with room for the answer that the caller asked for, and the limit of the answer."""
        conversation = self._conversation
        budget, model = conversation.budget, conversation.adapter.model
        wanted = conversation.adapter.max_tokens_of(params)
        if wanted is None:
            return budget, min(budget.reserve, model.max_output) or model.max_output
        if not 0 < wanted < budget.window:
            raise InputError(f"an answer of {wanted} tokens does not fit in the window of {budget.window}")
        return (budget.with_reserve(wanted) if wanted > budget.reserve else budget), wanted

    def _tail(self, group: int | None) -> list[tuple[Segment, Unit]]:
        """Segments 12 to 14, made for this request alone, and what an adapter needs at the end."""
        conversation, adapter = self._conversation, self._conversation.adapter
        tail: list[tuple[Segment, Unit]] = []
        if conversation.todo:
            text = conversation.todo.reminder(adapter.count)
            if text:
                tail.append((Segment.TODO, adapter.text_unit(f"<todo>\n{text}\n</todo>")))
        ending = adapter.ending(tail[-1][1].group if tail else group)
        if ending:
            tail.append((Segment.TIMELINE, ending))
        return tail

    def _front_tokens(self) -> int:
        """Raw tokens of the tools and the front, as the last request had them."""
        sent = self._conversation.last
        if sent is None:
            return 0
        return (sent.tools.tokens if sent.tools else 0) + sum(part.tokens for part in sent.front)

    def _usage(self, frame: Frame, tail: list[tuple[Segment, Unit]], budget: Budget) -> tuple[WindowUsage, int]:
        """The indicator of a request, and its raw tokens."""
        adapter, lane = self._conversation.adapter, self._conversation.lane
        history, marks = frame.history, self._conversation.marks
        raw: dict[Segment, int] = {}
        for part in frame.front:
            raw[part.segment or Segment.SYSTEM] = raw.get(part.segment or Segment.SYSTEM, 0) + part.tokens
        edges = (0, lane.summary, marks.inputs, marks.skills, marks.run_state, marks.timeline, frame.units)
        kept = 0
        for segment, start, stop in zip(range(Segment.SUMMARY, Segment.TODO), edges, edges[1:], strict=False):
            if stop > start:
                raw[Segment(segment)] = tokens = history.total(start, stop)
                kept += tokens
        group = history.group(frame.units - 1) if frame.units else None
        for segment, unit in tail:
            tokens = adapter.tail_tokens(group, (unit,))
            raw[segment] = raw.get(segment, 0) + tokens
            group = unit.group
        tools = frame.tools.tokens if frame.tools else 0
        total = tools + sum(raw.values()) + adapter.primer
        estimate, safe = adapter.estimate(total), adapter.safe(total)
        remaining = budget.limit - safe
        return (
            WindowUsage(
                tokens=estimate,
                safe=safe,
                tools=adapter.estimate(tools),
                framing=adapter.estimate(adapter.primer),
                shares=tuple(Share(segment, adapter.estimate(tokens)) for segment, tokens in sorted(raw.items())),
                window=budget.window,
                reserve=budget.reserve,
                remaining=remaining,
                state="full" if remaining < 0 else "compact" if safe >= budget.compact_at else "ok",
            ),
            total,
        )

    def _floors(self) -> dict[str, int]:
        """Tokens that no compaction can remove now, by the name of their segment."""
        conversation, adapter = self._conversation, self._conversation.adapter
        sent, marks, history = conversation.last, conversation.marks, conversation.lane.history
        raw: dict[str, int] = {}
        if sent is not None:
            if sent.tools:
                raw["tools"] = sent.tools.tokens
            for part in sent.front:
                name = (part.segment or Segment.SYSTEM).name.lower()
                raw[name] = raw.get(name, 0) + part.tokens
        raw["task"] = history.total(marks.inputs, marks.timeline)
        raw["not yet observed"] = history.total(min(max(conversation.observed, marks.timeline), len(history)))
        raw["tail"] = sum(unit.tokens for _, unit in self._tail(None))
        return {name: adapter.safe(tokens) for name, tokens in raw.items() if tokens}

    def _overflow(self, usage: WindowUsage) -> ContextOverflow:
        floors = self._floors()
        limit = usage.window - usage.reserve
        compactable = max(0, usage.safe - sum(floors.values()))
        advice = (
            "compact the session and prepare again"
            if sum(floors.values()) < limit
            else "these parts alone are too large: take a model with a larger window, a smaller reserve, fewer tools or a "
            "shorter system prompt"
        )
        return ContextOverflow(
            f"the request has {usage.safe} tokens by the safe estimate, {-usage.remaining} more than the {limit} that the "
            f"window of {usage.window} leaves beside a reserve of {usage.reserve}; of these {compactable} can be compacted. "
            f"Parts that cannot: {floors}. {advice[0].upper()}{advice[1:]}.",
            tokens=usage.safe,
            limit=limit,
            floors=floors,
            compactable=compactable,
        )
