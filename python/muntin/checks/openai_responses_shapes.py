"""What the items, parts and tools of a Responses request look like: `OR13`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from muntin.checks.finding import Body, Findings, Rule
from muntin.checks.openai_words import words
from muntin.checks.shape import FUNCTION, Fault, Key, each, faults, findings_of, of_kind

__all__ = ["SHAPES"]

TEXT: Final = (Key("text"),)
GIVEN: Final = {
    "input_text": TEXT,
    "input_image": (
        Key("image_url", required=False),
        Key("file_id", required=False),
        Key("detail", required=False),
    ),
    "input_file": (),
    "input_audio": (),
    "output_text": TEXT,
    "refusal": (Key("refusal"),),
    "computer_screenshot": (),
    "summary_text": TEXT,
}
"""Parts of messages that are not the assistant's, and of outputs."""
SAID: Final = {"output_text": TEXT, "refusal": (Key("refusal"),)}
"""Parts of the assistant's messages."""
ITEMS: Final = {
    "function_call": (Key("call_id"), Key("name")),
    "function_call_output": (Key("call_id"), Key("output", (str, list))),
    "reasoning": (Key("encrypted_content", required=False), Key("content", (list,), required=False)),
    "item_reference": (Key("id"),),
}
"""Items whose keys are known; those of hosted tools go back as they came, and nothing is said of them."""
OTHERS: Final = frozenset({
    "message", "file_search_call", "computer_call", "computer_call_output", "web_search_call", "tool_search_call",
    "tool_search_output", "additional_tools", "compaction", "compaction_trigger", "image_generation_call",
    "code_interpreter_call", "local_shell_call", "local_shell_call_output", "shell_call", "shell_call_output",
    "apply_patch_call", "apply_patch_call_output", "mcp_list_tools", "mcp_approval_request", "mcp_approval_response",
    "mcp_call", "custom_tool_call", "custom_tool_call_output", "program", "program_output",
})  # fmt: skip


def _items(body: Body) -> Iterator[Fault]:
    lists = (Key("input", (str, list), required=False), Key("tools", (list,), required=False))
    yield from faults(body, "", (*lists, Key("instructions", (str, list), required=False)))
    yield from each(body.get("input"), "input", _item)


def _item(item: Body, path: str) -> Iterator[Fault]:
    kind = item.get("type") if item.get("type") is not None else "message" if "role" in item else None
    if kind == "message":
        yield from _message(item, path)
        return
    known = Key("type", values=(*ITEMS, *sorted(OTHERS)))
    wrong = list(faults(item, path, (known,)))
    yield from wrong or faults(item, path, ITEMS.get(item["type"], ()))
    if kind == "function_call_output":
        yield from of_kind(item.get("output"), f"{path}.output", "type", GIVEN)


def _message(item: Body, path: str) -> Iterator[Fault]:
    yield from faults(item, path, (Key("role"), Key("content", (str, list))))
    known: dict[str, Any] = SAID if item.get("role") == "assistant" else GIVEN
    yield from of_kind(item.get("content"), f"{path}.content", "type", known)


def _tool(tool: Body, path: str) -> Iterator[Fault]:
    yield from faults(tool, path, (Key("type"),))
    if tool.get("type") == "function":  # flat, not nested as in chat completions
        yield from faults(tool, path, FUNCTION)


def _have_their_keys(body: Body) -> Findings:
    yield from findings_of("OR13", (*_items(body), *each(body.get("tools"), "tools", _tool)), words)


SHAPES: Final[tuple[Rule, ...]] = (_have_their_keys,)
