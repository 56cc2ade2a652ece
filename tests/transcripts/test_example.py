"""The bundled session: it is what its script makes, and it holds one of everything that can happen to an agent."""

import itertools
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec
import pytest

from muntin.items import Attachment, Reasoning
from muntin.transcripts.events import (
    Capability,
    Decision,
    Event,
    Fork,
    Interruption,
    Prompt,
    Recording,
    Response,
    Result,
    State,
    Steering,
    Todo,
)

CHECKOUT = Path(__file__).parents[2]
EXAMPLE = CHECKOUT / "python" / "muntin" / "transcripts" / "example.jsonl"

HEADER, *LINES = EXAMPLE.read_bytes().splitlines()
EVENTS: list[Event] = [msgspec.json.decode(line, type=Event) for line in LINES]
FORK = next(at for at, event in enumerate(EVENTS) if isinstance(event, Fork))


def of(kind: type) -> list[Any]:
    return [event for event in EVENTS if isinstance(event, kind)]


def place(kind: type, **attributes: Any) -> int:
    """The number of the first event of a kind with these attributes."""
    return next(
        at
        for at, event in enumerate(EVENTS)
        if isinstance(event, kind) and all(getattr(event, name) == value for name, value in attributes.items())
    )


def calls() -> list[Any]:
    return [call for response in of(Response) for call in response.turn.tool_calls]


def result_of(call: str) -> Any:
    return next((event.result for event in of(Result) if event.result.call == call), None)


def text_of(result: Any) -> str:
    return "".join(part.text for part in result.content)


@pytest.fixture(scope="module")
def script() -> ModuleType:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(CHECKOUT / "scripts"))
        import make_example_session  # noqa: PLC0415  (it is no package)

        return make_example_session


def test_the_file_is_what_the_script_makes(script):
    assert script.content() == EXAMPLE.read_bytes()


def test_the_header_is_that_of_a_recording():
    header = msgspec.json.decode(HEADER)
    assert header["muntin"] == 1
    recording = msgspec.convert(header, Recording)
    assert (recording.format, recording.provider, recording.model) == ("muntin", "anthropic", "claude-sonnet-4-5")
    assert set(recording.state) >= {"workspace", "branch", "permissions", "model"}
    assert set(recording.guides) == {"web"}


def test_events_stand_as_msgspec_writes_them():
    assert [msgspec.json.encode(event) for event in EVENTS] == LINES


def test_the_size_is_that_of_a_working_session():
    assert 170_000 <= EXAMPLE.stat().st_size <= 210_000
    assert 60 <= len(of(Response)) <= 90
    sizes = sorted(len(text_of(event.result)) for event in of(Result))
    assert 6_000 <= sizes[-1] <= 8_000


def test_tools_have_schemas_and_one_hangs_on_a_switch():
    tools = msgspec.json.decode(HEADER)["tools"]
    assert 6 <= len(tools) <= 8
    assert all(tool["parameters"]["type"] == "object" for tool in tools)
    assert {tool["name"]: tool["capability"] for tool in tools if "capability" in tool} == {"web_fetch": "web"}
    assert {call.name for call in calls()} == {tool["name"] for tool in tools}


def test_two_runs_then_a_fork_and_a_third_run():
    prompts = [at for at, event in enumerate(EVENTS) if isinstance(event, Prompt)]
    assert len(prompts) == 3
    assert prompts[1] < FORK < prompts[2]
    assert EVENTS[FORK].at == prompts[1]
    assert any(isinstance(one, Attachment) for one in EVENTS[prompts[0]].inputs)


def test_calls_are_made_in_parallel():
    batches = {len(response.turn.tool_calls) for response in of(Response)}
    assert {2, 3} <= batches


def test_every_call_has_its_own_id_and_every_result_an_earlier_call():
    made: set[str] = set()
    for event in EVENTS:
        if isinstance(event, Response):
            ids = [call.id for call in event.turn.tool_calls]
            assert len(set(ids)) == len(ids)
            assert made.isdisjoint(ids)
            made.update(ids)
        elif isinstance(event, Result):
            assert event.result.call in made


def test_a_tool_that_failed_is_called_again():
    for call, later in itertools.pairwise(calls()):
        if call.name == later.name == "run_tests" and result_of(call.id).is_error:
            assert call.arguments == later.arguments
            assert not result_of(later.id).is_error
            return
    pytest.fail("no failed call is followed by the same call")


def test_a_risky_call_is_decided_on_before_its_result():
    decisions = {event.approval.decision for event in of(Decision)}
    assert decisions == {"approved", "denied"}
    approval = EVENTS[place(Decision)].approval
    assert approval.decision == "approved"
    assert place(Decision) < place(Result, result=result_of(approval.call))


def test_the_web_goes_and_comes_back():
    off, on = of(Capability)
    assert (off.name, off.on, on.name, on.on) == ("web", False, "web", True)
    assert off.reason
    between = EVENTS[place(Capability, on=False) : place(Capability, on=True)]
    used = {call.name for event in between if isinstance(event, Response) for call in event.turn.tool_calls}
    assert used
    assert "web_fetch" not in used


def test_a_person_steers_in_the_middle_of_a_run():
    at = place(Steering)
    assert isinstance(EVENTS[at + 1], Response)
    assert at > place(Response)


def test_the_branch_changes():
    assert [event.changes["branch"] for event in of(State)] == ["fix/clock-change", "feature/onomichi"]


def test_the_plan_is_kept_up_to_date():
    plans = of(Todo)
    assert len(plans) >= 5
    assert {status for plan in plans for status, _ in plan.steps} == {"pending", "in_progress", "completed"}


def test_one_call_is_interrupted_and_never_answered():
    (unanswered,) = (call for call in calls() if result_of(call.id) is None)
    at = place(Interruption)
    assert isinstance(EVENTS[at + 1], Prompt)
    last = next(event for event in reversed(EVENTS[:at]) if isinstance(event, Response))
    assert last.turn.tool_calls == (unanswered,)


def test_time_goes_on_with_a_pause():
    times = [response.time for response in of(Response)]
    steps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert min(steps) > 0
    assert max(steps) > 300


def test_some_turns_are_reasoned_and_sealed():
    reasoned = [part for response in of(Response) for part in response.turn.parts if isinstance(part, Reasoning)]
    assert len(reasoned) >= 5
    assert all(part.provider == "anthropic" and part.signature for part in reasoned)


@pytest.mark.parametrize("name", ["Tórsnes", "Ærvik", "尾道", "🎏"])
def test_names_are_written_as_people_there_write_them(name):
    assert name in EXAMPLE.read_text(encoding="utf-8")
