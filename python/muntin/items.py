"""What a conversation is made of: plain frozen data.

An item is content only. The session that accepts it gives it a place (an `Entry`: id, run, item) and never changes it
afterwards. All text is `str` without lone surrogates; sizes of images are pixels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

import msgspec

from muntin.exceptions import InputError

__all__ = [
    "Approval",
    "AssistantPart",
    "AssistantTurn",
    "Attachment",
    "Content",
    "Entry",
    "Guidance",
    "IgnoredInteraction",
    "Image",
    "Item",
    "Opaque",
    "Reasoning",
    "Recovery",
    "SkillText",
    "StateDiff",
    "StateFull",
    "Summary",
    "Text",
    "ToolCall",
    "ToolResult",
    "UserInput",
    "as_content",
]


class Text(msgspec.Struct, frozen=True, tag="text"):
    """A piece of text."""

    text: str


class Image(msgspec.Struct, frozen=True, tag="image", omit_defaults=True):
    """An image, or a PDF document, either inline or by reference.

    Attributes:
        media_type: For example `image/png`, or `application/pdf` for a document.
        data: Base64 of the bytes, or empty where `url` is given.
        url: Where the provider finds the image, or empty where `data` is given.
        width: Pixels; 0 where unknown, which costs the provider's largest image in every estimate.
        height: Pixels; 0 where unknown.
    """

    media_type: str
    data: str = ""
    url: str = ""
    width: int = 0
    height: int = 0


Content: TypeAlias = tuple[Text | Image, ...]
"""The parts of an input or a tool result, in their order."""


class UserInput(msgspec.Struct, frozen=True, tag="user"):
    """One input of the person whom the agent works for; content may be given as anything that `as_content` takes."""

    content: Content

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "content", as_content(self.content))


class Attachment(msgspec.Struct, frozen=True, tag="attachment", omit_defaults=True):
    """A file that came with the task: a note, the text that was extracted from it, and images by reference."""

    name: str
    note: str = ""
    text: str = ""
    images: tuple[Image, ...] = ()


class Reasoning(msgspec.Struct, frozen=True, tag="reasoning", omit_defaults=True):
    """What a model thought before it answered; only the provider that made it may see it again.

    Attributes:
        text: The readable part; may be empty.
        signature: The provider's seal over it, replayed as it came.
        provider: Who made it, for example `anthropic`.
        redacted: The encrypted form where the provider gave no text.
    """

    text: str
    signature: str = ""
    provider: str = ""
    redacted: str = ""


class ToolCall(msgspec.Struct, frozen=True, tag="call"):
    """A call of a tool.

    Attributes:
        id: The provider's id of the call.
        name: The tool's name.
        arguments: The JSON text of the arguments exactly as the model wrote it, key order and all.
    """

    id: str
    name: str
    arguments: str = "{}"


class Opaque(msgspec.Struct, frozen=True, tag="opaque"):
    """A part that only its provider understands (a hosted tool, a citation), replayed to it as it came.

    Attributes:
        provider: Who made it.
        json: The part's JSON text.
    """

    provider: str
    json: str


AssistantPart: TypeAlias = Text | Reasoning | ToolCall | Opaque
"""What one response of a model is made of."""


class AssistantTurn(msgspec.Struct, frozen=True, tag="assistant", omit_defaults=True):
    """One response of the model, its parts in their order.

    Attributes:
        parts: Text, reasoning, calls and opaque parts.
        finish: Why the model stopped: `stop`, `tool_calls`, `length`, `filter`, `interrupted` or the provider's word.
    """

    parts: tuple[AssistantPart, ...]
    finish: str = "stop"

    @property
    def text(self) -> str:
        """All text parts, joined."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls of this turn, in their order."""
        return tuple(part for part in self.parts if isinstance(part, ToolCall))

    def says_what(self, other: AssistantTurn) -> bool:
        """Whether another turn says the same; the ids of calls do not count, since they may have been given anew."""
        plain = [
            [ToolCall("", part.name, part.arguments) if isinstance(part, ToolCall) else part for part in turn.parts]
            for turn in (self, other)
        ]
        return plain[0] == plain[1]


