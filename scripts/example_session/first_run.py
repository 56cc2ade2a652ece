"""The first run: boards that were an hour late on the day on which the clocks changed."""

from __future__ import annotations

from datetime import date

from example_session import first_edits as edits
from example_session import sea
from example_session.calls import captured, commit, diff, edit, files, plan, read, run, search, suite
from example_session.logs import build_log
from example_session.recorder import Recorder
from muntin.items import Attachment

__all__ = ["first_run"]

DAY = date(2026, 3, 29)
LOG = "logs/boards-2026-03-29.log"
GAUGE = "data/gauge/torsnes-2026-03-29.csv"

GAUGE_CHECK = """\
python - <<'END'
import csv
rows = list(csv.DictReader(open("data/gauge/torsnes-2026-03-29.csv")))
good = [float(r["measured_m"]) - float(r["predicted_m"]) for r in rows if r["quality"] == "ok"]
print(len(rows), "rows,", len(good), "good")
print(f"measured - predicted: least {min(good):+.2f} m, most {max(good):+.2f} m, mean {sum(good) / len(good):+.3f} m")
END"""

YEAR_CHECK = """\
git worktree add -q /tmp/before main && python - <<'END'
import json, subprocess
from datetime import date, timedelta
def board(tree, port, day):
    command = ["python", "-m", "harbour", "board", port, str(day), "--json"]
    return json.loads(subprocess.run(command, cwd=tree, capture_output=True, check=True).stdout)["rows"]
def in_order(rows, to):  # what slipped behind midnight goes last
    return sorted((r for r in rows if r["to"] == to), key=lambda r: (r["time"] < "04:30", r["time"]))
boards, departures = set(), []
for n in range(365):
    day = date(2026, 1, 1) + timedelta(days=n)
    for port in ("torsnes", "aervik", "hoefn"):
        old, new = board("/tmp/before", port, day), board(".", port, day)
        if old == new:
            continue
        boards.add((port, day))
        for to in dict.fromkeys(r["to"] for r in new):
            for was, now in zip(in_order(old, to), in_order(new, to), strict=True):
                departures.append({"day": str(day), "port": port, "clock": now["time"], "shown": was["time"],
                                   "before": was["status"], "after": now["status"]})
rows = ",\n".join("  " + json.dumps(d) for d in departures)
print(f'{{"year": 2026, "boards": 1095, "changed": {len(boards)}, "departures": [\n{rows}\n]}}')
END"""


def first_run(session: Recorder) -> None:
    """The fault is found, repaired, tested and pushed; a long publication is interrupted."""
    session.prompt(
        """
        Yesterday, Sunday, the board at Tórsnes was wrong all day. The dispatcher's notes are attached, the log of the
        board service is in logs/boards-2026-03-29.log and the gauge's measurements are under data/gauge. Today it is
        right again and nobody touched anything, which I like even less.

        Find out why, repair it, and add whatever test would have caught it. The paper timetable is correct.
        """,
        Attachment("dispatch.txt", "Typed from the dispatcher's book at quay 2.", captured("dispatch.txt")),
    )
    _look(session)
    _measure(session)
    _test_first(session)
    _repair(session)
    _deliver(session)


def _look(session: Recorder) -> None:
    session.turn(
        "I start with the layout of the repository, then the path of a departure from the timetable to a board.",
        files(),
        think="""
        The notes have a pattern: every time on the board is the printed time plus one hour (09:30 → 10:30, 10:10 →
        11:10, 20:45 → 21:45), and 23:20 became 00:20 and went to the top of the list. Sunday 29 March 2026 is the day
        on which the clocks in Europe change. So a conversion between wall clock and UTC is the first suspect. But the
        depth on the board was wrong too (3.00 m shown for a departure at which the pole had 2.4 m), so it isn't only
        the printing: the tide was looked up an hour late. Look before deciding.
        """,
    )
    session.turn(
        "The conversion happens in `timetable.py` and `board.py`, and `windows.py` decides between `sails` and "
        "`low water`. I read all three.",
        read("harbour/timetable.py"),
        read("harbour/board.py"),
        read("harbour/windows.py"),
    )
    session.turn(
        """
        `departures()` takes the offset of *midnight* and uses it for the whole day. On Sunday midnight was still CET
        (UTC+1), everything after 03:00 was CEST (UTC+2). That would give exactly the hour in the notes. Before I
        believe it I want to see it in the log, and I want to know that the tide itself was right.
        """,
        plan(
            "> confirm in the log what the board showed",
            "- check the predicted tide against the gauge",
            "- write a test that fails",
            "- repair",
            "- see which other days and ports are affected",
            "- commit",
        ),
    )
    session.turn("", read(LOG))
    session.turn(
        """
        The log agrees with the notes. From the first rendering of the 29th the service itself complained that the first
        row (00:20) lies before the first departure (05:40), fourteen times; nobody is told of those warnings. The
        counts of `low_water` do not change during the day, so the board was wrong in the same way from midnight on.
        """,
        search("utcoffset|astimezone|tzinfo|ZoneInfo"),
    )
    session.turn(
        """
        Only one place keeps an offset: `timetable.py:49`. `windows.py` converts both of its midnights by themselves,
        and `board.py` converts each departure back with the right offset, which is why the error became visible in the
        first place: there and back used different offsets.
        """,
        run("python -m harbour board torsnes 2026-03-29 --json", captured("board-before.json")),
    )


