"""The engine of a session: its requests and its view, under the lock of what happens to it.

`Session` and `Run` are its faces. No I/O, no clock, no network.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from muntin.assembly import answer_budget, assembled
from muntin.budget import Budget, Policy
from muntin.cacherules import cache_rules
from muntin.calibration import WindowMismatch
from muntin.calls import with_free_ids
from muntin.capabilities import Capabilities, capability_change
from muntin.compaction.clearing import clearing
from muntin.compaction.gate import Validator, judged, pays, planned, proposal_of, rejected
from muntin.compaction.outcome import Outcome, Reason, Rejected
from muntin.compaction.plan import Plan, Redact
from muntin.conversation import Conversation
from muntin.exceptions import (
    CompactionInFlight,
    InputError,
    NothingToUndo,
    ResponseError,
    RunStateError,
    UnknownPlan,
    UnknownRequest,
)
from muntin.failures import Failure, given_as_answer
from muntin.intake import Intake
from muntin.items import AssistantTurn, Entry, Summary
from muntin.journal import (
    Added,
    Compacted,
    CompactionRejected,
    CompactionTried,
    Failed,
    Log,
    PolicySet,
    Prepared,
    Recorded,
    Rewound,
    Snapshot,
    Using,
    ViewUndone,
)
from muntin.providers import Adapter
from muntin.providers.ids import with_given_names
from muntin.request import Request
from muntin.state import json_object
from muntin.suspects import described, warn_of_suspects
from muntin.usage import Usage

__all__ = ["Engine"]

VALIDATIONS: Final = 3
"""How often a summary is shown to validators while the session keeps changing under them."""


class Engine(Intake):
    """An intake with the requests that are made of it, and the views that compactions make."""

    def __init__(self, conversation: Conversation) -> None:
        super().__init__(conversation)
        # Weak, so that a plan that everybody has forgotten stands in nobody's way.
        self._plan: Callable[[], Plan | None] = _no_plan

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
                # The names that this very request gave its tools, whatever there is by now.
                turn = with_given_names(turn, (tool.name for tool in request.capabilities.tools))
            before = conversation.observation
            if before and before.request == request.number and self._owns(request) and turn.says_what(before.turn):
                return before.turn
            self.require(run)
            self._require_inflight(request)
            turn, renamed = with_free_ids(turn, conversation.made)
            self.allowance.renew()
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
    def use(self, adapter: Adapter | None, policy: Policy | None) -> None:
        """Render for another provider or model, or use the window otherwise, from now on; see `Session.use`."""
        with self.lock:
            if policy is not None:
                chosen = adapter or self.conversation.adapter
                Budget.of(policy, chosen.model, chosen.provider)  # refuses before anything has changed
            if adapter is not None:
                self._render_for(adapter)
            if policy is not None and policy != self.conversation.policy:
                self.take(PolicySet(policy))

    def _render_for(self, adapter: Adapter) -> None:
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
    def _owns(self, request: Request) -> bool:
        return request.id == f"{self.conversation.session}#{request.number}"

    def _require_inflight(self, request: Request) -> None:
        conversation = self.conversation
        if request.number in conversation.inflight and self._owns(request):
            return
        seen = conversation.observation
        if not self._owns(request):
            why = "it was prepared by another session, or before this one was forked"
        elif request.number in conversation.dropped:
            by = f"{conversation.session}#{seen.request}" if seen else "another one"
            why = (
                f"it was in flight together with {by!r} and was dropped when that was answered. Only one answer can be "
                "the next turn: prepare again for another"
            )
        elif seen and seen.request == request.number:
            why = "it has another answer already, and the first one stands: prepare again for another"
        else:
            why = "it has failed, was answered, or was left behind by going back: prepare again"
        raise UnknownRequest(
            f"request {request.id!r} does not wait for an answer in session {conversation.session!r}: {why}"
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
