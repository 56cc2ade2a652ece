"""The rules `AM…` of `docs/wire-rules.md` that a request body can show, and a few without a number."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final, NamedTuple

from muntin.checks import media
from muntin.checks.anthropic_shapes import SHAPES
from muntin.checks.finding import Body, Finding, Findings, Rule, listed, run, said
from muntin.models import window_of

__all__ = ["findings"]

NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,128}")
ID: Final = re.compile(r"[a-zA-Z0-9_-]+")
CACHE_MARKS: Final = 4
MESSAGES: Final = 100_000
NO_SYSTEM: Final = re.compile(r"claude-(?:[23]|instant|(?:opus|sonnet|haiku)-4(?:-[0-7])?(?:-\d{8})?$)")
"""Models that take system text in front only."""
THINKING: Final = {
    "enabled": re.compile(r"claude-(?:opus|sonnet|haiku)-(?:4-[7-9]|[5-9])|claude-(?:fable|mythos)"),
    "adaptive": re.compile(r"claude-(?:[23]|(?:opus|sonnet|haiku)-4(?:-[0-5])?(?:-\d{8})?$)"),
    "disabled": re.compile(r"claude-(?:fable|mythos)"),
}
"""Models that refuse a form of thinking."""
NO_PREFILL: Final = re.compile(r"claude-(?:opus|sonnet|haiku)-(?:4-[6-9]|[5-9])|claude-(?:fable|mythos)")
"""Models that take no assistant message at the end."""
ROLES: Final = {
    "thinking": "assistant",
    "redacted_thinking": "assistant",
    "tool_use": "assistant",
    "tool_result": "user",
}
"""Blocks that messages of one role alone may hold."""

Place = tuple[str, Body]


def findings(body: Body) -> list[Finding]:
    """What `POST /v1/messages` would refuse."""
    return run(body, RULES)


class Turn(NamedTuple):
    """Neighbouring messages of one role, which the provider merges, with the path of each block."""

    role: str
    path: str
    blocks: list[Place]


def _blocks(path: str, content: Any) -> list[Place]:
    if isinstance(content, str):
        return [(path, {"type": "text", "text": content})]
    return [(f"{path}.{i}", block) for i, block in listed(content)]


def _turns(body: Body) -> list[Turn]:
    turns: list[Turn] = []
    for i, message in listed(body.get("messages")):
        if not turns or turns[-1].role != message.get("role"):
            turns.append(Turn(str(message.get("role")), f"messages.{i}", []))
        turns[-1].blocks.extend(_blocks(f"messages.{i}.content", message.get("content")))
    return turns


def _of(turn: Turn, kind: str) -> list[Place]:
    return [(path, block) for path, block in turn.blocks if block.get("type") == kind]


def _everywhere(body: Body) -> Iterator[Place]:
    """Every block of the system text and the messages, those inside tool results too."""
    yield from _blocks("system", body.get("system"))
    for turn in _turns(body):
        for path, block in turn.blocks:
            yield path, block
            if block.get("type") == "tool_result":
                yield from _blocks(f"{path}.content", block.get("content"))


def _text(block: Body) -> str | None:
    """The text of a text block; None for any other."""
    return str(block.get("text") or "") if block.get("type") == "text" else None


def _content_is_not_empty(body: Body) -> Findings:
    if body.get("messages") == []:
        text = "messages: at least one message is required"
        yield Finding("messages-empty", "messages", text, "send at least one message")
    for i, message in listed(body.get("messages")):
        if message.get("content") != []:
            continue
        path = f"messages.{i}.content"
        if message.get("role") == "user":
            text = f"messages.{i}: user messages must have non-empty content"
            yield Finding("content-empty", path, text, "take the message out, or say that it is empty")
        # A system message without blocks may still carry a directive.
        if message.get("role") == "system" and "output_config" not in message:
            text = f"messages.{i}: system content must contain at least one block"
            yield Finding("AM16", path, text, "take the message out")


def _is_not_too_much(body: Body) -> Findings:
    if len(listed(body.get("messages"))) > MESSAGES:
        text = f"messages: List should have at most {MESSAGES} items after validation"
        yield Finding("AM3", f"messages.{MESSAGES}", text, "compact the conversation")
    yield from media.anthropic(media.shown(_everywhere(body)), window_of(str(body.get("model") or "")))


def _thinking_fits_the_model(body: Body) -> Findings:
    given = body.get("thinking")
    kind = str(given.get("type")) if isinstance(given, dict) else ""
    refuses = THINKING.get(kind)
    if refuses and refuses.match(str(body.get("model"))):
        text = f'"thinking.type.{kind}" is not supported for this model.'
        if kind == "adaptive":
            text = "adaptive thinking is not supported on this model"
        yield Finding(
            "AM20", "thinking.type", text, "use a form of thinking that the model takes, or leave the key out"
        )
    choice = body.get("tool_choice")
    if kind == "enabled" and isinstance(choice, dict) and choice.get("type") in ("any", "tool"):
        text = "Thinking may not be enabled when tool_choice forces tool use."
        yield Finding("AM24", "tool_choice.type", text, "let the model choose, `auto`, or leave thinking out")


def _ends_as_it_may(body: Body) -> Findings:
    for turn in _turns(body)[-1:]:
        if turn.role != "assistant":
            continue
        if NO_PREFILL.match(str(body.get("model"))):
            text = (
                "This model does not support assistant message prefill. The conversation must end with a user message."
            )
            yield Finding("AM8", turn.path, text, "end with a user message")
        for path, block in turn.blocks[-1:]:
            said_last = _text(block) or ""
            if said_last != said_last.rstrip():
                text = "messages: final assistant content cannot end with trailing whitespace"
                yield Finding("AM8", path, text, "strip the end of the last text")


def _system_messages_stand_right(body: Body) -> Findings:
    turns = _turns(body)
    for i, turn in enumerate(turns):
        if turn.role != "system" or not turn.blocks:
            continue
        if NO_SYSTEM.match(str(body.get("model"))):
            text = f"{turn.path}: role 'system' is not supported on this model"
            yield Finding("AM15", turn.path, text, "let a user message say it")
            continue
        before = turns[i - 1] if i else Turn("", "", [])
        # A server's own tools leave their results in the assistant's message.
        server = any(str(block.get("type")).endswith("_tool_result") for _, block in before.blocks[-1:])
        if not i:
            text = f"{turn.path}: use the top-level 'system' parameter for the first system text"
            yield Finding("AM15", turn.path, text, "move the text into `system`")
        elif before.role != "user" and not server:
            text = (
                f"{turn.path}: role 'system' must follow a 'user' message or an 'assistant' message ending in a server "
                "tool result"
            )
            yield Finding("AM15", turn.path, text, "move it behind the next user message")
        if i + 1 < len(turns) and turns[i + 1].role == "user":
            text = f"{turn.path}: role 'system' must precede an 'assistant' message or end the array"
            yield Finding("AM15", turn.path, text, "move it behind the user message that follows")
        for path, block in turn.blocks:
            if block.get("type") not in ("text", "tool_addition", "tool_removal"):
                text = f"{path}: role 'system' supports text, tool_addition, and tool_removal blocks only"
                yield Finding("AM16", path, text, "put the block into a user message")


def _blocks_stand_in_their_role(body: Body) -> Findings:
    for turn in _turns(body):
        for path, block in turn.blocks:
            kind = str(block.get("type"))
            if ROLES.get(kind, turn.role) != turn.role:
                text = f"{path}: `{kind}` blocks can only be in `{ROLES[kind]}` messages"
                yield Finding("block-role", path, text, f"move it into a message of the {ROLES[kind]}")


def _tool_uses_are_answered(body: Body) -> Findings:
    nobody = Turn("", "", [])
    for turn, after in pairwise([nobody, *_turns(body), nobody]):
        used = {str(block.get("id")): path for path, block in _of(turn, "tool_use")}
        results = _of(after, "tool_result") if after.role == "user" else []
        answered = {str(block.get("tool_use_id")) for _, block in results}
        for call, path in used.items():
            if call not in answered:
                text = (
                    f"{turn.path}: `tool_use` ids were found without `tool_result` blocks immediately after: {call}. "
                    "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
                )
                yield Finding("AM1", path, text, "put a tool_result for it into the next user message")
        seen: set[str] = set()
        for path, block in results:
            call = str(block.get("tool_use_id"))
            if call not in used:
                text = (
                    f"{path}: unexpected `tool_use_id` found in `tool_result` blocks: {call}. Each `tool_result` block "
                    "must have a corresponding `tool_use` block in the previous message."
                )
                yield Finding("AM2", path, text, "take the result out, or put its tool_use into the message before")
            elif call in seen:
                text = f"{path}: each tool_use must have a single result. Found multiple `tool_result` blocks: {call}"
                yield Finding("result-unique", path, text, "send one result a call")
            seen.add(call)


def _results_stand_first(body: Body) -> Findings:
    for turn in _turns(body):
        for (_, before), (path, block) in pairwise(turn.blocks):
            if block.get("type") == "tool_result" != before.get("type"):
                text = f"{path}: tool_result blocks must come first in the content of the message behind the tool_use"
                yield Finding("AM4", path, text, "put all results before the text")


def _ids_fit(body: Body) -> Findings:
    used: set[str] = set()
    for path, block in _everywhere(body):
        kind = block.get("type")
        key = {"tool_use": "id", "tool_result": "tool_use_id"}.get(str(kind))
        value = block.get(key) if key else None
        if not isinstance(value, str):
            continue
        if not ID.fullmatch(value):
            text = f"{path}.{kind}.{key}: String should match pattern '^[a-zA-Z0-9_-]+$'"
            yield Finding("AM5", f"{path}.{key}", text, f"replace {said(value)} in the call and in its result alike")
        if key == "id":
            if value in used:
                text = "messages: `tool_use` ids must be unique"
                yield Finding("call-id-unique", f"{path}.id", text, "give each call its own id")
            used.add(value)


def _text_is_not_empty(body: Body) -> Findings:
    for path, block in _everywhere(body):
        if _text(block) == "":
            yield Finding("AM7", path, "messages: text content blocks must be non-empty", "take the block out")
    for turn in _turns(body):
        if turn.blocks and all((_text(block) or "").isspace() for _, block in turn.blocks):
            text = "messages: text content blocks must contain non-whitespace text"
            yield Finding("AM7", turn.path, text, "take the message out, or say that it is empty")


def _cache_marks_fit(body: Body) -> Findings:
    tools = [(f"tools.{i}", tool) for i, tool in listed(body.get("tools"))]
    places = [("(body)", body), *tools, *_everywhere(body)]
    marked = [(path, place) for path, place in places if place.get("cache_control")]
    if len(marked) > CACHE_MARKS:
        text = f"A maximum of {CACHE_MARKS} blocks with cache_control may be provided. Found {len(marked)}."
        yield Finding("AM9", f"{marked[CACHE_MARKS][0]}.cache_control", text, f"keep {CACHE_MARKS} of the marks")
    for path, place in marked:
        if _text(place) == "":
            text = f"{path}: cache_control cannot be set for empty text blocks"
            yield Finding("AM10", f"{path}.cache_control", text, "move the mark to a block before")
        if place.get("type") in ("thinking", "redacted_thinking"):
            text = f"{path}.{place['type']}.cache_control: Extra inputs are not permitted"
            yield Finding("AM10", f"{path}.cache_control", text, "move the mark to a block that is no thinking")


def _thinking_is_signed(body: Body) -> Findings:
    for path, block in _everywhere(body):
        if block.get("type") == "thinking" and not block.get("signature"):
            text = f"{path}: Invalid `signature` in `thinking` block"
            yield Finding("AM11", f"{path}.signature", text, "send the signature as it came, or take the block out")


def _names_fit(body: Body) -> Findings:
    names: set[str] = set()
    tools = [(f"tools.{i}", tool) for i, tool in listed(body.get("tools")) if isinstance(tool.get("name"), str)]
    for path, tool in tools:
        if tool["name"] in names:
            yield Finding("AM6", f"{path}.name", "tools: Tool names must be unique.", f"rename {said(tool['name'])}")
        names.add(tool["name"])
    uses = [(path, block) for path, block in _everywhere(body) if block.get("type") == "tool_use"]
    for path, named in (*tools, *uses):
        if not NAME.fullmatch(str(named.get("name"))):
            kind = "tool_use" if named.get("type") == "tool_use" else "custom"
            text = f"{path}.{kind}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
            yield Finding("AM6", f"{path}.name", text, f"rename {said(named.get('name'))}")


def _errors_are_text(body: Body) -> Findings:
    for path, block in _everywhere(body):
        if block.get("type") == "tool_result" and block.get("is_error"):
            for inner, part in _blocks(f"{path}.content", block.get("content")):
                if part.get("type") != "text":
                    text = f"{path}: all content must be type `text` if `is_error` is true"
                    yield Finding("AM17", inner, text, "put the image behind the results, or leave is_error out")


def _schemas_are_objects(body: Body) -> Findings:
    for i, tool in listed(body.get("tools")):
        schema = tool.get("input_schema")
        if isinstance(schema, dict) and schema.get("type") != "object":
            path = f"tools.{i}.input_schema.type"
            text = f"tools.{i}.custom.input_schema.type: Input should be 'object'"
            yield Finding("AM19", path, text, "wrap the schema into one of type object")


RULES: Final[tuple[Rule, ...]] = (
    *SHAPES,
    _content_is_not_empty,
    _is_not_too_much,
    _thinking_fits_the_model,
    _ends_as_it_may,
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
