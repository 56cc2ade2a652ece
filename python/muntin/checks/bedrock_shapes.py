"""What the messages, blocks and tools of a Converse request look like: `BC12`, in the words of boto3 and the server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from muntin.checks.finding import Body, Finding, Findings, Rule, listed, said
from muntin.checks.shape import Fault, Key, bracketed, faults, findings_of, objects
from muntin.checks.top import KNOWN, strangers

__all__ = ["SHAPES"]

TTL: Final = Key("ttl", required=False, values=("5m", "1h"))
BLOCKS: Final[dict[str, tuple[Key, ...]]] = {
    "text": (),
    "image": (Key("format", values=("png", "jpeg", "gif", "webp")), Key("source", (dict,))),
    "document": (Key("name"), Key("source", (dict,))),
    "video": (Key("format"), Key("source", (dict,))),
    "audio": (Key("format"), Key("source", (dict,))),
    "toolUse": (Key("toolUseId"), Key("name"), Key("input", (dict,))),
    "toolResult": (
        Key("toolUseId"),
        Key("content", (list,)),
        Key("status", required=False, values=("success", "error")),
    ),
    "guardContent": (),
    "cachePoint": (Key("type", values=("default",)), TTL),
    "reasoningContent": (),
    "citationsContent": (),
    "searchResult": (),
    "toolAddition": (),
    "toolRemoval": (),
}
SOURCE: Final = (Key("bytes", (str, bytes), required=False), Key("s3Location", (dict,), required=False))
IN_RESULT: Final = ("json", "text", "image", "document", "video", "searchResult")
IN_SYSTEM: Final = ("text", "guardContent", "cachePoint")
CHOICES: Final = ("auto", "any", "tool")
DOCUMENT: Final = re.compile(r"(?!.*\s\s)[\w\s\-()\[\]]{1,200}", re.ASCII)
"""The name of a document, which models may read: letters, digits, single white space, hyphens, brackets."""

_TYPES: Final[dict[type, str]] = {
    dict: "<class 'dict'>",
    list: "<class 'list'>, <class 'tuple'>",
    str: "<class 'str'>",
    bytes: "<class 'bytes'>",
}


def _words(fault: Fault) -> str:
    where, _, name = bracketed(fault.path).rpartition(".")
    match fault.wrong:
        case "missing":
            return f'Missing required parameter in {where or "input"}: "{name}"'
        case "type":
            wanted = ", ".join(_TYPES[one] for one in fault.key.types)
            return (
                f"Invalid type for parameter {bracketed(fault.path)}, value: {said(fault.value)}, type: "
                f"{type(fault.value)}, valid types: {wanted}"
            )
        case _:
            return (
                f"Value {said(fault.value)} at '{fault.path}' failed to satisfy constraint: Member must satisfy enum "
                f"value set: [{', '.join(fault.key.values)}]"
            )


def _union(block: Body, path: str, known: tuple[str, ...]) -> Findings:
    """A block has one key of those that are known, and what stands below it has its own."""
    for key, value in block.items():
        place = f"{path}.{key}"
        if key not in known:
            names = ", ".join(known)
            text = f'Unknown parameter in {bracketed(path)}: "{key}", must be one of: {names}'
            yield Finding("BC12", place, text, "use a kind of block that Converse has there")
        elif value is None:
            continue
        elif key == "text" and not isinstance(value, str):
            yield from findings_of("BC12", [Fault(place, "type", Key(key), value)], _words)
        elif key not in ("text", "json"):
            yield from findings_of("BC12", _below(key, value, place), _words)


def _below(key: str, value: Any, path: str) -> Iterator[Fault]:
    if isinstance(value, dict):
        yield from faults(value, path, BLOCKS.get(key, ()))
        if isinstance(source := value.get("source"), dict):
            yield from faults(source, f"{path}.source", SOURCE)
    else:
        yield Fault(path, "type", Key(key, (dict,)), value)


def _blocks(value: Any, path: str, known: tuple[str, ...]) -> Findings:
    for place, block in objects(value, path):
        if isinstance(block, Fault):
            yield from findings_of("BC12", [block], _words)
            continue
        yield from _union(block, place, known)
        result = block.get("toolResult")
        if isinstance(result, dict):
            yield from _blocks(result.get("content"), f"{place}.toolResult.content", IN_RESULT)
        document = block.get("document")
        name = document.get("name") if isinstance(document, dict) else None
        if isinstance(name, str) and not DOCUMENT.fullmatch(name):
            text = f"Value {said(name)} at '{place}.document.name' failed to satisfy constraint: {DOCUMENT.pattern}"
            mend = "use up to 200 letters, digits, single spaces, hyphens, parentheses and square brackets"
            yield Finding("BC13", f"{place}.document.name", text, mend)


def _messages_have_their_keys(body: Body) -> Findings:
    top = (Key("messages", (list,), required=False), Key("system", (list,), required=False))
    yield from findings_of("BC12", faults(body, "", (*top, Key("toolConfig", (dict,), required=False))), _words)
    yield from _blocks(body.get("system"), "system", IN_SYSTEM)
    for path, message in objects(body.get("messages"), "messages"):
        if isinstance(message, Fault):
            yield from findings_of("BC12", [message], _words)
            continue
        role = Key("role", values=("user", "assistant", "system"))
        yield from findings_of("BC12", faults(message, path, (role, Key("content", (list,)))), _words)
        yield from _blocks(message.get("content"), f"{path}.content", tuple(BLOCKS))


def _tools_have_their_keys(body: Body) -> Findings:
    config = body.get("toolConfig")
    if not isinstance(config, dict):
        return
    choice = config.get("toolChoice")
    for key in choice if isinstance(choice, dict) else ():
        if key not in CHOICES:
            text = f'Unknown parameter in toolConfig.toolChoice: "{key}", must be one of: {", ".join(CHOICES)}'
            yield Finding("BC12", f"toolConfig.toolChoice.{key}", text, "leave the choice out; Converse has no `none`")
    yield from findings_of("BC12", faults(config, "toolConfig", (Key("tools", (list,)),)), _words)
    if config.get("tools") == []:
        text = "Invalid length for parameter toolConfig.tools, value: 0, valid min length: 1"
        yield Finding("BC12", "toolConfig.tools", text, "leave toolConfig out where there are no tools")
    for i, tool in listed(config.get("tools")):
        if isinstance(spec := tool.get("toolSpec"), dict):
            keys = (Key("name"), Key("description", required=False), Key("inputSchema", (dict,)))
            path = f"toolConfig.tools.{i}.toolSpec"
            yield from findings_of("BC12", faults(spec, path, keys), _words)
            if isinstance(schema := spec.get("inputSchema"), dict):
                json = faults(schema, f"{path}.inputSchema", (Key("json", (dict,)),))
                yield from findings_of("BC12", json, _words)


def _no_key_is_unknown(body: Body) -> Findings:
    words = 'Unknown parameter in input: "{}", must be one of: ' + ", ".join(sorted(KNOWN["bedrock"]))
    yield from strangers("BC12", "bedrock", body, words.format)


SHAPES: Final[tuple[Rule, ...]] = (_no_key_is_unknown, _messages_have_their_keys, _tools_have_their_keys)
