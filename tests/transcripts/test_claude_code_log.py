"""Claude Code logs: a tree of lines becomes a sequence of events."""

import itertools

import pytest

from muntin.items import (
    Attachment,
    Image,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    UserInput,
)
from muntin.transcripts.events import Fork, Interruption, Prompt, Response, Result, Steering, Todo, Usage


class Writer:
    """Writes lines, each the child of the one before unless told otherwise."""

    def __init__(self):
        self.lines = []
        self.last = None
        self.numbers = itertools.count()

    def add(self, kind, *, parent="", **fields):
        uuid = f"u{next(self.numbers)}"
        parent = self.last if parent == "" else parent
        self.lines.append({"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s1", **fields})
        self.last = uuid
        return uuid

    def user(self, content, **fields):
        return self.add("user", message={"role": "user", "content": content}, **fields)

    def result(self, call, content="ok", **fields):
        return self.user([{"type": "tool_result", "tool_use_id": call, "content": content}], **fields)

    def answer(self, message, *blocks, usage=None, stop=None, model="claude-x", **fields):
        body = {"id": message, "model": model, "content": list(blocks), "stop_reason": stop, "usage": usage or {}}
        return self.add("assistant", message=body, timestamp="2026-05-03T12:00:00.250Z", **fields)

    def attach(self, kind, **fields):
        return self.add("attachment", attachment={"type": kind, **fields})


@pytest.fixture
def w():
    return Writer()


def text(words):
    return {"type": "text", "text": words}


def call(name, **given):
    return {"type": "tool_use", "id": name, "name": "Bash", "input": given}


def kinds(recording):
    return [type(event) for event in recording.events]


def test_lines_of_one_message_are_one_response_with_the_last_bill(log, w):
    w.user("fix it")
    w.answer(
        "m1", {"type": "thinking", "thinking": "hm", "signature": "sig"}, usage={"input_tokens": 1, "output_tokens": 2}
    )
    w.answer("m1", {"type": "redacted_thinking", "data": "sealed"})
    w.answer("m1", text("looking"))
    w.answer("m1", text("looking"), call("t1", b=1, a="é"))
    bill = {"input_tokens": 1, "cache_creation_input_tokens": 20, "cache_read_input_tokens": 300, "output_tokens": 40}
    w.answer("m1", {"type": "server_tool_use", "id": "srv"}, usage=bill, stop="tool_use")
    w.result("t1")
    (recording,) = log(*w.lines)
    assert (recording.id, recording.format, recording.provider, recording.model) == (
        "s1",
        "claude-code",
        "anthropic",
        "claude-x",
    )
    assert kinds(recording) == [Prompt, Response, Result]
    response = recording.events[1]
    assert response.turn.parts == (
        Reasoning("hm", "sig", "anthropic"),
        Reasoning("", provider="anthropic", redacted="sealed"),
        Text("looking"),
        ToolCall("t1", "Bash", '{"b":1,"a":"é"}'),
        Opaque("anthropic", '{"type":"server_tool_use","id":"srv"}'),
    )
    assert response.turn.finish == "tool_calls"
    assert response.usage == Usage(input=321, cached=300, written=20, output=40)
    assert response.time == 1_777_809_600.25


def test_results_of_parallel_calls_hang_on_their_calls_and_are_no_fork(log, w):
    w.user("go")
    first = w.answer("m1", call("t1"))
    second = w.answer("m1", call("t2"))
    w.add("progress", parent=first)
    one = w.result("t1", parent=first)
    w.result("t2", parent=second)
    w.answer("m2", text("done"), parent=one, stop="end_turn")
    (recording,) = log(*w.lines)
    assert kinds(recording) == [Prompt, Response, Result, Result, Response]
    assert [part.id for part in recording.events[1].turn.parts] == ["t1", "t2"]


def test_a_result_between_the_lines_of_its_message_comes_after_the_whole(log, w):
    w.user("go")
    w.answer("m1", call("t1"))
    w.result("t1")
    w.answer("m1", call("t2"))
    w.result("t2")
    (recording,) = log(*w.lines)
    assert kinds(recording) == [Prompt, Response, Result, Result]
    assert len(recording.events[1].turn.tool_calls) == 2


def test_a_line_that_was_written_before_its_parent_waits_for_it(log, w):
    w.user("go")
    w.answer("m1", call("t1"))
    w.result("t1")
    w.answer("m2", text("done"))
    prompt, answer, result, done = w.lines
    (recording,) = log(prompt, result, done, answer)
    assert kinds(recording) == [Prompt, Response, Result, Response]


