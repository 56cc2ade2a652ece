"""What the messages, blocks and tools of a Messages request look like, `AM21`, and the schemas of tools, `AM19`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from muntin.checks.finding import Body, Finding, Findings, Rule, listed, said
from muntin.checks.schema import invalid
from muntin.checks.shape import Fault, Key, each, faults, findings_of, kinds, of_kind

__all__ = ["SHAPES"]

CACHE: Final = (Key("type", values=("ephemeral",)), Key("ttl", required=False, values=("5m", "1h")))
SOURCE: Final = Key("source", (dict,))
BLOCKS: Final = {
    "text": (Key("text"),),
    "image": (SOURCE,),
    "document": (SOURCE,),
    "thinking": (Key("thinking"),),
    "redacted_thinking": (Key("data"),),
    "tool_use": (Key("id"), Key("name"), Key("input", (dict,))),
    "tool_result": (
        Key("tool_use_id"),
        Key("content", (str, list), required=False),
        Key("is_error", (bool,), required=False),
    ),
    "server_tool_use": (Key("id"), Key("name"), Key("input", (dict,))),
}
OTHERS: Final = (
    "search_result", "web_search_tool_result", "web_fetch_tool_result", "code_execution_tool_result",
    "bash_code_execution_tool_result", "text_editor_code_execution_tool_result", "tool_search_tool_result",
    "advisor_tool_result", "container_upload", "compaction", "fallback", "mcp_tool_use", "mcp_tool_result",
    "mcp_tool_listing", "tool_reference", "browser_state", "tool_addition", "tool_removal",
)  # fmt: skip
"""Blocks of hosted tools and of betas, which go back as they came."""
IN_RESULT: Final = {kind: BLOCKS[kind] for kind in ("text", "image", "document")}
ALSO_IN_RESULT: Final = ("search_result", "tool_reference", "browser_state")
PICTURES: Final = ("image/jpeg", "image/png", "image/gif", "image/webp")
SOURCES: Final = {
    "base64": (Key("media_type"), Key("data")),
    "url": (Key("url"),),
    "file": (Key("file_id"),),
    "text": (Key("media_type"), Key("data")),
    "content": (Key("content", (str, list)),),
}


def _words(fault: Fault) -> str:
    key = fault.key
    match fault.wrong:
        case "missing":
            return f"{fault.path}: Field required"
        case "type":
            expected = kinds(key.types).replace("object", "dictionary").replace("array", "list")
            return f"{fault.path}: Input should be a valid {expected}"
        case _ if key.name == "type" and len(key.values) > len(SOURCES):
            tags = ", ".join(f"'{value}'" for value in key.values)
            block = fault.path.removesuffix(".type")
            return (
                f"{block}: Input tag {said(fault.value)} found using 'type' does not match any of the expected tags: "
                f"{tags}"
            )
        case _:
            *most, last = [f"'{value}'" for value in key.values]
            values = f"{', '.join(most)} or {last}" if most else last
            return f"{fault.path}: Input should be {values}"


def _blocks(content: Any, path: str) -> Iterator[Fault]:
    yield from of_kind(content, path, "type", BLOCKS, OTHERS)
    for i, block in listed(content):
        place = f"{path}.{i}"
        yield from _cache(block, place)
        if block.get("type") == "tool_result":
            yield from of_kind(block.get("content"), f"{place}.content", "type", IN_RESULT, ALSO_IN_RESULT)
            for j, inner in listed(block.get("content")):
                yield from _source(inner, f"{place}.content.{j}")
        yield from _source(block, place)


def _source(block: Body, path: str) -> Iterator[Fault]:
    source, kind = block.get("source"), block.get("type")
    if not isinstance(source, dict) or kind not in ("image", "document"):
        return
    path = f"{path}.source"
    wrong = list(faults(source, path, (Key("type", values=tuple(SOURCES)),)))
    yield from wrong or faults(source, path, SOURCES[source["type"]])
    if kind == "image" and source.get("type") == "base64" and isinstance(source.get("media_type"), str):
        yield from faults(source, path, (Key("media_type", values=PICTURES),))


def _cache(entry: Body, path: str) -> Iterator[Fault]:
    yield from faults(entry, path, (Key("cache_control", (dict,), required=False),))
    if isinstance(mark := entry.get("cache_control"), dict):
        yield from faults(mark, f"{path}.cache_control", CACHE)


def _messages(body: Body) -> Iterator[Fault]:
    system = Key("system", (str, list), required=False)
    yield from faults(body, "", (Key("messages", (list,)), system, Key("tools", (list,), required=False)))
    yield from of_kind(body.get("system"), "system", "type", {"text": BLOCKS["text"]})
    for i, block in listed(body.get("system")):
        yield from _cache(block, f"system.{i}")
    yield from each(body.get("messages"), "messages", _message)


def _message(message: Body, path: str) -> Iterator[Fault]:
    role = Key("role", values=("user", "assistant", "system"))
    # A directive of the system's may stand without blocks.
    content = Key("content", (str, list), required=message.get("role") != "system")
    yield from faults(message, path, (role, content))
    yield from _blocks(message.get("content"), f"{path}.content")


def _tool(tool: Body, path: str) -> Iterator[Fault]:
    yield from _cache(tool, path)
    if tool.get("type") in (None, "custom"):
        keys = (Key("name"), Key("description", required=False), Key("input_schema", (dict,)))
        yield from faults(tool, path, keys)


def _have_their_keys(body: Body) -> Findings:
    yield from findings_of("AM21", (*_messages(body), *each(body.get("tools"), "tools", _tool)), _words)


def _schemas_are_valid(body: Body) -> Findings:
    for i, tool in listed(body.get("tools")):
        schema, path = tool.get("input_schema"), f"tools.{i}.input_schema"
        if not isinstance(schema, dict):
            continue
        if union := next((key for key in ("oneOf", "allOf", "anyOf") if key in schema), ""):
            text = (
                f"tools.{i}.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level"
            )
            yield Finding("AM19", f"{path}.{union}", text, "put the choice into a property, or into the description")
        if place := invalid(schema):
            text = (
                f"tools.{i}.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12 "
                "(https://json-schema.org/draft/2020-12)."
            )
            yield Finding("AM19", f"{path}.{place}", text, "write this keyword as draft 2020-12 has it")


SHAPES: Final[tuple[Rule, ...]] = (_have_their_keys, _schemas_are_valid)
