"""What is known of a model goes by its name."""

from __future__ import annotations

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
