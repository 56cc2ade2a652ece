"""What the messages, calls and tools of an Ollama request look like: `OL6`, as Go's decoder says it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from muntin.checks.finding import Body, Findings, Rule
from muntin.checks.shape import Fault, Key, faults, findings_of, kinds, named, objects

__all__ = ["SHAPES"]

MESSAGE: Final = (
    Key("role"),
    Key("content", (str, list, dict), required=False),  # a rule of its own says what of these is wrong
    Key("thinking", required=False),
    Key("images", (list,), required=False),
    Key("tool_calls", (list,), required=False),
    Key("tool_name", required=False),
    Key("tool_call_id", required=False),
)


def _words(fault: Fault) -> str:
    field = re.sub(r"\.\d+", "", fault.path)
    if fault.wrong == "missing":
        return f"{fault.path} is missing"
    wanted = kinds(fault.key.types[:1]).replace("array", "slice").replace("object", "struct")
    return f"json: cannot unmarshal {named(fault.value)} into Go struct field ChatRequest.{field} of type {wanted}"


def _messages(body: Body) -> Iterator[Fault]:
    yield from faults(body, "", (Key("model"), Key("messages", (list,)), Key("tools", (list,), required=False)))
    for path, message in objects(body.get("messages"), "messages"):
        if isinstance(message, Fault):
            yield message
            continue
        yield from faults(message, path, MESSAGE)
        for place, call in objects(message.get("tool_calls"), f"{path}.tool_calls"):
            if isinstance(call, Fault):
                yield call
                continue
            yield from faults(call, place, (Key("id", required=False), Key("function", (dict,))))
            if isinstance(function := call.get("function"), dict):
                yield from faults(function, f"{place}.function", (Key("name"),))


def _tools(body: Body) -> Iterator[Fault]:
    for path, tool in objects(body.get("tools"), "tools"):
        if isinstance(tool, Fault):
            yield tool
            continue
        yield from faults(tool, path, (Key("type", required=False), Key("function", (dict,))))
        if isinstance(function := tool.get("function"), dict):
            keys = (Key("name"), Key("description", required=False), Key("parameters", (dict,), required=False))
            yield from faults(function, f"{path}.function", keys)


def _have_their_keys(body: Body) -> Findings:
    yield from findings_of("OL6", (*_messages(body), *_tools(body)), _words)


SHAPES: Final[tuple[Rule, ...]] = (_have_their_keys,)
