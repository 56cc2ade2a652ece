"""Rules of R1 to R5 in one place each, where what others test says only part of them."""

from __future__ import annotations

import pytest

import muntin as mt
from agents import ADAPTERS, CAPS, FETCH, exchange, says, session, texts

WEB = mt.Capabilities(stable=CAPS.stable, dynamic=[FETCH], guides={"web": "WEB-GUIDE"}, switches={"web": True})
NO_WEB = mt.Capabilities(stable=CAPS.stable, switches={"web": False}, reasons={"web": "OFFLINE"})
PICTURE = mt.Image("image/png", data="A" * 4_000, width=800, height=600)
NOTHING = {"tools", "toolConfig", "system", "systemInstruction", "instructions"}


@pytest.fixture(params=sorted(ADAPTERS))
def provider(request):
    return request.param


def wires(s, start=0):
    """The units of the view as they are sent."""
    history = s._conversation.lane.history
    return [history.wire(unit) for unit in range(start, len(history))]


def test_an_image_that_is_referred_to_again_costs_again(provider):  # R1.3
    def tokens(*inputs):
        return session(provider).start_run(["look", *inputs]).prepare(CAPS).usage.tokens

    none, one, two = tokens(), tokens(PICTURE), tokens(PICTURE, PICTURE)
    assert two - one >= 0.9 * (one - none) > 50


def test_the_indicator_says_what_is_left_and_a_reserve_is_no_text(provider):  # R1.2, R1.5
    def request(reserve):
        policy = mt.Policy(window=100_000, reserve_output=reserve)
        return session(provider, policy=policy).start_run("go").prepare(CAPS)

    small, large = request(1_000), request(5_000)
    assert small.usage.tokens == large.usage.tokens
    assert small.usage.remaining - large.usage.remaining == 4_000
    assert large.usage.remaining == 100_000 - 5_000 - large.usage.safe


def test_a_part_without_content_is_left_out(provider):  # R3
    request = session(provider, system="").start_run("go").prepare()
    assert not NOTHING & request.to_dict().keys()
    assert [share.segment for share in request.usage.shares] == [mt.Segment.INPUTS]


def test_every_input_of_a_task_stands_in_its_segment_with_what_came_between(provider):  # R3.6
    s = session(provider, state={"branch": "main"})
    run = s.start_run(
        ["ONE", mt.StateDiff("session", {"branch": "BETWEEN"}), mt.Attachment("a", text="ATTACHED"), "TWO", "THREE"]
    )
    run.prepare(CAPS)
    marks = s._conversation.marks
    body = b"".join(wires(s)[marks.inputs : marks.skills])
    places = [body.index(text) for text in (b"ONE", b"BETWEEN", b"ATTACHED", b"TWO", b"THREE")]
    assert places == sorted(places)


def test_segments_of_a_finished_run_are_history_byte_for_byte(provider, tmp_path):  # R4.1
    folder = tmp_path / "tides"
    folder.mkdir()
    file = folder / "SKILL.md"
    file.write_text("---\nname: tides\ndescription: Reads tables.\n---\nOLD-TEXT", encoding="utf-8")
    s = session(provider)
    run = s.start_run(
        ["look", mt.Attachment("a.pdf", note="NOTE", text="EXTRACTED", images=(PICTURE,))],
        skills=[mt.skills.read_skill(folder)],
        state={"browser": "OPEN"},
    )
    exchange(run, says("I look.", "c1"), "seen")
    exchange(run, says("done"))
    run.prepare(CAPS)
    before = wires(s)
    run.finish()
    file.write_text("---\nname: tides\ndescription: Reads tables.\n---\nNEW-TEXT", encoding="utf-8")
    request = s.start_run("next").prepare(CAPS)
    assert wires(s)[: len(before)] == before
    assert s._conversation.marks.inputs == len(before)
    for text in ("EXTRACTED", "OLD-TEXT", "OPEN", PICTURE.data):
        assert texts(request).count(text) == 1
    assert "NEW-TEXT" not in texts(request)


def test_a_finished_transaction_leaves_its_result_and_the_rules(provider):  # R4.6
    s = session(provider, system=mt.System(rules="Be careful.", transaction_rules="FIXED-RULES"))
    run = s.start_run("go")
    transaction = mt.FileTransaction.begin("t1", "a.py").append(revision=0, index=0)
    run.transaction(transaction)
    run.record(run.prepare(CAPS), says("", "c1"))
    run.tool_result("c1", "RESULT-OF-THE-COMMIT")
    run.transaction(transaction.commit(revision=1))
    request = run.prepare(CAPS)
    assert "<file_transaction>" not in texts(request)
    assert texts(request).count("RESULT-OF-THE-COMMIT") == texts(request).count("FIXED-RULES") == 1
    assert mt.Segment.TRANSACTION not in {share.segment for share in request.usage.shares}


def test_a_withdrawal_is_told_in_its_place_in_time(provider):  # R5.1, R5.2
    s = session(provider)
    run = s.start_run("go")
    exchange(run, says("", "c1"), "EARLIER", caps=WEB)
    exchange(run, says("", "c2"), "LATER", caps=NO_WEB)
    request = run.prepare(NO_WEB)
    units = b"".join(wires(s))
    assert units.index(b"EARLIER") < units.index(b"OFFLINE") < units.index(b"LATER")
    assert "WEB-GUIDE" not in texts(request)
    assert b"web_fetch" not in request._frame.tools.wire
    assert s.state["capabilities"] == {"web": False}


def test_an_overflow_names_the_floor_of_all_that_stands_and_what_would_help(provider):
    s = session(
        provider,
        system="RULES " * 300,
        state={"branch": "x " * 300},
        policy=mt.Policy(window=1_500, reserve_output=500),
    )
    run = s.start_run("task " * 300, catalogue="skill " * 300, collaboration="notes " * 300)
    run.todo([("in_progress", "step")])
    with pytest.raises(mt.ContextOverflow, match="a larger window, a smaller reserve, fewer tools") as overflow:
        run.prepare(WEB)
    floors = overflow.value.floors
    assert list(floors) == ["tools", "system", "catalogue", "collaboration", "guides", "state", "task", "tail"]
    assert all(floors.values())
