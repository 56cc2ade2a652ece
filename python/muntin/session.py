"""A session: one conversation of one agent, from its first request to its last. No I/O, no clock, no network."""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

from muntin.assembly import answer_budget, assembled
from muntin.budget import Policy
from muntin.capabilities import Capabilities, capability_change
from muntin.compaction.gate import judged, planned
from muntin.compaction.plan import Outcome, Plan
from muntin.conversation import Conversation
from muntin.exceptions import (
    DuplicateResult,
    InputError,
    RunStateError,
    UnknownCall,
    UnknownRequest,
)
from muntin.front import System
from muntin.items import (
    Approval,
    AssistantTurn,
    Attachment,
    Entry,
    Guidance,
    Image,
    Item,
    SkillText,
    StateDiff,
    StateFull,
    Text,
    ToolCall,
    ToolResult,
    UserInput,
    as_content,
)
from muntin.journal import (
    Added,
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
    Using,
)
from muntin.lane import Repair
from muntin.layout import Segment
from muntin.providers import Adapter
from muntin.providers import adapter as adapter_of
from muntin.request import Request
from muntin.run import Run
from muntin.state import json_object
from muntin.todo import Todo

__all__ = ["Session"]

Input = str | Text | Image | UserInput | Attachment | StateDiff
"""What a run may begin with."""


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
        if not isinstance(adapter, Adapter):
            raise InputError(
                f"adapter must be an adapter such as muntin.providers.openai_chat('gpt-5'), not {adapter!r}"
            )
        self._begin(Conversation(adapter))
        system = System(rules=system) if isinstance(system, str) else system
        self._take(
            Opened(
                id,
                tenant,
                adapter.provider,
                adapter.model,
                policy or Policy(),
                system,
                json_object(state or {}, "state"),
            )
        )

    def _begin(self, conversation: Conversation, stored: int = 0) -> None:
        self._lock = threading.RLock()
        self._conversation = conversation
        self._run: Run | None = Run(self, conversation.run) if conversation.is_open else None
        self._plan: Plan | None = None
        self._stored = stored

    @classmethod
    def _of(cls, conversation: Conversation, stored: int = 0) -> Self:
        session = cls.__new__(cls)
        session._begin(conversation, stored)  # noqa: SLF001  (of this very class)
        return session

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
        idle = True
        for item in adopted.items:
            if idle and isinstance(item, UserInput):
                if session._run:
                    session.finish(session._run)
                session.start_run([item])
                idle = False
                continue
            if not session._run:
                session._start(None, None)
            # Whatever calls and results look like here, the wire is mended; so nothing is refused.
            session._add(session._with_free_ids(item)[0] if isinstance(item, AssistantTurn) else item)
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
            raise InputError(f"stored events must begin with the opening of a session, not with {type(first).__name__}")
        used = [event for event in map(Log.decoded, events) if isinstance(event, Using)]
        last: Opened | Using = used[-1] if used else first
        chosen = adapter or adapter_of(last.provider, last.model)
        session = cls._of(Conversation.replayed(chosen, list(events)), stored=len(events))
        if (chosen.provider, chosen.model) != (last.provider, last.model):
            session._take(Using(chosen.provider, chosen.model))  # noqa: SLF001  (of this very class)
        return session

    def fork(self, id: str, *, at: int | None = None) -> Session:  # noqa: A002
        """A session that shares the past and goes on by itself.

        Args:
            id: Its name.
            at: The last entry that it shares, -1 for none; by default all. From now it costs O(events); from earlier
                O(text), since the past is rendered anew, to the same bytes. What is no entry, such as the end of a run,
                is shared up to the next entry: a fork at the last answer of a run has that run open.

        Raises:
            InputError: There is no such entry.
        """
        with self._lock:
            if at is None:
                conversation = self._conversation.fork()
            else:
                if not -1 <= at <= self.last_entry:
                    raise InputError(f"no entry {at} in session {self.id!r}; the newest is {self.last_entry}")
                past = self._conversation.log.upto(at)
                conversation = Conversation.replayed(self._conversation.adapter, past)
        other = self._of(conversation)
        other._take(Forked(id))  # noqa: SLF001  (of this very class)
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
        """The world state now; a copy."""
        return copy.deepcopy(self._conversation.state)

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
    def last_entry(self) -> int:
        """The id of the newest entry, -1 before the first; a place to fork at."""
        return self._conversation.log.next_entry - 1

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
        inputs = [inputs] if isinstance(inputs, Input) else inputs
        if not inputs or not isinstance(inputs, Sequence):
            raise InputError(
                f"a run needs at least one input, given as text, an item or a list of them, not {inputs!r}"
            )
        items = [UserInput(as_content(one)) if isinstance(one, str | Text | Image) else one for one in inputs]
        for item in items:
            if not isinstance(item, UserInput | Attachment | StateDiff):
                raise InputError(
                    f"a run begins with text, images, attachments and state changes; {item!r} is none of them"
                )
        placed: list[tuple[Item, Segment]] = [(item, Segment.INPUTS) for item in items]
        placed += [(skill, Segment.SKILLS) for skill in skills]
        if state is not None:
            placed.append((StateFull("run", json_object(state, "state")), Segment.RUN_STATE))
        with self._lock:
            return self._start(catalogue, collaboration, placed)

    def update_state(self, changes: Mapping[str, Any], *, reason: str = "") -> None:
        """The world state changes, by an RFC 7396 merge patch; the model sees the change where it happened."""
        with self._lock:
            self._add(StateDiff("session", json_object(changes, "changes"), reason))

    def accept(self, run: Run, item: Item) -> None:
        """Accept an item of a run's timeline. `Run` has a method for each kind.

        A turn of the model that no request of this session asked for is accepted too; calls under ids that are taken
        get others.
        """
        with self._lock:
            self._require(run)
            conversation = self._conversation
            about = item.call if isinstance(item, Approval) else item.answers if isinstance(item, Guidance) else ""
            if about and about not in conversation.made:
                raise UnknownCall(f"the model made no call {about!r}; its open calls: {self._waiting()}")
            if isinstance(item, AssistantTurn):
                item, _ = self._with_free_ids(item)
            if isinstance(item, ToolResult) and item.call not in conversation.open_calls:
                if item.call in conversation.answered:
                    raise DuplicateResult(f"call {item.call!r} has a result already; the first one stands")
                raise UnknownCall(
                    f"no open call {item.call!r} in run {run.number}; calls that wait for a result: {self._waiting()}"
                )
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
    def prepare(
        self, run: Run, capabilities: Capabilities | None, params: Mapping[str, Any], now: float | None
    ) -> Request:
        """The next request of a run; see `Run.prepare`."""
        with self._lock:
            self._require(run)
            conversation = self._conversation
            if not isinstance(capabilities, Capabilities | None):
                raise InputError(f"capabilities must be a muntin.Capabilities, not {type(capabilities).__name__}")
            params = json_object(params, "params")
            conversation.adapter.check_params(params)
            budget, max_tokens = answer_budget(conversation, params)
            head = conversation.adapter.head(params, max_tokens)
            self._switch(capabilities or conversation.capabilities or Capabilities())
            self._take(Prepared(conversation.requests + 1, now))
            return assembled(conversation, budget, head)

    def record(self, run: Run, request: Request, response: Mapping[str, Any] | bytes | AssistantTurn) -> AssistantTurn:
        """Accept the model's answer; see `Run.record`."""
        with self._lock:
            conversation = self._conversation
            usage = None
            if isinstance(response, AssistantTurn):
                turn = response
            else:
                turn, usage = conversation.adapter.parse(response)
            before = conversation.observation
            if before and before.request == request.number and self._owns(request) and turn.says_what(before.turn):
                return before.turn
            self._require(run)
            self._require_inflight(request)
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
        """Plan to put a summary in the place of old history, in the model's view.

        The boundary is found in O(log units); listing what it covers is O(units covered).

        The view may grow while the plan is carried out. A newer plan supersedes an older one.

        Args:
            summariser: The wire format and model that the summary requests are rendered for; by default the session's.

        Raises:
            CannotCompact: No legal boundary frees enough; names the floor of each segment.
        """
        with self._lock:
            self._plan = planned(self._conversation, summariser or self._conversation.adapter)
            return self._plan

    def commit_compaction(self, plan: Plan) -> Outcome:
        """Judge a plan's summary and make it the view, or leave everything as it is and say why.

        Never raises for a bad summary. A plan that was judged gives the same outcome again.
        """
        with self._lock:
            if plan.outcome is None:
                plan.outcome, event = judged(plan, self._conversation, newest=plan is self._plan)
                if event:
                    self._take(event)
                if plan is self._plan:
                    self._plan = None
            return plan.outcome

    # --- inside -----------------------------------------------------------------------------------------------------
    def _take(self, *events: Event) -> None:
        """Take events all together: what has no stored form is found before the first of them changes anything."""
        for data, event in [Log.stored(event) for event in events]:
            self._conversation.take(event, data)

    def _entry(self, item: Item) -> Entry:
        return Entry(self._conversation.log.next_entry, self._conversation.run, item)

    def _add(self, item: Item, segment: Segment = Segment.TIMELINE) -> None:
        self._take(Added(self._entry(item), segment))

    def _start(
        self, catalogue: str | None, collaboration: str | None, placed: Sequence[tuple[Item, Segment]] = ()
    ) -> Run:
        if self._run is not None:
            raise RunStateError(f"run {self._run.number} is still open; finish it before the next one starts")
        number, first = self._conversation.run + 1, self._conversation.log.next_entry
        added = [Added(Entry(first + i, number, item), segment) for i, (item, segment) in enumerate(placed)]
        self._take(RunStarted(number, catalogue, collaboration), *added)
        self._run = Run(self, number)
        return self._run

    def _waiting(self) -> str:
        return ", ".join(map(repr, self._conversation.open_calls)) or "none"

    def _require(self, run: Run) -> None:
        if run is not self._run:
            now = f"run {self._run.number} is open" if self._run else "no run is open"
            raise RunStateError(f"run {run.number} of session {self.id!r} is over; {now}")

    def _owns(self, request: Request) -> bool:
        return request.id == f"{self.id}#{request.number}"

    def _require_inflight(self, request: Request) -> None:
        if request.number not in self._conversation.inflight or not self._owns(request):
            raise UnknownRequest(
                f"request {request.id!r} does not wait for an answer in session {self.id!r}: it was answered, has "
                "failed, or was prepared by another session"
            )

    def _switch(self, capabilities: Capabilities) -> None:
        """Take a new snapshot, and write what changed into the timeline."""
        before = self._conversation.capabilities
        if before is capabilities or (before is not None and before.identity == capabilities.identity):
            return
        self._conversation.adapter.check_tools(capabilities.tools)
        self._take(Snapshot(capabilities))
        change = capability_change(before, capabilities) if before is not None else None
        if change is not None:
            self._add(change)

    def _with_free_ids(self, turn: AssistantTurn) -> tuple[AssistantTurn, tuple[str, ...]]:
        """The turn with call ids that no other call of the session has, and which of them were taken."""
        made, taken = self._conversation.made, set[str]()
        renamed: list[str] = []
        parts = []
        for part in turn.parts:
            if isinstance(part, ToolCall):
                name, copy = part.id, 1
                while name in taken or name in made:
                    copy += 1
                    name = f"{part.id}-{copy}"
                taken.add(name)
                if name != part.id:
                    renamed.append(part.id)
                    part = ToolCall(name, part.name, part.arguments)  # noqa: PLW2901
            parts.append(part)
        return (AssistantTurn(tuple(parts), turn.finish), tuple(renamed)) if renamed else (turn, ())
