"""What a recorded session comes down to, whatever tool recorded it.

A reader turns a file into `Recording`s: one a conversation (a file may hold a main conversation and those of its
subagents). A recording is the sequence of things that happened to the agent loop, in the order in which they happened,
so that feeding them to a `Session` in that order is what the agent itself would have done.
"""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from muntin.items import Approval, AssistantTurn, Attachment, Guidance, SkillText, ToolResult, UserInput
from muntin.usage import Usage

__all__ = [
    "Capability",
    "Decision",
    "Event",
    "Fork",
    "Interruption",
    "Problem",
    "Prompt",
    "Recording",
    "Response",
    "Result",
    "State",
    "Steering",
    "Todo",
]


class Prompt(msgspec.Struct, frozen=True, tag="prompt", omit_defaults=True):
    """A person gives the agent its next task: a new run begins with these inputs."""

    inputs: tuple[UserInput | Attachment | SkillText, ...]


class Response(msgspec.Struct, frozen=True, tag="response", omit_defaults=True):
    """One model request was answered.

    Attributes:
        turn: What the model said.
        usage: What was billed, where the log says so.
        model: The model's name, where the log says so.
        time: Seconds since the epoch, where the log says so; 0 otherwise.
    """

    turn: AssistantTurn
    usage: Usage | None = None
    model: str = ""
    time: float = 0.0


class Result(msgspec.Struct, frozen=True, tag="result"):
    """A tool gave its result."""

    result: ToolResult


class Steering(msgspec.Struct, frozen=True, tag="steering"):
    """A person, or the application in a person's place, said something while the run went on."""

    guidance: Guidance


class Decision(msgspec.Struct, frozen=True, tag="decision"):
    """A person decided on a call that needed approval."""

    approval: Approval


class State(msgspec.Struct, frozen=True, tag="state", omit_defaults=True):
    """The session's world state changed, as an RFC 7396 merge patch."""

    changes: dict[str, Any]
    reason: str = ""


class Capability(msgspec.Struct, frozen=True, tag="capability", omit_defaults=True):
    """A capability was switched on or off."""

    name: str
    on: bool
    reason: str = ""


class Todo(msgspec.Struct, frozen=True, tag="todo"):
    """The agent's plan is now this: pairs of a status (`pending`, `in_progress`, `completed`) and a step."""

    steps: tuple[tuple[str, str], ...]


class Interruption(msgspec.Struct, frozen=True, tag="interruption", omit_defaults=True):
    """The run was stopped before it ended by itself."""

    reason: str = ""


class Fork(msgspec.Struct, frozen=True, tag="fork"):
    """The conversation goes on from an earlier point: from just before event number `at` of this recording."""

    at: int


Event: TypeAlias = Prompt | Response | Result | Steering | Decision | State | Capability | Todo | Interruption | Fork
"""Anything that happened to an agent loop."""


class Problem(msgspec.Struct, frozen=True):
    """A line that could not be read and was skipped: its number, from 1, and why."""

    line: int
    why: str


class Recording(msgspec.Struct, frozen=True, kw_only=True):
    """One conversation.

    Attributes:
        id: A name for it, unique within the file.
        format: The format that it was read from: `claude-code`, `codex`, `openai-chat` or `muntin`.
        provider: The vendor whose API answered, `anthropic` or `openai`; empty where unknown.
        model: The model that answered most of its requests, or empty.
        system: The system text that the log shows, or empty.
        tools: Tools that the log declares, as `{"name", "description", "parameters"}`; a log that declares none
            leaves this empty though calls were made.
        state: The session's world state at the start.
        guides: Guidance for capabilities, by the capability's name.
        events: What happened, in order.
        problems: Lines that were skipped.
    """

    id: str
    format: Literal["claude-code", "codex", "openai-chat", "muntin"]
    provider: str = ""
    model: str = ""
    system: str = ""
    tools: tuple[dict[str, Any], ...] = ()
    state: dict[str, Any] = {}
    guides: dict[str, str] = {}
    events: tuple[Event, ...] = ()
    problems: tuple[Problem, ...] = ()
