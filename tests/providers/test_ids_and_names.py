"""Ids of calls and names of tools on the wire: of the form that is taken, the same every time, no two alike."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from muntin.providers.ids import given_name, short_id, wire_id, wire_name

WORDS = st.one_of(
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=80),
    st.text("ab_-.:", min_size=60, max_size=70),
    st.from_regex(r"[a-zA-Z0-9]{9}", fullmatch=True),
)
MANY = st.sets(WORDS, max_size=30)


@given(MANY)
def test_ids_are_of_the_form_that_is_taken_and_no_two_become_one(ids):
    for mapped, form in (
        (wire_id, r"[a-zA-Z0-9_-]{1,64}"),
        (lambda one: wire_id(one, limit=40), r"[a-zA-Z0-9_-]{1,40}"),
        (lambda one: wire_id(one, more=".:"), r"[a-zA-Z0-9_.:-]{1,64}"),
        (short_id, r"[a-zA-Z0-9]{9}"),
    ):
        made = [mapped(one) for one in ids]
        assert all(re.fullmatch(form, one) for one in made)
        assert len(set(made)) == len(ids)
        assert [mapped(one) for one in ids] == made
        assert [mapped(one) for one in made] == made


@given(MANY)
def test_names_are_of_the_form_that_is_taken_and_lead_back_to_their_tools(tools):
    for more, first, form in (
        ("", "", r"[a-zA-Z0-9_-]{1,64}"),
        (".:", "0123456789-.:", r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}"),
    ):
        made = {wire_name(tool, more=more, first=first): tool for tool in tools}
        assert all(re.fullmatch(form, name) for name in made)
        assert len(made) == len(tools)
        assert {name: given_name(name, tools) for name in made} == made
