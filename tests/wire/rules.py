"""What a provider would refuse in a body: its shape by the SDK's types, and the rules between its messages.

The rules are muntin's own `check`; what our bodies keep beyond them stands here. `wire.test_rules` shows that each rule
finds what it is made for, `wire.test_accepted` that it finds nothing in what providers took.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import muntin as mt
from wire.sdk_models import bedrock_findings, gemini_findings, mistral_findings
from wire.strict import anthropic_findings, openai_chat_findings, openai_responses_findings

__all__ = ["SHAPES", "ours", "refused"]

SHAPES: dict[str, Callable[[dict[str, Any]], list[str]]] = {
    "anthropic": anthropic_findings,
    "bedrock": bedrock_findings,
    "gemini": gemini_findings,
    "openai_chat": openai_chat_findings,
    "openai_responses": openai_responses_findings,
    "openai_chat:mistral": mistral_findings,
}
"""The SDK's types of each format that has some; Ollama's own client takes any dictionary."""


def refused(provider: str, body: dict[str, Any], *, shape: bool = True) -> list[str]:
    """Everything that is wrong with a body that muntin made; empty when it is fine."""
    found = [*map(str, mt.providers.check(provider, body)), *ours(provider, body)]
    if shape and provider in SHAPES:
        found += SHAPES[provider](body)
    return found


def ours(provider: str, body: dict[str, Any]) -> list[str]:
    """What muntin keeps though the provider, or some of its models, would not insist."""
    found = []
    if provider in ("anthropic", "bedrock", "gemini"):
        messages = body["contents" if provider == "gemini" else "messages"]
        roles = [message["role"] for message in messages]
        if roles and (roles[0] != "user" or roles[-1] != "user"):
            found.append(f"roles: the conversation goes from {roles[0]} to {roles[-1]}")
        if provider != "gemini" and any(one == other for one, other in pairwise(roles)):
            found.append("roles: neighbours of one role")
    if provider == "anthropic":
        blocks = [block for message in body["messages"] for block in message["content"]]
        blocks += [part for block in blocks if block["type"] == "tool_result" for part in block["content"]]
        found += [f"blank: {block}" for block in blocks if block["type"] == "text" and not block["text"].strip()]
    return found
