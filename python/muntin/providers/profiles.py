"""Servers that speak chat completions, and what each of them refuses that OpenAI's does not, as data.

What is not said here is as with OpenAI. Rules and their sources are in `docs/wire-rules.md`.
"""

from __future__ import annotations

from typing import Final

import msgspec

from muntin.exceptions import InputError

__all__ = ["PROFILES", "Profile", "profile"]


class Profile(msgspec.Struct, frozen=True, kw_only=True):
    """How one server differs.

    Attributes:
        name: Its name, as in `openai_chat(model, profile=name)`.
        model: A model of it, taken where none is named.
        late_system: Whether system text may stand behind the first other message; otherwise a user message says it.
        merges: Whether the front has to be one system message and neighbours of the user's one message, as chat
            templates want it.
        ends_with_user: Whether a request may not end with what the model said.
        short_ids: Whether the id of a call is exactly nine letters and digits.
        reasoning: The key under which the model's reasoning comes, or empty.
        replays: The key under which reasoning goes back with the calls that it led to, or empty.
        details: The key under which a list of sealed reasoning comes and goes back as it came, or empty.
        no_replay: Names of models that refuse reasoning, though others of the server want it.
        limit: The key that limits the answer.
        source: Where this is from.
    """

    name: str
    model: str
    late_system: bool = False
    merges: bool = False
    ends_with_user: bool = False
    short_ids: bool = False
    reasoning: str = ""
    replays: str = ""
    details: str = ""
    no_replay: tuple[str, ...] = ()
    limit: str = "max_tokens"
    source: str


PROFILES: Final = {
    one.name: one
    for one in (
        Profile(
            name="deepseek",
            model="deepseek-chat",
            late_system=True,
            reasoning="reasoning_content",
            replays="reasoning_content",
            no_replay=("deepseek-reasoner",),
            source="https://api-docs.deepseek.com/guides/thinking_mode",
        ),
        Profile(
            name="mistral",
            model="mistral-large-latest",
            ends_with_user=True,
            short_ids=True,
            source="https://github.com/mistralai/mistral-common",
        ),
        Profile(
            name="ollama",
            model="gpt-oss:20b",
            reasoning="reasoning",
            source="https://github.com/ollama/ollama/blob/main/docs/openai.md",
        ),
        Profile(
            name="openrouter",
            model="openai/gpt-5",
            reasoning="reasoning",
            details="reasoning_details",
            source="https://openrouter.ai/docs/use-cases/reasoning-tokens",
        ),
        Profile(
            name="qwen",
            model="qwen3-max",
            reasoning="reasoning_content",
            source="https://www.alibabacloud.com/help/en/model-studio/compatibility-of-openai-with-dashscope",
        ),
        Profile(
            name="vllm",
            model="gpt-oss-120b",
            merges=True,
            reasoning="reasoning",
            source="https://docs.vllm.ai/en/latest/serving/openai_compatible_server.html",
        ),
        Profile(
            name="xai",
            model="grok-4",
            late_system=True,
            reasoning="reasoning_content",
            limit="max_completion_tokens",
            source="https://docs.x.ai/docs/api-reference",
        ),
    )
}
"""All profiles by name."""


def profile(name: str) -> Profile:
    """The profile of a server.

    Raises:
        InputError: There is none of this name.
    """
    if name not in PROFILES:
        raise InputError(f"unknown profile {name!r} of chat completions; known are {', '.join(PROFILES)}")
    return PROFILES[name]
