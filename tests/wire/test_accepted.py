"""Requests that providers answered: what the checks find in them is a false finding; the usual kinds have a reason.

`pytest tests/wire/test_accepted.py --log-cli-level=info` shows how many there are.
"""

from __future__ import annotations

import json
import logging
import re
from collections import Counter
from functools import partial

import pytest

import muntin as mt
from recorded import open_text
from wire.strict import anthropic_findings, openai_chat_findings

LOG = logging.getLogger(__name__)

ENDPOINTS = {
    "openai_chat": ("chat", {"openai", "azure-openai"}),
    "openai_responses": ("responses", {"openai", "azure-openai"}),
    "anthropic": ("messages", {"anthropic"}),
    "gemini": ("generateContent", {"gemini", "vertex"}),
    "bedrock": ("converse", {"bedrock"}),
    "ollama": ("ollama_chat", {"local"}),
}

TOLERANCE = 0.005
"""The share of bodies that may have other findings than those below: recordings hold what nobody meant to send."""

# Paths without their numbers, with the reason why a server takes what the types of its newest SDK do not.
OPENAI_SHAPES = {
    "messages.content.image_url": "an address instead of an object, which the server tolerates",
    "messages.annotations": "part of a response, sent back",
    "messages.name": "a name in a tool message, which the server ignores",
    "extra_headers": "an argument of the SDK in a recording of calls rather than of bodies",
    "tools": "null instead of nothing",
    "tool_choice": "null instead of nothing",
}
ANTHROPIC_SHAPES = {
    "temperature": "retired",
    "top_k": "retired",
    "top_p": "retired",
    "output_format": "beta, by now in output_config",
    "output_config.task_budget": "beta",
    "mcp_servers": "beta",
    "messages.content": "a block of the MCP beta",
    "messages.content.type": "a change of tools in a system message, beta",
    "messages.content.tool": "a change of tools in a system message, beta",
    "messages.content.text": "a change of tools in a system message, beta",
}


@pytest.fixture(scope="module")
def accepted(shared):
    """The bodies of each format, as a request that is not streamed."""
    bodies = {wire: [] for wire in ENDPOINTS}
    with open_text(shared / "data" / "usage" / "usage_pairs.jsonl.xz") as lines:
        for line in lines:
            pair = json.loads(line)
            for wire, (endpoint, providers) in ENDPOINTS.items():
                if pair["endpoint"] == endpoint and pair["provider"] in providers:
                    body = {key: value for key, value in pair["request"].items() if key != "stream"}
                    # Azure and Bedrock have the model in the path.
                    key = "modelId" if wire == "bedrock" else "model"
                    bodies[wire].append({key: pair["model"] or "unknown", **body})
    return bodies


def unexplained(bodies, check, kind, known=()):
    """The share of bodies with a finding of a kind that is not known; all findings are logged."""
    found = [{kind(finding) for finding in check(body)} for body in bodies]
    wrong = sum(map(bool, found))
    counts = dict(Counter(name for names in found for name in names).most_common())
    LOG.info("%d of %d accepted bodies, %.1f %%: %s", wrong, len(found), 100 * wrong / len(found), counts)
    return sum(1 for names in found if names - set(known)) / len(found)


def path(finding):
    return re.sub(r"\.\d+", "", finding.partition(": ")[0])


@pytest.mark.shared
@pytest.mark.parametrize(
    ("wire", "check", "known"),
    [("openai_chat", openai_chat_findings, OPENAI_SHAPES), ("anthropic", anthropic_findings, ANTHROPIC_SHAPES)],
)
def test_shapes_are_refused_only_where_the_types_are_behind_the_server(accepted, wire, check, known):
    assert unexplained(accepted[wire], check, path, known) <= TOLERANCE


@pytest.mark.shared
@pytest.mark.parametrize("wire", sorted(ENDPOINTS))
def test_no_rule_of_a_provider_is_broken_by_what_it_accepted(accepted, wire):
    check = partial(mt.providers.check, wire)
    assert unexplained(accepted[wire], check, lambda finding: finding.rule) <= TOLERANCE
