"""Contents that Gemini caches before they are used."""

from __future__ import annotations

import json

import pytest

import muntin as mt
from agents import CAPS, READ, exchange, says, session
from wire.rules import refused

LONG = "Be exact. " * 3_000


@pytest.fixture
def run():
    return session("gemini", system=LONG, state={"n": 0}).start_run("go")


def test_a_request_behind_a_content_has_all_but_what_that_holds(run):
    content = exchange(run, says("I look.", "c1")).cached_content(seconds=600)
    request = run.prepare(CAPS)
    made, whole, behind = (json.loads(one) for one in (content.body, request.body, request.body_on("x/1", content)))
    assert (made["model"], made["ttl"]) == ("models/gemini-3-pro-preview", "600s")
    assert {key: made[key] for key in ("tools", "systemInstruction")} == {
        key: whole.pop(key) for key in ("tools", "systemInstruction")
    }
    assert behind == {**whole, "cachedContent": "x/1"}
    assert refused("gemini", behind) == []
    assert 4_000 < content.tokens < request.usage.tokens


def test_a_request_with_other_tools_or_another_front_is_not_sent_behind_it(run):
    content = run.prepare(CAPS).cached_content()
    with pytest.raises(mt.InputError, match=r"another tools than 'x/1': cache a new content"):
        run.prepare(mt.Capabilities(stable=[READ])).body_on("x/1", content)
    with pytest.raises(mt.InputError, match="another systemInstruction"):
        run.prepare(mt.Capabilities(stable=CAPS.stable, guides={"w": "WEB"})).body_on("x/1", content)


def test_a_choice_of_tools_may_not_go_with_it(run):
    content = run.prepare(CAPS).cached_content()
    choice = {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}}
    with pytest.raises(mt.InputError, match="toolConfig"):
        run.prepare(CAPS, params=choice).body_on("x/1", content)


def test_what_is_too_short_and_a_format_without_such_contents_are_refused():
    with pytest.raises(mt.InputError, match=r"caches 4096 or more"):
        session("gemini").start_run("go").prepare(CAPS).cached_content()
    with pytest.raises(mt.InputError, match="anthropic has no contents"):
        session("anthropic", system=LONG).start_run("go").prepare(CAPS).cached_content()
