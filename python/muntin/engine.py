"""The engine of a session: takes what happens in order, under one lock, and refuses what the state does not allow.

`Session` and `Run` are its faces. No I/O, no clock, no network.
"""

from __future__ import annotations

import threading
import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec.structs import replace

from muntin.assembly import answer_budget, assembled
from muntin.cacherules import cache_rules
from muntin.calibration import WindowMismatch
from muntin.calls import with_free_ids
from muntin.capabilities import Capabilities, capability_change, check_call
from muntin.compaction.clearing import clearing
from muntin.compaction.gate import Validator, judged, pays, planned, proposal_of, rejected
from muntin.compaction.outcome import Outcome, Reason, Rejected
from muntin.compaction.plan import Plan, Redact
from muntin.conversation import Conversation
from muntin.exceptions import (
    CompactionInFlight,
    DuplicateResult,
    InputError,
    NothingToUndo,
    ResponseError,
    RunStateError,
    ToolUnavailable,
    UnknownCall,
    UnknownPlan,
    UnknownRequest,
)
from muntin.failures import Failure, given_as_answer
from muntin.items import (
    Approval,
    AssistantTurn,
    Entry,
    Guidance,
    IgnoredInteraction,
    Item,
    StateDiff,
    Summary,
    Text,
    ToolCall,
    ToolResult,
)
from muntin.journal import (
    Added,
    ApprovalAsked,
    Compacted,
    CompactionRejected,
    CompactionTried,
    Event,
    Failed,
    Log,
    Planned,
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
from muntin.layout import Segment
from muntin.longtask import LongTask
from muntin.providers import Adapter
from muntin.providers.ids import with_given_names
from muntin.request import Request
from muntin.results import Allowance, Shown, shown
from muntin.state import difference, json_object
from muntin.suspects import described, warn_of_suspects
from muntin.todo import Todo
from muntin.transactions import TransactionSnapshot
from muntin.usage import Usage

__all__ = ["Engine"]

VALIDATIONS: Final = 3
"""How often a summary is shown to validators while the session keeps changing under them."""


class Engine:
    """Changes one conversation, event by event. Its methods may be called from any thread.

    Attributes:
        conversation: What the events add up to.
        artifacts: Whole results that no store has taken yet, by name.
        lock: Held by every method; short, with no callback under it.
    """

    def __init__(self, conversation: Conversation) -> None:
        self.conversation = conversation
        self.lock = threading.RLock()
        self.artifacts: dict[str, bytes] = {}
        self._allowance = Allowance()
        # Weak, so that a plan that everybody has forgotten stands in nobody's way.
        self._plan: Callable[[], Plan | None] = _no_plan

    # --- taking -----------------------------------------------------------------------------------------------------
    def take(self, *events: Event) -> None:
        """Take events all together: what has no stored form is found before the first of them changes anything."""
        for data, event in [Log.stored(event) for event in events]:
            self.conversation.take(event, data)

    def entry(self, item: Item) -> Entry:
        """An item in the place that it would get now."""
        return Entry(self.conversation.log.next_entry, self.conversation.run, item)

    def add(self, item: Item) -> None:
        """Accept an item where it happens."""
        with self.lock:
            self.take(Added(self.entry(item)))

    # --- runs -------------------------------------------------------------------------------------------------------
    def start(
        self, catalogue: str | None, collaboration: str | None, placed: Sequence[tuple[Item, Segment]] = ()
    ) -> int:
        """Begin a run with items in their segments; its number.

        Raises:
            RunStateError: The run before is still open.
        """
        with self.lock:
            conversation = self.conversation
            if conversation.is_open:
                raise RunStateError(f"run {conversation.run} is still open; finish it before the next one starts")
            number, first = conversation.runs + 1, conversation.log.next_entry
            added = [Added(Entry(first + i, number, item), segment) for i, (item, segment) in enumerate(placed)]
            self.take(RunStarted(number, catalogue, collaboration), *added)
            return number

    def accept(self, run: int, item: Item) -> None:
        """Accept an item of a run's timeline; see `Run.accept`."""
        with self.lock:
            self.require(run)
            conversation = self.conversation
            about = _about(item)
            if about and about not in conversation.made:
                raise UnknownCall(f"the model made no call {about!r}; its open calls: {self._waiting()}")
            if isinstance(item, AssistantTurn):
                item, _ = with_free_ids(item, conversation.made)
            if isinstance(item, ToolResult) and item.stage == "late":
                if item.call not in conversation.awaited:
                    raise UnknownCall(
                        f"nothing is awaited of call {item.call!r}; late results are awaited of: "
                        f"{', '.join(map(repr, conversation.awaited)) or 'none'}"
                    )
            elif isinstance(item, ToolResult):
                self._open_call(run, item.call)
            self.add(item)

    def result(self, run: int, result: ToolResult, *, whole: bool = False) -> None:
        """Accept a result, or a projection of it where it is too large; see `Run.tool_result`.

        Args:
            run: The run's number.
            result: With its whole content.
            whole: Whether it is a window on an artifact, which is never offloaded again.

        Raises:
            InputError: Such a window is larger than a result may be.
        """
        with self.lock:
            self.require(run)
            conversation = self.conversation
            budget, adapter = conversation.budget, conversation.adapter
            late = result.stage == "late"
            allowed = budget.result if late else self._allowance.of_next(budget, len(conversation.open_calls))
            if whole:
                tokens = adapter.safe(
                    sum(adapter.count(part.text) for part in result.content if isinstance(part, Text))
                )
                if tokens > budget.result:
                    raise InputError(
                        f"a window of {tokens} tokens is larger than the {budget.result} that a result may have; read "
                        f"with max_tokens={self.read_tokens} at most"
                    )
                one = Shown(result.content, tokens)
            else:
                one = shown(result.content, allowed, adapter)
            self.accept(run, replace(result, content=one.content, artifact=one.artifact))
            if one.artifact:
                self.artifacts[one.artifact] = one.data
            if not late:
                self._allowance.spend(budget, one.tokens)

    @property
    def read_tokens(self) -> int:
        """Raw tokens that a window on an artifact may have."""
        return self.conversation.adapter.raw(self.conversation.budget.result)

    def adopt(self, item: Item) -> None:
        """Accept an item of a conversation that was made elsewhere: the wire is mended, so nothing is refused."""
        self.add(with_free_ids(item, self.conversation.made)[0] if isinstance(item, AssistantTurn) else item)

    def authorize(self, run: int, call: str, capabilities: Capabilities) -> None:
        """Check at execution whether a call may be carried out; see `Run.authorize`."""
        with self.lock:
            self.require(run)
            made = self._open_call(run, call)
            decision = self.conversation.approvals.get(call, "approved")
            if decision != "approved":
                reason = "a person denied it" if decision == "denied" else "it waits for a person's approval"
                raise ToolUnavailable(
                    f"call {call!r} of {made.name!r} cannot be carried out: {reason}",
                    call=call,
                    tool=made.name,
                    reason=reason,
                )
            check_call(made, capabilities)

    def ask_approval(self, run: int, call: str) -> None:
        """Note that a call waits for a decision; see `Run.request_approval`."""
        with self.lock:
            self.require(run)
            self._open_call(run, call)
            self.take(ApprovalAsked(call))

    def change_task(self, run: int, task: LongTask) -> None:
        """Say what changed of a long task; see `Run.long_task`."""
        with self.lock:
            self.require(run)
            changes = difference(self.conversation.run_state.get("task") or {}, task.state())
            if changes:
                self.add(StateDiff("run", {"task": changes}))

    def plan_todo(self, run: int, todo: Todo) -> None:
        """Store a run's plan; see `Run.todo`."""
        with self.lock:
            self.require(run)
            self.take(Planned(todo))

    def wait(self, run: int, reason: str) -> None:
        """Let a run wait for a person; see `Run.wait`."""
        with self.lock:
            self.require(run)
            self.take(Waiting(reason))

    def resume(self, run: int) -> None:
        """Let a run go on; see `Run.resume`."""
        with self.lock:
            self.require(run)
            if self.conversation.waiting:
                self.take(Resumed())

    def repair(self, run: int, kind: str, text: str) -> None:
        """Remind the model of something in the next request; see `Run.repair`."""
        with self.lock:
            self.require(run)
            self.take(RepairRaised(kind, text))

    def transact(self, run: int, snapshot: TransactionSnapshot) -> None:
        """Show a file transaction as it is now; see `Run.transaction`."""
        with self.lock:
            self.require(run)
            self.take(Transacted(snapshot))

    def finish(self, run: int) -> None:
        """End a run; see `Run.finish`."""
        with self.lock:
            self.require(run)
            self.take(RunFinished(run))

    def require(self, run: int) -> None:
        """Refuse what is said of a run that is over.

        Raises:
            RunStateError: Names the run, and the one that is open.
        """
        conversation = self.conversation
        if not (conversation.is_open and conversation.run == run):
            now = f"run {conversation.run} is open" if conversation.is_open else "no run is open"
            raise RunStateError(f"run {run} of session {conversation.session!r} is over; {now}")

    # --- requests ---------------------------------------------------------------------------------------------------
    def prepare(
        self, run: int, capabilities: Capabilities | None, params: Mapping[str, Any], now: float | None
    ) -> Request:
        """The next request of a run; see `Run.prepare`."""
        with self.lock:
            self.require(run)
            conversation = self.conversation
            if conversation.waiting:
                raise RunStateError(
                    f"run {run} waits for {conversation.waiting}; an answer, a decision or Run.resume lets it go on"
                )
            if not isinstance(capabilities, Capabilities | None):
                raise InputError(f"capabilities must be a muntin.Capabilities, not {type(capabilities).__name__}")
            params = json_object(params, "params")
            conversation.adapter.check_params(params)
            rules = cache_rules(conversation.adapter.provider, conversation.adapter.model.name)
            if conversation.policy.cache_key and rules.key:
                params = {rules.key: conversation.cache_key, **params}
            budget, max_tokens = answer_budget(conversation, params)
            head = conversation.adapter.head(params, max_tokens)
            self._switch(capabilities or conversation.capabilities or Capabilities())
            # A provider that is asked to mark the end by itself needs a place for it.
            spare = conversation.policy.spare_mark or "cache_control" in params
            asked = conversation.adapter.asked(head)
            self.take(Prepared(conversation.requests + 1, now, rules.switches(params), spare, asked))
            return assembled(conversation, budget, head)

    def record(
        self,
        run: int,
        request: Request,
        response: Mapping[str, Any] | bytes | AssistantTurn,
        usage: Usage | None = None,
    ) -> AssistantTurn:
        """Accept the model's answer; see `Run.record`."""
        with self.lock:
            conversation = self.conversation
            if isinstance(response, AssistantTurn):
                turn = response
            else:
                try:
                    turn, said = request.adapter.read(response)
                except ResponseError as reason:
                    raise given_as_answer(response) or reason from None
                usage = usage or said
                tools = conversation.capabilities.tools if conversation.capabilities else ()
                turn = with_given_names(turn, (tool.name for tool in tools))
            before = conversation.observation
            if before and before.request == request.number and self._owns(request) and turn.says_what(before.turn):
                return before.turn
            self.require(run)
            self._require_inflight(request)
            turn, renamed = with_free_ids(turn, conversation.made)
            self._allowance.renew()
            known = conversation.mismatch
            self.take(Recorded(request.number, self.entry(turn), usage, renamed))
            self._report(known)
            return turn

    def fail(self, run: int, request: Request, error: object) -> Failure:
        """Say that a request came to nothing, and hear why; see `Run.fail`."""
        with self.lock:
            self.require(run)
            self._require_inflight(request)
            known, found = self.conversation.mismatch, request.adapter.failure(error)
            self.take(Failed(request.number, found.message))
            self._report(known)
            return found

    def _report(self, known: WindowMismatch | None) -> None:
        """Say that another window has shown, once for each that does."""
        found = self.conversation.mismatch
        if found and (known is None or (found.by, found.configured) != (known.by, known.configured)):
            warnings.warn(str(found), stacklevel=4)

    # --- the view ---------------------------------------------------------------------------------------------------
    def use(self, adapter: Adapter) -> None:
        """Render for another provider or model from now on; see `Session.use`."""
        with self.lock:
            old = self.conversation
            if (adapter.provider, adapter.model) == (old.adapter.provider, old.adapter.model):
                return
            if old.capabilities:
                adapter.check_tools(old.capabilities.tools)
            other = Conversation.replayed(adapter, old.log.since(0))
            data, event = Log.stored(Using(adapter.provider, adapter.model))
            other.take(event, data)
            self.conversation, self._plan = other, _no_plan

    def name_adapter(self) -> None:
        """Say in the log what the session is rendered for, where the log says something else."""
        with self.lock:
            adapter = self.conversation.adapter
            if self.conversation.named != (adapter.provider, adapter.model):
                self.take(Using(adapter.provider, adapter.model))

    def rewind(self, entry: int) -> None:
        """Go back to an entry; see `Session.rewind`."""
        with self.lock:
            self.check_entry(entry)
            self.take(Rewound(entry))
            self._plan = _no_plan

    def check_entry(self, entry: int) -> None:
        """Refuse an entry that there is not.

        Raises:
            InputError: Names it, and the newest.
        """
        newest = self.conversation.log.next_entry - 1
        if not -1 <= entry <= newest:
            raise InputError(f"no entry {entry} in session {self.conversation.session!r}; the newest is {newest}")

    # --- compaction -------------------------------------------------------------------------------------------------
    def plan_compaction(
        self,
        summariser: Adapter | None,
        *,
        same_prefix: bool,
        redact: Redact | None,
        supersede: bool,
        force: bool,
        now: float | None,
        least_cost: bool,
    ) -> Plan:
        """Plan a compaction; see `Session.plan_compaction`."""
        with self.lock:
            before = self._plan()
            if before is not None and before.is_open and before.epoch == self.conversation.epoch and not supersede:
                raise CompactionInFlight(
                    f"a compaction of session {self.conversation.session!r} is on its way, with request "
                    f"{before.requests} out: commit it, let it fail with Plan.fail, or plan with supersede=True"
                )
            plan = planned(
                self.conversation,
                summariser or self.conversation.adapter,
                same_prefix=same_prefix,
                redact=redact,
                force=force,
                now=now,
                least_cost=least_cost,
            )
            if before is not None:
                before.superseded = True
            self._plan = weakref.ref(plan)
            self.take(CompactionTried())
            return plan

    def commit_compaction(self, plan: Plan, validators: Sequence[Validator] = ()) -> Outcome:
        """Judge a plan's summary and make it the view, or not; see `Session.commit_compaction`."""
        self._require_own(plan)
        for _ in range(VALIDATIONS):
            with self.lock:
                if plan.outcome is not None:
                    return plan.outcome
                conversation, version = self.conversation, len(self.conversation.log)
                outcome, event = judged(plan, conversation)
                if event is None or not validators:
                    return self._settle(plan, outcome, event)
                proposal = proposal_of(event, conversation)
            wrong = next((why for why in (validator(proposal) for validator in validators) if why), "")
            with self.lock:
                if wrong:
                    return self._settle(plan, rejected(plan, self.conversation, Reason.OBJECTED, wrong), None)
                if self.conversation is conversation and len(conversation.log) == version:
                    return self._settle(plan, outcome, event)
                # Something happened that the validators have not seen.
        with self.lock:
            detail = f"the session changed {VALIDATIONS} times while validators looked at it"
            return self._settle(plan, rejected(plan, self.conversation, Reason.OBJECTED, detail), None)

    def _require_own(self, plan: Plan) -> None:
        conversation = self.conversation
        if plan.session != (conversation.tenant, conversation.session):
            tenant, name = plan.session
            raise UnknownPlan(
                f"the plan was made for session {name!r}{f' of tenant {tenant!r}' if tenant else ''}, not for "
                f"{conversation.session!r}; it is as it was: commit it there, or plan here anew"
            )

    def _settle(self, plan: Plan, outcome: Outcome, event: Compacted | None) -> Outcome:
        if plan.outcome is not None:  # another thread was first
            return plan.outcome
        if isinstance(outcome, Rejected):
            self.take(CompactionRejected(outcome.reason, outcome.detail))
        elif event:
            self.take(event)
        plan.outcome = outcome
        return outcome

    def compaction_pays(self, *, same_prefix: bool, now: float | None) -> bool:
        """Whether a compaction saves more than it costs; see `Session.compaction_pays`."""
        with self.lock:
            return pays(self.conversation, same_prefix=same_prefix, now=now)

    def clear_results(self, *, keep: int | None, now: float | None, force: bool) -> Outcome:
        """Show old results as one line each, or not; see `Session.clear_results`."""
        with self.lock:
            outcome, event = clearing(self.conversation, keep=keep, now=now, force=force)
            if event:
                self.take(event)
            return outcome

    def undo(self) -> None:
        """Take the last view change back; see `Session.undo_compaction`."""
        with self.lock:
            changes = self.conversation.changes
            if not changes:
                raise NothingToUndo(f"no compaction is in effect in session {self.conversation.session!r}")
            epoch, first = changes[-1]
            self.take(ViewUndone(epoch, first, self.conversation.log.next_entry))
            self._plan = _no_plan

    def reachable(self) -> tuple[int, ...]:
        """Ids of the entries that can be recalled now; see `Session.reachable`."""
        with self.lock:
            conversation = self.conversation
            lane = conversation.lane
            numbers = set(lane.cleared & set(lane.history.entries(0, len(lane.history)))) if lane.cleared else set()
            item = conversation.log.entry(lane.history.entry(0)).item if lane.summary else None
            if isinstance(item, Summary):
                numbers |= {number for number, _ in item.reachable}
            return tuple(sorted(numbers))

    def recall(self, number: int) -> Entry:
        """An entry that can be recalled; see `Session.recall`."""
        with self.lock:
            reachable = self.reachable()
            if number not in reachable:
                raise InputError(
                    f"entry {number!r} is not among those that can be recalled "
                    f"({', '.join(map(str, reachable)) or 'none'}); Session.history has them all, for people"
                )
            return self.conversation.log.entry(number)

    # --- inside -----------------------------------------------------------------------------------------------------
    def _waiting(self) -> str:
        return ", ".join(map(repr, self.conversation.open_calls)) or "none"

    def _open_call(self, run: int, call: str) -> ToolCall:
        made = self.conversation.open_calls.get(call)
        if made is not None:
            return made
        if call in self.conversation.answered:
            raise DuplicateResult(f"call {call!r} has a result already; the first one stands")
        raise UnknownCall(f"no open call {call!r} in run {run}; calls that wait for a result: {self._waiting()}")

    def _owns(self, request: Request) -> bool:
        return request.id == f"{self.conversation.session}#{request.number}"

    def _require_inflight(self, request: Request) -> None:
        if request.number not in self.conversation.inflight or not self._owns(request):
            raise UnknownRequest(
                f"request {request.id!r} does not wait for an answer in session {self.conversation.session!r}: it was "
                "answered, has failed, or was prepared by another session"
            )

    def _switch(self, capabilities: Capabilities) -> None:
        """Take a new snapshot, and write what changed into the timeline."""
        before = self.conversation.capabilities
        if before is capabilities or (before is not None and before.identity == capabilities.identity):
            return
        self.conversation.adapter.check_tools(capabilities.tools)
        known = before.tools if before is not None else ()
        warn_of_suspects(described([tool for tool in capabilities.tools if tool not in known]), stacklevel=4)
        change = capability_change(before, capabilities) if before is not None else None
        self.take(Snapshot(capabilities), *([Added(self.entry(change))] if change else ()))


def _no_plan() -> Plan | None:
    return None


def _about(item: Item) -> str:
    """The id of the call that an item is said of, or empty."""
    match item:
        case Approval(call) | IgnoredInteraction(call=call):
            return call
        case Guidance(answers=call):
            return call
        case _:
            return ""
