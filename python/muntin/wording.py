"""How items that no wire format knows read as text: state, skills, attachments, decisions, summaries.

The wording is the same for all providers, so that a session reads the same wherever it is sent. Changing a word here
changes the bytes of every unit that carries it, and with them every cached prefix.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import msgspec

from muntin.items import (
    Approval,
    Attachment,
    Guidance,
    IgnoredInteraction,
    Image,
    Recovery,
    SkillText,
    StateDiff,
    StateFull,
    Summary,
    Text,
    ToolCall,
    ToolResult,
    UserInput,
)
from muntin.layout import Segment
from muntin.transactions import TransactionSnapshot

__all__ = [
    "EMPTY_INPUT",
    "EMPTY_RESULT",
    "INTERRUPTED",
    "NO_TOOLS",
    "PENDING",
    "REPAIRS",
    "Worded",
    "front_text",
    "late_result",
    "repair_text",
    "still_running",
    "transaction_text",
    "worded",
]

EMPTY_INPUT = "(empty input)"
"""Stands for an input without text; providers refuse empty text."""

EMPTY_RESULT = "(no content)"
"""Stands for a tool result without content; providers refuse empty text."""

INTERRUPTED = "(no result: the call was interrupted)"
"""The result that a call gets on the wire when none ever came."""

NO_TOOLS = "No tool is available now. Do not call this one."
"""Describes the tool that stands in where none is left and a provider insists on one."""

PENDING = "(still running; its result follows when it is there)"
"""The result of a call that goes on in the background."""

REPAIRS: Final = {
    "empty_response": "Your last response was empty. Go on with the task: call a tool, or say what came of it.",
    "transaction_prose": "A file transaction is unfinished, but your last response was prose. Go on with one of its "
    "allowed next actions, as a tool call.",
}
"""What one-shot reminders say, by their kind."""

Worded = StateFull | StateDiff | SkillText | Guidance | Approval | IgnoredInteraction | Recovery | Summary | Attachment
"""Items that read as text."""


def worded(item: Worded) -> str:
    """The text of an item; its images are left to the adapter."""
    match item:
        case StateFull(scope, state):
            return f'<state scope="{scope}">\n{_json(state)}\n</state>'
        case StateDiff(scope, changes, reason):
            why = f"\nreason: {reason}" if reason else ""
            return f'<state_change scope="{scope}">\n{_json(changes)}{why}\n</state_change>'
        case SkillText(name, text):
            return f'<skill name="{name}">\n{text}\n</skill>'
        case Guidance(text, answers, _):
            return f'<answer call="{answers}">\n{text}\n</answer>' if answers else text if text.strip() else EMPTY_INPUT
        case Approval(call, decision, by, note):
            who = f' by="{by}"' if by else ""
            return f'<approval call="{call}" decision="{decision}"{who}>{note}</approval>'
        case IgnoredInteraction(what, why, call):
            asked = f' call="{call}"' if call else ""
            because = f"\nreason: {why}" if why else ""
            return f"<ignored_interaction{asked}>\n{what}{because}\n</ignored_interaction>"
        case Recovery(text):
            return f"<recovery>\n{text}\n</recovery>"
        case Summary(text, _):
            return (
                "<summary>\nEarlier parts of this conversation are not shown; this is what they came to. "
                f"The current task stands below in full.\n\n{text}\n</summary>"
            )
        case Attachment(name, note, text, _):
            parts = [f'<attachment name="{name}">', note, text, "</attachment>"]
            return "\n".join(part for part in parts if part)


def late_result(result: ToolResult) -> UserInput:
    """What is shown of a result that came after its call had been answered on the wire by a stand-in."""
    text = "\n\n".join(part.text for part in result.content if isinstance(part, Text)) or EMPTY_RESULT
    tag = "late_error" if result.is_error else "late_result"
    images = tuple(part for part in result.content if isinstance(part, Image))
    return UserInput((Text(f'<{tag} call="{result.call}">\n{text}\n</{tag}>'), *images))


def still_running(calls: Iterable[ToolCall]) -> str:
    """What is said of calls whose results are still to come, where they themselves may be shown no more."""
    lines = [f"- {call.id}: {call.name}({call.arguments})" for call in calls]
    return "\n".join(["Still running, with results to come:", *lines])


def repair_text(kind: str, text: str) -> str:
    """A one-shot reminder for the next request."""
    return f'<reminder kind="{kind}">\n{text}\n</reminder>'


def transaction_text(snapshot: TransactionSnapshot) -> str:
    """The smallest snapshot of an unfinished file transaction, its fields in their order."""
    return f"<file_transaction>\n{msgspec.json.encode(snapshot).decode()}\n</file_transaction>"


def front_text(segment: Segment, name: str, content: str | dict[str, Any]) -> str:
    """The text of one part of the front: a guide or the state in its tags, everything else as it is."""
    if isinstance(content, dict):
        return f'<state scope="session">\n{_json(content)}\n</state>'
    if segment is Segment.GUIDES:
        return f'<guide name="{name}">\n{content}\n</guide>'
    return content


def _json(value: Any) -> str:
    return msgspec.json.encode(value, order="sorted").decode()
