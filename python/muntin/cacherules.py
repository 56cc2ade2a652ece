"""What a provider does with the beginning of a request: when it caches, what it charges, what makes it forget.

Data in `cache_rules.json`: a row for each provider, and one for each family of models with what differs there. What
hangs on the single model (minimum, step, lifetime) stands in `muntin.Model`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeAlias

import msgspec

__all__ = ["CacheRules", "Kept", "cache_rules"]

Kept: TypeAlias = Literal["nothing", "tools", "system"]
"""What a provider can still read after a change: nothing, the tools, or the tools and the system text."""


class CacheRules(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The rules of one provider. Prices are multiples of the price of input that is not cached.

    Attributes:
        provider: The wire format, as in `muntin.providers`; `openai` in the data stands for both of OpenAI's own.
        model: The beginning of the models' names that the row is for; empty for all others.
        asks: Whether it caches only up to where a request asks for it.
        slots: In how many places a request may ask; 0 where it cannot.
        lookback: How many positions before such a place it looks for an entry, the place itself included; 0 where it
            looks for no others, or everywhere.
        runs_as_one: Whether neighbouring calls are one position there, and neighbouring results another.
        mark: What a part of a request carries that asks for caching behind it; empty where a format has another way.
        params: Body parameters that go with marks, unless the caller says otherwise.
        ttls: Lifetimes that may be asked for, in seconds, by the provider's name of each.
        step: What is read grows by so many tokens, from an offset of each session's own; 0 where it goes by the model's
            `cache_step` from the start.
        holds_output: Whether what the model answered lies in the cache too, behind the request that it answered.
        whole_units: Whether only what an earlier request ended with, or its answer, is found, and nothing in between.
        read: Price of input that was read from the cache; a model's own `price_cached` says it more closely.
        write: Price of input that was written to it, by lifetime; 1 where none is named.
        bills_writes: Whether it writes at a price of its own, so that a bill names what was written.
        keeps: For body parameters that break the prefix when they change, what can be read after it.
            Another model and other tools leave nothing.
        key: The body parameter that routes requests of one conversation to one cache; empty where there is none.
        source: Where the rules come from.
    """

    provider: str
    model: str = ""
    asks: bool = False
    slots: int = 0
    lookback: int = 0
    runs_as_one: bool = False
    mark: dict[str, Any] = {}
    params: dict[str, Any] = {}
    ttls: dict[str, float] = {}
    step: int = 0
    holds_output: bool = False
    whole_units: bool = False
    read: float = 1.0
    write: dict[str, float] = {}
    bills_writes: bool = False
    keeps: dict[str, Kept] = {}
    key: str = ""
    source: str = ""

    def ttl(self, seconds: float) -> str:
        """The name of the shortest lifetime that lasts so many seconds, or the longest there is; empty without any.

        Examples:
            >>> cache_rules("anthropic", "claude-sonnet-4-5").ttl(3_600)
            '1h'
        """
        ordered = sorted(self.ttls, key=lambda name: self.ttls[name])
        return next((name for name in ordered if self.ttls[name] >= seconds), ordered[-1] if ordered else "")

    def lifetime(self, seconds: float) -> float:
        """How long an entry lives, in seconds, where one is asked for that lasts so many."""
        return self.ttls.get(self.ttl(seconds), seconds)

    @property
    def mark_bytes(self) -> bytes:
        """The mark as it stands behind the other keys of a part."""
        return b"," + msgspec.json.encode(self.mark)[1:-1] if self.mark else b""

    def write_price(self, seconds: float) -> float:
        """The price of what is written to last so many seconds."""
        return self.write.get(self.ttl(seconds), 1.0)

    def switches(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Those of a request's parameters that break its prefix when they change."""
        return {name: params[name] for name in self.keeps if name in params} if params else {}


_VENDOR: Final = re.compile(r"(?:[a-z]{2,6}(?:-gov)?\.)?(?:anthropic|amazon|openai|meta|mistral|deepseek|qwen)[./]")
"""What Bedrock and gateways put before the maker's own name of a model."""


@functools.cache
def _known() -> tuple[dict[str, Any], ...]:
    import importlib.resources  # noqa: PLC0415  (it costs start-up time)

    data = importlib.resources.files("muntin").joinpath("cache_rules.json").read_bytes()
    return msgspec.json.decode(data, type=tuple[dict[str, Any], ...])


@functools.cache
def cache_rules(provider: str, model: str = "") -> CacheRules:
    """The rules of a provider for a model; for an unknown provider, that it caches by itself and charges all in full.

    Examples:
        >>> cache_rules("anthropic", "claude-sonnet-4-5").slots
        4
        >>> cache_rules("somebody").asks
        False
    """
    name = model[match.end() :] if (match := _VENDOR.match(model)) else model
    rows = [row for row in _known() if _speaks(row["provider"], provider) and name.startswith(row.get("model", ""))]
    rules: dict[str, Any] = {}
    for row in sorted(rows, key=lambda row: len(row.get("model", ""))):
        rules |= row
    return msgspec.convert({**rules, "provider": provider}, CacheRules)


def _speaks(family: str, provider: str) -> bool:
    return provider == family or (":" not in provider and provider.startswith(f"{family}_"))
