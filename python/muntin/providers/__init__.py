"""Wire formats, by the provider's name. Each is made for one model: `providers.anthropic("claude-sonnet-4-5")`."""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from muntin.checks import Finding
from muntin.counting import Estimate, costs_of, outlined
from muntin.exceptions import InputError
from muntin.models import Model
from muntin.models import model as known
from muntin.providers.base import Adapter, decoded
from muntin.providers.profiles import PROFILES, profile

if TYPE_CHECKING:
    from muntin.providers.anthropic import Anthropic as anthropic  # noqa: N813  (reads as the provider's name)
    from muntin.providers.bedrock import Bedrock as bedrock  # noqa: N813  (as above)
    from muntin.providers.gemini import Gemini as gemini  # noqa: N813  (as above)
    from muntin.providers.ollama import Ollama as ollama  # noqa: N813  (as above)
    from muntin.providers.openai_chat import OpenAIChat as openai_chat  # noqa: N813  (as above)
    from muntin.providers.openai_responses import OpenAIResponses as openai_responses  # noqa: N813  (as above)

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

_FORMATS: Final = {
    "anthropic": "Anthropic",
    "bedrock": "Bedrock",
    "gemini": "Gemini",
    "ollama": "Ollama",
    "openai_chat": "OpenAIChat",
    "openai_responses": "OpenAIResponses",
}
"""The class of each format, in the module of its name; imported when it is first asked for."""


class _Package(types.ModuleType):
    """This package: the name of a format stands for its class, though it is the name of the class's module too."""

    def __setattr__(self, name: str, value: object) -> None:
        # The import system binds a module here when it has loaded it, whoever asked for it.
        if name in _FORMATS and isinstance(value, types.ModuleType):
            value = getattr(value, _FORMATS[name])
        super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> type[Adapter]:
    if name not in _FORMATS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    importlib.import_module(f"{__name__}.{name}")
    form: type[Adapter] = globals()[name]
    return form


def __dir__() -> list[str]:
    return __all__


def names() -> tuple[str, ...]:
    """The names of all wire formats, and of the servers that speak chat completions: `openai_chat:mistral`."""
    return (*_FORMATS, *(f"openai_chat:{name}" for name in PROFILES))


def adapter(provider: str, model: str | Model) -> Adapter:
    """The adapter of a provider for a model.

    Raises:
        InputError: No wire format has this name.
    """
    form, _, server = provider.partition(":")
    if form != "openai_chat" or not server:
        return _form(provider)(model)
    from muntin.providers.openai_chat import OpenAIChat  # noqa: PLC0415  (imported when it is first asked for)

    return OpenAIChat(model, profile=server)


def check(provider: str, body: Mapping[str, Any] | bytes) -> list[Finding]:
    """What a provider would refuse in a request body, by the provider's name; see `Adapter.check`.

    Raises:
        InputError: No wire format has this name, or the body is no JSON object.
    """
    form, _, name = provider.partition(":")
    if form != "openai_chat" or not name:
        return _form(provider).check(body)
    from muntin.checks import compatible  # noqa: PLC0415  (few need them, and they cost start-up time)
    from muntin.checks import openai_chat as rules  # noqa: PLC0415  (as above)
    from muntin.checks.finding import run  # noqa: PLC0415  (as above)

    whole = dict(decoded(body, "the request body", InputError))
    return [*run(whole, rules.RULES), *compatible.findings(whole, profile(name).name)]


def _form(provider: str) -> type[Adapter]:
    if provider not in _FORMATS:
        raise InputError(f"unknown provider {provider!r}; known are {', '.join(names())}")
    return __getattr__(provider)


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
