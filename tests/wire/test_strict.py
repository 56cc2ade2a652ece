"""The strict types: good bodies pass, and each fault of shape gives a finding at its place."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from wire import bodies
from wire.strict import anthropic_findings, openai_chat_findings

FORMATS = {
    "openai_chat": (bodies.openai_chat, openai_chat_findings),
    "anthropic": (bodies.anthropic, anthropic_findings),
}


def spoiled(body: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """A copy of a body with another value at a path; `...` takes the key away."""
    body = deepcopy(body)
    *parents, last = (int(part) if part.isdigit() else part for part in path.split("."))
    place: Any = body
    for part in parents:
        place = place[part]
    if value is ...:
        del place[last]
    else:
        place[last] = value
    return body


@pytest.mark.parametrize("wire", sorted(FORMATS))
def test_a_good_body_has_no_findings(wire):
    good, findings = FORMATS[wire]
    assert findings(good()) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("model", ...),
        ("max_completion_tokens", "100"),
        ("messages.2", {"role": "human", "content": "Look."}),
        ("messages.2.content", None),
        ("messages.2.content.1.image_url.detail", "huge"),
        ("messages.2.content.1.image_url", "https://example.com/a.png"),
        ("messages.3.reasoning_content", "Hm."),
        ("messages.3.tool_calls.0", {"id": "call_0_0", "function": {"name": "read_file", "arguments": "{}"}}),
        ("messages.3.tool_calls.0.function.arguments", {"path": "a.py"}),
        ("messages.4.tool_call_id", ...),
        ("messages.4.content", [{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}]),
        ("tool_choice", {"type": "tool", "name": "read_file"}),
        ("tools.0", {"name": "read_file", "input_schema": {"type": "object"}}),
    ],
)
def test_openai_chat_faults_are_found(path, value):
    _assert_found("openai_chat", path, value)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("max_tokens", ...),
        ("max_tokens", "100"),
        ("messages.0", {"role": "tool", "content": "ok"}),
        ("messages.0.content.1.source.media_type", "image/bmp"),
        ("messages.1.content.0.signature", ...),
        ("messages.1.content.0.cache_control", {"type": "ephemeral"}),
        ("messages.1.content.1.input", '{"path": "a.py"}'),
        ("messages.2.content.0.tool_use_id", ...),
        ("messages.2.content.0.content.0", "ok"),
        ("messages.2.content.0.is_error", "yes"),
        ("tools.0.cache_control.ttl", "2h"),
        ("tools.0.input_schema", {"properties": {}}),
        ("tools.0", {"type": "function", "function": {"name": "read_file", "parameters": {"type": "object"}}}),
    ],
)
def test_anthropic_faults_are_found(path, value):
    _assert_found("anthropic", path, value)


def _assert_found(wire, path, value):
    good, findings = FORMATS[wire]
    found = findings(spoiled(good(), path, value))
    assert found
    # The tags of the arms on the way are left out of a path, so that it leads through the body.
    assert all(f"{finding.partition(': ')[0]}.".startswith(f"{path}.") for finding in found)


OPEN = {"parameters", "input_schema", "input"}
"""Keys under which any JSON object may stand."""


def objects(value: Any, path: str = "") -> list[str]:
    """The paths of all closed objects within a value."""
    if isinstance(value, list):
        return [found for i, part in enumerate(value) for found in objects(part, f"{path}{i}.")]
    if not isinstance(value, dict):
        return []
    parts = [found for key, part in value.items() if key not in OPEN for found in objects(part, f"{path}{key}.")]
    return [path, *parts]


@pytest.mark.parametrize(
    ("wire", "path"), [(wire, path) for wire, (good, _) in sorted(FORMATS.items()) for path in objects(good())]
)
def test_an_unknown_key_is_found_in_every_object(wire, path):
    _assert_found(wire, f"{path}surprise", 1)


def test_a_fault_gives_one_finding_however_many_arms_a_union_has():
    found = anthropic_findings(spoiled(bodies.anthropic(), "messages.2.content.0.tool_use_id", ...))
    assert len(found) == 1
    assert found[0].startswith("messages.2.content.0.tool_use_id: Field required")


def test_a_tools_json_schema_stays_open():
    schema = {"type": "object", "$defs": {"a": {"type": "string"}}, "anyOf": [{"required": ["a"]}]}
    assert anthropic_findings(spoiled(bodies.anthropic(), "tools.0.input_schema", schema)) == []
