"""Claude Code session logs: one JSON object a line, linked to a tree by `parentUuid`.

The order of the file is the order of events, but for lines that were written before their parent: those wait for it.
A line whose parent is not the last one is mostly no fork: results of parallel calls hang on the line of their call, and
progress lines hang anywhere. It is one where a prompt or a response came after the parent; a line without a parent
starts again from nothing.

One response of the API is written as several assistant lines of one `message.id`, a block a line, between which results
of its first calls may already stand. It is put together where its first line stands. What Claude Code made up itself
is left out: its own compactions with their summaries, and messages of the model `<synthetic>`, with which it reports
that no answer came.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

import msgspec

from muntin.items import (
    AssistantPart,
    AssistantTurn,
    Attachment,
    Content,
    Image,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    UserInput,
)
from muntin.transcripts.events import Event, Problem, Recording, Usage
from muntin.transcripts.lines import Lines, compact
from muntin.transcripts.timeline import Mark, Timeline, main_model
from muntin.transcripts.values import as_text, epoch, image_at, integer, mapping, objects

__all__ = ["DESCRIPTION", "NAME", "read", "recognises"]

NAME: Final = "claude-code"
DESCRIPTION = "Claude Code session (~/.claude/projects/**/*.jsonl)"
PROVIDER = "anthropic"

SPOKEN = {"user", "assistant", "attachment"}
KINDS = SPOKEN | {"system", "progress", "summary", "file-history-snapshot", "queue-operation"}
MARKS_OF_ORIGIN = ("uuid", "leafUuid", "sessionId", "snapshot")
INTERRUPTED = "[Request interrupted by user"
# A command of the client and what it printed: the model sees them with the next prompt, but they are no prompt.
WRAPPERS = ("<command-", "<local-command-", "<bash-input>", "<bash-stdout>", "<bash-stderr>")
# Shown to the person and never to the model.
SCREEN_ONLY = {"hook_system_message", "hook_cancelled", "command_permissions"}
# Only of these hooks does the model see what they print.
HEARD_HOOKS = {"SessionStart", "UserPromptSubmit"}
PLANS = {"task_reminder", "todo_reminder", "todo"}
FINISHES = {"end_turn": "stop", "stop_sequence": "stop", "tool_use": "tool_calls", "max_tokens": "length"}
FINISHES |= {"refusal": "filter"}


class _Line(msgspec.Struct, frozen=True, rename="camel"):
    """What is read of a line."""

    type: str
    uuid: str | None = None
    parent_uuid: str | None = None
    session_id: str | None = None
    timestamp: str | None = None
    agent_id: str | None = None
    subtype: str | None = None
    is_sidechain: bool | None = False
    is_meta: bool | None = False
    is_compact_summary: bool | None = False
    is_api_error_message: bool | None = False
    message: dict[str, Any] | None = None
    attachment: dict[str, Any] | None = None

    @property
    def blocks(self) -> list[dict[str, Any]]:
        content = mapping(self.message).get("content")
        return [{"type": "text", "text": content}] if isinstance(content, str) else objects(content)

    @property
    def model(self) -> str:
        return as_text(mapping(self.message).get("model"))

    @property
    def answer(self) -> str:
        """What the lines of one response have in common."""
        return as_text(mapping(self.message).get("id")) or as_text(self.uuid)

    @property
    def is_boundary(self) -> bool:
        return self.type == "system" and as_text(self.subtype).endswith("compact_boundary")

    @property
    def is_spoken(self) -> bool:
        made_up = self.is_compact_summary or self.is_api_error_message or self.model == "<synthetic>"
        return self.type in SPOKEN and not made_up


def recognises(records: Sequence[Any]) -> bool:
    """Whether these JSON values are lines of this format."""
    return any(
        isinstance(record, dict)
        and as_text(record.get("type")) in KINDS
        and any(key in record for key in MARKS_OF_ORIGIN)
        for record in records
    )


def read(lines: Lines) -> list[Recording]:
    """The main conversation, if the file has one, then those of its subagents. O(n).

    The problems of the file are those of the first.
    """
    problems = list(lines.problems)
    found: list[_Line] = []
    for number, record in lines.records:
        try:
            line = msgspec.convert(record, _Line)
        except msgspec.ValidationError as error:
            problems.append(Problem(number, f"no line of a Claude Code session: {error}"))
        else:
            if line.uuid or line.type in SPOKEN:
                found.append(line)
    problems.sort(key=lambda problem: problem.line)
    session = next((line.session_id for line in found if line.session_id), "session")
    recordings: list[Recording] = []
    for chain, members in _chains(found).items():
        events = _Conversation(members).events()
        recordings.append(
            Recording(
                id=f"{session}/{chain}" if chain else session,
                format=NAME,
                provider=PROVIDER,
                model=main_model(events),
                events=events,
                problems=() if recordings else tuple(problems),
            )
        )
    return recordings


def _chains(lines: Sequence[_Line]) -> dict[str, list[_Line]]:
    """The lines of each conversation; the main one has no name.

    A subagent's lines name their agent or, in older logs, only say that they are a side chain: then the line on which
    the chain begins is its name.
    """
    chains: dict[str, list[_Line]] = {}
    named: dict[str, str] = {}
    latest = ""
    for line in _parents_first(lines):
        chain = ""
        if line.is_sidechain:
            parent = named.get(line.parent_uuid or "")
            # An unknown parent was cut off; a parent in the main conversation is the call of the subagent.
            cut_off = line.parent_uuid is not None and parent is None
            latest = chain = line.agent_id or parent or (latest if cut_off else "") or line.uuid or "sidechain"
        if line.uuid:
            named[line.uuid] = chain
        chains.setdefault(chain, []).append(line)
    # Titles, snapshots and hooks belong to no subagent: a file of nothing else is an empty main conversation.
    if len(chains) > 1 and not any(line.type in SPOKEN for line in chains.get("", ())):
        chains.pop("", None)
    main = chains.pop("", None)
    return ({"": main} if main is not None else {}) | chains or {"": []}


def _parents_first(lines: Sequence[_Line]) -> Iterator[_Line]:
    """The lines in the order of the file, each no earlier than its parent. A line that is there twice comes once."""
    unseen = {line.uuid for line in lines if line.uuid}
    waiting: dict[str, list[_Line]] = {}
    for line in lines:
        if line.uuid and line.uuid not in unseen:
            continue
        if line.parent_uuid in unseen and line.parent_uuid != line.uuid:
            waiting.setdefault(line.parent_uuid, []).append(line)
            continue
        ready = [line]
        while ready:
            following = ready.pop(0)
            if following.uuid:
                if following.uuid not in unseen:
                    continue
                unseen.discard(following.uuid)
                ready = waiting.pop(following.uuid, []) + ready
            yield following
    # Only lines that are their own ancestors are left, which no healthy log has.
    for rest in waiting.values():
        yield from rest


class _Conversation:
    """Turns the lines of one conversation into its events."""

    def __init__(self, lines: Sequence[_Line]) -> None:
        self.lines = lines
        self.timeline = Timeline()
        self.marks: dict[str, Mark] = {}
        # The lines of each response; it is taken out when the response is put into the timeline.
        self.answers: dict[str, list[_Line]] = {}
        for line in lines:
            if line.type == "assistant" and line.is_spoken:
                self.answers.setdefault(line.answer, []).append(line)

    def events(self) -> tuple[Event, ...]:
        for line in self.lines:
            place = self.origin(line)
            if line.is_spoken:
                if self.goes_on(line) and self.timeline.moved_on(place):
                    self.timeline.rewind(place)
                self.speak(line)
                place = self.timeline.mark()
            if line.uuid:
                self.marks[line.uuid] = place
        return self.timeline.close()

    def origin(self, line: _Line) -> Mark:
        """The place after the line's parent."""
        if line.parent_uuid is None and line.uuid and not line.is_boundary:
            return Mark()
        # A parent that is not in the file was cut off with its beginning, or is a damaged line.
        return self.marks.get(line.parent_uuid or "") or self.timeline.mark()

    def goes_on(self, line: _Line) -> bool:
        """Whether the line carries the conversation on, rather than hanging on something said before."""
        if line.type == "assistant":
            return line.answer in self.answers
        return not any(block.get("type") == "tool_result" for block in line.blocks)

    def speak(self, line: _Line) -> None:
        match line.type:
            case "assistant":
                if lines := self.answers.pop(line.answer, None):
                    last = lines[-1]
                    usage = _usage(mapping(last.message).get("usage"))
                    self.timeline.respond(_turn(lines), usage=usage, model=last.model, time=epoch(last.timestamp))
            case "user":
                self.hear(line)
            case _:
                self.attach(mapping(line.attachment))

    def hear(self, line: _Line) -> None:
        """A user line: results, a notice of interruption, and what a person or the client said."""
        said: list[Text | Image] = []
        person = not line.is_meta
        for block in line.blocks:
            text = as_text(block.get("text"))
            if block.get("type") == "tool_result":
                self.timeline.result(_result(block))
            elif text.startswith(INTERRUPTED):
                self.timeline.interrupt(text.strip("[]"))
            else:
                person = person and not text.startswith(WRAPPERS)
                said.append(_part(block))
        if said:
            self.timeline.say(UserInput(tuple(said)), person=person)

    def attach(self, attachment: dict[str, Any]) -> None:
        """What the client put beside a prompt or a result, where the model was shown it."""
        kind = as_text(attachment.get("type"))
        if kind in PLANS:
            if steps := [_step(item) for item in objects(attachment.get("content"))]:
                self.timeline.todo(steps)
        elif kind == "queued_command":
            self.timeline.say(UserInput(_content(attachment.get("prompt"))))
        elif kind not in SCREEN_ONLY and (
            kind != "hook_success" or as_text(attachment.get("hookEvent")) in HEARD_HOOKS
        ):
            name = as_text(attachment.get("filename") or attachment.get("path"))
            text = _shown(attachment)
            if name or text:
                self.timeline.say(Attachment(name or kind, kind if name else "", text), person=False)


