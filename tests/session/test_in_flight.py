"""Several requests in flight: whose answer is taken, and what is said to the others (R2.1)."""

from __future__ import annotations

import pytest

import muntin as mt
from agents import ADAPTERS, CAPS, compacted, exchange, fill, says, session
from muntin.providers.ids import wire_name


def test_a_request_that_another_answer_has_superseded_is_told_so_and_what_to_do():
    run = session().start_run("go")
    slow, quick = run.prepare(CAPS), run.prepare(CAPS)
    run.record(quick, says("quick", "c1"))
    for refuse in (lambda: run.record(slow, says("slow")), lambda: run.fail(slow, "late")):
        with pytest.raises(mt.UnknownRequest, match=r"'s#1'.* together with 's#2' and was dropped.*prepare again"):
            refuse()
    with pytest.raises(mt.UnknownRequest, match=r"'s#2'.*another answer already"):
        run.record(quick, says("otherwise"))
    run.tool_result("c1", "ok")
    failed = run.prepare(CAPS)
    run.fail(failed, "503")
    with pytest.raises(mt.UnknownRequest, match=r"'s#3'.*has failed"):
        run.record(failed, says("after all"))
    other = session().start_run("go")
    with pytest.raises(mt.UnknownRequest, match="another session"):
        session(system="x").fork("t").start_run("go").record(other.prepare(CAPS), says("x"))


def test_a_tool_is_named_as_in_the_request_that_was_answered_though_it_is_gone_by_now():
    adapter = ADAPTERS["gemini"]
    name = "9lives"
    assert wire_name(name, more=".:", first="0123456789-.:") != name
    s = session("gemini")
    run = s.start_run("go")
    request = run.prepare(mt.Capabilities(stable=[mt.Tool(name, "A tool.")]))
    (sent,) = request.to_dict()["tools"][0]["functionDeclarations"]
    # Meanwhile the tool goes away, and a request says so.
    run.prepare(CAPS)
    answer = {
        "candidates": [
            {
                "content": {"role": "model", "parts": [{"functionCall": {"name": sent["name"], "args": {}}}]},
                "finishReason": "STOP",
            }
        ]
    }
    turn = run.record(request, answer)
    assert [call.name for call in turn.tool_calls] == [name]
    with pytest.raises(mt.ToolUnavailable):
        run.authorize(turn.tool_calls[0], CAPS)
    assert adapter is s.adapter


def test_a_request_keeps_the_snapshot_that_it_was_made_of():
    run = session().start_run("go")
    one = run.prepare(CAPS)
    exchange(run, says("fine"), caps=mt.Capabilities())
    assert one.capabilities.tools == CAPS.tools


def test_a_request_tells_what_was_so_when_it_was_prepared_whenever_it_is_looked_at():
    full = session(policy=mt.Policy(window=9_000, reserve_output=1_000, keep_recent=500), state={"a": 1})
    fill(full.start_run("go"))

    def two(look):
        s = full.fork("f")
        run = s.run
        one = run.prepare(CAPS, now=1.0)
        seen = [(one.usage, one.forecast)] if look else []
        exchange(run, says("", "c1"), "ok")
        run.todo([("pending", "more")])
        two = run.prepare(mt.Capabilities(stable=[CAPS.stable[0]]), now=2.0)
        seen += [(two.usage, two.forecast)] if look else []
        assert isinstance(compacted(s), mt.Committed)
        run.prepare(CAPS)
        return seen or [(one.usage, one.forecast), (two.usage, two.forecast)]

    assert two(look=True) == two(look=False)


def test_a_call_may_be_given_as_itself():
    s = session()
    run = s.start_run("go")
    turn = run.record(run.prepare(CAPS), says("", "c1", "c2", "c3"))
    one, two, three = turn.tool_calls
    run.approve(one)
    run.tool_result(one, "ok")
    run.deny(two, why="no")
    run.answer(two, "later")
    run.tool_result(two, "denied", is_error=True)
    run.tool_pending(three)
    run.tool_late(three, "done")
    assert s.open_calls == ()
