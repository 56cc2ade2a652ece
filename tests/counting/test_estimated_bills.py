"""Estimates beside recorded bills. The rules were fitted on these; `benches/count_figures.py` holds sources out."""

from __future__ import annotations

import json
import lzma
import warnings

import pytest

import muntin as mt
from muntin.models import model

FORMS = {"chat": "openai_chat", "responses": "openai_responses", "messages": "anthropic", "generateContent": "gemini"}
GOALS = [
    ("chat", "gpt", 0.005),
    ("responses", "gpt", 0.01),
    ("messages", "claude", 0.03),
    ("generateContent", "gemini", 0.03),
]

pytestmark = [pytest.mark.shared]


@pytest.fixture(scope="module")
def pairs(shared):
    with lzma.open(shared / "data" / "usage" / "usage_pairs.jsonl.xz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.mark.parametrize(("endpoint", "family", "goal"), GOALS)
def test_half_of_all_estimates_are_as_near_as_that(pairs, endpoint, family, goal):
    errors = []
    for pair in pairs:
        if pair["endpoint"] != endpoint or not pair["clean_input"] or not pair["model"] or pair["input_tokens"] < 200:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # models of which nothing is known
            known = model(pair["model"])
        if known.rules == family:
            estimate = mt.providers.estimate(FORMS[endpoint], pair["request"], model=known)
            errors.append(abs(estimate.tokens / pair["input_tokens"] - 1))
    assert len(errors) > 20
    assert sorted(errors)[len(errors) // 2] <= goal


def test_every_recorded_body_is_counted(pairs):
    bodies = [pair for pair in pairs if pair["endpoint"] in FORMS and isinstance(pair["request"], dict)]
    for pair in bodies:
        assert mt.providers.estimate(FORMS[pair["endpoint"]], pair["request"], model="gpt-4o").safe > 0
    assert len(bodies) > 2_000