def _measure(session: Recorder) -> None:
    session.turn(
        """
        That is the board of the notes, row by row, and I can reproduce it today, so it depends on the day asked for and
        not on the day on which one asks. The top row is odd in a second way: `low water` with 4.54 m. It lies beyond
        the end of the day whose windows are searched, which may be all there is to it; I keep it in mind.

        Next the tide: if the prediction itself were off I would be repairing the wrong thing.
        """,
        read("harbour/tides.py"),
        read(GAUGE, 50, 145),
    )
    session.turn(
        "From the morning to midnight the columns look alike, apart from spikes that the gauge marks itself. I would "
        "rather have that as a number, for the whole day.",
        run(GAUGE_CHECK, "144 rows, 142 good\nmeasured - predicted: least +0.01 m, most +0.06 m, mean +0.034 m"),
    )
    session.turn(
        """
        The prediction was within 6 cm of the gauge all day, so the tide is right and only the clock was wrong. One
        thing should be said plainly, because it is worse than a late board:

        **On Sunday at 20:45 (Oslo) the board said `sails` with 3.00 m over the sill. There were 2.35 m; the ship needs
        2.70 m.** The ship was held because somebody looked at the pole. The same fault hides safe departures in the
        afternoon and shows unsafe ones in the evening, depending on which way the tide runs.
        """,
        plan(
            "x confirm in the log what the board showed",
            "x check the predicted tide against the gauge",
            "> write a test that fails",
            "- repair",
            "- see which other days and ports are affected",
            "- commit",
        ),
    )
    session.steer(
        """
        That 20:45 is the one I care about. Sunniva held the ship, and I want that departure in a test by name, so that
        nobody removes it later. And please leave the JSON as it is, the waiting rooms read it.
        """
    )


def _test_first(session: Recorder) -> None:
    session.turn(
        "It will have a test of its own, with the three departures of the notes. The field names stay as they are; "
        "there is a test that promises them. First a branch, then the existing tests.",
        run("git switch -c fix/clock-change", "Switched to a new branch 'fix/clock-change'"),
    )
    session.state({"branch": "fix/clock-change"}, "the agent made a branch for the repair")
    session.turn("", read("tests/test_timetable.py"), read("tests/test_board.py"))
    session.turn(
        """
        `test_departures_keep_the_wall_clock` is the right test, with the wrong days: a day in January and a day in July
        have one offset each. I add the two days of 2026 that have two.
        """,
        edit("tests/test_timetable.py", edits.TIMETABLE_TEST_BEFORE, edits.TIMETABLE_TEST_AFTER),
    )
    session.turn(
        "The same for a whole board.",
        edit("tests/test_board.py", edits.BOARD_TEST_AMBIGUOUS, edits.BOARD_TEST_AFTER),
    )
    session.turn(
        "That line stands in two tests. I take the head of the test that comes after it instead.",
        edit("tests/test_board.py", edits.BOARD_TEST_BEFORE, edits.BOARD_TEST_AFTER),
    )
    session.turn(
        "",
        suite("could not start: another run holds .pytest.lock (pid 4121, for 3 s)", error=True),
    )
    session.turn("The runner was still busy with something else. Once more.", suite(captured("tests-no-import.txt")))
    session.turn(
        "My mistake: the file did not import pytest.",
        edit("tests/test_board.py", edits.BOARD_IMPORT_BEFORE, edits.BOARD_IMPORT_AFTER),
    )
    session.turn("", suite(captured("tests-wrong-clock.txt")))


