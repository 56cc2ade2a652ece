"""What contradicts the facts is found however it is written, and what does not say so is left alone (R6.4)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents import summary
from muntin.compaction.claims import normal
from muntin.compaction.facts import Facts, contradiction

FACTS = Facts(
    completed=("Mend the “clock”", "Write README.md"),
    open=("Wind it", "Run `make test`"),
    transactions=("tx-1", "7"),
    finished=("tx-2",),
    approvals={"c-no": "denied", "c-yes": "approved", "c-asked": "asked"},
    running=("c-run",),
    answered=("c-done",),
)


@pytest.mark.parametrize(
    ("part", "line"),
    [
        # A completed step that is said to be open, or listed as work.
        ("unfinished", "Mend the clock"),
        ("unfinished", "*  MEND the\u00a0 'clock' !"),
        ("unfinished", "- [ ] **Mend the clock.**"),
        ("unfinished", "2) write `README.md`"),
        ("unfinished", "Mend the clock – in progress"),
        ("next", "TODO: Mend the clock"),
        ("next", "Mend the clock (not yet done)"),
        ("next", 'The step "Mend the clock" still remains'),
        ("evidence", "Mend the clock: pending"),
        ("decisions", "| Mend the clock | not started |"),
        ("unfinished", "☐ Mend the clock"),
        ("unfinished", "Mend the clock isn't done"),
        ("unfinished", "\uff2dend the clock"),
        # An open step that is said to be done.
        ("evidence", "WIND IT"),
        ("evidence", "✅ Wind it"),
        ("decisions", "- [X] wind it"),
        ("decisions", "Completed: Wind it"),
        ("failures", "Wind it — has already been completed"),
        ("evidence", "| Run make test | done |"),
        ("evidence", "run 'make test': Finished."),
        # Transactions.
        ("evidence", "Transaction TX-1 is committed"),
        ("evidence", "`tx-1`: committed."),
        ("decisions", "tx-1 has been aborted"),
        ("evidence", "tx-2 is committed and tx-1 is finished"),
        ("evidence", "tx-1 and tx-2 are both committed"),
        ("evidence", "transaction 7 was committed"),
        ("unfinished", "tx-2"),
        ("unfinished", "Commit transaction “tx-2”"),
        ("failures", "tx-2 is still open"),
        ("evidence", "tx-2 has not been committed"),
        # Calls and approvals.
        ("evidence", "call c-run has returned"),
        ("evidence", "C-RUN finished"),
        ("next", "Wait for c-done"),
        ("failures", "c-done is still running"),
        ("failures", "c-no was granted"),
        ("failures", "Call “c-yes” was refused by the user"),
        ("failures", "c-asked: approved"),
        ("failures", "c-yes was approved, c-no was approved too"),
    ],
)
def test_case_r6_4_what_contradicts_is_found_however_it_is_written(part, line):
    assert contradiction(summary(**{part: line}), FACTS)


@pytest.mark.parametrize(
    ("part", "line"),
    [
        # Another thing, or more than the step.
        ("unfinished", "Mend the clock tower"),
        ("unfinished", "Tell Ada how to mend the clock"),
        ("next", "Check whether mend the clock is really done"),
        ("evidence", "Wind it before the guests come"),
        ("evidence", "make test passes for the old suite"),
        ("unfinished", "Mend the clock: paint the hands"),
        # What is so.
        ("evidence", "Mend the clock"),
        ("evidence", "- [x] Mend the clock"),
        ("unfinished", "Wind it"),
        ("unfinished", "Wind it — not done"),
        ("next", "Once 'Wind it' is done, run `make test`"),
        ("decisions", "Mend the clock was pending and is done"),
        ("goal", "Wind it"),
        # Ids.
        ("evidence", "tx-1 is not committed"),
        ("evidence", "tx-1 is open, tx-2 is committed"),
        ("evidence", "tx-2 committed; tx-1 is waiting"),
        ("evidence", "tx-10 is committed"),
        ("evidence", "tx-1.bak was committed"),
        ("evidence", "7 tests finished"),
        ("goal", "tx-1 is committed"),
        ("next", "When tx-1 is committed, tell the user"),
        ("next", "Send what was written in tx-2"),
        ("next", "Use the result of c-done"),
        ("unfinished", "The tests that failed after tx-2"),
        ("unfinished", "tx-1 is to be committed"),
        ("decisions", "tx-2 was pending when the user came"),
        ("evidence", "The first half of tx-1 is done"),
        ("evidence", "c-run has not returned"),
        ("failures", "c-no was denied"),
        ("failures", "c-no was not approved"),
        ("failures", "If c-no is approved, go on"),
        ("failures", "c-yes was approved; c-no was denied"),
        ("failures", "c-asked awaits approval"),
    ],
)
def test_what_does_not_contradict_passes(part, line):
    assert not contradiction(summary(**{part: line}), FACTS)


@given(st.text(max_size=60))
def test_any_text_can_be_brought_to_its_normal_form_and_stays_there(text):
    assert normal(normal(text)) == normal(text)


@given(st.text(max_size=80), st.sampled_from(["goal", "decisions", "evidence", "failures", "unfinished", "next"]))
def test_lines_that_name_nothing_known_contradict_nothing(line, part):
    facts = Facts(completed=("qqstepqq",), open=("wwstepww",), transactions=("zz-tx",), running=("zz-run",))
    assert not contradiction(summary(**{part: line}), facts)