def test_going_on_from_an_earlier_line_is_a_fork(log, w):
    w.user("one")
    place = w.answer("m1", text("1"))
    w.user("two")
    w.answer("m2", text("2"))
    w.user("other two", parent=place)
    w.answer("m3", text("3"))
    (recording,) = log(*w.lines)
    assert kinds(recording) == [Prompt, Response, Prompt, Response, Fork, Prompt, Response]
    assert recording.events[4] == Fork(2)


def test_a_prompt_rewritten_before_its_answer_is_a_fork(log, w):
    w.user("one")
    place = w.answer("m1", text("1"))
    w.user("twp")
    w.user("two", parent=place)
    (recording,) = log(*w.lines)
    assert recording.events[2:] == (Prompt((UserInput((Text("twp"),)),)), Fork(2), Prompt((UserInput((Text("two"),)),)))


def test_an_answer_asked_for_again_is_a_fork(log, w):
    prompt = w.user("one")
    w.answer("m1", text("1"))
    w.answer("m2", text("1, again"), parent=prompt)
    (recording,) = log(*w.lines)
    assert kinds(recording) == [Prompt, Response, Fork, Response]
    assert recording.events[2] == Fork(1)


def test_a_line_without_a_parent_starts_again_from_nothing(log, w):
    w.user("plan it")
    w.answer("m1", text("a plan"))
    w.add("progress", parent=None)
    w.user("carry out the plan")
    (recording,) = log(*w.lines)
    assert kinds(recording) == [Prompt, Response, Fork, Prompt]
    assert recording.events[2] == Fork(0)


def test_a_log_may_start_in_the_middle(log, w):
    w.answer("m1", call("t1"), parent="not-in-this-file")
    w.result("t1", parent="nor-this")
    w.result("t0")
    (recording,) = log(*w.lines)
    assert kinds(recording) == [Response, Result, Result]


def test_a_line_that_is_there_twice_counts_once(log, w):
    w.user("one")
    w.answer("m1", text("1"))
    (recording,) = log(*w.lines, *w.lines)
    assert kinds(recording) == [Prompt, Response]


def test_lines_in_a_circle_are_read_and_end(log, w):
    w.user("one", parent="u1")
    w.answer("m1", text("1"), parent="u0")
    w.user("self", parent="u2")
    (recording,) = log(*w.lines)
    assert Response in kinds(recording)


def test_a_compaction_of_the_tool_is_passed_over(log, w):
    w.user("one")
    tail = w.answer("m1", call("t1"))
    w.result("t1")
    w.add("system", parent=None, subtype="compact_boundary", logicalParentUuid=tail)
    w.user("This session is being continued", isCompactSummary=True, isVisibleInTranscriptOnly=True)
    w.answer("m2", text("going on"))
    (recording,) = log(*w.lines)
    assert kinds(recording) == [Prompt, Response, Result, Response]


def test_what_the_client_made_up_in_the_models_name_is_left_out(log, w):
    w.user("one")
    w.answer("x1", text("No response requested."), model="<synthetic>")
    w.answer("x2", text("API Error: 529"), isApiErrorMessage=True)
    w.user("two")
    w.answer("m1", text("1"))
    (recording,) = log(*w.lines)
    assert kinds(recording) == [Prompt, Response]
    assert len(recording.events[0].inputs) == 2


def test_an_interruption_ends_the_run(log, w):
    w.user("one")
    w.answer("m1", call("t1"))
    w.result("t1", "rejected")
    w.user([text("[Request interrupted by user for tool use]")])
    w.user("two")
    (recording,) = log(*w.lines)
    assert kinds(recording) == [Prompt, Response, Result, Interruption, Prompt]
    assert recording.events[3].reason == "Request interrupted by user for tool use"


def test_words_beside_a_result_steer(log, w):
    w.user("one")
    w.answer("m1", call("t1"))
    block = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "content": [text("ok"), {"type": "tool_reference"}],
        "is_error": True,
    }
    w.user([block, text("not that one")])
    w.user("skill text", isMeta=True)
    w.attach("queued_command", prompt="and be quick")
    (recording,) = log(*w.lines)
    assert recording.events[2].result == ToolResult(
        "t1", (Text("ok"), Text('{"type":"tool_reference"}')), is_error=True
    )
    assert [event.guidance.text for event in recording.events[3:]] == ["not that one", "skill text", "and be quick"]
    assert kinds(recording)[3:] == [Steering] * 3


