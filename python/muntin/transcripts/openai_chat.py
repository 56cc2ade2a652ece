"""Chat-completions conversations: message arrays and request bodies, alone or with what came back.

Read are a JSON array of messages, an object with `messages` (a request body), and an object with such a body under
`request` and, where there are any, the answer under `response` and the bill under `usage`; one a file, or one a line.
Each is a recording of its own, since nothing in it says that it goes on from another.
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
from muntin.transcripts.timeline import Timeline, main_model
from muntin.transcripts.values import as_arguments, as_text, epoch, image_at, integer, mapping, objects

__all__ = ["DESCRIPTION", "NAME", "read", "recognises"]

NAME: Final = "openai-chat"
DESCRIPTION = "OpenAI chat completions: an array of messages, or a request body, or one of either a line"
PROVIDER = "openai"

FINISHES = {"content_filter": "filter", "function_call": "tool_calls"}
# Blocks of a Messages body, which looks the same from outside and would be read wrongly.
FOREIGN_BLOCKS = {"tool_use", "tool_result", "thinking"}


def recognises(records: Sequence[Any]) -> bool:
    """Whether these JSON values are lines of this format."""
    return any(_is_conversation(record) for record in records)


def read(lines: Lines) -> list[Recording]:
    """One recording a line, the problems of the file in the first. O(n)."""
    problems = list(lines.problems)
    conversations: list[tuple[str, Any]] = []
    taken: set[str] = set()
    for number, record in lines.records:
        if not _is_conversation(record):
            problems.append(Problem(number, "no chat-completions messages in this line"))
            continue
        name = mapping(record).get("id")
        name = name if isinstance(name, str) and name not in taken else f"line-{number}"
        taken.add(name)
        conversations.append((name, record))
    return [
        _recording(name, record, tuple(problems) if place == 0 else ())
        for place, (name, record) in enumerate(conversations)
    ]


def _body(record: Any) -> dict[str, Any]:
    if isinstance(record, list):
        return {"messages": record}
    outer = mapping(record)
    return mapping(outer["request"]) if "request" in outer else outer


def _is_conversation(record: Any) -> bool:
    body = _body(record)
    messages = body.get("messages")
    if not isinstance(messages, list) or "system" in body:
        return False
    return all(
        isinstance(message, dict)
        and isinstance(message.get("role"), str)
        and not any(as_text(block.get("type")) in FOREIGN_BLOCKS for block in objects(message.get("content")))
        for message in messages
    )


def _recording(name: str, record: Any, problems: tuple[Problem, ...]) -> Recording:
    body = _body(record)
    messages = objects(body["messages"])
    opening = next((i for i, message in enumerate(messages) if not _is_rule(message)), len(messages))
    timeline = Timeline()
    for message in messages[opening:]:
        match message["role"]:
            case "assistant":
                timeline.respond(_turn(message, ""))
            case "tool" | "function":
                # A message of the retired role `function` names its function in the place of a call.
                call = message.get("tool_call_id") or message.get("name")
                timeline.result(ToolResult(as_text(call), _content(message.get("content"))))
            case _:
                timeline.say(UserInput(_content(message.get("content"))))
    outer = mapping(record)
    response = mapping(outer.get("response"))
    for choice in objects(response.get("choices"))[:1]:
        timeline.respond(
            _turn(mapping(choice.get("message")), as_text(choice.get("finish_reason"))),
            usage=_usage(response.get("usage") or outer.get("usage")),
            model=as_text(response.get("model")),
            time=epoch(response.get("created")),
        )
    events = timeline.close()
    return Recording(
        id=name,
        format=NAME,
        provider=PROVIDER,
        model=as_text(body.get("model")) or main_model(events),
        system="\n\n".join(_plain(message.get("content")) for message in messages[:opening]),
        tools=tuple(_tool(tool) for tool in objects(body.get("tools"))),
        events=events,
        problems=problems,
    )


def _is_rule(message: dict[str, Any]) -> bool:
    return message["role"] in {"system", "developer"}


def _tool(tool: dict[str, Any]) -> dict[str, Any]:
    function = mapping(tool.get("function") or tool.get("custom") or tool)
    return {
        "name": as_text(function.get("name")),
        "description": as_text(function.get("description")),
        "parameters": mapping(function.get("parameters")),
    }


def _turn(message: dict[str, Any], finish: str) -> AssistantTurn:
    parts: list[AssistantPart] = []
    if thought := message.get("reasoning_content") or message.get("reasoning"):
        parts.append(Reasoning(as_text(thought), provider=PROVIDER))
    content = message.get("content")
    if isinstance(content, str):
        if content:
            parts.append(Text(content))
    else:
        for block in objects(content):
            known = block.get("text") if block.get("type") == "text" else block.get("refusal")
            parts.append(Text(known) if isinstance(known, str) else Opaque(PROVIDER, compact(block)))
    if refusal := message.get("refusal"):
        parts.append(Text(as_text(refusal)))
    calls = [_call(call) for call in objects(message.get("tool_calls"))]
    if function := mapping(message.get("function_call")):
        called = as_text(function.get("name"))
        calls.append(ToolCall(called, called, as_text(function.get("arguments"))))
    finish = FINISHES.get(finish, finish) or ("tool_calls" if calls else "stop")
    return AssistantTurn((*parts, *calls), finish)


def _call(call: dict[str, Any]) -> ToolCall:
    name = as_text(call.get("id"))
    if custom := mapping(call.get("custom")):
        return ToolCall(name, as_text(custom.get("name")), as_arguments(as_text(custom.get("input"))))
    function = mapping(call.get("function"))
    return ToolCall(name, as_text(function.get("name")), as_text(function.get("arguments")))


def _content(content: Any) -> Content:
    if not isinstance(content, list):
        return (Text(as_text(content)),) if content else ()
    return tuple(_part(block) for block in content)


def _part(block: Any) -> Text | Image:
    match block:
        case {"type": "text", "text": str(text)}:
            return Text(text)
        case {"type": "image_url", "image_url": {"url": str(url)}} | {"type": "image_url", "image_url": str(url)}:
            return image_at(url)
        case _:
            return Text(as_text(block))


def _plain(content: Any) -> str:
    return "\n".join(part.text for part in _content(content) if isinstance(part, Text))


def _usage(bill: Any) -> Usage | None:
    bill = mapping(bill)
    if "prompt_tokens" not in bill:
        return None
    cached = mapping(bill.get("prompt_tokens_details")).get("cached_tokens") or bill.get("prompt_cache_hit_tokens")
    return Usage(
        input=integer(bill["prompt_tokens"]), cached=integer(cached), output=integer(bill.get("completion_tokens"))
    )