def _repair(session: Recorder) -> None:
    session.turn(
        """
        Four failures, and all for the right reason: in spring everything is an hour late, in autumn an hour early. Now
        the repair. Each departure gets its own offset by being a wall-clock time of the port before it becomes UTC.
        """,
        edit("harbour/timetable.py", edits.REPAIR_BEFORE, edits.REPAIR_AFTER),
        think="""
        datetime.combine(day, clock, tzinfo=zone).astimezone(UTC) looks up the offset of that very time. Two corner
        cases: a time between 02:00 and 03:00 on the spring day does not exist; zoneinfo takes the offset from before
        the gap, so 02:30 becomes 01:30 UTC, shown as 03:30. In autumn 02:30 exists twice; fold=0 means the first. No
        departure of the timetable lies there, so I only mention it. Is `time` still used in timetable.py? Yes, in the
        annotation and for fromisoformat. The parameter `zone` stays.
        """,
    )
    session.turn("", suite(captured("tests-right-clock.txt")))
    session.turn(
        "All pass. Now the departures that you asked for by name.",
        edit("tests/test_board.py", edits.BOARD_TEST_BEFORE, edits.QUAY_TEST_AFTER),
    )
    session.turn(
        "",
        suite(captured("tests-water-of-the-time.txt")),
        run("python -m harbour board torsnes 2026-03-29", captured("board-after.txt")),
        run("python -m harbour board torsnes 2026-10-25", captured("board-october.txt")),
    )
    session.turn(
        """
        Sunday's board would now have been: 16:15 `sails` with 3.02 m, 20:45 `low water` with 2.35 m, 21:30 `sails`.
        That is what the pole said. Last question before I commit: what else of this year was or will be wrong? I
        compare all boards of 2026, rendered by `main` and by this branch.
        """,
        run(YEAR_CHECK, sea.comparison(session.workspace)),
        plan(
            "x confirm in the log what the board showed",
            "x check the predicted tide against the gauge",
            "x write a test that fails",
            "x repair",
            "> see which other days and ports are affected",
            "- commit",
        ),
    )
    session.turn(
        """
        Six boards of 1095 change: all three ports, on 29 March and on 25 October, no other day. So it is the cause, and
        the repair touches nothing else.

        Three announcements were or would have been unsafe, `sails` without enough water: Tórsnes 20:45 on Sunday, which
        was held; Höfn á Ströndum 07:50 on Sunday (2.49 m), of which the notes say nothing; and Tórsnes 07:15 on 25
        October (2.48 m). Please ask Höfn whether Måken left on time. The repaired boards say `low water` for all three.
        """,
        edit("README.md", edits.README_BEFORE, edits.README_AFTER),
        think="""
        The comparison says 6 boards changed, 2 days x 3 ports. In October all rows of all ports move by an hour the
        other way. I should document the non-existing hour in the README since it is the only behaviour that somebody
        may ask about later. No other edits. The unread warnings in the log are a separate matter: mention at the end.
        """,
    )


def _deliver(session: Recorder) -> None:
    session.turn("", diff())
    session.turn(
        "The diff is what I meant it to be.",
        commit(
            "Give each departure its own offset from UTC\n\nThe offset of midnight was used for the whole day.",
            "9c1e07b",
            "fix/clock-change",
        ),
        plan(
            "x confirm in the log what the board showed",
            "x check the predicted tide against the gauge",
            "x write a test that fails",
            "x repair",
            "x see which other days and ports are affected",
            "x commit",
            "> push, and read the build",
        ),
    )
    session.turn(
        "Pushing leaves the workspace, so it waits for you.",
        run(
            "git push -u origin fix/clock-change",
            "To git.skerry.example:boards/harbour.git\n * [new branch]      fix/clock-change -> fix/clock-change",
        ).needing("approved", "Go ahead. Not main, please, I merge it myself."),
    )
    session.turn("", run("build log --branch fix/clock-change --wait", build_log(81, "9c1e07b")))
    session.wait(90)
    session.turn(
        """
        The build is green on 3.12, 3.13 and 3.14, with the 29th of March as a smoke test. What remains is what hangs in
        the waiting rooms: the boards up to December were rendered in advance by the old program, and the one of 25
        October is among them. I render them anew from this branch.
        """,
        run("python tools/republish.py --from 2026-03-30 --days 277", "", answered=False).needing(
            "approved", "All right, the rooms can take it."
        ),
    )
    session.wait(360)
    session.interrupt("the person stopped the command after six minutes; 831 boards would have taken an hour")
