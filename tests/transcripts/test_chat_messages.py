"""Chat-completions messages, from arrays to recorded calls."""

from muntin.items import Image, Opaque, Reasoning, Text, ToolCall, ToolResult, UserInput
from muntin.transcripts.events import Prompt, Response, Result, Steering, Usage

SYSTEM = {"role": "system", "content": "be brief"}
CALL = {"id": "c1", "type": "function", "function": {"name": "ls", "arguments": '{"b":1, "a":2}'}}


def user(content):
    return {"role": "user", "content": content}


def calling(*calls, content=None):
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def result(content, call="c1"):
    return {"role": "tool", "tool_call_id": call, "content": content}


def test_a_conversation_becomes_runs(log):
    (recording,) = log(
        [
            SYSTEM,
            {"role": "developer", "content": [{"type": "text", "text": "use tools"}]},
            user("list it"),
            calling(CALL, content="looking"),
            result("a.py"),
            user("only python"),
            {"role": "assistant", "content": "a.py"},
            user("thanks"),
        ]
    )
    assert recording.system == "be brief\n\nuse tools"
    assert recording.provider == "openai"
    assert [type(event) for event in recording.events] == [Prompt, Response, Result, Steering, Response, Prompt]
    assert recording.events[1].turn.parts == (Text("looking"), ToolCall("c1", "ls", '{"b":1, "a":2}'))
    assert recording.events[1].turn.finish == "tool_calls"
    assert recording.events[2].result == ToolResult("c1", (Text("a.py"),))
    assert recording.events[4].turn.finish == "stop"


def test_each_line_is_a_recording_with_a_name_of_its_own(log):
    body = {"id": "x", "messages": [user("hi")]}
    assert [recording.id for recording in log(body, body, [user("hi")])] == ["x", "line-2", "line-3"]


def test_a_recorded_call_ends_with_its_response_and_bill(log):
    (recording,) = log(
        {
            "request": {
                "model": "gpt-x",
                "messages": [user("hi")],
                "tools": [{"type": "function", "function": {"name": "ls"}}],
            },
            "response": {
                "model": "gpt-x-2026",
                "created": 1_700_000_000,
                "choices": [{"message": {"role": "assistant", "content": "hello"}, "finish_reason": "length"}],
                "usage": {"prompt_tokens": 90, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 64}},
            },
        }
    )
    assert recording.model == "gpt-x"
    assert recording.tools == ({"name": "ls", "description": "", "parameters": {}},)
    response = recording.events[-1]
    assert (response.turn.text, response.turn.finish) == ("hello", "length")
    assert response.usage == Usage(input=90, cached=64, output=7)
    assert (response.model, response.time) == ("gpt-x-2026", 1_700_000_000.0)


def test_content_parts_keep_their_kind(log):
    parts = [
        {"type": "text", "text": "see"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "image_url", "image_url": {"url": "https://example.org/cat.jpeg"}},
        {"type": "file", "file": {"file_id": "f"}},
    ]
    (recording,) = log([user(parts)])
    assert recording.events[0].inputs == (
        UserInput(
            (
                Text("see"),
                Image("image/png", data="AAAA"),
                Image("image/jpeg", url="https://example.org/cat.jpeg"),
                Text('{"type":"file","file":{"file_id":"f"}}'),
            )
        ),
    )


def test_an_answer_keeps_reasoning_custom_calls_and_parts_that_are_unknown(log):
    custom = {"id": "c2", "type": "custom", "custom": {"name": "patch", "input": 'say "hi"'}}
    broken = {"id": "c3", "type": "function", "function": {"name": "ls", "arguments": '{"a":'}}
    answer = calling(custom, broken, content=[{"type": "text", "text": "x"}, {"type": "audio", "id": "a"}])
    (recording,) = log([user("hi"), {**answer, "reasoning_content": "hm"}])
    assert recording.events[1].turn.parts == (
        Reasoning("hm", provider="openai"),
        Text("x"),
        Opaque("openai", '{"type":"audio","id":"a"}'),
        ToolCall("c2", "patch", '{"input":"say \\"hi\\""}'),
        ToolCall("c3", "ls", '{"a":'),
    )


def test_results_without_a_call_and_second_results_pass(log):
    (recording,) = log([user("hi"), calling(CALL), result("1"), result("2"), result("3", "c9"), result(None)])
    assert [event.result.call for event in recording.events[2:]] == ["c1", "c1", "c9", "c1"]
    assert recording.events[-1].result.content == ()


def test_a_line_that_is_no_conversation_is_a_problem(log):
    first, second = log([user("hi")], {"note": 1}, {"messages": [{"content": "no role"}]}, [user("ho")])
    assert [problem.line for problem in first.problems] == [2, 3]
    assert second.problems == ()
