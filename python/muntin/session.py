"""A session: one conversation of one agent, from its first request to its last. No I/O, no clock, no network."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Self

from muntin.audit import CacheReport
from muntin.budget import Policy
from muntin.calibration import WindowMismatch
from muntin.capabilities import Capabilities
from muntin.compaction.gate import Validator
from muntin.compaction.outcome import Outcome
from muntin.compaction.plan import Plan, Redact
from muntin.conversation import Conversation
from muntin.engine import Engine
from muntin.exceptions import InputError, RunStateError
from muntin.front import System
from muntin.items import (
    AssistantTurn,
    Attachment,
    Entry,
    Image,
    Item,
    SkillText,
    StateDiff,
    StateFull,
    Text,
    ToolCall,
    UserInput,
    as_content,
)
from muntin.journal import (
    Forked,
    Log,
    Opened,
    Snapshot,
    Using,
)
from muntin.lane import Repair
from muntin.layout import Segment
from muntin.longtask import LongTask
from muntin.providers import Adapter
from muntin.providers import adapter as adapter_of
from muntin.run import Run
from muntin.skills import Skill
from muntin.state import json_object
from muntin.suspects import warn_of_suspects

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

    Warns:
        UnstablePrefixWarning: The system text holds a time of day, a random id or the like.
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
        warn_of_suspects([("system text", system.text)])
        self._engine.take(
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
        self._engine = Engine(conversation)
        self._face: Run | None = None
        self._stored = stored

    @classmethod
    def _of(cls, conversation: Conversation, stored: int = 0) -> Self:
        session = cls.__new__(cls)
        session._begin(conversation, stored)  # noqa: SLF001  (of this very class)
        return session

    @property
    def _conversation(self) -> Conversation:
        return self._engine.conversation

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
        try:
            adopted = adapter.adopt(body)
        except (AttributeError, LookupError, TypeError, UnicodeError) as reason:
            raise InputError(f"the body is not of the form of {adapter.provider}: {reason!r}") from reason
        session = cls(id, adapter=adapter, policy=policy, system=adopted.system, tenant=tenant)
        engine = session._engine
        if adopted.tools:
            engine.take(Snapshot(Capabilities(stable=adopted.tools)))
        idle = True
        for item in adopted.items:
            if idle and isinstance(item, UserInput):
                if session.run:
                    session.run.finish()
                session.start_run([item])
                idle = False
                continue
            if not session.run:
                engine.start(None, None)
            engine.adopt(item)
            if isinstance(item, AssistantTurn):
                idle = not item.tool_calls
        if session.run and idle:
            session.run.finish()
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
        session._engine.name_adapter()  # noqa: SLF001  (of this very class)
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
        with self._engine.lock:
            if at is None:
                conversation = self._conversation.fork()
            else:
                self._engine.check_entry(at)
                past = self._conversation.log.upto(at)
                conversation = Conversation.replayed(self._conversation.adapter, past)
        other = self._of(conversation)
        other._engine.artifacts = self.new_artifacts  # noqa: SLF001  (of this very class)
        other._engine.take(Forked(id))  # noqa: SLF001  (of this very class)
        other._engine.name_adapter()  # noqa: SLF001  (an earlier past may name another)
        return other

    def child(
        self,
        id: str,  # noqa: A002
        *,
        system: System | str | None = None,
        inherit: Literal["prefix", "state", "nothing"] = "state",
    ) -> Session:
        """A session for a part of the work, with its own boundary of history.

        Args:
            id: Its name.
            system: Its stable prompt; by default this session's.
            inherit: `prefix` shares the whole past, so that a provider reads it from its cache; calls that are open
                here are closed there. `state` takes over the world state of now, `nothing` not even that. Adapter,
                policy and tenant are this session's in any case.

        Raises:
            InputError: Another system text with `prefix`, which would break the prefix at its first byte.
        """
        if inherit == "prefix":
            if system is not None:
                raise InputError("a child that inherits the prefix has this session's system text; inherit='state'")
            child = self.fork(id)
            if child.run:
                child.run.finish()
            return child
        conversation = self._conversation
        state = {} if inherit == "nothing" else self.state
        return Session(
            id,
            adapter=self.adapter,
            policy=conversation.policy,
            system=conversation.front.system if system is None else system,
            # What the parent's snapshots said of tools is said anew by the child's own.
            state={key: value for key, value in state.items() if key not in ("capabilities", "guides", "tools")},
            tenant=self.tenant,
        )

    def next_stage(self, id: str, *, inputs: Sequence[Input] = ()) -> Run:  # noqa: A002
        """Open a focused task from what the long task of the open run has confirmed, in a child with a fresh window.

        The run here stays open; close its stage with `Run.finish`.

        Args:
            id: The name of the child, which inherits the world state.
            inputs: What there is to say beside what was confirmed and what remains.

        Raises:
            RunStateError: No run is open, or it works on no long task.
        """
        run = self.run
        task = run.task if run else None
        if task is None:
            raise RunStateError(f"no long task in session {self.id!r}: start its run with start_run(task=...)")
        return self.child(id).start_run([task.handover(), *inputs], task=task.next_stage())

    def rewind(self, to: int) -> None:
        """Go back to when an entry was the newest, in place. O(text).

        Nothing is deleted: what came later stays in the stored history, and may be gone back to as well. Requests in
        flight are dropped, and ids of entries, runs and calls are not used again. The run of that moment is open again.

        Args:
            to: The id of the entry, -1 for before the first.

        Raises:
            InputError: There is no such entry.
        """
        self._engine.rewind(to)

    def use(self, adapter: Adapter | None = None, *, policy: Policy | None = None) -> None:
        """Render for another provider or model, or use the window by another policy, from the next request on.

        A request in flight may still be recorded. Whether everything fits in the other window is seen, and refused,
        when the next request is prepared. Both outlast going back with `rewind`.

        Args:
            adapter: The other wire format or model. O(text); a compaction that was planned before is stale.
            policy: The other policy. What was shown of a result, or stands in view as a sticky reminder, stays so.

        Raises:
            InputError: Neither is given, one of them is something else, or no request could work with the policy.
            InvalidTool: The adapter would refuse the tools of now.

        Warns:
            UserWarning: A mix that cannot work was clamped to the nearest that can.
        """
        if (adapter is None and policy is None) or not isinstance(adapter, Adapter | None):
            raise InputError(f"use an adapter such as muntin.providers.openai_chat('gpt-5'), not {adapter!r}")
        if not isinstance(policy, Policy | None):
            raise InputError(f"use a policy such as muntin.Policy(window=200_000), not {policy!r}")
        self._engine.use(adapter, policy)

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
    def policy(self) -> Policy:
        """Its limits and thresholds now."""
        return self._conversation.policy

    @property
    def run(self) -> Run | None:
        """The run that is open now."""
        with self._engine.lock:
            conversation = self._conversation
            if not conversation.is_open:
                return None
            if self._face is None or self._face.number != conversation.run:
                self._face = Run(self, self._engine, conversation.run)
            return self._face

    @property
    def state(self) -> dict[str, Any]:
        """The world state now; a copy."""
        return copy.deepcopy(self._conversation.state)

    @property
    def epoch(self) -> int:
        """The number of the view; compacting, clearing, undoing, going back and another adapter raise it."""
        return self._conversation.epoch

    @property
    def window_mismatch(self) -> WindowMismatch | None:
        """The last answer of the provider that showed another window than the configured one, if any did."""
        return self._conversation.mismatch

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
        with self._engine.lock:
            return self._conversation.log.since(version)

    def mark_stored(self, version: int) -> None:
        """Note that a store has the first `version` events."""
        self._stored = version

    @property
    def new_artifacts(self) -> dict[str, bytes]:
        """Whole results that were too large to show and that no store has taken yet, by name; a store commits them."""
        with self._engine.lock:
            return dict(self._engine.artifacts)

    def mark_artifacts_stored(self, names: Iterable[str]) -> None:
        """Note that a store has these artifacts."""
        with self._engine.lock:
            for name in names:
                self._engine.artifacts.pop(name, None)

    def cache_report(self) -> CacheReport:
        """What the provider read from its cache until now, against what was expected; as far as answers said it."""
        with self._engine.lock:
            return self._conversation.audit.report()

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
        skills: Sequence[SkillText | Skill] = (),
        state: Mapping[str, Any] | None = None,
        task: LongTask | None = None,
    ) -> Run:
        """Accept a task.

        Args:
            inputs: What the person said, with the attachments and state changes between, in their order.
            catalogue: The skill catalogue of now; None keeps the last one.
            collaboration: The collaboration notes of now; None keeps the last ones.
            skills: Skills that are active from the start.
            state: The run's state, a JSON object.
            task: A long task that the run works on; part of its state, under the key `task`.

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
        placed += [(one.activated() if isinstance(one, Skill) else one, Segment.SKILLS) for one in skills]
        if task is not None:
            state = {**(state or {}), "task": task.state()}
        if state is not None:
            placed.append((StateFull("run", json_object(state, "state")), Segment.RUN_STATE))
        with self._engine.lock:
            self._face = Run(self, self._engine, self._engine.start(catalogue, collaboration, placed))
            return self._face

    def update_state(self, changes: Mapping[str, Any], *, reason: str = "") -> None:
        """The world state changes, by an RFC 7396 merge patch; the model sees the change where it happened."""
        self._engine.add(StateDiff("session", json_object(changes, "changes"), reason))

    # --- compaction -------------------------------------------------------------------------------------------------
    def plan_compaction(
        self,
        summariser: Adapter | None = None,
        *,
        same_prefix: bool = False,
        redact: Redact | None = None,
        supersede: bool = False,
        force: bool = False,
        now: float | None = None,
        least_cost: bool = False,
    ) -> Plan:
        """Plan to put a summary in the place of old history, in the model's view.

        The boundary is found in O(log units); listing what it covers is O(units covered).

        The view may grow while the plan is carried out. Each plan counts as an attempt on this view, in the journal;
        after three that came to nothing the next one has to wait until the conversation has grown.

        Args:
            summariser: The wire format and model that the summary requests are rendered for; by default the session's.
            same_prefix: Ask for the summary behind the conversation itself, tools and all, so that the provider reads
                it from its cache. One request, which must fit in the window; only with the session's own adapter.
            redact: Takes secrets out of every text before it stands in a request, and out of the summary.
            supersede: Give up a plan that is still on its way.
            force: Plan though plans on this view kept coming to nothing; for when a person asks for it.
            now: Seconds since the epoch, for the report: whether the provider still has the prefix.
            least_cost: Keep no more than the policy's `keep_recent`, in place of aiming at `compact_to`.

        Raises:
            CannotCompact: No legal boundary frees enough; names the floor of each segment.
            CompactionHalted: Plans on this view kept coming to nothing.
            CompactionInFlight: Another plan is on its way.
            InputError: The same prefix is asked for together with `redact` or another adapter.
        """
        return self._engine.plan_compaction(
            summariser,
            same_prefix=same_prefix,
            redact=redact,
            supersede=supersede,
            force=force,
            now=now,
            least_cost=least_cost,
        )

    def commit_compaction(self, plan: Plan, *, validators: Sequence[Validator] = ()) -> Outcome:
        """Judge a plan's summary and make it the view, or leave everything as it is and say why.

        Never raises for a bad summary. A plan that was judged gives the same outcome again.

        Args:
            plan: As `plan_compaction` gave it.
            validators: Are shown a summary that passed everything else, one after another and outside of any lock; a
                text that one gives back is its objection.

        Raises:
            UnknownPlan: Another session made the plan, a fork or its origin perhaps; the plan is as it was.
        """
        return self._engine.commit_compaction(plan, validators)

    def compaction_pays(self, *, same_prefix: bool = False, now: float | None = None) -> bool:
        """Whether a compaction with `least_cost` is worth it now, however full the window is. O(log units).

        It is as soon as carrying what could be dropped has cost as much as dropping it would: the call for the summary,
        and writing the new prefix to the cache, which a cache that has expired makes cheap. It never looks ahead.

        Args:
            same_prefix: Whether the summary will be asked for on the same prefix.
            now: Seconds since the epoch, to tell whether the provider still has the prefix.
        """
        return self._engine.compaction_pays(same_prefix=same_prefix, now=now)

    def clear_results(
        self,
        *,
        keep: int | None = None,
        now: float | None = None,
        force: bool = False,
    ) -> Outcome:
        """Show old tool results as one line each, all at once, where that saves more than it costs. No model is asked.

        Whole results stay in the session, `recall` gives them, and `undo_compaction` shows them again. O(units).

        Args:
            keep: Tokens of the newest history that are left alone; by default the policy's `keep_recent`.
            now: Seconds since the epoch: when the provider's cache has expired, clearing is all but free.
            force: Clear whatever it costs.
        """
        return self._engine.clear_results(keep=keep, now=now, force=force)

    def undo_compaction(self) -> None:
        """Take the last compaction or clearing back: the model sees again what it covered, and all that came since.

        It may be called again for the one before. Nothing is deleted; the summary stays in the stored history. O(text).

        Raises:
            NothingToUndo: None is in effect.
        """
        self._engine.undo()

    @property
    def reachable(self) -> tuple[int, ...]:
        """Ids of the entries that `recall` gives now: the few that the summary lists, and results that were cleared."""
        return self._engine.reachable()

    def recall(self, entry: int) -> Entry:
        """An entry that the model does not see in full any more, as it was.

        Raises:
            InputError: It is not among `reachable`. `history` shows people everything.
        """
        return self._engine.recall(entry)
