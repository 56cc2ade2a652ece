"""The rules `BC…` of `docs/wire-rules.md` that a request body can show."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any, Final

from muntin.checks import media
from muntin.checks.bedrock_shapes import SHAPES
from muntin.checks.finding import Body, Finding, Findings, Rule, listed, run, said

__all__ = ["findings"]

ID: Final = re.compile(r"[a-zA-Z0-9_.:-]{1,64}")
NAME: Final = re.compile(r"[a-zA-Z0-9_-]{1,64}")
APART: Final = re.compile(r"(?:^|\.)(?:meta|mistral)\.")
"""Models that take no text beside calls and results."""
ERROR: Final = "The model returned the following errors:"


def findings(body: Body) -> list[Finding]:
    """What `converse` would refuse; rules of single vendors' models where `modelId`, as boto3 has it, names one."""
    return run(body, RULES)


def _blocks(body: Body) -> list[tuple[str, Body]]:
    return [
        (f"messages.{i}.content.{j}", block)
        for i, message in listed(body.get("messages"))
        for j, block in listed(message.get("content"))
    ]


def _uses(message: Body, key: str) -> list[str]:
    """The ids of the calls or results of a message, without those of the server's own tools."""
    blocks = [block[key] for _, block in listed(message.get("content")) if isinstance(block.get(key), dict)]
    return [str(block.get("toolUseId")) for block in blocks if not block.get("type")]


def _roles_alternate(body: Body) -> Findings:
    if "anthropic" not in str(body.get("modelId") or "anthropic"):
        return  # models of other vendors take neighbours of one role
    messages = listed(body.get("messages"))
    for (_, before), (i, message) in pairwise(messages):
        if message.get("role") == before.get("role"):
            text = "messages: roles must alternate between user and assistant"
            yield Finding("BC1", f"messages.{i}.role", text, "put both into one message")


def _calls_are_answered(body: Body) -> Findings:
    nobody: tuple[int, Body] = (-1, {})
    for (i, message), (j, after) in pairwise([nobody, *listed(body.get("messages")), nobody]):
        used, answered = _uses(message, "toolUse"), _uses(after, "toolResult")
        for call in used:
            if call not in answered:
                text = f"Expected toolResult blocks at messages.{i + 1}.content for the following Ids: {call}"
                yield Finding("BC2", f"messages.{i}.content", text, "put all results into the very next user message")
        if len(answered) > len(set(used) & set(answered)):
            text = (
                f"The number of toolResult blocks at messages.{j}.content exceeds the number of toolUse blocks of "
                "previous turn."
            )
            yield Finding("BC3", f"messages.{j}.content", text, "take out results without a call and second results")


def _text_stands_apart(body: Body) -> Findings:
    if not APART.search(str(body.get("modelId"))):
        return  # Claude and Nova take both
    for i, message in listed(body.get("messages")):
        blocks = [block for _, block in listed(message.get("content"))]
        for key, kind in (("toolUse", "tool use"), ("toolResult", "tool result")):
            of_tools = [block for block in blocks if key in block]
            if of_tools and len(of_tools) < len(blocks):
                text = f"Conversation blocks and {kind} blocks cannot be provided in the same turn."
                yield Finding("BC10", f"messages.{i}.content", text, "put the text into a message of its own")


def _tools_are_declared(body: Body) -> Findings:
    config = body.get("toolConfig")
    declared = isinstance(config, dict) and config.get("tools")
    used = [path for path, block in _blocks(body) if "toolUse" in block or "toolResult" in block]
    if used and not declared:
        text = "The toolConfig field must be defined when using toolUse and toolResult content blocks."
        yield Finding("BC4", "toolConfig", text, "declare a tool as long as calls are in the messages")


def _in_results(body: Body) -> list[tuple[str, Body]]:
    return [
        (f"{path}.toolResult.content.{j}", part)
        for path, block in _blocks(body)
        if isinstance(block.get("toolResult"), dict)
        for j, part in listed(block["toolResult"].get("content"))
    ]


def _media_fit(body: Body) -> Findings:
    places = [*_blocks(body), *_in_results(body)]
    named = [(f"{path}.document", block["document"]) for path, block in places if _is_document(block)]
    names = [(path, one["name"]) for path, one in named if isinstance(one.get("name"), str)]
    claude = "anthropic" in str(body.get("modelId") or "anthropic")
    yield from media.bedrock(media.shown(places), names, claude=claude)
    for i, message in listed(body.get("messages")):
        blocks = listed(message.get("content"))
        if any(_is_document(block) for _, block in blocks) and not any(block.get("text") for _, block in blocks):
            text = "A text block must be included when using documents. Add a text block and retry your request."
            yield Finding("BC17", f"messages.{i}.content", text, "say what the document is")


def _is_document(block: Body) -> bool:
    return isinstance(block.get("document"), dict)


def _text_is_not_empty(body: Body) -> Findings:
    system = [(f"system.{i}", block) for i, block in listed(body.get("system"))]
    for path, block in (*system, *_blocks(body), *_in_results(body)):
        text: Any = block.get("text")
        if isinstance(text, str) and not text.strip():
            why = "must contain non-whitespace text" if text else "must be non-empty"
            yield Finding("BC5", path, f"{ERROR} messages: text content blocks {why}", "take the block out")


def _ids_and_names_fit(body: Body) -> Findings:
    for path, block in _blocks(body):
        for key in ("toolUse", "toolResult"):
            value = block[key].get("toolUseId") if isinstance(block.get(key), dict) else None
            if isinstance(value, str) and not ID.fullmatch(value):
                text = f"Value '{value}' at '{path}.{key}.toolUseId' failed to satisfy constraint: {ID.pattern}"
                mend = f"replace {said(value)} in the call and in its result alike"
                yield Finding("BC6", f"{path}.{key}.toolUseId", text, mend)
    config = body.get("toolConfig")
    specs = listed(config.get("tools")) if isinstance(config, dict) else []
    named = [(f"toolConfig.tools.{i}.toolSpec", tool.get("toolSpec")) for i, tool in specs]
    named += [(f"{path}.toolUse", block.get("toolUse")) for path, block in _blocks(body)]
    for path, entry in named:
        name = entry.get("name") if isinstance(entry, dict) else None
        if isinstance(name, str) and not NAME.fullmatch(name):
            text = f"Value '{name}' at '{path}.name' failed to satisfy constraint: {NAME.pattern}"
            yield Finding("BC7", f"{path}.name", text, f"rename {said(name)}")
        if isinstance(entry, dict) and entry.get("description") == "":
            text = f"Invalid length for parameter {path}.description, value: 0, valid min length: 1"
            yield Finding("BC8", f"{path}.description", text, "leave the key out where there is no description")


def _blocks_hold_one_thing(body: Body) -> Findings:
    for path, block in _blocks(body):
        if len([key for key in block if block[key] is not None]) > 1:
            text = f"Invalid number of parameters set for tagged union structure {path}. Can only set one key."
            yield Finding("BC9", path, text, "make a block of its own of each")


RULES: Final[tuple[Rule, ...]] = (
    *SHAPES,
    _roles_alternate,
    _calls_are_answered,
    _text_stands_apart,
    _tools_are_declared,
    _media_fit,
    _text_is_not_empty,
    _ids_and_names_fit,
    _blocks_hold_one_thing,
)
