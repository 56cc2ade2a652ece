"""Writes down what happens: turns, the results of their calls, and all that comes between them."""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Callable
from dataclasses import dataclass, replace
from inspect import cleandoc
from typing import Any, Literal

import msgspec

from example_session.workspace import ToolError, Workspace
from muntin.items import (
    Approval,
    AssistantTurn,
    Attachment,
    Guidance,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    UserInput,
    as_content,
)
from muntin.transcripts.events import (
    Capability,
    Decision,
    Event,
    Fork,
    Interruption,
    Prompt,
    Response,
    Result,
    State,
    Steering,
    Todo,
)

__all__ = ["Call", "Mark", "Recorder"]

PERSON = "Ragnhild"
_LETTERS = string.ascii_letters + string.digits


@dataclass(frozen=True)
class Call:
    """A call of a tool, and what comes of it.

    Attributes:
        name: The tool.
        arguments: Its arguments.
        result: Makes the text of the result from the files; None for a call that never gets one.
        decision: What a person decides on the call, and a note.
        plan: What the agent's plan is after it.
    """

    name: str
    arguments: dict[str, Any]
    result: Callable[[Workspace], str] | None
    decision: tuple[Literal["approved", "denied"], str] | None = None
    plan: tuple[tuple[str, str], ...] = ()

    def needing(self, decision: Literal["approved", "denied"], note: str = "") -> Call:
        """The same call, with a person's decision on it."""
        return replace(self, decision=(decision, note))


@dataclass(frozen=True)
class Mark:
    """A point that the session can go back to: just before an event, and the files there."""

    event: int
    files: dict[str, str]


class Recorder:
    """Collects the events of the session.

    Args:
        workspace: What the tools work on.
        seed: Of all that is random: ids, seals, and how long things take.
        start: Seconds since the epoch.
    """

    def __init__(self, workspace: Workspace, *, seed: int, start: int) -> None:
        self.workspace = workspace
        self.events: list[Event] = []
        self._random = random.Random(seed)
        self._time = start

    def prompt(self, text: str, *attachments: Attachment) -> None:
        """A person gives a task."""
        self.events.append(Prompt((UserInput(as_content(cleandoc(text))), *attachments)))

    def turn(self, text: str, *calls: Call, think: str = "") -> None:
        """The model answers, and its calls are carried out."""
        self.wait(self._random.randint(4, 25) + len(text) // 60)
        made = [ToolCall(self._id(), call.name, msgspec.json.encode(call.arguments).decode()) for call in calls]
        parts = (
            *((Reasoning(cleandoc(think), self._seal(), "anthropic"),) if think else ()),
            *((Text(cleandoc(text)),) if text else ()),
            *made,
        )
        turn = AssistantTurn(parts, "tool_calls" if calls else "stop")
        self.events.append(Response(turn, time=float(self._time)))
        for call, tool_call in zip(calls, made, strict=True):
            self._carry_out(call, tool_call.id)

    def steer(self, text: str) -> None:
        """A person says something while the run goes on."""
        self.events.append(Steering(Guidance(cleandoc(text))))

    def state(self, changes: dict[str, Any], reason: str) -> None:
        """The world state changes."""
        self.events.append(State(changes, reason))

    def switch(self, capability: str, *, on: bool, reason: str) -> None:
        """A capability is switched."""
        self.events.append(Capability(capability, on, reason))

    def interrupt(self, reason: str) -> None:
        """The run is stopped."""
        self.events.append(Interruption(reason))

    def mark(self) -> Mark:
        """The point that is reached now."""
        return Mark(len(self.events), dict(self.workspace.files))

    def fork(self, mark: Mark) -> None:
        """Go on from an earlier point, with the files as they were then."""
        self.events.append(Fork(mark.event))
        self.workspace = Workspace(mark.files)

    def wait(self, seconds: int) -> None:
        """Let time pass."""
        self._time += seconds

    def _carry_out(self, call: Call, name: str) -> None:
        if call.decision:
            decision, note = call.decision
            self.wait(self._random.randint(20, 90))
            self.events.append(Decision(Approval(name, decision, PERSON, note)))
        if call.result is None:
            return
        self.wait(self._random.randint(1, 6))
        try:
            result = ToolResult(name, as_content(call.result(self.workspace)))
        except ToolError as error:
            result = ToolResult(name, as_content(str(error)), is_error=True)
        self.events.append(Result(result))
        if call.plan:
            self.events.append(Todo(call.plan))

    def _id(self) -> str:
        return "toolu_01" + "".join(self._random.choices(_LETTERS, k=22))

    def _seal(self) -> str:
        return base64.b64encode(self._random.randbytes(96)).decode()
