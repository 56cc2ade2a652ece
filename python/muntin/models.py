"""What a model is: its window, output limit, tokenizer, prices and cache rules. Data in `models.json`, overridable.

The data is a snapshot of public tables, made by `scripts/make_models.py`. What was registered in code goes over it, and
so does the file that the environment variable `MUNTIN_MODELS` names.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import msgspec

from muntin.exceptions import InputError

__all__ = ["Model", "is_known", "known_models", "load_models", "model", "register_models"]

USER_FILE: Final = "MUNTIN_MODELS"
"""The environment variable that names a file of models."""


class Model(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the engine must know of a model.

    Attributes:
        name: The name as the provider's API takes it.
        provider: Who makes it, or empty where unknown.
        window: Tokens of the context window, input and output together.
        max_output: Tokens that one answer may have at most.
        encoding: The encoding that counts are made with; for a model whose own tokenizer is not public, the stand-in.
        rules: The rules by which its requests are counted, a name in `counting/rules.json`; empty counts texts alone.
        image: The rule by which its images are counted, a name there too.
        tool_prompt: Tokens of the system prompt that comes with tools; the second where a tool has to be called.
        ratio: Billed tokens for each token that is counted; 1 where the rules know.
        margin: Factor from the best estimate to the safe one; None takes that of the rules.
        cache_min: Tokens of the shortest prefix that the provider caches.
        cache_step: Cached tokens are reported in multiples of this.
        cache_ttl: Seconds after which an unused prefix is expected to be gone.
        system_role: The role that carries system text in chat completions.
        binds_reasoning: Whether its reasoning is refused once anything before it was changed or taken away, reminders
            included; they stay in their place then.
        price_input: US dollars for a million tokens of input; None where unknown, as all prices.
        price_output: For a million tokens of output.
        price_cached: For a million tokens of input that were read from the cache.
        price_written: For a million tokens of input that were written to it.
        source: Where the figures come from.
    """

    name: str
    provider: str = ""
    window: int = 200_000
    max_output: int = 32_000
    encoding: str = "o200k_base"
    rules: str = ""
    image: str = ""
    tool_prompt: tuple[int, int] = (0, 0)
    ratio: float = 1.0
    margin: float | None = None
    cache_min: int = 1024
    cache_step: int = 1
    cache_ttl: float = 300.0
    system_role: str = "system"
    binds_reasoning: bool = False
    price_input: float | None = None
    price_output: float | None = None
    price_cached: float | None = None
    price_written: float | None = None
    source: str = ""

    def __post_init__(self) -> None:
        if self.window <= 0 or self.max_output <= 0:
            raise InputError(
                f"model {self.name!r}: window {self.window} and max_output {self.max_output} must be positive"
            )


class _Source(msgspec.Struct):
    version: str
    source: str


class _Snapshot(msgspec.Struct):
    made: str
    sources: dict[str, _Source]
    models: list[Model]


_registered: dict[str, Model] = {}
_warned: set[str] = set()


def known_models() -> tuple[Model, ...]:
    """All models that something is known of, registered ones first.

    A name there stands for itself and for what goes on behind it with a dash; one that ends in a dot for every version.
    """
    own = _users_own() | _registered
    return (*own.values(), *(one for one in _snapshot() if one.name not in own))


def register_models(models: Iterable[Model]) -> None:
    """Say of models what the data does not, or says otherwise; for the whole process, from the next adapter on.

    Examples:
        >>> register_models([Model(name="shipyard-llm", window=32_768, source="https://llm.shipyard.example")])
        >>> model("shipyard-llm-2026").window
        32768
    """
    for one in models:
        _registered[one.name] = one


def load_models(path: str | os.PathLike[str]) -> tuple[Model, ...]:
    """Register the models of a JSON file: a list of objects with the fields of `Model`.

    Raises:
        InputError: It is no such file; says what is wrong in it.
        OSError: It cannot be read.
    """
    models = _read(Path(path))
    register_models(models)
    return models


