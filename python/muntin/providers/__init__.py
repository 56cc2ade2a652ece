"""Wire formats, by the provider's name. Each is made for one model: `providers.anthropic("claude-sonnet-4-5")`."""

from __future__ import annotations

from muntin.exceptions import InputError
from muntin.models import Model
from muntin.providers.anthropic import Anthropic as anthropic  # noqa: N813  (reads as the provider's name)
from muntin.providers.base import Adapter
from muntin.providers.bedrock import Bedrock as bedrock  # noqa: N813  (as above)
from muntin.providers.gemini import Gemini as gemini  # noqa: N813  (as above)
from muntin.providers.ollama import Ollama as ollama  # noqa: N813  (as above)
from muntin.providers.openai_chat import OpenAIChat as openai_chat  # noqa: N813  (as above)
from muntin.providers.openai_responses import OpenAIResponses as openai_responses  # noqa: N813  (as above)

__all__ = [
    "Adapter",
    "adapter",
    "adapter_class",
    "anthropic",
    "bedrock",
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
    """The names of all wire formats."""
    return tuple(_FORMATS)


def adapter(provider: str, model: str | Model) -> Adapter:
    """The adapter of a provider for a model.

    Raises:
        InputError: No wire format has this name.
    """
    return adapter_class(provider)(model)


def adapter_class(provider: str) -> type[Adapter]:
    """The wire format of a provider, for what needs no model: `adapter_class("gemini").check(body)`.

    Raises:
        InputError: No wire format has this name.
    """
    if provider not in _FORMATS:
        raise InputError(f"unknown provider {provider!r}; known are {', '.join(_FORMATS)}")
    return _FORMATS[provider]
