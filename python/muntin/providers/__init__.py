"""Wire formats, by the provider's name. Each is made for one model: `providers.anthropic("claude-sonnet-4-5")`."""

from __future__ import annotations

from muntin.exceptions import InputError
from muntin.models import Model
from muntin.providers.anthropic import Anthropic as anthropic  # noqa: N813  (reads as the provider's name)
from muntin.providers.base import Adapter
from muntin.providers.openai_chat import OpenAIChat as openai_chat  # noqa: N813  (reads as the provider's name)

__all__ = ["Adapter", "adapter", "anthropic", "names", "openai_chat"]

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
