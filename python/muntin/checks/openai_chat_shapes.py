"""What the messages, parts, calls and tools of a chat completion look like: `OC12`, and `OC8` for parts of a role."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from muntin.checks.finding import Body, Findings, Rule, listed
from muntin.checks.openai_words import words
from muntin.checks.shape import FUNCTION, Fault, Key, each, faults, findings_of, of_kind

__all__ = ["KINDS", "SHAPES"]

ROLES: Final = ("system", "developer", "user", "assistant", "tool", "function")
CONTENT: Final = Key("content", (str, list), required=False)
TEXT: Final = (Key("text"),)
PARTS: Final = {
    "text": TEXT,
    "image_url": (Key("image_url", (dict, str)),),
    "input_audio": (Key("input_audio", (dict,)),),
    "file": (Key("file", (dict,)),),
    "refusal": (Key("refusal"),),
}
"""The keys of each part."""
IN_ROLE: Final = {
    "user": ("text", "image_url", "input_audio", "file"),
    "assistant": ("text", "refusal"),
    "system": ("text",),
    "developer": ("text",),
}
"""Which parts a message may hold; those of a result have a rule of their own."""


def _messages(body: Body) -> Iterator[Fault]:
    yield from faults(body, "", (Key("messages", (list,)), Key("tools", (list,), required=False)))
    yield from each(body.get("messages"), "messages", _message)


def _message(message: Body, path: str) -> Iterator[Fault]:
    yield from faults(message, path, (Key("role"), CONTENT, Key("tool_calls", (list,), required=False)))
    if message.get("role") == "tool":
        yield from faults(message, path, (Key("tool_call_id"),))
    yield from each(message.get("tool_calls"), f"{path}.tool_calls", _call)


def _images(body: Body) -> Iterator[Fault]:
    for i, message in listed(body.get("messages")):
        for j, part in listed(message.get("content")):
            if isinstance(image := part.get("image_url"), dict):
                path = f"messages.{i}.content.{j}.image_url"
                yield from faults(image, path, (Key("url"), Key("detail", required=False)))


def _call(call: Body, path: str) -> Iterator[Fault]:
    yield from faults(call, path, (Key("id"), Key("type")))
    if call.get("type") == "function":
        yield from faults(call, path, (Key("function", (dict,)),))
        if isinstance(function := call.get("function"), dict):
            yield from faults(function, f"{path}.function", (Key("name"),))


def _tool(tool: Body, path: str) -> Iterator[Fault]:
    yield from faults(tool, path, (Key("type"),))
    if tool.get("type") == "function":
        yield from faults(tool, path, (Key("function", (dict,)),))
        if isinstance(function := tool.get("function"), dict):
            yield from faults(function, f"{path}.function", FUNCTION)


def _kinds(body: Body) -> Iterator[Fault]:
    for i, message in listed(body.get("messages")):
        path, role = f"messages.{i}", message.get("role")
        if isinstance(role, str):
            yield from faults(message, path, (Key("role", values=ROLES),))
            if allowed := IN_ROLE.get(role):
                known = {kind: PARTS[kind] for kind in allowed}
                yield from of_kind(message.get("content"), f"{path}.content", "type", known)


def _have_their_keys(body: Body) -> Findings:
    yield from findings_of("OC12", (*_messages(body), *_images(body), *each(body.get("tools"), "tools", _tool)), words)


def _are_of_known_kinds(body: Body) -> Findings:
    yield from findings_of("OC13", _kinds(body), words)


SHAPES: Final[tuple[Rule, ...]] = (_have_their_keys,)
"""What every server of chat completions wants."""

KINDS: Final[tuple[Rule, ...]] = (_are_of_known_kinds,)
"""What OpenAI's own server wants beside it; others have roles and parts of their own."""
