"""The request for a summary: its own layout, bounded before it is sent, all of the stretch read."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from muntin._core import History
from muntin.compaction.facts import Facts
from muntin.compaction.parts import PARTS
from muntin.items import (
    AssistantTurn,
    Attachment,
    Entry,
    Guidance,
    Image,
    Reasoning,
    Summary,
    Text,
    ToolCall,
    ToolResult,
    UserInput,
)
from muntin.layout import Segment
from muntin.prefix import Sent
from muntin.providers.base import Adapter, Frame
from muntin.wording import worded

__all__ = [
    "FRAMING",
    "INSTRUCTIONS",
    "ON_THE_SPOT",
    "Stage",
    "SummaryRequest",
    "same_prefix_body",
    "staged",
    "summary_body",
    "transcript",
]

INSTRUCTIONS: Final = (
    "You condense the earlier part of an agent's conversation so that the agent can go on without it. Write a summary "
    "with exactly these headings, each on its own line after '## ':\n"
    + "\n".join(f"## {part}" for part in PARTS)
    + "\nKeep names, paths, numbers and decisions exactly as they are. Under a heading with nothing to say "
    "write 'none'. Invent nothing. Where an earlier summary is given, carry on what still holds. "
    "Each message stands behind its number, as in [#12]; where its exact words will matter, name the number so. "
    "Answer with the summary alone."
)

FRAMING: Final = 200
"""Tokens that the tags and messages of a summary request have at most."""

ON_THE_SPOT: Final = (
    "Stop here for a moment and call no tool. The conversation above is about to be shortened: all but its newest part "
    "will be replaced by what you write now.\n\n"
)
"""Goes before the instructions where the conversation itself stands before them, with its tools."""


class Stage(NamedTuple):
    """A bounded part of the stretch: its text, and the entries that begin in it."""

    text: str
    entries: tuple[Entry, ...]


class SummaryRequest(NamedTuple):
    """One request for a summary.

    Attributes:
        number: Its place among the requests of the plan, from 1.
        body: The JSON to POST to the summariser's API.
        earlier: The summary of everything before the stretch, empty for none.
        text: The stretch as text.
        entries: The entries that begin in it, for summarisers that work on data; they are not redacted.
        max_tokens: Tokens that the summary may have.
        facts: What todo, transactions, approvals and calls said when the plan was made.
        path: Where to POST the body, below the root of the API that the plan was made for.
        headers: What to send beside the credentials.
    """

    number: int
    body: bytes
    earlier: str
    text: str
    entries: tuple[Entry, ...]
    max_tokens: int
    facts: Facts = Facts()
    path: str = ""
    headers: Mapping[str, str] = MappingProxyType({})


def transcript(entry: Entry) -> str:
    """An entry as a summariser reads it: its number, who said what, with images named and never quoted."""
    text = _said(entry)
    return f"[#{entry.id}] {text}" if text else ""


def _said(entry: Entry) -> str:
    match entry.item:
        case UserInput(content):
            return f"user: {_content(content)}"
        case AssistantTurn(parts):
            return "\n".join(filter(None, map(_part, parts)))
        case ToolResult(call, content, is_error):
            return f"{'error' if is_error else 'result'} of {call}: {_content(content)}"
        case Attachment(images=images) | Guidance(images=images):
            return worded(entry.item) + "".join(f"\n[image {image.media_type}]" for image in images)
        case Summary(text):
            return text
        case item:
            return worded(item)


def staged(
    entries: Iterable[Entry], count: Callable[[str], int], budget: int, redact: Callable[[str], str] | None = None
) -> Iterator[Stage]:
    """The stretch in stages of at most `budget` tokens each; a longer entry is divided, never shortened."""
    texts: list[str] = []
    begun: list[Entry] = []
    used = 0
    for entry in entries:
        text = transcript(entry)
        if redact:
            text = redact(text)
        tokens = count(text) + 1
        pieces = [text] if tokens <= budget else _divided(text, count, budget)
        for i, piece in enumerate(pieces):
            size = tokens if len(pieces) == 1 else count(piece) + 1
            if texts and used + size > budget:
                yield Stage("\n".join(filter(None, texts)), tuple(begun))
                texts, begun, used = [], [], 0
            if not i:
                begun.append(entry)
            texts.append(piece)
            used += size
    if texts:
        yield Stage("\n".join(filter(None, texts)), tuple(begun))


def summary_body(adapter: Adapter, stage: Stage, earlier: str, facts: str, max_tokens: int) -> bytes:
    """The body of a request for a summary: what to keep, the earlier summary, the stretch, what is known now."""
    text = f"<conversation>\n{stage.text}\n</conversation>"
    if earlier:
        text = f"<earlier_summary>\n{earlier}\n</earlier_summary>\n\n{text}"
    if facts:
        text = f"{text}\n\n<now>\n{facts}\n</now>"
    front = (adapter.front_part(Segment.SYSTEM, INSTRUCTIONS),)
    tail = tuple(adapter.units(UserInput((Text(text),))))
    head = adapter.head({}, max_tokens)
    return b"".join(adapter.pieces(Frame(head, None, front, History(adapter.groups), 0, tail, ())))


def same_prefix_body(adapter: Adapter, sent: Sent, facts: str, max_tokens: int) -> bytes:
    """The body of a summary request that begins as the last request did, so that a provider reads it from its cache."""
    now = f"\n\n<now>\n{facts}\n</now>" if facts else ""
    tail = tuple(adapter.units(UserInput((Text(ON_THE_SPOT + INSTRUCTIONS + now),))))
    params = _carried(sent.switches)
    thinking = params.get("thinking")
    thought: int = thinking.get("budget_tokens", 0) if isinstance(thinking, Mapping) else 0
    head = adapter.head(params, max_tokens + thought)
    frame = Frame(head, sent.tools, sent.front, sent.history, sent.units, tail, sent.breakpoints, sent.front_marks)
    return b"".join(adapter.pieces(frame))


def _carried(switches: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that the prefix would break without, but for what would make the answer no free text."""
    carried = {name: value for name, value in switches.items() if name != "response_format"}
    for name in carried.keys() & {"output_config", "text"}:
        if isinstance(carried[name], Mapping):
            carried[name] = {key: value for key, value in carried[name].items() if key != "format"}
        if not carried[name]:
            del carried[name]
    for name in carried.keys() & {"tool_choice", "toolConfig"}:
        choice = carried[name].get("toolChoice") if name == "toolConfig" else carried[name]
        kind = choice.get("type", next(iter(choice), "")) if isinstance(choice, Mapping) else choice
        if kind not in ("auto", "none"):
            del carried[name]
    return carried


def _divided(text: str, count: Callable[[str], int], budget: int) -> list[str]:
    parts = math.ceil((count(text) + 1) / budget)
    while True:
        size = max(1, math.ceil(len(text) / parts))
        pieces = [text[at : at + size] for at in range(0, len(text), size)]
        if size == 1 or all(count(piece) < budget for piece in pieces):
            return pieces
        parts *= 2


def _content(content: Iterable[Text | Image]) -> str:
    return "\n".join(part.text if isinstance(part, Text) else f"[image {part.media_type}]" for part in content)


def _part(part: object) -> str:
    match part:
        case Text(text):
            return f"assistant: {text}"
        case ToolCall(call, name, arguments):
            return f"call {call}: {name}({arguments})"
        case Reasoning():
            return ""  # a thought is no decision, and may not leave its provider
        case _:
            return ""
