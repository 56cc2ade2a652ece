"""How requests are counted, by family of models: data in `rules.json`, made by `scripts/fit_counting.py`."""

from __future__ import annotations

import functools
from typing import Literal

import msgspec

from muntin.counting.images import ImageRule, MediaRule
from muntin.counting.texts import Weights
from muntin.exceptions import InputError

__all__ = ["Rules", "image_rule", "rules"]


class Rules(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The rules of one family of models. Tokens, beside those of the texts themselves.

    Attributes:
        source: Where they are from.
        weights: How texts are estimated; those of an exact tokenizer by default.
        request: Of every request.
        message: Of every message; in formats that merge them, of every group.
        system: Of a block of system text that stands apart from the messages.
        name: Of a speaker's name, beside the name itself.
        call: Of a call, beside its name, as often as `call_names` says, and its arguments.
        call_names: How often the bill has a call's name.
        batch: Of a message with several calls.
        result: Of a result.
        sealed: Of each character of reasoning that only the provider can read, by recorded bills. It is free again once
            the user has spoken, which is not known beforehand, so that this errs on the high side.
        tools_as: What tools are told as: `namespace`, as OpenAI renders them, `nested`, as Gemini, or `json`.
        tools: Of having tools at all.
        tools_alone: The same where no system text stands before them, which then makes a message of its own.
        tool: Of each tool.
        tool_weight: Tokens for each token that its text is estimated at.
        hosted: Of a tool that the provider hosts, by the beginning of its name; others are counted as their JSON.
        forced: Of a certain tool that has to be called, beside its name.
        serial: Of having tools that may not be called in parallel; less than `tools` where the rules for it fall away.
        schema: Of a schema that the answer has to follow.
        schema_weight: Tokens for each token that the schema is estimated at.
        margin: Factor from the best estimate to the safe one.
        slack: Tokens that the safe estimate lies above that factor.
        media: How documents, sounds and films are counted.
        image: The rule of images, where a model has none of its own.
    """

    source: str
    weights: Weights = Weights()
    request: int = 3
    message: int = 4
    system: int = 0
    name: int = 1
    call: int = 7
    call_names: int = 1
    batch: int = 0
    result: int = 0
    sealed: float = 0.22
    tools_as: Literal["namespace", "nested", "json"] = "json"
    tools: int = 0
    tools_alone: int = 0
    tool: int = 8
    tool_weight: float = 1.0
    hosted: dict[str, int] = {}
    forced: int = 0
    serial: int = 0
    schema: int = 10
    schema_weight: float = 1.0
    margin: float = 1.1
    slack: int = 8
    media: MediaRule = MediaRule()
    image: str = "tiles"


class _Data(msgspec.Struct):
    rules: dict[str, Rules]
    images: dict[str, ImageRule]


def rules(name: str) -> Rules:
    """The rules of a family.

    Raises:
        InputError: There are none of this name; says what there is.
    """
    if name not in _data().rules:
        raise InputError(f"no rules of counting are named {name!r}; there are {', '.join(_data().rules)}")
    return _data().rules[name]


def image_rule(name: str) -> ImageRule:
    """The rule by which images are counted.

    Raises:
        InputError: There is none of this name; says what there is.
    """
    if name not in _data().images:
        raise InputError(f"no rule of images is named {name!r}; there are {', '.join(_data().images)}")
    return _data().images[name]


@functools.cache
def _data() -> _Data:
    import importlib.resources  # noqa: PLC0415  (it costs start-up time)

    raw = importlib.resources.files("muntin").joinpath("counting", "rules.json").read_bytes()
    return msgspec.json.decode(raw, type=_Data)
