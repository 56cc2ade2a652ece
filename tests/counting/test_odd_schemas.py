"""Schemas that are not quite JSON Schema, as tools in the field have them: they are counted, and crash nothing."""

from __future__ import annotations

import pytest

import muntin as mt
from agents import ADAPTERS

INNER = {"type": "object", "properties": {"x": {"type": "string"}}, "required": True}


@pytest.mark.parametrize("schema", [
    {"type": "object", "properties": {"a": INNER}},
    {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": ["A"]},
    {"type": "object", "properties": {"a": {"type": "string"}}, "required": 1},
])  # fmt: skip
@pytest.mark.parametrize("provider", ["openai_chat", "openai_responses", "gemini", "ollama"])
def test_a_tool_whose_schema_is_odd_is_counted(provider, schema):
    adapter = ADAPTERS[provider]
    run = mt.Session("s", adapter=adapter).start_run("go")
    request = run.prepare(mt.Capabilities(stable=[mt.Tool("f", "Look.", schema)]))
    assert request.usage.tokens >= adapter.estimate(adapter.recount(request.body)) > 0
