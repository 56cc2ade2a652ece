"""World state: full once, diffs where they happen, one net diff behind the pins of a compaction (R2.2 to R2.4)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from agents import ADAPTERS, CAPS, compacted, exchange, fill, says, session, texts
from muntin.state import difference, merged


@pytest.fixture(params=sorted(ADAPTERS))
def provider(request):
    return request.param


# The examples of RFC 7396, appendix A, whose target and patch are objects.
@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_merge_patches_are_those_of_rfc_7396(target, patch, result):
    assert merged(target, patch) == result


VALUES = st.recursive(
    st.one_of(st.booleans(), st.integers(0, 3), st.text("ab", max_size=2), st.lists(st.integers(0, 2), max_size=2)),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=6,
)
STATES = st.dictionaries(st.sampled_from("abc"), VALUES, max_size=3)


@given(STATES, STATES)
def test_a_difference_leads_from_one_state_to_the_other(before, after):
    assert merged(before, difference(before, after)) == after
    assert difference(before, before) == {}


def test_the_full_state_stands_once_and_a_new_run_makes_no_other(provider):
    s = session(provider, state={"branch": "STATE-MAIN"})
    for task in ("one", "two", "three"):
        run = s.start_run(task, state={"browser": f"RUN-STATE-{task}"})
        request = exchange(run, says("done"))
        run.finish()
        s.update_state({"branch": f"after-{task}"})
    body = texts(request)
    assert body.count("STATE-MAIN") == 1
    assert (
        body.index("STATE-MAIN") < body.index("RUN-STATE-one") < body.index("after-one") < body.index("RUN-STATE-two")
    )


def test_diffs_that_a_compaction_swallowed_stand_behind_the_pins_as_one(provider):
    policy = mt.Policy(window=9_000, reserve_output=1_000, keep_recent=500)
    s = session(provider, state={"branch": "main", "web": True}, policy=policy)
    run = s.start_run("THE-TASK", state={"page": 1})
    for i in range(5):
        s.update_state({"branch": f"branch-{i}"})
        run.update_state({"page": i})
        exchange(run, says("", f"s{i}"))
    fill(run)
    assert isinstance(compacted(s), mt.Committed)
    behind = texts(run.prepare(CAPS)).split("</summary>")[1]
    assert behind.count("branch-4") == 1
    assert "branch-3" not in behind
    assert behind.count("all changes until here") == 2
    assert behind.index("THE-TASK") < behind.index("all changes until here")
    assert s.state == {"branch": "branch-4", "web": True}