def _turn(lines: Iterable[_Line]) -> AssistantTurn:
    blocks: list[dict[str, Any]] = []
    finish = ""
    for line in lines:
        # A line may be there again with another uuid, after a session was resumed.
        blocks.extend(block for block in line.blocks if block not in blocks)
        finish = as_text(mapping(line.message).get("stop_reason")) or finish
    parts = tuple(_answer_part(block) for block in blocks)
    calls = any(isinstance(part, ToolCall) for part in parts)
    return AssistantTurn(parts, FINISHES.get(finish, finish) or ("tool_calls" if calls else "stop"))


def _answer_part(block: dict[str, Any]) -> AssistantPart:
    match block:
        case {"type": "text", "text": str(text)} if not block.get("citations"):
            return Text(text)
        case {"type": "thinking", "thinking": str(text)}:
            return Reasoning(text, as_text(block.get("signature")), PROVIDER)
        case {"type": "redacted_thinking", "data": str(data)}:
            return Reasoning("", provider=PROVIDER, redacted=data)
        case {"type": "tool_use", "id": str(call), "name": str(name)}:
            return ToolCall(call, name, as_text(block.get("input")) or "{}")
        case _:
            return Opaque(PROVIDER, compact(block))


def _result(block: dict[str, Any]) -> ToolResult:
    return ToolResult(as_text(block.get("tool_use_id")), _content(block.get("content")), block.get("is_error") is True)


