"""Bodies of other clients, each a report from the field by its smallest input (docs/field-cases.md, P and I)."""

from __future__ import annotations

import copy

import pytest

import muntin as mt

IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
REMINDER = {"type": "text", "text": "<system-reminder>Be brief.</system-reminder>"}


def tool(name, **more):
    return {"name": name, "description": f"{name} it", "input_schema": {"type": "object", "properties": {}}, **more}


def user(*blocks):
    return {"role": "user", "content": [{"type": "text", "text": b} if isinstance(b, str) else b for b in blocks]}


def says(text):
    return {"role": "assistant", "content": [{"type": "text", "text": text}]}


def result(text, id="c1"):
    return {"type": "tool_result", "tool_use_id": id, "content": [{"type": "text", "text": text}]}


def body(*messages, system="Be exact.", tools=(), **more):
    whole = {"model": "m", "system": system, "tools": list(tools), "messages": list(messages), **more}
    return copy.deepcopy(whole)


def cause(before, after, **more):
    found = mt.compare_bodies(before, after, **more)
    return found and (found.cause, found.place)


def test_a_body_that_only_goes_on_has_no_break():
    assert mt.compare_bodies(body(user("a")), body(user("a"), says("b"), user("c"))) is None
    assert mt.compare_bodies(body(user("a"), says("b")), body(user("a"))) is None


def test_a_last_message_that_grows_by_blocks_has_no_break():
    assert mt.compare_bodies(body(user("a")), body(user("a", "b"), says("c"))) is None
    assert cause(body(user("a"), says("b")), body(user("a", "c"), says("b"))) == (
        "earlier message changed",
        "message 0",
    )
    assert cause(body(user("a")), body({"role": "user", "content": "ab"})) == ("earlier message changed", "message 0")


def test_a_mark_that_moves_is_no_break():
    before, after = body(user("a")), body(user("a"), says("b"), user("c"))
    before["messages"][0]["content"][0]["cache_control"] = {"type": "ephemeral"}
    assert mt.compare_bodies(before, after) is None


def test_case_i1_p19_a_clock_in_the_system_text_is_shown_on_both_sides():
    found = mt.compare_bodies(body(user("a"), system="It is 09:30:01."), body(user("a"), system="It is 09:30:15."))
    assert (found.cause, found.segment) == ("system text changed", mt.Segment.SYSTEM)
    assert (found.before, found.after) == ('"It is 09:30:01."', '"It is 09:30:15."')
    assert found.byte == len('"It is 09:30:')
    chat = [{"model": "m", "messages": [{"role": "system", "content": f"09:3{n}"}]} for n in (0, 1)]
    assert cause(*chat) == ("system text changed", "message 0")


def test_case_i5_p17_p18_tools_in_another_order():
    one, two = tool("a"), tool("b")
    assert cause(body(tools=[one, two]), body(tools=[two, one])) == ("tools reordered", "tool 'b'")


def test_case_p14_p15_p16_keys_of_a_schema_in_another_order():
    one = tool("a", input_schema={"type": "object", "$defs": {}, "required": ["x"]})
    two = tool("a", input_schema={"required": ["x"], "type": "object", "$defs": {}})
    assert cause(body(tools=[one]), body(tools=[two])) == ("tool changed", "tool 'a'")


def test_case_p22_a_session_s_address_in_a_description():
    one, two = (tool("a", description=f"Open https://x.test/session/{n}") for n in (1, 2))
    found = mt.compare_bodies(body(tools=[one]), body(tools=[two]))
    assert (found.cause, found.place) == ("tool changed", "tool 'a'")
    assert "session/1" in found.before
    assert "session/2" in found.after


def test_case_p20_a_resumed_message_in_another_form():
    assert cause(body({"role": "user", "content": "hi"}), body(user("hi"), says("x"))) == (
        "same content in another form",
        "message 0",
    )


def test_keys_of_a_call_s_arguments_in_another_order_are_another_form():
    call = {"type": "tool_use", "id": "c1", "name": "a", "input": {"x": 1, "y": 2}}
    turned = {**call, "input": {"y": 2, "x": 1}}
    before, after = ({"role": "assistant", "content": [one]} for one in (call, turned))
    assert cause(body(user("q"), before), body(user("q"), after)) == ("same content in another form", "message 1")


@pytest.mark.parametrize("place", [0, 1])
def test_case_i7_p21_a_reminder_that_moves_to_the_newest_message(place):
    blocks = ["task", REMINDER] if place else [REMINDER, "task"]
    before = body(user(*blocks), says("x"))
    after = body(user("task"), says("x"), user("more", REMINDER))
    assert cause(before, after) == ("reminder moved or gone", "message 0")


def test_case_i7_a_reminder_of_its_own_message_that_is_gone():
    before = body(user("task"), user(REMINDER), says("x"))
    after = body(user("task"), says("x"), user("more"))
    assert cause(before, after) == ("reminder moved or gone", "message 1")


def test_case_i7_a_reminder_that_stood_at_the_very_end():
    system = {"role": "system", "content": "Next step: look."}
    before = {"messages": [{"role": "user", "content": "go"}, system]}
    after = {"messages": [{"role": "user", "content": "go"}, {"role": "assistant", "content": "I look."}]}
    assert cause(before, after) == ("reminder moved or gone", "message 1")


def test_case_p23_an_image_that_becomes_a_path():
    before = body(user("see", IMAGE), says("x"))
    assert cause(before, body(user("see", "[image: /a.png]"), says("x"))) == ("image rendered anew", "message 0")
    shot = {"type": "tool_result", "tool_use_id": "c1", "content": [IMAGE]}
    assert cause(body(user(shot)), body(user(result("/a.png")))) == ("image rendered anew", "message 0")


