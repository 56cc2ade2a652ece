"""What the messages, calls and tools of an Ollama request look like: `OL6`, as Go's decoder says it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from muntin.checks.finding import Body, Findings, Rule
from muntin.checks.shape import FUNCTION, Fault, Key, each, faults, findings_of, kinds, named

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
    yield from faults(body, "", (Key("messages", (list,)), Key("tools", (list,), required=False)))
    yield from each(body.get("messages"), "messages", _message)


def _message(message: Body, path: str) -> Iterator[Fault]:
    yield from faults(message, path, MESSAGE)
    yield from each(message.get("tool_calls"), f"{path}.tool_calls", _call)


def _call(call: Body, path: str) -> Iterator[Fault]:
    yield from faults(call, path, (Key("id", required=False), Key("function", (dict,))))
    if isinstance(function := call.get("function"), dict):
        yield from faults(function, f"{path}.function", (Key("name"),))


def _tool(tool: Body, path: str) -> Iterator[Fault]:
    yield from faults(tool, path, (Key("type", required=False), Key("function", (dict,))))
    if isinstance(function := tool.get("function"), dict):
        yield from faults(function, f"{path}.function", FUNCTION)


def _have_their_keys(body: Body) -> Findings:
    yield from findings_of("OL6", (*_messages(body), *each(body.get("tools"), "tools", _tool)), _words)


SHAPES: Final[tuple[Rule, ...]] = (_have_their_keys,)
