"""The rules `AM…` of `docs/wire-rules.md` that a request body can show, and a few without a number."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, Final, NamedTuple

__all__ = ["anthropic_rules"]

Body = dict[str, Any]
Block = dict[str, Any]
Findings = Iterator[str]

NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,128}")
ID: Final = re.compile(r"[a-zA-Z0-9_-]+")
CACHE_MARKS: Final = 4
ROLES: Final = {
    "thinking": "assistant",
    "redacted_thinking": "assistant",
    "tool_use": "assistant",
    "tool_result": "user",
}
"""Blocks that messages of one role alone may hold; the SDK's types let all of them hold any."""


def anthropic_rules(body: Body, *, ours: bool = True) -> list[str]:
    """What `POST /v1/messages` would refuse in a body of the right shape; empty when it is fine."""
    rules = (*ENFORCED, *OURS) if ours else ENFORCED
    return [finding for rule in rules for finding in rule(body)]


class Turn(NamedTuple):
    """Neighbouring messages of one role, which the provider merges, with the path of each block."""

    role: str
    path: str
    blocks: list[tuple[str, Block]]


def _blocks(path: str, content: Any) -> list[tuple[str, Block]]:
    if isinstance(content, str):
        return [(path, {"type": "text", "text": content})]
    return [(f"{path}.{i}", block) for i, block in enumerate(content or ())]


def _turns(body: Body) -> list[Turn]:
    turns: list[Turn] = []
    for i, message in enumerate(body["messages"]):
        if not turns or turns[-1].role != message["role"]:
            turns.append(Turn(message["role"], f"messages.{i}", []))
        turns[-1].blocks.extend(_blocks(f"messages.{i}.content", message["content"]))
    return turns


def _of(turn: Turn, kind: str) -> list[tuple[str, Block]]:
    return [(path, block) for path, block in turn.blocks if block["type"] == kind]


def _everywhere(body: Body) -> Iterator[tuple[str, Block]]:
    """Every block of the system text and the messages, those inside tool results too."""
    yield from _blocks("system", body.get("system"))
    for turn in _turns(body):
        for path, block in turn.blocks:
            yield path, block
            if block["type"] == "tool_result":
                yield from _blocks(f"{path}.content", block.get("content"))


def _content_is_not_empty(body: Body) -> Findings:
    if not body["messages"]:
        yield "messages-empty: messages: an empty list"
    for i, message in enumerate(body["messages"]):
        if message["role"] == "user" and message["content"] == []:
            yield f"content-empty: messages.{i}.content: an empty list"
        # A system message without blocks may still carry a directive.
        if message["role"] == "system" and message["content"] == [] and "output_config" not in message:
            yield f"AM16: messages.{i}.content: an empty list"


def _begins_with_user(body: Body) -> Findings:
    if body["messages"] and body["messages"][0]["role"] != "user":
        yield f"first-role: messages.0.role: {body['messages'][0]['role']!r}, not 'user'"


def _roles_alternate(body: Body) -> Findings:
    for i, (before, message) in enumerate(pairwise(body["messages"]), 1):
        if message["role"] == before["role"]:
            yield f"AM3: messages.{i}.role: {message['role']!r} again, to be one message with its neighbour"


def _ends_with_user(body: Body) -> Findings:
    if body["messages"] and body["messages"][-1]["role"] == "assistant":
        yield f"AM8: messages.{len(body['messages']) - 1}.role: the conversation ends with the assistant"


def _final_text_is_trimmed(body: Body) -> Findings:
    for turn in _turns(body)[-1:]:
        for path, block in turn.blocks[-1:]:
            text = block.get("text", "")
            if turn.role == "assistant" and text != text.rstrip():
                yield f"AM8: {path}: the final text of the assistant ends with white space"


def _system_messages_stand_right(body: Body) -> Findings:
    turns = _turns(body)
    for i, turn in enumerate(turns):
        if turn.role != "system" or not turn.blocks:
            continue
        before = turns[i - 1] if i else Turn("", "", [])
        # A server's own tools leave their results in the assistant's message.
        server = any(block["type"].endswith("_tool_result") for _, block in before.blocks[-1:])
        if before.role != "user" and not server:
            yield f"AM15: {turn.path}: a system message that follows no user message"
        if i + 1 < len(turns) and turns[i + 1].role == "user":
            yield f"AM15: {turn.path}: a system message before a user message"


def _blocks_stand_in_their_role(body: Body) -> Findings:
    for turn in _turns(body):
        for path, block in turn.blocks:
            if ROLES.get(block["type"], turn.role) != turn.role:
                yield f"block-role: {path}: {block['type']!r} in a message of the {turn.role}"


