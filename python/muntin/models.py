"""What a model is: its window, output limit, tokenizer and cache rules. Data in `models.json`, overridable in code."""

from __future__ import annotations

import functools
import warnings

import msgspec

from muntin.exceptions import InputError

__all__ = ["Model", "is_known", "known_models", "model"]


class Model(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the engine must know of a model.

    Attributes:
        name: The name as the provider's API takes it.
        provider: Who serves it, or empty where unknown.
        window: Tokens of the context window, input and output together.
        max_output: Tokens that one answer may have at most.
        encoding: The encoding that counts are made with; for a model whose own tokenizer is not public, the stand-in.
        ratio: Billed tokens for each token of `encoding`; 1 where the tokenizer is the model's own.
        margin: Factor from the best estimate to the safe one.
        cache_min: Tokens of the shortest prefix that the provider caches.
        cache_step: Cached tokens are reported in multiples of this.
        cache_ttl: Seconds after which an unused prefix is expected to be gone.
        system_role: The role that carries system text in chat completions.
        binds_reasoning: Whether its reasoning is refused once anything before it was changed or taken away, reminders
            included; they stay in their place then.
        source: Where the figures come from.
    """

    name: str
    provider: str = ""
    window: int = 200_000
    max_output: int = 32_000
    encoding: str = "o200k_base"
    ratio: float = 1.0
    margin: float = 1.03
    cache_min: int = 1024
    cache_step: int = 1
    cache_ttl: float = 300.0
    system_role: str = "system"
    binds_reasoning: bool = False
    source: str = ""

    def __post_init__(self) -> None:
        if self.window <= 0 or self.max_output <= 0:
            raise InputError(
                f"model {self.name!r}: window {self.window} and max_output {self.max_output} must be positive"
            )


@functools.cache
def known_models() -> tuple[Model, ...]:
    """All models of the data file.

    A name there stands for itself and for what goes on behind it with a dash; one that ends in a dot for every version.
    """
    import importlib.resources  # noqa: PLC0415  (it costs start-up time)

    data = importlib.resources.files("muntin").joinpath("models.json").read_bytes()
    return msgspec.json.decode(data, type=tuple[Model, ...])


def model(name: str) -> Model:
    """What is known of a model, by its name or the longest known beginning of it.

    An unknown model gets a warning and a window of 200,000 tokens: a guess that is too small would compact needlessly
    at every turn, while a guess that is too large shows in the provider's first refusal.

    Examples:
        >>> model("gpt-4o-2024-08-06").window
        128000
    """
    matches = _matches(name)
    if not matches:
        warnings.warn(
            f"nothing is known of model {name!r}: assuming a window of 200,000 tokens; a muntin.Model says better",
            stacklevel=2,
        )
        return Model(name=name, margin=1.25)
    best = max(matches, key=lambda known: len(known.name))
    return msgspec.structs.replace(best, name=name)


def is_known(name: str) -> bool:
    """Whether anything is known of a model of this name."""
    return bool(_matches(name))


def _matches(name: str) -> list[Model]:
    # A fine-tuned model is named "ft:model:organisation:suffix:id".
    base = name.removeprefix("ft:").partition(":")[0]
    return [known for known in known_models() if _goes_by(base, known.name)]


def _goes_by(name: str, known: str) -> bool:
    return name.startswith(known) if known.endswith(".") else f"{name}-".startswith(f"{known}-")
