"""The package's own format: it gives back what it was given."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muntin import items
from muntin.exceptions import TranscriptError
from muntin.transcripts import events, native
from muntin.transcripts.lines import split

HEADER = {"muntin": 1, "id": "demo"}

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(TEXT, JSON, max_size=3)
COUNT = st.integers(0, 10**9)


def lots(element):
    return st.lists(element, max_size=3).map(tuple)


PARTS = st.builds(items.Text, TEXT) | st.builds(items.Image, TEXT, TEXT, TEXT, COUNT, COUNT)
ANSWER_PARTS = st.one_of(
    st.builds(items.Text, TEXT),
    st.builds(items.Reasoning, TEXT, TEXT, TEXT, TEXT),
    st.builds(items.ToolCall, TEXT, TEXT, TEXT),
    st.builds(items.Opaque, TEXT, TEXT),
)
EVENTS = st.one_of(
    st.builds(
        events.Prompt,
        lots(
            st.builds(items.UserInput, lots(PARTS))
            | st.builds(items.Attachment, TEXT, TEXT, TEXT)
            | st.builds(items.SkillText, TEXT, TEXT)
        ),
    ),
    st.builds(
        events.Response,
        st.builds(items.AssistantTurn, lots(ANSWER_PARTS), TEXT),
        st.none() | st.builds(events.Usage, COUNT, COUNT, COUNT, COUNT),
        TEXT,
        st.floats(0, 1e10),
    ),
    st.builds(events.Result, st.builds(items.ToolResult, TEXT, lots(PARTS), st.booleans())),
    st.builds(events.Steering, st.builds(items.Guidance, TEXT, TEXT)),
    st.builds(events.Decision, st.builds(items.Approval, TEXT, st.sampled_from(["approved", "denied"]), TEXT, TEXT)),
    st.builds(events.State, OBJECTS, TEXT),
    st.builds(events.Capability, TEXT, st.booleans(), TEXT),
    st.builds(events.Todo, lots(st.tuples(TEXT, TEXT))),
    st.builds(events.Interruption, TEXT),
    st.builds(events.Fork, COUNT),
)
RECORDINGS = st.builds(
    events.Recording,
    id=TEXT,
    format=st.sampled_from(["claude-code", "codex", "openai-chat", "muntin"]),
    provider=TEXT,
    model=TEXT,
    system=TEXT,
    tools=lots(OBJECTS),
    state=OBJECTS,
    guides=st.dictionaries(TEXT, TEXT, max_size=2),
    events=lots(EVENTS),
    problems=st.lists(st.builds(events.Problem, COUNT, TEXT), max_size=3).map(
        lambda found: tuple(sorted(found, key=lambda problem: problem.line))
    ),
)


# A busy machine is no failure.
@settings(deadline=None)
@given(RECORDINGS)
def test_writing_and_reading_back_gives_an_equal_recording(recording):
    assert native.read(split(native.write(recording))) == [recording]


def test_a_header_alone_is_an_empty_recording(log):
    assert log(HEADER) == [events.Recording(id="demo", format="muntin")]


def test_a_line_that_is_no_event_is_a_problem(log):
    (recording,) = log(HEADER, {"type": "fork", "at": 0}, {"type": "prank"}, {"type": "fork", "at": "x"}, b'{"type":')
    assert recording.events == (events.Fork(0),)
    assert [problem.line for problem in recording.problems] == [3, 4, 5]
    assert "prank" in recording.problems[0].why


def test_a_newer_version_is_refused(log):
    with pytest.raises(TranscriptError, match="version 2 of the muntin format; this muntin reads version 1"):
        log({"muntin": 2, "id": "demo"})


def test_a_header_that_is_none_is_refused(log):
    with pytest.raises(TranscriptError, match=r"header of the recording is not usable: .*`id`"):
        log({"muntin": 1})
