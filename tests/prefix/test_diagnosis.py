"""Where two texts and two lists of tools part, for any of them."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from muntin.diagnosis import Cause, broken_front, first_difference, tool_names, tools_break
from muntin.layout import Segment
from muntin.providers.base import Part

names = st.lists(st.sampled_from("abcdef"), unique=True, max_size=6)


def tools(listed, text="x"):
    return [json.dumps({"name": name, "description": text}).encode() for name in listed]


@given(st.binary(max_size=40), st.binary(max_size=40), st.binary(max_size=40))
def test_the_first_difference_is_where_the_common_beginning_ends(shared, one, other):
    one, other = shared + one, shared + other
    same = first_difference(one, other)
    assert one[:same] == other[:same]
    assert same == min(len(one), len(other)) or one[same] != other[same]


@given(names, names)
def test_a_difference_of_tools_names_one_that_differs(had, has):
    if had == has:
        return
    broken = tools_break(tools(had), tools(has))
    name = broken.place.removeprefix("tool '").removesuffix("'")
    match broken.cause:
        case Cause.TOOL_ADDED:
            assert name in set(has) - set(had)
        case Cause.TOOL_REMOVED:
            assert name in set(had) - set(has)
        case Cause.TOOLS_REORDERED:
            assert name in has
            assert had.index(name) != has.index(name) or set(had) != set(has)
        case _:
            raise AssertionError(broken)


@given(names.filter(bool), st.data())
def test_a_tool_whose_text_changed_is_named(listed, data):
    changed = data.draw(st.sampled_from(listed))
    after = [tools([name], "y" if name == changed else "x")[0] for name in listed]
    broken = tools_break(tools(listed), after)
    assert (broken.cause, broken.place) == (Cause.TOOL_CHANGED, f"tool {changed!r}")


def test_names_are_found_in_the_form_of_each_provider():
    shapes = [
        {"name": "a"},
        {"type": "function", "function": {"name": "b"}},
        {"toolSpec": {"name": "c"}},
        {"type": "w"},
    ]
    assert tool_names([json.dumps(shape).encode() for shape in shapes]) == ["a", "b", "c", "w"]


def test_a_character_that_is_cut_at_the_edge_is_not_shown():
    before, after = (Part(Segment.SYSTEM, ("é" * 40 + end).encode(), 1) for end in "ab")
    same, broken = broken_front([before], [after])
    assert same == 0
    assert broken.before == "é" * 24 + "a"
    assert broken.after == "é" * 24 + "b"


def test_fronts_that_are_equal_have_no_break():
    part = Part(Segment.SYSTEM, b"a", 1)
    assert broken_front([part], [Part(Segment.SYSTEM, b"a", 1)]) == (1, None)
