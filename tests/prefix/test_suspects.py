"""What in a stable text is likely to change, and that it is said where it is handed over."""

from __future__ import annotations

import warnings

import pytest

import muntin as mt
from agents import session


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Now: 2026-03-01T09:30:15Z.", "clock"),
        ("Today is 2026-03-01 09:30.", "clock"),
        ("The current time is 9:30.", "clock"),
        ("It is 09:30:15.", "clock"),
        ("ts=1767225600", "clock"),
        ("Session 123e4567-e89b-42d3-a456-426614174000.", "uuid"),
        ("Use <Tool object at 0x7f3c2a1b4c10>.", "address"),
        ("Work in /tmp/run-8f3a.", "temporary path"),
        ("Allowed: {'read', 'write'}.", "set"),
        ("Allowed: frozenset({'read'}).", "set"),
    ],
)
def test_case_i1_i2_p19_what_is_likely_to_change_is_found(text, kind):
    found = mt.find_suspects(text)
    assert [one.kind for one in found] == [kind]
    assert text[found[0].at :].startswith(found[0].text)


@pytest.mark.parametrize(
    "text",
    [
        "Be exact.",
        "Today is 2026-03-01.",
        "Answer within 10:1 odds.",
        "Call 555-0100.",
        "See /tmp.",
        "v1.2.3",
        "0x7fff",
        "{'a': 'b', 'c': 'd'}",
        '["a", "b"]',
        "Answer with {'name'}.",
    ],
)
def test_what_stays_is_left_alone(text):
    assert mt.find_suspects(text) == []


def test_a_session_warns_of_its_system_text_once_with_the_place():
    with pytest.warns(
        mt.UnstablePrefixWarning, match=r"system text, character 6: a time of day, '2026-03-01 09:30'"
    ) as w:
        session(system="It is 2026-03-01 09:30. Be brief. It was 09:29:00.")
    assert "(and 1 more)" in str(w[0].message)


def test_a_request_warns_of_a_tool_when_it_is_new():
    run = session().start_run("go")
    tool = mt.Tool("open", "Open it, session 123e4567-e89b-42d3-a456-426614174000.")
    with pytest.warns(mt.UnstablePrefixWarning, match="description of tool 'open', character 17"):
        run.prepare(mt.Capabilities(stable=[tool]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run.prepare(mt.Capabilities(stable=[tool], switches={"web": True}))
