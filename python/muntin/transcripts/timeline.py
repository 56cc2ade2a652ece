"""What a log says, put into the events of an agent loop.

Logs know messages; a recording knows prompts and steering. A message of the user begins a run where none is open, and
steers the run that is: the last response made calls and was not interrupted. Everything said before the first response
of a run is one prompt, since an agent sends it as one request.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec

from muntin.items import AssistantTurn, Attachment, Guidance, Image, Text, ToolResult, UserInput
from muntin.transcripts.events import (
    Event,
    Fork,
    Interruption,
    Prompt,
    Response,
    Result,
    Steering,
    Todo,
)
from muntin.usage import Usage

__all__ = ["Mark", "Timeline", "main_model"]


class Mark(msgspec.Struct, frozen=True):
    """A place in a timeline to which `Timeline.rewind` can go back.

    Attributes:
        at: The number of events before it.
        open: Whether a run was going on.
        waiting: What had been said and not yet sent; the flag tells a person's words from the application's.
    """

    at: int = 0
    open: bool = False
    waiting: tuple[tuple[UserInput | Attachment, bool], ...] = ()


class Timeline:
    """The events of one conversation, as they are found. Each method is O(1) but for what was said and not yet sent.

    Attributes:
        events: What happened so far, without what waits for the next response.
    """

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._open = False
        self._waiting: list[tuple[UserInput | Attachment, bool]] = []
        self._unbilled: int | None = None

    def say(self, said: UserInput | Attachment, *, person: bool = True) -> None:
        """A user message: steering in an open run, else a part of the next prompt.

        What only the application said (`person=False`) makes no
        prompt unless a response or a person's words follow.
        """
        if not self._open:
            self._waiting.append((said, person))
        elif guidance := _as_guidance(said):
            self.events.append(Steering(guidance))

    def respond(self, turn: AssistantTurn, *, usage: Usage | None = None, model: str = "", time: float = 0.0) -> None:
        """The model answered; what was said before becomes the prompt, if this is the first answer of the run.

        A log that starts in the middle may begin with a response: nothing is put before it.
        """
        self._flush()
        self._unbilled = len(self.events) if usage is None else None
        self.events.append(Response(turn, usage, model, time))
        self._open = bool(turn.tool_calls)

    def bill(self, usage: Usage) -> None:
        """The bill of the last response, where it came after it; later ones are repetitions and change nothing."""
        if self._unbilled is not None:
            response = self.events[self._unbilled]
            self.events[self._unbilled] = msgspec.structs.replace(response, usage=usage)
            self._unbilled = None

    def result(self, result: ToolResult) -> None:
        """A tool gave its result, whether or not a call of it is known."""
        self.events.append(Result(result))

    def todo(self, steps: Iterable[tuple[str, str]]) -> None:
        """The plan is now this, as pairs of status and step."""
        self.events.append(Todo(tuple(steps)))

    def interrupt(self, reason: str) -> None:
        """The run was stopped. Logs that say so twice in a row mean one interruption."""
        self._flush()
        self._open = False
        if not (self.events and isinstance(self.events[-1], Interruption)):
            self.events.append(Interruption(reason))

    def finish(self) -> None:
        """The run ended: what is said next begins another, though calls may be open."""
        self._open = False

    def mark(self) -> Mark:
        """The place after all that was said and done so far."""
        return Mark(len(self.events), self._open, tuple(self._waiting))

    def rewind(self, mark: Mark) -> None:
        """Go on from an earlier place, with a `Fork` if there are events to leave behind.

        A prompt that was never answered is left behind as an event; what only the application said just goes.
        """
        kept = len(mark.waiting) if mark.at == len(self.events) else 0
        if any(person for _, person in self._waiting[kept:]):
            self._flush()
        if mark.at < len(self.events):
            self.events.append(Fork(mark.at))
        self._open = mark.open
        self._waiting = list(mark.waiting)

    def moved_on(self, mark: Mark) -> bool:
        """Whether anything was said or answered since then; results alone do not count. O(events since)."""
        if mark.at == len(self.events):
            return tuple(self._waiting) != mark.waiting
        return bool(self._waiting) or any(
            isinstance(self.events[at], Prompt | Response) for at in range(mark.at, len(self.events))
        )

    def close(self) -> tuple[Event, ...]:
        """The events, ending with the prompt that was not yet answered, if a person gave one."""
        if any(person for _, person in self._waiting):
            self._flush()
        return tuple(self.events)

    def _flush(self) -> None:
        if not self._waiting:
            return
        prompt = Prompt(tuple(said for said, _ in self._waiting))
        self._waiting.clear()
        match self.events[-1:]:
            # The same prompt, answered again: the branch begins behind it.
            case [Fork(at)] if self.events[at] == prompt:
                self.events[-1] = Fork(at + 1)
            case _:
                self.events.append(prompt)


def main_model(events: Iterable[Event]) -> str:
    """The model that answered most often, or empty where no response names one."""
    models = Counter(event.model for event in events if isinstance(event, Response) and event.model)
    return models.most_common(1)[0][0] if models else ""


def _as_guidance(said: UserInput | Attachment) -> Guidance | None:
    if isinstance(said, Attachment):
        text = "\n".join(part for part in (said.name, said.note, said.text) if part)
        images = said.images
    else:
        text = "\n".join(part.text for part in said.content if isinstance(part, Text))
        images = tuple(part for part in said.content if isinstance(part, Image))
    return Guidance(text, images=images) if text or images else None
