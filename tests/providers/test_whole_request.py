"""A whole request with all fourteen segments in each wire format, readable, the segment beside each message (R3).

`golden/whole/*.txt`; the environment `MUNTIN_GOLDEN=write` makes them anew. What is shown is the body itself, part by
part, and nothing of it is left out.
"""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path

import pytest

import muntin as mt
from agents import ADAPTERS, FETCH, READ, RUN, says, summary
from muntin.layout import LAYOUT, Segment

GOLDEN = Path(__file__).parent / "golden" / "whole"
FORMATS = [name for name in sorted(ADAPTERS) if ":" not in name]
CAPS = mt.Capabilities(
    stable=[RUN, READ], dynamic=[FETCH], guides={"web": "Fetch a page before you quote it."}, switches={"web": True}
)
LOG = "\n".join(f"{hour:02}:00 the lamp burns, {hour} ships in sight" for hour in range(24))


def request(provider):
    """The example: a keeper's agent in its third task, the first of which a summary covers."""
    session = mt.Session(
        "lighthouse",
        adapter=ADAPTERS[provider],
        policy=mt.Policy(window=3_400, reserve_output=400, keep_recent=100, compact_to=0.05, tail="volatile"),
        system=mt.System(
            rules="You keep the lighthouse's books.",
            tool_guidance="Read before you write.",
            transaction_rules="A file is changed in one transaction.",
            custom="Times are in UTC.",
        ),
        state={"station": "north pier", "lamp": "on"},
    )
    run = session.start_run("What happened last night?")
    for part in ("a", "b", "c"):
        run.record(run.prepare(CAPS), says("I read the log.", part))
        run.tool_result(part, LOG)
    run.record(run.prepare(CAPS), says("Nothing happened."))
    run.finish()
    plan = session.plan_compaction(force=True)
    while asked := plan.next_request():
        plan.feed(asked, says(summary("Tell what happened at night.", confirmed="Nothing happened.")))
    assert isinstance(session.commit_compaction(plan), mt.Committed)
    run = session.start_run("Is the lamp on?")
    run.record(run.prepare(CAPS), says("It is on."))
    session.update_state({"lamp": "off"}, reason="the oil is out")
    run.finish()
    run = session.start_run(
        ["Enter the oil.", mt.Attachment("bill.png", note="of today", text="40 l of oil"), "And sign it."],
        catalogue="- books: how to keep the books",
        collaboration="The harbour's agent reads the books at noon.",
        skills=[mt.SkillText("books", "One line a delivery.")],
        state={"page": 7},
    )
    run.record(run.prepare(CAPS), says("I look.", "d1", ("d2", "run_tests")))
    run.tool_result("d2", "no tests", is_error=True)
    run.tool_result("d1", "page 7 is empty")
    run.guide("Be quick.")
    run.todo(
        [("completed", "read page 7"), ("in_progress", "enter the oil"), ("pending", "sign")], goal="The oil is in"
    )
    run.repair("transaction_prose")
    run.transaction(mt.FileTransaction.begin("t-1", "books/7.md"))
    return session, run.prepare(CAPS)


def shown(session, request):
    """Each part of the body with its segment, in the order of the wire."""
    frame, lane = request._frame, session._conversation.lane
    parts = [("", frame.head), ("tools", frame.tools.wire)]
    parts += [(part.segment, part.wire) for part in frame.front]
    edges = (0, lane.summary, *lane.marks, frame.units)
    for segment, (start, stop) in enumerate(itertools.pairwise(edges), Segment.SUMMARY):
        parts += [(Segment(segment), lane.history.wire(unit)) for unit in range(start, stop)]
    parts += [(segment, unit.wire) for segment, unit in request._usage.args[0].end.parts]
    return parts


def lines(parts):
    titles = {row.segment: row.title for row in LAYOUT}
    before = None
    for segment, wire in parts:
        if segment != before:
            yield f"\n--- {int(segment)} {titles[segment]}" if segment in titles else f"\n--- {segment or 'head'}"
        before = segment
        text = wire.decode()
        try:
            yield json.dumps(json.loads(f"[{text}]"), indent=1, ensure_ascii=False)[2:-2]
        except ValueError:
            yield text


@pytest.mark.parametrize("provider", FORMATS)
def test_a_whole_request_is_as_it_was_with_each_segment_in_its_place(provider):
    session, made = request(provider)
    parts = shown(session, made)
    segments = [segment for segment, _ in parts if isinstance(segment, Segment)]
    assert segments == sorted(segments)
    assert set(segments) == set(Segment)
    # The parts are the body: each stands behind the one before, and between them is nothing but punctuation and marks.
    place = 0
    for segment, wire in parts[2:]:
        found = made.body.find(wire.rstrip(b"}"), place)
        assert found >= place, (segment, wire)
        place = found + len(wire.rstrip(b"}"))
    text = f"POST {made.path}\n" + "\n".join(lines(parts)) + "\n"
    path = GOLDEN / f"{provider}.txt"
    if os.environ.get("MUNTIN_GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text