def test_case_p24_i15_an_old_result_that_was_aged_in_place():
    before = body(user("go"), says("x"), user(result("long output")))
    after = body(user("go"), says("x"), user(result("[cleared]")), says("y"))
    assert cause(before, after) == ("tool result changed", "message 2")
    chat = [{"messages": [{"role": "tool", "tool_call_id": "c", "content": text}]} for text in ("long", "[cleared]")]
    assert cause(*chat) == ("tool result changed", "message 0")


def test_case_p27_a_counter_in_an_early_message():
    before, after = (body(user(f"[{n} steps omitted]"), says("x")) for n in (3, 4))
    assert cause(before, after) == ("earlier message changed", "message 0")


def test_case_p26_a_changing_part_before_a_fixed_one_is_found_at_its_place():
    system = [{"type": "text", "text": "memory 1"}, {"type": "text", "text": "rules"}]
    changed = [{"type": "text", "text": "memory 2"}, {"type": "text", "text": "rules"}]
    found = mt.compare_bodies(body(system=system), body(system=changed))
    assert found.cause == "system text changed"
    assert found.before.startswith('[{"type":"text","text":"memory 1"')


MARK = {"cache_control": {"type": "ephemeral"}}
POINT = {"cachePoint": {"type": "default"}}


def blocks(count, *marked, first=0):
    """That many texts of one message of the user's, some of them marked, counted from 1."""
    return user(
        *({"type": "text", "text": f"{n}"} | (MARK if n in marked else {}) for n in range(first + 1, count + 1))
    )


def test_an_entry_is_found_at_a_mark_or_nineteen_positions_before_it():
    left = body(blocks(15, 15), system="")
    assert cause(left, body(blocks(34, 34), system=""), provider="anthropic") is None
    found = cause(left, body(blocks(35, 35), system=""), provider="anthropic")
    assert found == ("cache entry out of reach", "message 0, 20 positions before the next mark")
    assert cause(left, body(blocks(35, 15, 35), system=""), provider="anthropic") is None
    assert cause(left, body(blocks(35, 35), system="")) is None  # nobody said how far the provider looks


def turn_of(calls, mark):
    """A turn with that many calls and their results, and a mark at the end alone."""
    asked = [{"type": "tool_use", "id": f"c{n}", "name": "a", "input": {}} for n in range(calls)]
    results = [result("x", f"c{n}") for n in range(calls)]
    results[-1] |= mark
    return {"role": "assistant", "content": asked}, user(*results)


def test_case_p1_p2_many_parallel_calls_behind_the_only_mark():
    """One position for all calls and one for all results with Claude's own API, each its own with Converse."""
    before = body({"role": "user", "content": [{"type": "text", "text": "go"} | MARK]})
    plain = copy.deepcopy(before)
    del plain["messages"][0]["content"][0]["cache_control"]
    after = {**plain, "messages": [*plain["messages"], *turn_of(10, MARK)]}
    assert cause(before, after, provider="anthropic") is None
    converse = [{"role": "user", "content": [{"text": "go"}, POINT]}]
    asked = {"role": "assistant", "content": [{"toolUse": {"toolUseId": f"c{n}"}} for n in range(10)]}
    answered = {"role": "user", "content": [{"toolResult": {"toolUseId": f"c{n}"}} for n in range(10)]}
    answered["content"].append(POINT)
    more = [{"role": "user", "content": [{"text": "go"}]}, asked, answered]
    found = mt.compare_bodies({"messages": converse}, {"messages": more}, provider="bedrock")
    assert (found.cause, found.unit) == ("cache entry out of reach", 0)
    assert found.advice == "ask for caching once more where the request before ended"


def test_a_mark_that_is_gone_leaves_the_entry_behind_the_last_mark():
    before, after = body(blocks(3, 3), system=""), body(blocks(4), system="")
    assert cause(before, after, provider="anthropic") == ("cache entry out of reach", "message 0, behind the last mark")
    assert cause(before, {**after, **MARK}, provider="anthropic") is None  # the provider marks the end by itself


def test_a_provider_s_own_mark_passes_over_what_may_carry_none():
    thought = {"role": "assistant", "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}]}
    before = {**body(blocks(1), thought, system=""), **MARK}
    after = {**body(blocks(1), thought, blocks(20, first=1), system=""), **MARK}
    assert cause(before, after, provider="anthropic") == (
        "cache entry out of reach",
        "message 0, 20 positions before the next mark",
    )


def test_parameters_that_break_a_cache_are_the_provider_s():
    before, after = body(user("a"), tool_choice={"type": "auto"}), body(user("a"), tool_choice={"type": "any"})
    assert mt.compare_bodies(before, after) is None
    assert cause(before, after, provider="anthropic") == ("parameter changed", "tool_choice")
    assert cause(body(user("a")), {**body(user("a")), "model": "n"}) == ("model changed", "model")


def test_bodies_of_responses_and_gemini():
    one = {
        "model": "m",
        "instructions": "A",
        "input": [{"type": "function_call_output", "call_id": "c", "output": "x"}],
    }
    two = {**one, "input": [{"type": "function_call_output", "call_id": "c", "output": "y"}]}
    assert cause(one, two) == ("tool result changed", "message 0")
    assert cause(one, {**one, "instructions": "B"}) == ("system text changed", "system text")
    ask = {"contents": [{"role": "user", "parts": [{"text": "a"}]}], "tools": [{"functionDeclarations": [tool("a")]}]}
    more = {**ask, "tools": [{"functionDeclarations": [tool("a"), tool("b")]}]}
    assert cause(ask, more) == ("tool added", "tool 'b'")


def test_what_is_no_request_is_refused():
    with pytest.raises(mt.InputError, match="no list of messages"):
        mt.compare_bodies({"model": "m"}, {"model": "m"})