def _tool_uses_are_answered(body: Body) -> Findings:
    nobody = Turn("", "", [])
    turns = [nobody, *_turns(body), nobody]
    for turn, after in pairwise(turns):
        used = {block["id"]: path for path, block in _of(turn, "tool_use")}
        results = _of(after, "tool_result") if after.role == "user" else []
        answered = {block["tool_use_id"] for _, block in results}
        for call, path in used.items():
            if call not in answered:
                yield f"AM1: {path}: the next message has no result of {call!r}"
        seen: set[str] = set()
        for path, block in results:
            call = block["tool_use_id"]
            if call not in used:
                yield f"AM2: {path}: {call!r} is no tool_use of the message before"
            elif call in seen:
                yield f"result-unique: {path}: another result of {call!r}"
            seen.add(call)


def _results_stand_first(body: Body) -> Findings:
    for turn in _turns(body):
        for (_, before), (path, block) in pairwise(turn.blocks):
            if block["type"] == "tool_result" != before["type"]:
                yield f"AM4: {path}: a tool_result after another kind of block"


def _ids_fit(body: Body) -> Findings:
    used: set[str] = set()
    for path, block in _everywhere(body):
        key = {"tool_use": "id", "tool_result": "tool_use_id"}.get(block["type"])
        if key is None:
            continue
        if not ID.fullmatch(block[key]):
            yield f"AM5: {path}.{key}: {block[key]!r} does not match {ID.pattern}"
        if key == "id":
            if block[key] in used:
                yield f"call-id-unique: {path}.id: {block[key]!r} names an earlier tool_use"
            used.add(block[key])


def _text_is_not_empty(body: Body) -> Findings:
    for path, block in _everywhere(body):
        if block["type"] == "text" and not block["text"]:
            yield f"AM7: {path}: an empty text"
    for turn in _turns(body):
        if turn.blocks and all(block["type"] == "text" and block["text"].isspace() for _, block in turn.blocks):
            yield f"AM7: {turn.path}: nothing but white space"


def _text_is_not_blank(body: Body) -> Findings:
    for path, block in _everywhere(body):
        if block["type"] == "text" and block["text"].isspace():
            yield f"AM7: {path}: nothing but white space"


def _cache_marks_fit(body: Body) -> Findings:
    tools = [(f"tools.{i}", tool) for i, tool in enumerate(body.get("tools") or ())]
    places = [("(body)", body), *tools, *_everywhere(body)]
    marked = [(path, place) for path, place in places if place.get("cache_control")]
    if len(marked) > CACHE_MARKS:
        yield f"AM9: {marked[CACHE_MARKS][0]}.cache_control: mark {CACHE_MARKS + 1} of {len(marked)}"
    for path, place in marked:
        kind = place.get("type")
        if kind in ("thinking", "redacted_thinking") or (kind == "text" and not place["text"]):
            yield f"AM10: {path}.cache_control: on a block that cannot be cached"


def _thinking_is_signed(body: Body) -> Findings:
    for path, block in _everywhere(body):
        if block["type"] == "thinking" and not block.get("signature"):
            yield f"AM11: {path}.signature: missing"


def _names_fit(body: Body) -> Findings:
    names: set[str] = set()
    tools = [(f"tools.{i}", tool) for i, tool in enumerate(body.get("tools") or ()) if "name" in tool]
    for path, tool in tools:
        if tool["name"] in names:
            yield f"AM6: {path}.name: {tool['name']!r} names an earlier tool"
        names.add(tool["name"])
    uses = [(path, block) for path, block in _everywhere(body) if block["type"] == "tool_use"]
    for path, named in (*tools, *uses):
        if not NAME.fullmatch(named["name"]):
            yield f"AM6: {path}.name: {named['name']!r} does not match {NAME.pattern}"


def _errors_are_text(body: Body) -> Findings:
    for path, block in _everywhere(body):
        if block["type"] == "tool_result" and block.get("is_error"):
            for inner, part in _blocks(f"{path}.content", block.get("content")):
                if part["type"] != "text":
                    yield f"AM17: {inner}: {part['type']!r} in the result of a failed call"


def _schemas_are_objects(body: Body) -> Findings:
    for i, tool in enumerate(body.get("tools") or ()):
        if "input_schema" in tool and tool["input_schema"].get("type") != "object":
            yield f"AM19: tools.{i}.input_schema.type: {tool['input_schema'].get('type')!r}, not 'object'"


Rule = Callable[[Body], Findings]

ENFORCED: Final[tuple[Rule, ...]] = (
    _content_is_not_empty,
    _final_text_is_trimmed,
    _system_messages_stand_right,
    _blocks_stand_in_their_role,
    _tool_uses_are_answered,
    _results_stand_first,
    _ids_fit,
    _text_is_not_empty,
    _cache_marks_fit,
    _thinking_is_signed,
    _names_fit,
    _errors_are_text,
    _schemas_are_objects,
)
OURS: Final[tuple[Rule, ...]] = (
    _begins_with_user,
    _roles_alternate,
    _ends_with_user,
    _text_is_not_blank,
)