class ToolResult(msgspec.Struct, frozen=True, tag="result", omit_defaults=True):
    """What a tool gave back.

    Attributes:
        call: The id of the call that it answers.
        content: Text and images, as anything that `as_content` takes; empty content is said to be empty on the wire.
        is_error: Whether the tool failed.
        stage: `final`; `pending` where it stands for a result that is still to come; `late` for that result, which
            is shown where it comes and replaces nothing.
        artifact: The artifact that holds the whole output, where the content is only a projection of it.
    """

    call: str
    content: Content
    is_error: bool = False
    stage: Literal["final", "pending", "late"] = "final"
    artifact: str = ""

    def __post_init__(self) -> None:
        msgspec.structs.force_setattr(self, "content", as_content(self.content))


class StateFull(msgspec.Struct, frozen=True, tag="state_full"):
    """The whole world state of a scope as of then. `state` is a JSON object."""

    scope: Literal["session", "run"]
    state: dict[str, Any]


class StateDiff(msgspec.Struct, frozen=True, tag="state_diff", omit_defaults=True):
    """What changed in a scope's world state, as an RFC 7396 merge patch: `None` removes a key."""

    scope: Literal["session", "run"]
    changes: dict[str, Any]
    reason: str = ""


class SkillText(msgspec.Struct, frozen=True, tag="skill"):
    """The full text of a skill as it was when it was activated."""

    name: str
    text: str


class Guidance(msgspec.Struct, frozen=True, tag="guidance", omit_defaults=True):
    """A person's steering or answer while the run goes on.

    Attributes:
        text: What was said.
        answers: The id of the call that asked, if one did.
        images: What was shown with it.
    """

    text: str
    answers: str = ""
    images: tuple[Image, ...] = ()


class Approval(msgspec.Struct, frozen=True, tag="approval", omit_defaults=True):
    """A person's decision on a call that needed one."""

    call: str
    decision: Literal["approved", "denied"]
    by: str = ""
    note: str = ""


class IgnoredInteraction(msgspec.Struct, frozen=True, tag="ignored", omit_defaults=True):
    """Something that a person or the environment was asked, and that nobody answered.

    Attributes:
        what: What was asked or offered.
        why: Why it came to nothing, for example a time limit.
        call: The id of the call that asked, if one did.
    """

    what: str
    why: str = ""
    call: str = ""


class Recovery(msgspec.Struct, frozen=True, tag="recovery"):
    """A fact that the model must know to go on after something broke, such as a restart of the application."""

    text: str


class Summary(msgspec.Struct, frozen=True, tag="summary", omit_defaults=True):
    """What stands in the model's view for entries that a compaction covered.

    Attributes:
        text: The summary.
        covers: Ranges of entry ids, each from its first to its last, that the model no longer sees in full.
        reachable: The few among them that can still be recalled word for word, each with what it is.
    """

    text: str
    covers: tuple[tuple[int, int], ...]
    reachable: tuple[tuple[int, str], ...] = ()


Item: TypeAlias = (
    UserInput
    | Attachment
    | AssistantTurn
    | ToolResult
    | StateFull
    | StateDiff
    | SkillText
    | Guidance
    | Approval
    | IgnoredInteraction
    | Recovery
    | Summary
)
"""Anything that has a place in the causal order of a session."""


class Entry(msgspec.Struct, frozen=True):
    """An item in its place.

    Attributes:
        id: Its place in the session's causal order, from 0; stable across forks.
        run: The number of its run, from 1; 0 before the first.
        item: The content.
    """

    id: int
    run: int
    item: Item


def as_content(content: str | Text | Image | Sequence[str | Text | Image]) -> Content:
    """Content parts from whatever is handy: a string, a part, or several of either.

    Raises:
        InputError: It is, or holds, something else.

    Examples:
        >>> as_content("hello")
        (Text(text='hello'),)
    """
    if isinstance(content, str):
        return (Text(content),)
    if isinstance(content, Text | Image):
        return (content,)
    if isinstance(content, Mapping | bytes):
        raise InputError(f"content must be text, not {type(content).__name__}; encode it first, as with json.dumps")
    try:
        parts = tuple(Text(part) if isinstance(part, str) else part for part in content)
    except TypeError as reason:
        raise InputError(f"content must be text, Text, Image or several of them, not {content!r}") from reason
    for part in parts:
        if not isinstance(part, Text | Image):
            raise InputError(f"content must be text, Text, Image or several of them; {part!r} is none")
    return parts
