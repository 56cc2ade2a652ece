"""No log crashes a reader: each field may be anything, and each file may end anywhere."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from muntin.exceptions import TranscriptError
from muntin.transcripts import native, read
from muntin.transcripts.lines import split

CALL = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "a"}], "is_error": False}
USAGE = {"input_tokens": 1, "cache_read_input_tokens": 2, "output_tokens": 3}
CLAUDE = [
    {"type": "user", "uuid": "1", "parentUuid": None, "sessionId": "s", "message": {"role": "user", "content": "hi"}},
    {
        "type": "assistant",
        "uuid": "2",
        "parentUuid": "1",
        "timestamp": "2026-05-03T12:00:00Z",
        "message": {"id": "m", "model": "x", "content": [CALL], "usage": USAGE, "stop_reason": "tool_use"},
    },
    {"type": "user", "uuid": "3", "parentUuid": "2", "message": {"role": "user", "content": [RESULT]}},
    {"type": "attachment", "uuid": "4", "parentUuid": "3", "attachment": {"type": "file", "content": {"file": {}}}},
    {"type": "user", "uuid": "5", "parentUuid": "1", "isSidechain": True, "agentId": "a", "message": {"content": "x"}},
]
BILL = {"last_token_usage": {"input_tokens": 5}, "total_token_usage": {"total_tokens": 6}}
ITEMS = [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
    {"type": "reasoning", "id": "r", "summary": [{"type": "summary_text", "text": "hm"}]},
    {"type": "function_call", "call_id": "c", "name": "ls", "arguments": "{}"},
    {"type": "custom_tool_call", "call_id": "d", "name": "patch", "input": "x"},
    {"type": "function_call_output", "call_id": "c", "output": {"content": "x", "success": True}},
]
CODEX = [
    {
        "type": "session_meta",
        "payload": {"id": "s", "base_instructions": {"text": "t"}, "dynamic_tools": [{"name": "t"}]},
    },
    {"type": "event_msg", "payload": {"type": "task_started"}},
    *({"timestamp": "2026-05-03T12:00:00Z", "type": "response_item", "payload": item} for item in ITEMS),
    {"type": "event_msg", "payload": {"type": "token_count", "info": BILL}},
    {"type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": 1}},
]
TOOL = {"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
MESSAGES = [
    {"role": "system", "content": "s"},
    {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}]},
    {"role": "assistant", "content": None, "tool_calls": [TOOL], "reasoning_content": "hm"},
    {"role": "tool", "tool_call_id": "c", "content": "x"},
]
ANSWER = {
    "choices": [{"message": {"content": "x"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 5},
    "created": 1,
}
CHAT = [
    {
        "id": "x",
        "request": {"model": "m", "messages": MESSAGES, "tools": [{"function": {"name": "t"}}]},
        "response": ANSWER,
    }
]
LOGS = st.sampled_from([CLAUDE, CODEX, CHAT])
JUNK = st.sampled_from(
    [None, True, 7, -1, 1.5, "", "x", [], [None], ["x"], [[]], [{}], {}, {"type": "text"}, {"a": []}]
)


def places(value, path=()):
    yield path
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(inner, (*path, key))


def replaced(value, path, junk):
    if not path:
        return junk
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], junk)
    return copy


def attempt(data):
    with TemporaryDirectory() as folder:
        path = Path(folder, "log")
        path.write_bytes(data)
        try:
            recordings = read(path)
        except TranscriptError:
            return
    for recording in recordings:
        assert native.read(split(native.write(recording))) == [recording]


# A busy machine is no failure.
@settings(deadline=None)
@given(LOGS, JUNK, st.data())
def test_any_field_may_be_anything(log, junk, data):
    path = data.draw(st.sampled_from([path for path in places(log) if path]))
    attempt(b"\n".join(json.dumps(line).encode() for line in replaced(log, path, junk)))


@settings(deadline=None)
@given(LOGS, st.data())
def test_a_file_may_end_anywhere(log, data):
    whole = b"\n".join(json.dumps(line).encode() for line in log)
    attempt(whole[: data.draw(st.integers(0, len(whole)))])
