"""Good request bodies that use what a format offers; each function gives a fresh one to spoil."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["anthropic", "openai_chat"]

SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}},
    "required": ["path"],
    "additionalProperties": False,
}
PIXEL = "iVBORw0KGgo="


def openai_chat(exchanges: Sequence[int] = (2, 0)) -> dict[str, Any]:
    """A chat completion request; each exchange is an assistant message with so many calls, and what follows it."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You are careful."},
        {"role": "developer", "content": [{"type": "text", "text": "The branch is main."}]},
    ]
    messages.append({"role": "user", "content": [{"type": "text", "text": "Look."}, _openai_image()]})
    for i, count in enumerate(exchanges):
        ids = [f"call_{i}_{j}" for j in range(count)]
        calls = [
            {"id": call, "type": "function", "function": {"name": "read_file", "arguments": '{"path": "a.py"}'}}
            for call in ids
        ]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls} if calls else _said("assistant"))
        messages += [{"role": "tool", "tool_call_id": call, "content": "ok"} for call in ids] or [_said("user")]
    tool = {"type": "function", "function": {"name": "read_file", "description": "Reads.", "parameters": SCHEMA}}
    return {"model": "gpt-4o", "max_completion_tokens": 100, "tools": [tool], "messages": messages}


def anthropic(exchanges: Sequence[int] = (2, 0)) -> dict[str, Any]:
    """A Messages request; each exchange is an assistant message with so many tool uses, and the answer."""
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}
    messages: list[dict[str, Any]] = [{"role": "user", "content": [{"type": "text", "text": "Look."}, image]}]
    for i, count in enumerate(exchanges):
        ids = [f"toolu_{i}_{j}" for j in range(count)]
        thought = {"type": "thinking", "thinking": "Hm.", "signature": "c2lnbg=="}
        uses = [{"type": "tool_use", "id": call, "name": "read_file", "input": {"path": "a.py"}} for call in ids]
        results = [{"type": "tool_result", "tool_use_id": call, "content": [_text("ok")]} for call in ids]
        messages.append({"role": "assistant", "content": [thought, *(uses or [_text("Done.")])]})
        messages.append({"role": "user", "content": [*results, _text("Go on.")]})
    messages[-1]["content"][-1] |= _mark()
    return {
        "model": "claude-sonnet-4-5",
        "max_tokens": 100,
        "tools": [{"name": "read_file", "description": "Reads.", "input_schema": SCHEMA} | _mark()],
        "system": [_text("You are careful.") | _mark()],
        "messages": messages,
    }


def _said(role: str) -> dict[str, Any]:
    return {"role": role, "content": "Go on."}


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _mark() -> dict[str, Any]:
    return {"cache_control": {"type": "ephemeral"}}


def _openai_image() -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}", "detail": "low"}}