def test_commands_belong_to_the_next_prompt(log, w):
    w.user("<local-command-caveat>Caveat", isMeta=True)
    w.user("<command-name>/model</command-name>")
    w.user("<local-command-stdout>set</local-command-stdout>")
    w.user("go")
    w.answer("m1", text("1"))
    w.user("<command-name>/exit</command-name>")
    (recording,) = log(*w.lines)
    assert kinds(recording) == [Prompt, Response]
    assert len(recording.events[0].inputs) == 4


def test_a_command_that_is_answered_is_a_prompt(log, w):
    w.user("<command-message>init</command-message>")
    w.user([text("Describe this code base")], isMeta=True)
    w.answer("m1", text("1"))
    (recording,) = log(*w.lines)
    assert kinds(recording) == [Prompt, Response]


def test_attachments_stand_with_the_prompt_that_they_came_with(log, w):
    w.user("go")
    w.attach("skill_listing", content="- commit: commits")
    w.attach("file", filename="a.py", content={"type": "text", "file": {"content": "x = 1"}})
    w.attach("hook_success", hookEvent="SessionStart", content="")
    w.attach("hook_success", hookEvent="PostToolUse", content="formatted")
    w.attach("hook_system_message", content="linked")
    w.attach("mcp_instructions_delta", addedBlocks=["one", "two"], removedNames=[])
    w.attach("task_reminder", content=[])
    w.answer("m1", call("t1"))
    w.result("t1")
    w.attach("edited_text_file", filename="b.py", snippet="1\ty = 2")
    w.attach("task_reminder", content=[{"id": "1", "subject": "test it", "status": "in_progress"}])
    (recording,) = log(*w.lines)
    assert recording.events[0].inputs[1:] == (
        Attachment("skill_listing", text="- commit: commits"),
        Attachment("a.py", "file", "x = 1"),
        Attachment("mcp_instructions_delta", text="one\ntwo"),
    )
    assert recording.events[3].guidance.text == "b.py\nedited_text_file\n1\ty = 2"
    assert recording.events[4] == Todo((("in_progress", "test it"),))


def test_images_of_a_prompt_are_kept(log, w):
    source = {"type": "base64", "media_type": "image/png", "data": "AAAA"}
    w.user(
        [
            text("see"),
            {"type": "image", "source": source},
            {"type": "image", "source": {"type": "url", "url": "https://x/a.png"}},
        ]
    )
    (recording,) = log(*w.lines)
    assert recording.events[0].inputs[0].content == (
        Text("see"),
        Image("image/png", data="AAAA"),
        Image("image/png", url="https://x/a.png"),
    )


def test_side_chains_are_recordings_of_their_own(log, w):
    w.user("go")
    place = w.answer("m1", call("t1"))
    w.user("named agent", parent=None, isSidechain=True, agentId="a1")
    w.answer("m2", text("a"), isSidechain=True, agentId="a1")
    root = w.user("old agent", parent=None, isSidechain=True)
    w.answer("m3", text("b"), isSidechain=True)
    w.result("t1", parent=place)
    recordings = log(*w.lines)
    assert [recording.id for recording in recordings] == ["s1", "s1/a1", f"s1/{root}"]
    assert [kinds(recording) for recording in recordings] == [
        [Prompt, Response, Result],
        [Prompt, Response],
        [Prompt, Response],
    ]


def test_unnamed_side_chains_that_hang_on_the_main_conversation_stay_apart(log, w):
    w.user("go")
    place = w.answer("m1", call("t1"), call("t2"))
    for name in "ab":
        w.user(name, parent=place, isSidechain=True)
        w.answer(f"m-{name}", text(name), isSidechain=True)
    assert [kinds(recording) for recording in log(*w.lines)] == [[Prompt, Response]] * 3


def test_the_log_of_a_subagent_alone_has_no_empty_main_conversation(log, w):
    w.user("task", parent=None, isSidechain=True, agentId="a1")
    (recording,) = log({"type": "summary", "summary": "title", "leafUuid": "u0"}, *w.lines)
    assert recording.id == "s1/a1"


def test_a_log_without_a_word_is_an_empty_recording(log):
    (recording,) = log({"type": "summary", "summary": "title", "leafUuid": "x"})
    assert recording.events == ()


def test_damaged_lines_have_their_numbers(log, w):
    w.user("one")
    w.answer("m1", text("1"))
    (recording,) = log(w.lines[0], b'{"type": "user", "uu', {"type": "user", "uuid": 7}, w.lines[1], b"[]")
    assert kinds(recording) == [Prompt, Response]
    assert [problem.line for problem in recording.problems] == [2, 3, 5]
