"""A run: one task from its acceptance to its end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from muntin.artifacts import Window
from muntin.capabilities import Capabilities
from muntin.engine import Engine
from muntin.exceptions import InputError
from muntin.failures import Failure
from muntin.items import (
    Approval,
    AssistantTurn,
    Guidance,
    IgnoredInteraction,
    Image,
    Item,
    Recovery,
    SkillText,
    StateDiff,
    ToolCall,
    ToolResult,
    as_content,
)
from muntin.longtask import LongTask
from muntin.outputs import ToolOutput, given
from muntin.request import Request
from muntin.skills import Skill
from muntin.stream import Stream
from muntin.todo import Step, Todo
from muntin.transactions import FileTransaction, TransactionSnapshot
from muntin.usage import Usage
from muntin.wording import PENDING, REPAIRS

if TYPE_CHECKING:
    from muntin.session import Session

__all__ = ["Run"]


class Run:
    """One task of a session. It may make many requests and wait for people in between.

    Made by `Session.start_run`. Every method raises `RunStateError` once the run is finished.

    Attributes:
        number: Its number in the session, from 1.
        session: Whose run it is.
    """

    __slots__ = ("_engine", "number", "session")

    def __init__(self, session: Session, engine: Engine, number: int) -> None:
        self._engine = engine
        self.number = number
        self.session = session

    def __repr__(self) -> str:
        return f"Run({self.number} of {self._engine.conversation.session!r})"

    # --- requests ---------------------------------------------------------------------------------------------------
    def prepare(
        self,
        capabilities: Capabilities | None = None,
        *,
        params: Mapping[str, Any] | None = None,
        now: float | None = None,
    ) -> Request:
        """The next request. O(new text), whatever the length of the history.

        Args:
            capabilities: What the agent can do now; None for what it could at the request before.
            params: Body parameters such as `temperature`, as the provider takes them. A limit of output tokens above
                the policy's reserve raises the reserve for this request.
            now: Seconds since the epoch, for the forecast; without it nothing is expected to expire.

        Raises:
            RunStateError: The run waits for a person.
            ContextOverflow: It does not fit; compact, or see the floors of its segments.
            PayloadOverflow: It would fit, but has more bytes or images than the provider takes; clear old results.
            ParameterConflict: A parameter that the adapter sets itself.
            InputError: A parameter has no JSON form, or the answer that it allows would fill the window.
            InvalidTool: The provider would refuse the tools.

        Warns:
            UnstablePrefixWarning: The description of a new tool holds a time of day, a random id or the like.
        """
        return self._engine.prepare(self.number, capabilities, params or {}, now)

    def record(
        self,
        request: Request,
        response: Mapping[str, Any] | bytes | AssistantTurn,
        *,
        usage: Usage | None = None,
    ) -> AssistantTurn:
        """Accept the model's answer in memory; `Store.commit` makes it durable.

        The same answer may be recorded twice; the second time changes nothing. Calls under ids that are taken get
        others: go by the calls of the turn that is returned.

        Args:
            request: As `prepare` gave it.
            response: The whole response, or the turn that was made of it.
            usage: What was billed, where the response does not say it.

        Raises:
            UnknownRequest: The request is not of this session, or another answer or a failure has settled it.
            ResponseError: The response is not of the provider's form.
            InputError: The turn holds something that is not what it should be.
        """
        return self._engine.record(self.number, request, response, usage)

    def fail(self, request: Request, error: object) -> Failure:
        """Say that a request came to nothing: the model has observed nothing of it.

        Args:
            request: The request.
            error: An exception of any SDK or HTTP client, the body of the answer, or any words. Of an exception are
                read its own or its `response`'s `status_code`, `headers` and `text` or `body`, as SDKs have them; one
                that holds its body unread, as `urllib.error.HTTPError` does, tells more when the body is given.

        Returns:
            Why, as far as it can be told: whether to wait, to compact, or to give up.

        Raises:
            UnknownRequest: The request is not of this session, or is settled.
        """
        return self._engine.fail(self.number, request, error)

    def stream(self, request: Request) -> Stream:
        """Take the answer to a request event by event, instead of `record`.

        Ask for a stream as the provider wants it: by `params={"stream": True}`, or at `Request.stream_path`.
        """
        return Stream(self._engine, self.number, request)

    # --- what happens -----------------------------------------------------------------------------------------------
    def accept(self, item: Item) -> None:
        """Accept an item of the timeline where it happens; each kind has a method of its own below.

        A turn of the model that no request of this session asked for is accepted too; calls under ids that are taken
        get others. A result is shown as it is, however large: `tool_result` is what makes projections.

        Raises:
            UnknownCall: A result, decision or answer for a call that the model did not make.
            DuplicateResult: The call has a result; the first one stands.
        """
        self._engine.accept(self.number, item)

    def tool_result(self, call: ToolCall | str, output: ToolOutput, *, is_error: bool = False) -> None:
        """Accept the result of a call.

        Where it is larger than the policy allows the model sees its beginning and its end, and the whole becomes an
        artifact, which `Store.commit` keeps. A `Window`, as `muntin.read_range` gives it, is shown as it is.

        Args:
            call: The call, or its id.
            output: Text, an image, several of them; what an MCP server gave back (content, structured content, its
                `isError` counts); or any JSON value, which the model sees as JSON with sorted keys. None is no content.
            is_error: Whether the tool failed.

        Raises:
            UnknownCall: The model made no such call, or its run is over.
            DuplicateResult: The call has a result; the first one stands.
            InputError: The output has no JSON form, or is a window that is larger than a result may be.
        """
        if isinstance(output, Window):
            self._engine.result(self.number, ToolResult(_id(call), as_content(output.shown), is_error), whole=True)
        else:
            content, failed = given(output)
            self._engine.result(self.number, ToolResult(_id(call), content, is_error or failed))

    @property
    def read_tokens(self) -> int:
        """The `max_tokens` that a window on an artifact may have at most here."""
        return self._engine.read_tokens

    def tool_pending(self, call: ToolCall | str, note: str = "") -> None:
        """A call goes on in the background: it is answered now, and its result comes by `tool_late`.

        Args:
            call: The call, or its id.
            note: What the model should know meanwhile, for example how far it is.

        Raises:
            UnknownCall: The model made no such call, or its run is over.
            DuplicateResult: The call has a result; the first one stands.
        """
        text = f"{PENDING}\n{note}" if note else PENDING
        self.accept(ToolResult(_id(call), as_content(text), stage="pending"))

    def tool_late(self, call: ToolCall | str, output: ToolOutput, *, is_error: bool = False) -> None:
        """The result of a call that went on in the background, perhaps since an earlier run; as `tool_result`.

        It is shown where it comes; what was sent of the call stays as it was.

        Raises:
            UnknownCall: No result of such a call is awaited.
            InputError: The output has no JSON form, or is a window that is larger than a result may be.
        """
        if isinstance(output, Window):
            late = ToolResult(_id(call), as_content(output.shown), is_error, "late")
            self._engine.result(self.number, late, whole=True)
        else:
            content, failed = given(output)
            self._engine.result(self.number, ToolResult(_id(call), content, is_error or failed, "late"))

    def guide(self, text: str, *, images: Sequence[Image] = ()) -> None:
        """A person steers the run."""
        self.accept(Guidance(text, images=tuple(images)))

    def answer(self, call: ToolCall | str, text: str) -> None:
        """A person answers what a call asked; the call's own result is given beside it.

        Raises:
            UnknownCall: The model made no such call.
        """
        self.accept(Guidance(text, _id(call)))

    def authorize(self, call: ToolCall | str, capabilities: Capabilities) -> None:
        """Check, when a call is really carried out, that it is allowed now.

        A request that was sent cannot be recalled, so the model may call what was switched off since; and what the
        history says of a capability gives no permission. Give the reason to the model as the call's result.

        Args:
            call: A call of this run that waits for its result, or its id.
            capabilities: What the agent can do now.

        Raises:
            ToolUnavailable: The tool is gone, its capability is off, or the call was denied or waits for approval.
            UnknownCall: The model made no such call, or its run is over.
            DuplicateResult: The call has a result; it was carried out already.
        """
        self._engine.authorize(self.number, _id(call), capabilities)

    def request_approval(self, call: ToolCall | str) -> None:
        """A call needs a person's decision; until it comes, `authorize` refuses the call.

        Raises:
            UnknownCall: The model made no such call, or its run is over.
            DuplicateResult: The call has a result already.
        """
        self._engine.ask_approval(self.number, _id(call))

    def decision(self, call: ToolCall | str) -> str:
        """What was decided on a call: `approved`, `denied`, `asked` while it waits for a decision, or empty."""
        return self._engine.conversation.approvals.get(_id(call), "")

    def approve(self, call: ToolCall | str, *, by: str = "", note: str = "") -> None:
        """A person lets a call go on.

        Raises:
            UnknownCall: The model made no such call.
        """
        self.accept(Approval(_id(call), "approved", by, note))

    def deny(self, call: ToolCall | str, *, by: str = "", why: str = "") -> None:
        """A person forbids a call.

        Raises:
            UnknownCall: The model made no such call.
        """
        self.accept(Approval(_id(call), "denied", by, why))

    def wait(self, reason: str = "an answer") -> None:
        """The run waits for a person: no request is prepared until there is guidance, an answer or a decision."""
        self._engine.wait(self.number, reason or "an answer")

    def resume(self) -> None:
        """The run goes on though nothing was answered; say why with `ignore`. Without waiting it changes nothing."""
        self._engine.resume(self.number)

    @property
    def waiting(self) -> str:
        """What the run waits for, or empty."""
        return self._engine.conversation.waiting

    def ignore(self, what: str, *, why: str = "", call: str = "") -> None:
        """A question or an offer came to nothing: nobody answered it, or it was passed over.

        Args:
            what: What was asked or offered.
            why: Why it came to nothing.
            call: The id of the call that asked, if one did.

        Raises:
            UnknownCall: The model made no such call.
        """
        self.accept(IgnoredInteraction(what, why, call))

    def recover(self, text: str) -> None:
        """A fact that the model must know to go on after something broke, such as a restart."""
        self.accept(Recovery(text))

    def activate_skill(self, skill: SkillText | Skill) -> None:
        """A skill is activated; its text stays in view as it is now as long as the run."""
        self.accept(skill.activated() if isinstance(skill, Skill) else skill)

    def update_state(self, changes: dict[str, Any], *, reason: str = "") -> None:
        """The run's state changes, by an RFC 7396 merge patch."""
        self.accept(StateDiff("run", changes, reason))

    def long_task(self, task: LongTask) -> None:
        """A long task is now this; the model sees what changed of it, where it happens."""
        self._engine.change_task(self.number, task)

    @property
    def task(self) -> LongTask | None:
        """The long task that this run works on, as it is now."""
        state = self._engine.conversation.run_state.get("task")
        return LongTask.from_state(state) if isinstance(state, dict) else None

    def todo(self, plan: Todo | Sequence[Step | tuple[str, str]], *, goal: str = "") -> None:
        """Store the plan; the model sees a reminder of at most 500 tokens at the end of each request.

        Args:
            plan: A `Todo`, or its steps, which may be pairs of a status (`pending`, `in_progress`, `completed`) and a
                text.
            goal: What the plan is for, where it is given as pairs.

        Raises:
            InputError: A status is none of the three, or the plan is something else.
        """
        if not isinstance(plan, Todo):
            if not isinstance(plan, Iterable):
                raise InputError(f"a plan is a muntin.Todo or its steps, not {plan!r}")
            plan = Todo(tuple(map(_step, plan)), goal)
        self._engine.plan_todo(self.number, plan)

    @property
    def plan(self) -> Todo | None:
        """The whole plan as `todo` stored it last; None before that."""
        return self._engine.conversation.todo

    def repair(self, kind: str, text: str = "") -> None:
        """Remind the model of something in exactly the next request; one that fails carries nothing off.

        Args:
            kind: `empty_response`, `transaction_prose`, or a kind of your own.
            text: What to say; kinds of your own need it.

        Raises:
            InputError: A kind of your own without a text.
        """
        said = text or REPAIRS.get(kind, "")
        if not said:
            raise InputError(f"a reminder of kind {kind!r} needs a text; without one known are {', '.join(REPAIRS)}")
        self._engine.repair(self.number, kind, said)

    def transaction(self, now: FileTransaction | TransactionSnapshot) -> None:
        """Show the model a file transaction as it is now, until it is finished.

        Raises:
            InputError: It is something else.
        """
        if isinstance(now, FileTransaction):
            now = now.snapshot()
        if not isinstance(now, TransactionSnapshot):
            raise InputError(f"a transaction must be a FileTransaction or a TransactionSnapshot, not {now!r}")
        self._engine.transact(self.number, now)

    @property
    def in_transaction(self) -> bool:
        """Whether a file transaction is unfinished."""
        return bool(self._engine.conversation.tail.transactions)

    @property
    def transactions(self) -> tuple[TransactionSnapshot, ...]:
        """The unfinished file transactions as the model sees them, by their ids.

        After a restart `FileTransaction.from_snapshot` makes of each what can go on.
        """
        shown = self._engine.conversation.tail.transactions
        return tuple(shown[name] for name in sorted(shown))

    def finish(self) -> None:
        """End the run; what belongs to it is history from now on, as it stands."""
        self._engine.finish(self.number)


def _step(given: object) -> Step:
    if isinstance(given, Step):
        return given
    match given:
        case (str(status), str(text)):
            return Step(status, text)  # type: ignore[arg-type]
        case _:
            raise InputError(f"a step must be a pair of a status and a text, not {given!r}")


def _id(call: ToolCall | str) -> str:
    return call.id if isinstance(call, ToolCall) else call
