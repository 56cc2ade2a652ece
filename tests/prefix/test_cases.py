"""Cases I, J and P from the field that concern a whole session, each by its smallest input."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

import muntin as mt
from agents import ADAPTERS, CAPS, READ, RUN, compacted, exchange, fill, messages, says, session, unmarked, work

LONG = "Be exact. " * 900
PNG = "iVBORw0KGgo="
DONE = mt.AssistantTurn((mt.Text("Done."),))


@pytest.fixture(params=sorted(ADAPTERS))
def provider(request):
    return request.param


def sent(request):
    """The body up to its tail, without marks and closing brackets: what the next request has to begin with."""
    body = unmarked(request)
    return body[: len(body) - len(b"".join(request._adapter.tail_pieces(request._frame)) + b"]}")]


def marks(request):
    return request.body.count(b'"cache_control"')


def thinks(text="", *calls):
    turn = says(text, *calls)
    return mt.AssistantTurn((mt.Reasoning("I wonder.", "signed", "anthropic"), *turn.parts), turn.finish)


def thoughts(request):
    return request.body.count(b'"type":"thinking"')


def test_case_i3_i15_p23_p24_what_was_sent_is_sent_again_byte_for_byte(provider):
    """An image, a result and a reminder among it."""
    run = session(provider, system=LONG).start_run([mt.Image("image/png", data=PNG), "What is it?"])
    run.todo([("in_progress", "look")])
    requests = [exchange(run, says("I look.", f"c{n}"), f"result {n} " * 50) for n in range(5)]
    requests.append(run.prepare(CAPS))
    for before, after in itertools.pairwise(requests):
        assert after.forecast.cause == ""
        assert unmarked(after).startswith(sent(before))


def test_case_i1_i9_i17_what_changes_with_the_question_stands_behind_the_history(provider):
    """Recalled memory and the time are inputs or state, and leave the prefix as it is."""
    s = session(provider, system=LONG, state={"memory": "likes tea"})
    run = s.start_run("Which tea?")
    first = exchange(run, says("Green."))
    run.finish()
    s.update_state({"memory": "asked for green tea", "now": "09:31:00"})
    second = s.start_run("And now?").prepare(CAPS)
    assert second.forecast.cause == ""
    assert unmarked(second).startswith(sent(first))


def test_case_i10_p25_one_compaction_breaks_the_prefix_once(provider):
    policy = mt.Policy(window=16_000, reserve_output=2_000, keep_recent=1_000)
    s = session(provider, system=LONG, policy=policy)
    run = s.start_run("go")
    fill(run)
    assert isinstance(compacted(s), mt.Committed)
    causes = [exchange(run, says("I look.", f"after{n}")).forecast.cause for n in range(4)]
    assert causes == ["compaction", "", "", ""]


def test_case_j1_reasoning_goes_with_its_calls_or_not_at_all():
    run = session("anthropic").start_run("go")
    exchange(run, thinks("", "c1"))
    content = next(m["content"] for m in messages(run.prepare(CAPS)) if m["role"] == "assistant")
    assert [block["type"] for block in content] == ["thinking", "tool_use"]


def test_case_j2_kept_turns_behind_a_summary_have_no_reasoning_that_was_made_on_another_prefix():
    policy = mt.Policy(window=16_000, reserve_output=2_000, keep_recent=3_000)
    s = session("anthropic", policy=policy)
    run = s.start_run("go")
    work(run, 8)
    for n in range(3):
        exchange(run, thinks("I look.", f"t{n}"), "word " * 300)
    assert thoughts(run.prepare(CAPS)) == 3
    assert isinstance(compacted(s), mt.Committed)
    request = run.prepare(CAPS)
    assert thoughts(request) == 0
    assert {call.id for call in s.open_calls} == set()
    exchange(run, thinks("Now I see.", "t9"))
    assert thoughts(run.prepare(CAPS)) == 1  # what was made on the new prefix stays


def test_case_j2_reasoning_is_not_sent_to_another_provider():
    s = session("anthropic")
    run = s.start_run("go")
    exchange(run, thinks("I look.", "c1"))
    s.use(ADAPTERS["openai_chat"])
    assert b"I wonder" not in run.prepare(CAPS).body


def test_case_p4_p5_p8_never_more_than_four_marks():
    s = session("anthropic", system=LONG, state={"branch": "main"})
    run = s.start_run("go", catalogue="C", collaboration="D")
    for n in range(8):
        assert marks(exchange(run, says("I look.", *[f"c{n}-{i}" for i in range(n)]))) <= 4
    assert marks(run.prepare(CAPS)) == 4


def test_case_p6_p10_marks_stand_in_blocks_that_have_content():
    run = session("anthropic").start_run("")
    body = run.prepare(CAPS).to_dict()
    assert "cache_control" not in body
    assert all("cache_control" not in message for message in body["messages"])
    marked = [block for message in body["messages"] for block in message["content"] if "cache_control" in block]
    assert [bool(block["text"]) for block in marked] == [True]


def test_case_p11_marks_are_not_sent_to_another_provider():
    s = session("anthropic", system=LONG)
    run = s.start_run("go")
    exchange(run, says("I look.", "c1"))
    assert marks(run.prepare(CAPS)) > 0
    s.use(ADAPTERS["openai_chat"])
    assert marks(run.prepare(CAPS)) == 0


def test_case_p14_p15_p16_keys_of_a_schema_come_out_in_one_order(provider):
    parts = {"type": "object", "$defs": {"x": {"type": "string"}}, "required": ["x"], "properties": {}}
    turned = dict(reversed(parts.items()))
    bodies = [
        session(provider).start_run("go").prepare(mt.Capabilities(stable=[mt.Tool("t", "T", schema)])).body
        for schema in (parts, turned)
    ]
    assert bodies[0] == bodies[1]


def test_case_p17_p18_a_server_that_turns_its_list_around_changes_nothing(provider):
    run = session(provider, system=LONG).start_run("go")
    run.record(run.prepare(mt.Capabilities(stable=[READ, RUN])), DONE)
    forecast = run.prepare(mt.Capabilities(stable=[RUN, READ])).forecast
    assert forecast.cause == ""


def test_case_p20_p21_a_session_that_was_stored_goes_on_with_the_same_bytes(provider):
    s = session(provider, system=LONG)
    run = s.start_run(["text", mt.Attachment("a.txt", text="attached")])
    run.repair("empty_response")
    first = exchange(run, says("I look.", "c1"))
    again = mt.Session.from_events(s.events_since(0))
    request = again.run.prepare(CAPS)
    assert request.body == run.prepare(CAPS).body
    assert unmarked(request).startswith(sent(first))


def test_case_p22_the_tool_the_text_and_the_cost_are_named(provider):
    run = session(provider, system=LONG).start_run("go")
    one, two = (mt.Tool("t", f"Open https://x.test/session/{n}") for n in "ab")
    run.record(run.prepare(mt.Capabilities(stable=[one])), DONE)
    forecast = run.prepare(mt.Capabilities(stable=[two])).forecast
    assert (forecast.cause, forecast.broken.place) == ("tool changed", "tool 't'")
    assert "session/a" in forecast.broken.before
    assert "session/b" in forecast.broken.after
    assert forecast.lost > 1_500


def test_case_p29_marks_do_not_keep_a_compaction_from_cutting():
    policy = mt.Policy(window=16_000, reserve_output=2_000, keep_recent=1_000)
    s = session("anthropic", system=LONG, policy=policy)
    fill(s.start_run("go"))
    assert isinstance(compacted(s), mt.Committed)


def test_case_i11_it_is_time_when_carrying_has_cost_as_much_as_dropping_would():
    """Never at the first request, once after a while, and not again right after it was done."""
    s = session("anthropic", policy=mt.Policy(window=200_000, keep_recent=1_000), system=LONG)
    run = s.start_run("go")
    paid = []
    for _ in range(60):
        work(run, 1, 900)
        paid.append(s.compaction_pays())
    assert not paid[0]
    assert paid[-1]
    assert paid == sorted(paid)
    plan = s.plan_compaction(least_cost=True, force=True)
    assert isinstance(s.commit_compaction(plan.run(mt.ExtractiveSummarizer())), mt.Committed)
    exchange(run, says("I look.", "c-after"))
    assert not s.compaction_pays()


ROWS = (
    {f"I{n}" for n in (1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 14, 15, 17)} | {"J1", "J2"} | {f"P{n}" for n in range(1, 42)}
)
"""The rows that concern a client; of P36 to P41, which are engines' own faults, what it sees of them."""


def test_every_row_that_concerns_a_client_has_a_test():
    root = Path(__file__).parents[1]
    names = " ".join(re.findall(r"def (test_\w*case_\w+)", "".join(p.read_text() for p in root.rglob("test_*.py"))))
    named = {one.upper() for one in re.findall(r"(?<=_)[ijp]\d+(?=_|\b)", names)}
    assert ROWS - named == set()