def _content(content: Any) -> Content:
    if not isinstance(content, list):
        return (Text(as_text(content)),) if content else ()
    return tuple(_part(block) for block in content)


def _part(block: Any) -> Text | Image:
    match block:
        case {"type": "text", "text": str(text)}:
            return Text(text)
        case {"type": "image", "source": {"type": "base64", "media_type": str(kind), "data": str(data)}}:
            return Image(kind, data=data)
        case {"type": "image", "source": {"type": "url", "url": str(url)}}:
            return image_at(url)
        case _:
            return Text(as_text(block))


def _shown(attachment: dict[str, Any]) -> str:
    """The text of an attachment, under whichever key its kind has it."""
    shown: list[str] = []
    for key in ("content", "snippet", "addedBlocks", "addedLines", "newDate", "files"):
        value = attachment.get(key)
        if isinstance(value, dict):
            # A file that was named in the prompt.
            value = mapping(value.get("file")).get("content")
        if isinstance(value, list):
            value = "\n".join(as_text(item) for item in value)
        if isinstance(value, str) and value:
            shown.append(value)
    return "\n".join(shown)


def _step(item: dict[str, Any]) -> tuple[str, str]:
    return as_text(item.get("status")), as_text(item.get("subject") or item.get("content"))


def _usage(bill: Any) -> Usage | None:
    bill = mapping(bill)
    if "input_tokens" not in bill:
        return None
    cached = integer(bill.get("cache_read_input_tokens"))
    written = integer(bill.get("cache_creation_input_tokens"))
    whole = integer(bill["input_tokens"]) + cached + written
    return Usage(whole, cached, written, integer(bill.get("output_tokens")))
