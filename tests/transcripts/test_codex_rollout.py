"""Codex rollouts: items become responses, and the screen's copies of them become nothing."""

from muntin.items import Image, Opaque, Reasoning, Text, ToolCall, ToolResult
from muntin.transcripts.events import Fork, Interruption, Prompt, Response, Result, Steering, Usage

META = {"id": "s1", "base_instructions": {"text": "you are codex"}}


def line(kind, payload, time="2026-04-11T20:15:02.500Z"):
    return {"timestamp": time, "type": kind, "payload": payload}


def item(kind, **payload):
    return line("response_item", {"type": kind, **payload})


def event(kind, **payload):
    return line("event_msg", {"type": kind, **payload})


def message(role, text):
    kind = "output_text" if role == "assistant" else "input_text"
    return item("message", role=role, content=[{"type": kind, "text": text}])


def call(name, arguments="{}", tool="exec"):
    return item("function_call", call_id=name, name=tool, arguments=arguments)


def output(name, text="ok"):
    return item("function_call_output", call_id=name, output=text)


def bill(given, total):
    last = {"input_tokens": given, "cached_input_tokens": given // 2, "output_tokens": 3}
    return event("token_count", info={"last_token_usage": last, "total_token_usage": {"total_tokens": total}})


START = (line("session_meta", META), message("developer", "sandboxed"), line("turn_context", {"model": "gpt-x"}))


def test_consecutive_items_are_one_response_and_its_copies_are_not_read(log):
    (recording,) = log(
        *START,
        message("user", "what is here"),
        event("user_message", message="what is here"),
        item("reasoning", id="rs_1", summary=[{"type": "summary_text", "text": "look"}], encrypted_content="sealed"),
        event("agent_message", message="looking"),
        message("assistant", "looking"),
        call("c1"),
        call("c2", '{"broken'),
        output("c1"),
        output("c2"),
        bill(100, 103),
        bill(100, 103),
        message("assistant", "nothing"),
        bill(200, 306),
    )
    assert recording.id == "s1"
    assert recording.system == "you are codex\n\nsandboxed"
    assert recording.model == "gpt-x"
    assert [type(event) for event in recording.events] == [Prompt, Response, Result, Result, Response]
    first, last = recording.events[1], recording.events[4]
    assert first.turn.parts == (
        Reasoning("look", "rs_1", "openai", "sealed"),
        Text("looking"),
        ToolCall("c1", "exec", "{}"),
        ToolCall("c2", "exec", '{"broken'),
    )
    assert first.usage == Usage(input=100, cached=50, output=3)
    assert last.usage == Usage(input=200, cached=100, output=3)
    assert first.time == 1_775_938_502.5


def test_a_bill_between_calls_ends_the_response(log):
    (recording,) = log(*START, message("user", "x"), call("c1"), bill(1, 1), call("c2"), bill(2, 2))
    assert [event.usage.input for event in recording.events[1:]] == [1, 2]


def test_each_kind_of_call_is_a_call_with_json_arguments(log):
    (recording,) = log(
        *START,
        item("custom_tool_call", call_id="c1", name="apply_patch", input='*** "a"\n'),
        item("local_shell_call", call_id="c2", action={"type": "exec", "command": ["ls"]}),
        item("tool_search_call", call_id="c3", execution="client", arguments={"query": "q"}),
        item("function_call", call_id="c4", namespace="mcp__github", name="_get", arguments="{}"),
        item("web_search_call", status="completed"),
        item("custom_tool_call_output", call_id="c1", output={"content": "no", "success": False}),
        item("tool_search_output", call_id="c3", execution="client", tools=[{"name": "t"}]),
        item(
            "function_call_output",
            call_id="c4",
            output=[{"type": "input_image", "image_url": "data:image/png;base64,AA"}],
        ),
    )
    response, patch, search, shot = recording.events
    assert response.turn.parts == (
        ToolCall("c1", "apply_patch", '{"input":"*** \\"a\\"\\n"}'),
        ToolCall("c2", "local_shell", '{"type":"exec","command":["ls"]}'),
        ToolCall("c3", "tool_search", '{"query":"q"}'),
        ToolCall("c4", "mcp__github_get", "{}"),
        Opaque("openai", '{"type":"web_search_call","status":"completed"}'),
    )
    assert patch.result == ToolResult("c1", (Text("no"),), is_error=True)
    assert search.result == ToolResult("c3", (Text('{"name":"t"}'),))
    assert shot.result == ToolResult("c4", (Image("image/png", data="AA"),))


def test_a_user_message_in_a_turn_steers_and_a_new_turn_begins_a_run(log):
    (recording,) = log(
        *START,
        event("task_started"),
        message("user", "one"),
        call("c1"),
        output("c1"),
        message("user", "hurry"),
        event("task_started"),
        message("user", "two"),
        message("assistant", "fine"),
    )
    assert [type(event) for event in recording.events] == [Prompt, Response, Result, Steering, Prompt, Response]


def test_an_interruption_is_told_once(log):
    (recording,) = log(
        *START,
        message("user", "one"),
        call("c1"),
        message("user", "<turn_aborted>\nThe user interrupted the previous turn."),
        event("turn_aborted", reason="interrupted"),
        message("user", "two"),
    )
    assert [type(event) for event in recording.events] == [Prompt, Response, Interruption, Prompt]


def test_a_compaction_is_passed_over(log):
    (recording,) = log(
        *START,
        message("user", "one"),
        call("c1"),
        output("c1"),
        line(
            "compacted",
            {"message": "so far", "replacement_history": [{"type": "message", "role": "user", "content": []}]},
        ),
        item("compaction", encrypted_content="x"),
        event("context_compacted"),
        message("assistant", "done"),
    )
    assert [type(event) for event in recording.events] == [Prompt, Response, Result, Response]


def test_rolled_back_turns_are_left_by_a_fork(log):
    turn = [event("task_started"), message("user", "x"), message("assistant", "y")]
    other = [event("task_started"), message("user", "z"), message("assistant", "y")]
    (recording,) = log(*START, *turn, *turn, *turn, event("thread_rolled_back", num_turns=2), *other)
    assert recording.events[6] == Fork(2)
    (recording,) = log(*START, *turn, event("thread_rolled_back", num_turns=9), *other)
    assert recording.events[2] == Fork(0)


def test_a_forked_session_keeps_its_own_name_and_its_parents_history(log):
    (recording,) = log(
        line("session_meta", {"id": "child", "forked_from_id": "s1"}),
        line("session_meta", META),
        message("user", "one"),
        message("assistant", "two"),
    )
    assert recording.id == "child"
    assert [type(event) for event in recording.events] == [Prompt, Response]


def test_reasoning_of_which_nothing_was_kept_is_nothing(log):
    (recording,) = log(*START, item("reasoning", summary=[], content=None), message("assistant", "x"))
    assert recording.events[0].turn.parts == (Text("x"),)


def test_tools_that_the_session_declares_are_kept(log):
    tools = [{"name": "t", "description": "d", "inputSchema": {"type": "object"}}]
    (recording,) = log(line("session_meta", {"id": "s", "dynamic_tools": tools}))
    assert recording.tools == ({"name": "t", "description": "d", "parameters": {"type": "object"}},)
    assert recording.events == ()


def test_a_line_of_another_form_is_a_problem(log):
    (recording,) = log(*START, {"type": "event_msg"}, 7, b'{"type": "resp')
    assert [problem.line for problem in recording.problems] == [4, 5, 6]
