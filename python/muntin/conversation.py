"""What a session's events add up to. Applying them in order is the only way in which it changes."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from muntin.answered import Answered, compared, nearest, remembered
from muntin.audit import Audit
from muntin.budget import Budget, Policy
from muntin.calibration import Calibration, WindowMismatch
from muntin.capabilities import Capabilities
from muntin.diagnosis import Cause
from muntin.ending import NO_ENDING, Ending, ending
from muntin.front import Front
from muntin.items import Approval, AssistantTurn, Entry, Guidance, StateDiff, StateFull, ToolCall, ToolResult
from muntin.journal import (
    Added,
    ApprovalAsked,
    Cleared,
    Compacted,
    CompactionRejected,
    CompactionTried,
    Event,
    Failed,
    Forked,
    Log,
    Opened,
    Path,
    Planned,
    PolicySet,
    Prepared,
    Recorded,
    RepairRaised,
    Resumed,
    Rewound,
    RunFinished,
    RunStarted,
    Snapshot,
    Transacted,
    Using,
    ViewUndone,
    Waiting,
)
from muntin.lane import Lane, Marks, Pending, Repair
from muntin.layout import Segment, TailMode
from muntin.models import Model
from muntin.preface import Preface, preface
from muntin.prefix import Forecast, Sent, placed
from muntin.providers import Adapter
from muntin.providers.base import Tools
from muntin.state import merged
from muntin.tail import STUCK_TOKENS, Tail
from muntin.todo import Todo
from muntin.transactions import TransactionSnapshot
from muntin.usage import Usage
from muntin.view import View, cleared, first_unit, rebuilt

__all__ = ["Conversation", "Observed"]

IN_FLIGHT: Final = 64
"""Requests that may wait for an answer at once; the oldest beyond them are taken for abandoned."""


class Observed(NamedTuple):
    """The last answer of the model: the request that it answers and the turn, which may have new call ids."""

    request: int
    turn: AssistantTurn


class Conversation:
    """The state of a session: no I/O, no clock, no lock.

    Attributes:
        log: Every event until now.
        lane: The sealed units of the current adapter.
        pending: Entries that no request has carried yet.
        lineage: The name of the session that this one was forked from, however long ago; its own where it was not.
        named: The provider and model that the log says it is rendered for.
        run: The number of the last run that began, 0 before the first.
        runs: The highest number that a run ever had, those that were rewound included.
        is_open: Whether that run goes on.
        observed: How many units the model has seen and answered.
        epoch: The number of the view; a compaction raises it, appending does not.
        broke: What the last view change was.
        open_calls: Calls that wait for a result, by their id.
        answered: Ids of the calls of this run that have one.
        awaited: Calls whose result is still to come though they were answered, by their id; they outlive their run.
        waiting: What the run waits for, or empty.
        approvals: Calls of this run that need a decision, each with it or with `asked`.
        made: Ids of all calls that were ever made, each with how many have asked for it; no two calls may share
            one, since a request may carry both.
        inflight: Requests that nobody has settled, each with how many units of the present view it carries.
        dropped: Requests that were in flight when another one was answered, the last time that there were any.
        prior: The last request that was answered, and before it the last ones that began otherwise, which is
            what a provider has in its cache.
        audit: What was billed until now, against what was expected.
        last: The last request that was prepared.
        preface: What stands before the units of that.
        end: What goes with that alone.
        tail: Segments 12 to 14, as they are now.
        todo: The plan of the run.
        finished: Ids of the file transactions that are finished.
        changes: The view changes that are in effect, oldest first: the epoch that each made, and the id that the next
            entry got.
        attempts: Compactions that were planned on this view.
        tried_at: Raw tokens of the conversation when the last of them was.
        rejection: Why the last one was rejected, or empty.
        carried: Raw tokens that could have been dropped, summed over the requests since the last view change.
        base: Raw tokens of the conversation that could not: what a view change left, or what the policy keeps.
        calibration: What bills have taught of the model's counts.
        mismatch: The last answer that showed another window than the configured one, if any did.
    """

    def __init__(self, adapter: Adapter) -> None:
        self.adapter = adapter
        self.log = Log()
        self.session = self.tenant = self.model = self.lineage = ""
        self.named: tuple[str, Model | None] = ("", None)
        self.policy = Policy()
        self.front = Front()
        self.capabilities: Capabilities | None = None
        self.lane = Lane(adapter)
        self.pending: list[Pending] = []
        self.run = self.runs = 0
        self.is_open = False
        self.state: dict[str, Any] = {}
        self.run_state: dict[str, Any] = {}
        self.tail = Tail()
        self.todo: Todo | None = None
        self.finished: set[str] = set()
        self.changes: list[tuple[int, int]] = []
        self.attempts = self.tried_at = 0
        self.rejection = ""
        self.carried = self.base = 0
        self.calibration = Calibration()
        self.mismatch: WindowMismatch | None = None
        self.epoch = 0
        self.broke = "compaction"
        self.observed = 0
        self.requests = 0
        self.open_calls: dict[str, ToolCall] = {}
        self.answered: set[str] = set()
        self.awaited: dict[str, ToolCall] = {}
        self.approvals: dict[str, str] = {}
        self.waiting = ""
        self.made: dict[str, int] = {}
        self.inflight: dict[int, tuple[Sent, int]] = {}
        self.dropped: frozenset[int] = frozenset()
        self.prior: tuple[Answered, ...] = ()
        self.audit = Audit()
        self.last: Sent | None = None
        self.end = NO_ENDING
        self.observation: Observed | None = None
        self.budget = Budget.of(self.policy, adapter.model)
        self.preface: Preface | None = None
        self._tools: Tools | None = None
        self._front_changed = True

    @classmethod
    def replayed(cls, adapter: Adapter, events: list[bytes]) -> Conversation:
        """The conversation that stored events add up to. O(text)."""
        conversation = cls(adapter)
        for data in events:
            conversation.take(Log.decoded(data), data)
        return conversation

    def fork(self) -> Conversation:
        """A conversation with the same past that goes on by itself. O(events), sharing all bytes."""
        other = Conversation.__new__(Conversation)
        other.__dict__.update(self.__dict__)
        other.log = self.log.copy()
        other.lane = self.lane.fork()
        other.tail = self.tail.copy()
        other.audit = self.audit.copy()
        other.pending = self.pending[:]
        other.open_calls = dict(self.open_calls)
        other.answered = set(self.answered)
        other.awaited = dict(self.awaited)
        other.approvals = dict(self.approvals)
        other.made = dict(self.made)
        other.inflight = dict(self.inflight)
        other.finished = set(self.finished)
        other.changes = self.changes[:]
        return other

    @property
    def cache_key(self) -> str:
        """Names the conversation and its forks to a provider without telling whose it is: 32 hexadecimal digits."""
        names = f"{self.tenant}\0{self.lineage}".encode()
        return hashlib.blake2b(names, digest_size=16).hexdigest()

    @property
    def seen(self) -> Sent | None:
        """The last request that was answered."""
        return self.prior[0].sent if self.prior else None

    @property
    def marks(self) -> Marks:
        """Where the segments of the open run begin among the units; at the end where none is sealed."""
        if self.is_open and self.lane.run == self.run:
            return self.lane.marks
        return Marks(*[len(self.lane.history)] * 4)

    def take(self, event: Event, data: bytes) -> None:
        """Append an event with its stored form to the log, and apply it; it must be as it reads back from there."""
        self.log.append(event, data)
        self._apply(event)

    def _apply(self, event: Event) -> None:
        match event:
            case Added(entry, segment):
                self._add(entry, segment)
            case Prepared():
                self._prepare(event)
            case Recorded():
                self._record(event)
            case Failed():
                self._fail(event)
            case Snapshot(capabilities):
                self._switch(capabilities)
            case ApprovalAsked(call):
                self.approvals[call] = "asked"
            case Planned(todo):
                adapter = self.adapter
                self.todo = todo
                self.tail.plan(todo.reminder(lambda text: adapter.estimate(adapter.count(text))))
            case Waiting(reason):
                self.waiting = reason
            case Resumed():
                self.waiting = ""
            case Rewound(entry):
                self._rewind(entry)
            case RepairRaised(kind, text):
                self.tail.remind(kind, text, self.requests)
            case Transacted(snapshot):
                self._transact(snapshot)
            case RunStarted(run, catalogue, collaboration):
                self._start(run, catalogue, collaboration)
            case RunFinished():
                self.is_open = False
                self.open_calls.clear()
                self.answered.clear()
                self.approvals.clear()
                self.waiting = ""
            case Compacted() | Cleared() | ViewUndone() | CompactionTried() | CompactionRejected():
                self._change_view(event)
            case Opened():
                self._open(event)
            case Forked(session):
                self.session = session
                self.inflight.clear()
            case PolicySet(policy):
                self.policy = policy
                # What was clamped was said when the policy was given.
                self.budget = Budget.of(policy, self.adapter.model, self.adapter.provider, warn=False)
            case Using():
                self._use(event)

    def _open(self, event: Opened) -> None:
        self.session, self.tenant, self.policy = event.session, event.tenant, event.policy
        self.lineage = event.session
        self.model, self.named = event.model.name, (event.provider, event.model)
        self.front = Front(system=event.system, state=event.state)
        self.state = event.state
        self.budget = Budget.of(event.policy, self.adapter.model, self.adapter.provider)
        self.base = self.adapter.raw(self.budget.keep_recent)

    def _use(self, event: Using) -> None:
        self.model, self.named = event.model.name, (event.provider, event.model)
        self.epoch += 1  # the units are others, so a plan on the old ones is stale
        self._allow_plans()
        self.calibration, self.mismatch = Calibration(), None
        if not self.changes:
            self.broke = Cause.MODEL

    def _start(self, run: int, catalogue: str | None, collaboration: str | None) -> None:
        self.runs = max(self.runs, run)
        self.run, self.is_open, self.run_state, self.todo = run, True, {}, None
        self.tail.plan("")
        front = replace(
            self.front,
            catalogue=self.front.catalogue if catalogue is None else catalogue,
            collaboration=self.front.collaboration if collaboration is None else collaboration,
        )
        if front != self.front:
            self.front, self._front_changed = front, True

    def _switch(self, capabilities: Capabilities) -> None:
        if self.capabilities is None and capabilities.switches:
            # Switches are part of the session's state; its full form is as of the first request.
            switches = {"capabilities": dict(capabilities.switches)}
            self.state = {**self.state, **switches}
            self.front = replace(self.front, state={**self.front.state, **switches})
        self.capabilities = capabilities
        self._front_changed = True
        tools = self.adapter.tools(capabilities.tools) if capabilities.tools else None
        if tools != self._tools:
            self._tools = tools

    def _add(self, entry: Entry, segment: Segment) -> None:
        if isinstance(entry.item, AssistantTurn):
            # A request that was made elsewhere carried all this, and the model has answered it.
            self.lane.seal(self.pending)
            self.pending.clear()
            self.observed = len(self.lane.history)
        self.pending.append(Pending(entry, segment))
        match entry.item:
            case ToolResult(call, stage="late"):
                self.awaited.pop(call, None)
            case ToolResult(call, stage=stage):
                made = self.open_calls.pop(call, None)
                if made:
                    self.answered.add(call)
                    if stage == "pending":
                        self.awaited[call] = made
            case AssistantTurn():
                self._call(entry.item)
            case Approval(call, decision):
                self.approvals[call] = decision
                self.waiting = ""
            case Guidance():
                self.waiting = ""
            case StateDiff("session", changes):
                self.state = merged(self.state, changes)
            case StateDiff("run", changes):
                self.run_state = merged(self.run_state, changes)
            case StateFull("run", state):
                self.run_state = state
            case _:
                pass

    def _prepare(self, event: Prepared) -> None:
        self._seal_with_tail()
        self.requests = request = event.request
        units = len(self.lane.history)
        self.carried += max(0, self.lane.history.total() - self.base)
        before = self._preface(event.spare_mark)
        group = self.lane.history.group(units - 1) if units else None
        self.end = self.ending(group)
        framing = before.framing
        if not before.front:
            first = self._beginning(units)
            framing = self.adapter.framing(tools=before.tools is not None, front=False, first=first)
        sent = Sent(
            self.model,
            self.epoch,
            before.tools,
            before.front,
            self.lane.history,
            units,
            (),
            event.now,
            self.broke,
            before.marks,
            (),
            self.end.tokens,
            framing + event.asked,
            event.switches,
            before.tokens,
        )
        prior = nearest(self.adapter, self.prior, sent)
        self.last = placed(self.adapter, prior and prior.sent, sent)
        self.inflight[request] = (self.last, units)
        if len(self.inflight) > IN_FLIGHT:
            del self.inflight[next(iter(self.inflight))]

    def _preface(self, spare: int) -> Preface:
        """What stands before the units now; the same object until something of it changes."""
        tools, known = self._tools or (self.adapter.no_tools if self.made else None), self.preface
        if known is None or self._front_changed or known.tools is not tools or known.spare != spare:
            texts = self.front.texts(self.capabilities or Capabilities())
            last = self.last.front if self.last else ()
            self.preface = known = preface(self.adapter, tools, texts, spare, last)
            self._front_changed = False
        return known

    def _beginning(self, units: int) -> bytes:
        """How the first unit of a request begins, be it of the conversation or of the tail."""
        if units:
            return bytes(self.lane.history.slices(0, 1)[0][:24])
        return self.end.units[0].wire if self.end.units else b""

    @property
    def tail_mode(self) -> TailMode:
        """What becomes of a tail that was sent."""
        if self.tail.stuck_tokens > STUCK_TOKENS:
            return "volatile"
        return self.adapter.tail_mode if self.policy.tail == "auto" else self.policy.tail

    def _seal_with_tail(self) -> None:
        """Seal what is new, and the tail with it where it has to stay in its place."""
        texts = () if self.tail_mode == "volatile" else self.tail.texts()
        suffix = "\n\n".join(one.text for one in texts) if self.tail_mode == "in_result" else ""
        taken = self.lane.seal(self.pending, suffix)
        self.pending.clear()
        if not len(self.lane.history):
            return  # nothing to stand behind: it goes with this request alone
        for one in texts:
            unit = self.adapter.text_unit(one.text)
            if not taken:
                self.lane.stick(unit)
            self.tail.stick(one, unit.tokens)

    def ending(self, group: int | None) -> Ending:
        """Segments 12 to 14, made for one request alone, and what the wire format needs at the end.

        Args:
            group: The group of the unit that stands before them.
        """
        return ending(self.adapter, self.tail.texts(), group, self.end)

    def expected(self, sent: Sent) -> Forecast:
        """What a provider is expected to do with a request that was prepared after the last answered one."""
        return self.expectation(sent)()

    def expectation(self, sent: Sent) -> Callable[[], Forecast]:
        """The same for whenever it is wanted, by what is known now."""
        return functools.partial(compared, self.adapter, self.prior, sent, self.calibration)

    def _record(self, event: Recorded) -> None:
        sent, units = self.inflight[event.request]
        bill = event.usage if event.usage and event.usage.possible else None
        if bill:
            known = sent.model == self.adapter.model.name
            self.audit.add(event.request, bill, self.expected(sent) if known else None)
        self.prior = remembered(self.prior, Answered(sent, bill))
        self.tail.served(event.request)
        if bill:
            self._learn(bill, sent)
        self.observed = max(self.observed, units)
        if len(self.inflight) > 1:
            self.dropped = frozenset(self.inflight) - {event.request}
        self.inflight.clear()
        entry = event.entry
        if sent.epoch < self.epoch:
            self.lane.bound = entry.id + 1  # the answer to a request that was in flight during a compaction
        # What came while the model was answering was not seen by it, and stands behind its turn.
        self.pending.insert(0, Pending(entry, Segment.TIMELINE))
        if isinstance(entry.item, AssistantTurn):
            self.observation = Observed(event.request, entry.item)
            self._call(entry.item)
        for call in event.renamed:
            self.made[call] = self.made.get(call, 1) + 1
            self.lane.repairs.append(Repair("renamed", call, entry.id))

    def _fail(self, event: Failed) -> None:
        self.inflight.pop(event.request, None)
        failure, window = self.adapter.failure(event.error), self.budget.window
        # Some say the most that they take, which is one less than the window.
        if failure.limit and not failure.per_minute and abs(failure.limit - window) > 1:
            self.mismatch = WindowMismatch(window, failure.limit, "refusal")

    def _learn(self, usage: Usage, sent: Sent) -> None:
        """From the bill of a request."""
        if usage.input > self.budget.window:
            self.mismatch = WindowMismatch(self.budget.window, usage.input, "bill")
        if sent.model == self.adapter.model.name:
            self.calibration = self.calibration.learned(self.adapter, usage.input, sent.raw, sent.epoch)

    def _call(self, turn: AssistantTurn) -> None:
        for call in turn.tool_calls:
            self.open_calls[call.id] = call
            self.made[call.id] = 1

    def _transact(self, snapshot: TransactionSnapshot) -> None:
        self.tail.transact(snapshot)
        if snapshot.finished:
            self.finished.add(snapshot.transaction_id)
        else:
            self.finished.discard(snapshot.transaction_id)

    def _change_view(self, event: Compacted | Cleared | ViewUndone | CompactionTried | CompactionRejected) -> None:
        match event:
            case Compacted():
                self._compact(event)
            case Cleared():
                self._clear(event)
            case ViewUndone():
                self._undo()
            case CompactionTried():
                self.attempts += 1
                self.tried_at = self.lane.history.total()
            case CompactionRejected(reason):
                self.rejection = reason

    def _compact(self, event: Compacted) -> None:
        cut = first_unit(self.lane, event.keeps)
        view = rebuilt(self.lane, self.marks, cut, event.summary, event.net, self.log.entry)
        self._see(view, event.epoch, "compaction", event.summary.id)

    def _clear(self, event: Cleared) -> None:
        view = cleared(self.lane, event.entries, self.log.entry)
        self._see(view, event.epoch, "clearing of old results", self.log.next_entry)

    def _see(self, view: View, epoch: int, broke: str, first: int) -> None:
        """Let another view take the place of this one."""
        self.lane = view.lane
        self.lane.bound = self.log.next_entry  # turns that wait to be sealed were made on the prefix before
        self.tail.loosen()
        self.epoch, self.broke = epoch, broke
        self.changes.append((epoch, first))
        self.carried = 0
        self.base = max(self.lane.history.total(), self.adapter.raw(self.budget.keep_recent))
        self._allow_plans()
        self.observed = view.place(self.observed)
        self.inflight = {request: (sent, view.place(units)) for request, (sent, units) in self.inflight.items()}

    def _allow_plans(self) -> None:
        self.attempts, self.rejection = 0, ""

    def _undo(self) -> None:
        """Be as if the last view change had not been; requests in flight stay in flight. O(text)."""
        sent = self.inflight
        observation = self.observation
        self._become(self.log.present, "undoing of a view change")
        self.inflight = {number: (sent[number][0], units) for number, (_, units) in self.inflight.items()}
        self.observation = observation
        self._allow_plans()

    def _rewind(self, entry: int) -> None:
        """Be as the events up to an entry left it; what came later stays in the log. O(text).

        Ids that were given out are not given out again, and the last request stays what the next is compared with.
        """
        self._become(self.log.path(entry), "rewinding")
        self.inflight.clear()
        self.observation = None

    def _become(self, path: Path, broke: str) -> None:
        then = Conversation(self.adapter)
        then.log = self.log  # entries keep their ids, whatever was taken back between them
        then.lane.elsewhere = path.elsewhere
        for data in path.events:
            then._apply(Log.decoded(data))
        kept = {"log", "session", "model", "named", "made", "requests", "runs", "prior", "audit", "last"}
        kept |= {"calibration", "mismatch", "policy", "budget", "epoch"}
        self.__dict__.update({name: value for name, value in vars(then).items() if name not in kept})
        self.epoch += 1
        self.broke = broke
