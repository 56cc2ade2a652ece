"""Codex rollouts: lines of `{"timestamp", "type", "payload"}`.

What the model saw and said is in the `response_item` lines; the `event_msg` lines tell a screen the same again and are
read only for what is nowhere else: bills, interruptions, the beginning of a turn, and going back. A forked session's
file begins with a copy of its parent's, which is a part of the conversation like any other. A compaction by the tool
itself is passed over: the conversation goes on as if it had not been.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from muntin.items import (
    AssistantPart,
    AssistantTurn,
    Content,
    Image,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    UserInput,
)
from muntin.transcripts.events import Problem, Recording, Usage
from muntin.transcripts.lines import Lines, compact
from muntin.transcripts.timeline import Mark, Timeline, main_model
from muntin.transcripts.values import as_arguments, as_text, epoch, image_at, integer, mapping, objects

__all__ = ["DESCRIPTION", "NAME", "read", "recognises"]

NAME: Final = "codex"
DESCRIPTION = "Codex rollout (~/.codex/sessions/**/*.jsonl)"
PROVIDER = "openai"

LINES = {"session_meta", "turn_context", "response_item", "event_msg", "compacted"}
# What the model had the client do, under names of its own; whatever it ran at its own place is opaque.
CALLS = {"function_call", "custom_tool_call", "local_shell_call", "tool_search_call"}
# Codex's own bookkeeping, and what its own compaction left: the model's window is ours to manage.
SKIPPED = {"", "ghost_snapshot", "compaction", "compaction_summary", "context_compaction"}
# Codex says in a user message that the last turn was stopped, beside the event that says so.
ABORTED = "<turn_aborted>"


def recognises(records: Sequence[Any]) -> bool:
    """Whether these JSON values are lines of this format."""
    return any(
        isinstance(record, dict) and as_text(record.get("type")) in LINES and isinstance(record.get("payload"), dict)
        for record in records
    )


def read(lines: Lines) -> list[Recording]:
    """The one recording of a file. O(n)."""
    rollout = _Rollout()
    problems = list(lines.problems)
    for number, record in lines.records:
        line = mapping(record)
        if isinstance(line.get("type"), str) and isinstance(line.get("payload"), dict):
            rollout.take(line["type"], line["payload"], epoch(line.get("timestamp")))
        else:
            problems.append(Problem(number, "no line of a Codex rollout: `type` or `payload` is missing"))
    problems.sort(key=lambda problem: problem.line)
    return [rollout.recording(tuple(problems))]


class _Rollout:
    """What was read so far of one rollout."""

    def __init__(self) -> None:
        self.meta: dict[str, Any] = {}
        self.model = ""
        self.rules: list[str] = []
        self.timeline = Timeline()
        self.turns: list[Mark] = []
        # One response is several items; it is whole when something else follows.
        self.parts: list[AssistantPart] = []
        self.time = 0.0
        self.billed = -1

    def take(self, kind: str, payload: dict[str, Any], time: float) -> None:
        match kind:
            case "session_meta":
                # In a forked session the parent's comes second.
                self.meta = self.meta or payload
            case "turn_context":
                self.respond()
                self.model = as_text(payload.get("model"))
            case "response_item":
                self.item(payload, time)
            case "event_msg":
                self.event(payload)
            case _:
                self.respond()

    def item(self, item: dict[str, Any], time: float) -> None:
        kind = as_text(item.get("type"))
        if kind in SKIPPED:
            self.respond()
        elif kind == "message" and item.get("role") != "assistant":
            self.respond()
            self.say(as_text(item.get("role")), _content(item.get("content")))
        elif kind.endswith("_output") and item.get("execution") != "server":
            self.respond()
            self.timeline.result(_result(item))
        else:
            self.parts.extend(_parts(kind, item))
            self.time = time

    def say(self, role: str, content: Content) -> None:
        text = "\n".join(part.text for part in content if isinstance(part, Text))
        if role in {"system", "developer"} and not self.timeline.mark().waiting and not self.timeline.events:
            self.rules.append(text)
        elif text.startswith(ABORTED):
            self.timeline.interrupt("interrupted")
        else:
            self.timeline.say(UserInput(content))

    def event(self, event: dict[str, Any]) -> None:
        match event.get("type"):
            case "token_count":
                self.bill(mapping(event.get("info")))
            case "task_started":
                self.respond()
                self.timeline.finish()
                self.turns.append(self.timeline.mark())
            case "turn_aborted":
                self.respond()
                self.timeline.interrupt(as_text(event.get("reason")))
            case "thread_rolled_back":
                self.respond()
                count = integer(event.get("num_turns"))
                if count > 0 and self.turns:
                    count = min(count, len(self.turns))
                    self.timeline.rewind(self.turns[-count])
                    del self.turns[-count:]

    def bill(self, info: dict[str, Any]) -> None:
        last = mapping(info.get("last_token_usage"))
        # After its own compaction Codex writes an estimate of the window here, with no input billed.
        if not integer(last.get("input_tokens")):
            return
        # The same count is told again at the start of the next turn; a new call always raises the total.
        total = integer(mapping(info.get("total_token_usage")).get("total_tokens"))
        if total and total == self.billed:
            return
        self.billed = total
        self.respond()
        self.timeline.bill(
            Usage(
                input=integer(last.get("input_tokens")),
                cached=integer(last.get("cached_input_tokens")),
                output=integer(last.get("output_tokens")),
            )
        )

    def respond(self) -> None:
        if self.parts:
            finish = "tool_calls" if any(isinstance(part, ToolCall) for part in self.parts) else "stop"
            self.timeline.respond(AssistantTurn(tuple(self.parts), finish), model=self.model, time=self.time)
            self.parts = []

    def recording(self, problems: tuple[Problem, ...]) -> Recording:
        self.respond()
        events = self.timeline.close()
        base = self.meta.get("base_instructions") or self.meta.get("instructions")
        rules = [as_text(base.get("text") if isinstance(base, dict) else base), *self.rules]
        return Recording(
            id=as_text(self.meta.get("id")) or "session",
            format=NAME,
            provider=PROVIDER,
            model=main_model(events),
            system="\n\n".join(rule for rule in rules if rule),
            tools=tuple(_tool(tool) for tool in objects(self.meta.get("dynamic_tools"))),
            events=events,
            problems=problems,
        )


def _parts(kind: str, item: dict[str, Any]) -> list[AssistantPart]:
    if kind in CALLS and item.get("execution") != "server":
        return [_call(kind, item)]
    if kind == "message":
        return [_spoken(block) for block in objects(item.get("content"))]
    if kind == "reasoning":
        texts = [*objects(item.get("summary")), *objects(item.get("content"))]
        thought = Reasoning(
            "\n\n".join(as_text(block.get("text")) for block in texts),
            signature=as_text(item.get("id")),
            provider=PROVIDER,
            redacted=as_text(item.get("encrypted_content")),
        )
        # Rollouts of some versions keep only the fact that the model thought.
        return [thought] if thought.text or thought.signature or thought.redacted else []
    return [Opaque(PROVIDER, compact(item))]


def _spoken(block: dict[str, Any]) -> AssistantPart:
    text = block.get("text") if "text" in block else block.get("refusal")
    return Text(text) if isinstance(text, str) else Opaque(PROVIDER, compact(block))


def _call(kind: str, item: dict[str, Any]) -> ToolCall:
    call = as_text(item.get("call_id") or item.get("id"))
    match kind:
        case "custom_tool_call":
            return ToolCall(call, as_text(item.get("name")), as_arguments(as_text(item.get("input"))))
        case "local_shell_call":
            return ToolCall(call, "local_shell", as_text(mapping(item.get("action"))))
        case "tool_search_call":
            return ToolCall(call, "tool_search", as_text(item.get("arguments")))
        case _:
            # The model knows a tool of a namespace by both names run together.
            name = as_text(item.get("namespace")) + as_text(item.get("name"))
            return ToolCall(call, name, as_text(item.get("arguments")))


def _result(item: dict[str, Any]) -> ToolResult:
    output = item.get("output", item.get("tools"))
    failed = False
    if isinstance(output, dict) and "content" in output:
        failed = output.get("success") is False
        output = output["content"]
    return ToolResult(as_text(item.get("call_id")), _content(output), failed)


def _content(content: Any) -> Content:
    if not isinstance(content, list):
        return (Text(as_text(content)),) if content else ()
    return tuple(_part(block) for block in content)


def _part(block: Any) -> Text | Image:
    match block:
        case {"type": "input_text" | "output_text" | "text", "text": str(text)}:
            return Text(text)
        case {"type": "input_image", "image_url": str(url)}:
            return image_at(url)
        case _:
            return Text(as_text(block))


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": as_text(tool.get("name")),
        "description": as_text(tool.get("description")),
        "parameters": mapping(tool.get("inputSchema") or tool.get("input_schema") or tool.get("parameters")),
    }