def model(name: str) -> Model:
    """What is known of a model, by its name or the longest known beginning of it.

    Names may have what gateways and clouds put around them: `anthropic/claude-sonnet-4.5`,
    `us.anthropic.claude-sonnet-4-5-20250929-v1:0`, `models/gemini-2.5-pro`, `ft:gpt-4o-mini:acme::1`.

    Of an unknown model a window of 200,000 tokens is assumed, with one warning that names the nearest known ones: a
    guess that is too small would compact needlessly at every turn, while a guess that is too large shows in the
    provider's first refusal. Of a model whose family alone is known what holds for the family is assumed, with a
    warning where the name looks misspelt, such as `claude-sonet-4-5`.

    Examples:
        >>> model("gpt-4o-2024-08-06").window
        128000
    """
    found = _found(name)
    if (found is None or _is_misspelt(name, found)) and name not in _warned:
        _warned.add(name)
        near = _nearest(name)
        warnings.warn(
            f"nothing is known of model {name!r}: "
            + (f"assuming what holds for {found.name}, " if found else "assuming ")
            + f"a window of {(found or Model(name=name)).window:,} tokens; "
            + (f"did you mean {' or '.join(near)}? " if near else "")
            + "muntin.register_models says better",
            stacklevel=_callers_level(),
        )
    return Model(name=name, rules="other") if found is None else msgspec.structs.replace(found, name=name)


def is_known(name: str) -> bool:
    """Whether anything is known of a model of this name."""
    return _found(name) is not None


def window_of(name: str) -> int:
    """Tokens of the window of a model of this name; 0 where nothing is known of it. Unlike `model` it never warns."""
    found = _found(name)
    return found.window if found else 0


@functools.cache
def _snapshot() -> tuple[Model, ...]:
    import importlib.resources  # noqa: PLC0415  (it costs start-up time)

    data = importlib.resources.files("muntin").joinpath("models.json").read_bytes()
    snapshot = msgspec.json.decode(data, type=_Snapshot)
    where = {name: f"{one.source} ({name} {one.version}, {snapshot.made})" for name, one in snapshot.sources.items()}
    return tuple(msgspec.structs.replace(one, source=where.get(one.source, one.source)) for one in snapshot.models)


@functools.cache
def _users_own() -> dict[str, Model]:
    path = os.environ.get(USER_FILE)
    return {one.name: one for one in _read(Path(path))} if path else {}


def _read(path: Path) -> tuple[Model, ...]:
    try:
        return msgspec.json.decode(path.read_bytes(), type=tuple[Model, ...])
    except msgspec.DecodeError as reason:
        raise InputError(
            f"{path} is no list of models: {reason}; each is an object with the fields of Model"
        ) from reason


def _found(name: str) -> Model | None:
    """The longest known beginning of the name, as it is or with ever more of what stands around it taken away."""
    matches = [one for plain in _plain_names(name) for one in known_models() if _goes_by(plain, one.name)]
    return max(matches, key=lambda one: len(one.name), default=None)  # the first of equals: a registered one


def _nearest(name: str) -> list[str]:
    """Known names that are spelt alike, the nearest first."""
    import difflib  # noqa: PLC0415  (it costs start-up time, and few names are unknown)

    known = [one.name for one in known_models() if not one.name.isalpha()]
    return difflib.get_close_matches(_plain_names(name)[-1], known, n=3, cutoff=0.8)


@functools.lru_cache(maxsize=256)
def _is_misspelt(name: str, found: Model) -> bool:
    """Whether a model of the family is spelt alike, and differs not in numbers alone, as another version would."""
    if not found.name.isalpha() or found.name == name:  # letters alone, such as `claude`, stand for a family
        return False
    words, *near = (re.sub(r"[\d.-]+", "-", one).strip("-") for one in (_plain_names(name)[-1], *_nearest(name)))
    return bool(near) and words not in near


def _plain_names(name: str) -> list[str]:
    plain = name.replace("%3A", ":").removeprefix("ft:")
    names = [plain]
    plain = plain.lower().rpartition("/")[2]  # a gateway's route
    names.append(plain)
    plain = re.sub(r"^(?:(?:us|eu|apac|jp|au|ca|global|us-gov)\.)?(?:[a-z]+[0-9]*\.)(?=[a-z])", "", plain)  # a cloud's
    plain = re.sub(r"(-v\d+)?(:.*)?$", "", plain).replace("@", "-")  # a cloud's version, a fine-tuned model's owner
    names.append(plain)
    if plain.startswith("claude"):
        names.append(plain.replace(".", "-"))  # claude-sonnet-4.5
    names.append(plain.replace("gpt-35-", "gpt-3.5-"))  # Azure
    return list(dict.fromkeys(names))


def _goes_by(name: str, known: str) -> bool:
    return name.startswith(known) if known.endswith(".") else f"{name}-".startswith(f"{known}-")


def _callers_level() -> int:
    """How many frames up the first code is that is not muntin's own."""
    inside = str(Path(__file__).parent) + os.sep
    level, frame = 0, inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(inside):
        level, frame = level + 1, frame.f_back
    return level
