"""Wire formats, by the provider's name. Each is made for one model: `providers.anthropic("claude-sonnet-4-5")`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muntin.counting import Estimate, costs_of, outlined
from muntin.exceptions import InputError
from muntin.models import Model
from muntin.models import model as known
from muntin.providers.anthropic import Anthropic as anthropic  # noqa: N813  (reads as the provider's name)
from muntin.providers.base import Adapter, decoded
from muntin.providers.openai_chat import OpenAIChat as openai_chat  # noqa: N813  (reads as the provider's name)

__all__ = ["Adapter", "adapter", "anthropic", "estimate", "names", "openai_chat"]

_FORMATS: dict[str, type[Adapter]] = {"anthropic": anthropic, "openai_chat": openai_chat}


def names() -> tuple[str, ...]:
    """The names of all wire formats."""
    return tuple(_FORMATS)


def adapter(provider: str, model: str | Model) -> Adapter:
    """The adapter of a provider for a model.

    Raises:
        InputError: No wire format has this name.
    """
    if provider not in _FORMATS:
        raise InputError(f"unknown provider {provider!r}; known are {', '.join(_FORMATS)}")
    return _FORMATS[provider](model)


def estimate(provider: str, body: Mapping[str, Any] | bytes, *, model: str | Model | None = None) -> Estimate:
    """What a request body is expected to be billed for, whoever made it; see `Estimate`. O(body).

    Of all wire formats, those included that no adapter renders yet: anthropic, bedrock, gemini, ollama, openai_chat and
    openai_responses.

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
