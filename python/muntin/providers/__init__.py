"""Wire formats, by the provider's name. Each is made for one model: `providers.anthropic("claude-sonnet-4-5")`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muntin.checks import Finding
from muntin.counting import Estimate, costs_of, outlined
from muntin.exceptions import InputError
from muntin.models import Model
from muntin.models import model as known
from muntin.providers.anthropic import Anthropic as anthropic  # noqa: N813  (reads as the provider's name)
from muntin.providers.base import Adapter, decoded
from muntin.providers.bedrock import Bedrock as bedrock  # noqa: N813  (as above)
from muntin.providers.gemini import Gemini as gemini  # noqa: N813  (as above)
from muntin.providers.ollama import Ollama as ollama  # noqa: N813  (as above)
from muntin.providers.openai_chat import OpenAIChat as openai_chat  # noqa: N813  (as above)
from muntin.providers.openai_responses import OpenAIResponses as openai_responses  # noqa: N813  (as above)
from muntin.providers.profiles import PROFILES, profile

__all__ = [
    "Adapter",
    "adapter",
    "anthropic",
    "bedrock",
    "check",
    "estimate",
    "gemini",
    "names",
    "ollama",
    "openai_chat",
    "openai_responses",
]

_FORMATS: dict[str, type[Adapter]] = {
    "anthropic": anthropic,
    "bedrock": bedrock,
    "gemini": gemini,
    "ollama": ollama,
    "openai_chat": openai_chat,
    "openai_responses": openai_responses,
}


def names() -> tuple[str, ...]:
    """The names of all wire formats, and of the servers that speak chat completions: `openai_chat:mistral`."""
    return (*_FORMATS, *(f"openai_chat:{name}" for name in PROFILES))


def adapter(provider: str, model: str | Model) -> Adapter:
    """The adapter of a provider for a model.

    Raises:
        InputError: No wire format has this name.
    """
    form, _, profile = provider.partition(":")
    return openai_chat(model, profile=profile) if form == "openai_chat" else _form(provider)(model)


def check(provider: str, body: Mapping[str, Any] | bytes) -> list[Finding]:
    """What a provider would refuse in a request body, by the provider's name; see `Adapter.check`.

    Raises:
        InputError: No wire format has this name, or the body is no JSON object.
    """
    form, _, name = provider.partition(":")
    if form != "openai_chat" or not name:
        return _form(provider).check(body)
    from muntin.checks import compatible  # noqa: PLC0415  (few need them, and they cost start-up time)

    whole = dict(decoded(body, "the request body", InputError))
    return [*openai_chat.findings(whole), *compatible.findings(whole, profile(name).name)]


def _form(provider: str) -> type[Adapter]:
    if provider not in _FORMATS:
        raise InputError(f"unknown provider {provider!r}; known are {', '.join(names())}")
    return _FORMATS[provider]


def estimate(provider: str, body: Mapping[str, Any] | bytes, *, model: str | Model | None = None) -> Estimate:
    """What a request body is expected to be billed for, whoever made it; see `Estimate`. O(body).

    Args:
        provider: The name of the wire format.
        body: As it would be POSTed, or decoded.
        model: Whose counts are wanted; None takes the one that the body names.

    Raises:
        InputError: No wire format has this name, the body is no JSON object, or no model is named.

    Examples:
        >>> body = {"model": "gpt-4o", "messages": [{"role": "user", "content": "What is 2 + 2?"}]}
        >>> estimate("openai_chat", body).tokens
        15
    """
    whole = decoded(body, "the request body", InputError)
    if model is None:
        model = whole.get("model")
    if not isinstance(model, str | Model):
        raise InputError("the request body names no model; say which with model=")
    costs = costs_of(known(model) if isinstance(model, str) else model)
    return costs.estimate(outlined(provider.partition(":")[0], whole))
