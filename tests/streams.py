"""The events of streamed answers as each provider sends them, for tests: text in pieces, then calls."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

__all__ = ["WHOLE_ARGUMENTS", "streamed"]

WHOLE_ARGUMENTS = ("gemini", "ollama")
"""Formats in which the arguments of a call come as an object, all at once."""

Events = list[dict[str, Any]]
Calls = Sequence[tuple[str, str]]


def streamed(provider: str, text: str, calls: Calls = (), size: int = 3, *, finish: bool = True) -> Events:
    """The events of an answer; without `finish` the provider has not said yet that it is complete."""
    made = _FORMATS[provider.partition(":")[0]](text, list(calls), size)
    return made[0] + (made[1] if finish else [])


def _cut(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


def _openai_chat(text: str, calls: Calls, size: int) -> tuple[Events, Events]:
    deltas: Events = [{"role": "assistant", "content": ""}, *({"content": part} for part in _cut(text, size))]
    for i, (id, arguments) in enumerate(calls):
        first = {"index": i, "id": id, "function": {"name": "read_file", "arguments": ""}}
        deltas += [{"tool_calls": [first]}]
        deltas += [{"tool_calls": [{"index": i, "function": {"arguments": p}}]} for p in _cut(arguments, size)]
    events = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    end = {"index": 0, "delta": {}, "finish_reason": "tool_calls" if calls else "stop"}
    return events, [{"choices": [end]}, {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5}}]


def _anthropic(text: str, calls: Calls, size: int) -> tuple[Events, Events]:
    usage = {"input_tokens": 10, "output_tokens": 1}
    events: Events = [{"type": "message_start", "message": {"content": [], "usage": usage}}, {"type": "ping"}]

    def block(index: int, start: dict[str, Any], deltas: Events) -> None:
        events.append({"type": "content_block_start", "index": index, "content_block": start})
        events.extend({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas)
        events.append({"type": "content_block_stop", "index": index})

    if text:
        block(0, {"type": "text", "text": ""}, [{"type": "text_delta", "text": part} for part in _cut(text, size)])
    for i, (id, arguments) in enumerate(calls, 1):
        start = {"type": "tool_use", "id": id, "name": "read_file", "input": {}}
        block(i, start, [{"type": "input_json_delta", "partial_json": part} for part in _cut(arguments, size)])
    stop = {"stop_reason": "tool_use" if calls else "end_turn"}
    return events, [
        {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]


def _openai_responses(text: str, calls: Calls, size: int) -> tuple[Events, Events]:
    events: Events = [{"type": "response.created", "response": {"id": "r", "status": "in_progress", "output": []}}]
    items: Events = []

    def item(start: dict[str, Any], kind: str, parts: list[str], whole: dict[str, Any]) -> None:
        index = len(items)
        items.append(start | whole)
        events.append({"type": "response.output_item.added", "output_index": index, "item": start})
        events.extend({"type": kind, "output_index": index, "delta": part} for part in parts)
        if start["type"] != "message" or calls:  # the last one is still open where the stream breaks off
            events.append({"type": "response.output_item.done", "output_index": index, "item": items[index]})

    if text:
        start = {"type": "message", "id": "msg_1", "role": "assistant", "content": []}
        content = [{"type": "output_text", "text": text, "annotations": []}]
        item(start, "response.output_text.delta", _cut(text, size), {"content": content})
    for id, arguments in calls:
        start = {"type": "function_call", "call_id": id, "name": "read_file", "arguments": ""}
        item(start, "response.function_call_arguments.delta", _cut(arguments, size), {"arguments": arguments})
    whole = {"status": "completed", "output": items, "usage": {"input_tokens": 10, "output_tokens": 5}}
    return events, [{"type": "response.completed", "response": whole}]


def _gemini(text: str, calls: Calls, size: int) -> tuple[Events, Events]:
    parts: Events = [{"text": part} for part in _cut(text, size)]
    parts += [
        {"functionCall": {"id": id, "name": "read_file", "args": json.loads(arguments)}} for id, arguments in calls
    ]
    events: Events = [{"candidates": [{"content": {"role": "model", "parts": [part]}}]} for part in parts]
    usage = {"promptTokenCount": 10, "candidatesTokenCount": 5}
    end = {"candidates": [{"content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": "STOP"}]}
    return events or [{"candidates": [{"content": {"parts": []}}]}], [{**end, "usageMetadata": usage}]


def _bedrock(text: str, calls: Calls, size: int) -> tuple[Events, Events]:
    events: Events = [{"messageStart": {"role": "assistant"}}]
    for part in _cut(text, size):
        events.append({"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": part}}})
    for i, (id, arguments) in enumerate(calls, 1):
        start = {"toolUse": {"toolUseId": id, "name": "read_file"}}
        events.append({"contentBlockStart": {"contentBlockIndex": i, "start": start}})
        for part in _cut(arguments, size):
            events.append({"contentBlockDelta": {"contentBlockIndex": i, "delta": {"toolUse": {"input": part}}}})
        events.append({"contentBlockStop": {"contentBlockIndex": i}})
    usage = {"inputTokens": 10, "outputTokens": 5}
    return events, [
        {"messageStop": {"stopReason": "tool_use" if calls else "end_turn"}},
        {"metadata": {"usage": usage}},
    ]


def _ollama(text: str, calls: Calls, size: int) -> tuple[Events, Events]:
    events: Events = [{"message": {"role": "assistant", "content": part}, "done": False} for part in _cut(text, size)]
    made = [
        {"id": id, "function": {"name": "read_file", "arguments": json.loads(arguments)}} for id, arguments in calls
    ]
    if made:
        events.append({"message": {"role": "assistant", "content": "", "tool_calls": made}, "done": False})
    end = {"message": {"content": ""}, "done": True, "done_reason": "stop", "prompt_eval_count": 10, "eval_count": 5}
    return events or [{"message": {"content": ""}, "done": False}], [end]


_FORMATS = {
    "anthropic": _anthropic,
    "bedrock": _bedrock,
    "gemini": _gemini,
    "ollama": _ollama,
    "openai_chat": _openai_chat,
    "openai_responses": _openai_responses,
}
