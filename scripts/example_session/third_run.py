"""The third run, on a branch of the conversation that never heard of Onomichi: a note for the people at the quay."""

from __future__ import annotations

from example_session.calls import captured, commit, create, plan, read, search, suite
from example_session.first_run import LOG
from example_session.recorder import Recorder

__all__ = ["third_run"]

NOTE = """\
# Sunday 29 March: why the boards were wrong

For everybody at the quays. Questions to Ragnhild.

**What happened.** When the clocks change at night, a day has two times of day that are an hour apart. The program took
the one from before the change for the whole day. Every departure of that Sunday was therefore shown an hour late, and
the water was that of an hour later.

**What it meant at Tórsnes.**

| printed | shown | water over the sill | right |
| --- | --- | --- | --- |
| 09:30 Ærvik | 10:30 sails | 3.28 m | sails |
| 16:15 Ærvik | 17:15 low water | 3.02 m | sails |
| 20:45 Ærvik | 21:45 sails | 2.35 m | **low water** |
| 23:20 Ærvik | 00:20 low water | 4.08 m | sails |

A ship needs 2.70 m. At 20:45 Sunniva trusted the pole and not the board, and she was right. Please go on doing that:
the board is a prediction, the pole is the water.

**What it meant at Höfn á Ströndum.** 07:50 was announced as 08:50 and as `sails`. At 07:50 there were 2.49 m. If you
were on Måken that morning, tell Ragnhild how she left.

**What changed.** Each departure now has its own time difference. The day is in the tests, and so is 25 October, the
next day on which the clocks change. Boards for that day which were rendered before 30 March are still the old ones
until the night job has replaced them.
"""

CHANGES = """\
# Changes

## 30 March 2026

- Boards of a day on which the clocks change show the printed times, and the water of those times. Until now every
  departure after the change was an hour late in spring and an hour early in autumn (29 March and 25 October 2026).
"""


def third_run(session: Recorder) -> None:
    """A note and a list of changes; both are checked against what was measured."""
    session.prompt(
        """
        Leave the waiting rooms, the night job does October. And the twin town will have to wait, their council meets in
        May; I have gone back to where the repair was done.

        What I need this morning is a note for the dispatchers: one page, no programming words, what was wrong on Sunday
        and what they can rely on. And a CHANGELOG.md, we never had one. Numbers only from what you measured.
        """
    )
    session.turn(
        "The numbers are in the boards from before; I look up the log's overrides once more, so that the note and the "
        "log tell the same story, and the form of the README.",
        search("override", LOG),
        read("README.md"),
        plan("> gather the numbers", "- note for the dispatchers", "- CHANGELOG.md", "- commit"),
        think="""
        The night job renders October: so the old board of 25 October may still hang until then; the note has to say it.
        No mention of UTC or offsets. Use the table: 09:30 3.28, 16:15 3.02, 20:45 2.35, 23:20 4.08 from the board after
        the repair. Necessary 2.70.
        """,
    )
    session.turn(
        "Five overrides, all of them by Sunniva, and all in the dispatcher's notes. The note:",
        create("docs/2026-03-29-boards.md", NOTE),
        create("CHANGELOG.md", CHANGES),
    )
    session.steer("Put 'the pole is the water' in it somewhere, that is what we say here. Oh, you have. Good.")
    session.turn(
        "It may be the most useful sentence of the page. The tests once more, since the note says what is in them.",
        suite(captured("tests-water-of-the-time.txt")),
        plan("x gather the numbers", "x note for the dispatchers", "x CHANGELOG.md", "> commit"),
    )
    session.turn(
        "",
        commit("Tell the dispatchers what happened on 29 March", "b3e915c", "fix/clock-change"),
        plan("x gather the numbers", "x note for the dispatchers", "x CHANGELOG.md", "x commit"),
    )
    session.turn(
        """
        The note is docs/2026-03-29-boards.md, a little under a page, and CHANGELOG.md has its first entry; both are in
        commit b3e915c on `fix/clock-change`, not pushed. Every height in the note comes from the repaired board;
        those of Tórsnes lie within 6 cm of what the gauge measured that day, for Höfn there is no gauge.

        One sentence is true only for a while: that old boards for 25 October may still be about. Please take it out
        when the night job has run.

        Two things are open. Nobody has said yet how Måken left Höfn on Sunday. And the board service noticed the fault
        before anybody else, fourteen times ("first row 00:20, first departure 05:40"), in a log that nobody reads; a
        message to the dispatcher would have saved the day.
        """
    )
