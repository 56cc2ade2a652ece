"""What is known of a model goes by its name."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from muntin.models import known_models, model
from muntin.state import difference, merged


@pytest.mark.parametrize(
    ("name", "window"),
    [
        ("gpt-4o-2024-08-06", 128_000), ("gpt-4-0613", 8_192), ("gpt-5.2-codex", 400_000), ("gpt-5-mini", 400_000),
        ("claude-opus-4-7", 1_000_000), ("claude-sonnet-4-5-20250929", 200_000), ("ft:gpt-4o-mini:acme::1", 128_000),
    ],
)  # fmt: skip
def test_names_of_known_models(name, window):
    assert model(name).window == window
    assert model(name).name == name


@pytest.mark.parametrize("name", ["gpt-4.7", "o1000", "house-llm-3"])
def test_case_c15_of_an_unknown_model_a_large_window_is_assumed_with_a_warning(name):
    with pytest.warns(UserWarning, match="nothing is known"):
        assert model(name).window == 200_000


def test_every_known_model_has_a_source_and_an_encoding():
    for known in known_models():
        assert known.source.startswith("https://")
        assert mt.tokenizer(known.encoding)


VALUES = st.recursive(
    st.booleans() | st.integers() | st.text(max_size=3), lambda v: st.dictionaries(st.text(max_size=2), v)
)
STATES = st.dictionaries(st.text(max_size=2), VALUES, max_size=4)


@given(before=STATES, after=STATES)
def test_a_difference_merged_is_the_state_that_it_leads_to(before, after):
    assert merged(before, difference(before, after)) == after
    assert not difference(after, after)


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("anthropic/claude-sonnet-4-5-20250929", "claude-sonnet-4-5"), ("claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"), ("xai/grok-4-0709", "grok-4"),
        ("claude-opus-4@20250514", "claude-opus-4"), ("us.amazon.nova-micro-v1%3A0", "nova-micro"),
        ("accounts/fireworks/models/gpt-oss-120b", "gpt-oss"), ("gpt-35-turbo-16k", "gpt-3.5-turbo-16k"),
    ],
)  # fmt: skip
def test_names_as_gateways_and_clouds_give_them(name, known):
    assert model(name) == msgspec.structs.replace(model(known), name=name)


def test_an_unknown_model_is_warned_of_once_where_it_was_named():
    with pytest.warns(UserWarning, match="nothing is known") as warned:
        mt.providers.openai_chat("house-llm-4")
    assert [one.filename for one in warned] == [__file__]
    mt.providers.openai_chat("house-llm-4")


@pytest.mark.parametrize(
    ("name", "near", "window"),
    [
        ("claude-sonet-4-5", "claude-sonnet-4-5", 200_000), ("gtp-4o", "gpt-4o", 200_000),
        ("gemni-2.5-pro", "gemini-2.5-pro", 200_000), ("grok-biuld-latest", "assuming what holds for grok", 131_072),
    ],
)  # fmt: skip
def test_a_misspelt_name_is_warned_of_with_the_nearest_known_ones(name, near, window, monkeypatch):
    monkeypatch.setattr("muntin.models._warned", set())
    with pytest.warns(UserWarning, match=near):
        assert model(name).window == window


@pytest.mark.parametrize("name", ["mistral-large-2402", "claude-zeta-9", "grok-9-fast", "claude-haiku-5"])
def test_of_another_version_of_a_family_what_holds_for_it_is_assumed_without_a_warning(name):
    assert model(name).rules == model(name.partition("-")[0]).rules


def test_a_model_that_no_tokenizer_is_public_of_is_refused_with_what_to_do_instead():
    with pytest.raises(mt.EncodingError, match="muntin count --provider"):
        mt.tokenizer("claude-sonnet-4-5")


def test_models_may_be_registered_and_read_from_a_file(tmp_path, monkeypatch):
    monkeypatch.setattr("muntin.models._registered", {})
    mt.register_models([mt.Model(name="gpt-4o", window=64_000)])
    assert model("gpt-4o-2024-08-06").window == 64_000
    path = tmp_path / "models.json"
    path.write_text('[{"name": "house-llm", "window": 4096, "max_output": 512}]')
    assert [one.name for one in mt.load_models(path)] == ["house-llm"]
    assert model("house-llm:latest").window == 4_096
    path.write_text('[{"name": "house-llm", "widow": 4096}]')
    with pytest.raises(mt.InputError, match="widow"):
        mt.load_models(path)


def test_the_snapshot_is_small_and_has_what_a_budget_and_a_bill_need():
    assert len(known_models()) > 300
    known = model("claude-sonnet-4-5")
    assert (known.price_input, known.price_output, known.price_cached, known.price_written) == (3.0, 15.0, 0.3, 3.75)
    assert known.tool_prompt == (496, 588)
