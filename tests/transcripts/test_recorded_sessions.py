"""The readers against whole sessions that real agents recorded."""

import lzma
import time
from collections import Counter

import msgspec
import pytest

from muntin.items import ToolCall
from muntin.transcripts import native, read
from muntin.transcripts.events import Fork, Response
from muntin.transcripts.lines import split

pytestmark = pytest.mark.shared

FOLDERS = ["claude-code", "claude-code-growth", "codex", "codex-growth", "openai-chat"]


def values(path):
    data = path.read_bytes()
    return [value for _, value in split(lzma.decompress(data) if path.suffix == ".xz" else data).records]


def branches(recording):
    """The events of each branch, in the order in which the recording leaves them."""
    before = []
    branch = []
    for event in recording.events:
        before.append(branch)
        if isinstance(event, Fork):
            yield branch
            branch = before[event.at]
        else:
            branch = [*branch, event]
    yield branch


def calls(events):
    return Counter(call.id for event in events if isinstance(event, Response) for call in event.turn.tool_calls)


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_session_is_read_without_problems_and_written_back(recorded, folder):
    for path in recorded(folder):
        for recording in read(path):
            assert recording.problems == (), path.name
            assert recording.events, path.name
            assert native.read(split(native.write(recording))) == [recording], path.name
            for place, event in enumerate(recording.events):
                assert not isinstance(event, Fork) or event.at <= place, path.name


@pytest.mark.parametrize("folder", ["claude-code", "claude-code-growth"])
def test_claude_code_responses_are_the_messages_of_the_log(recorded, folder):
    for path in recorded(folder):
        answers = {}
        for line in values(path):
            message = line.get("message") or {}
            if line.get("type") == "assistant" and message.get("model") != "<synthetic>":
                answers.setdefault(message["id"], []).append(message)
        recordings = read(path)
        responses = [e for recording in recordings for e in recording.events if isinstance(e, Response)]
        assert len(responses) == len(answers), path.name

        logged = {b["id"] for lines in answers.values() for m in lines for b in m["content"] if b["type"] == "tool_use"}
        assert set(calls(responses)) == logged, path.name
        for recording in recordings:
            for branch in branches(recording):
                assert all(count == 1 for count in calls(branch).values()), path.name

        billed = sum(lines[-1]["usage"]["output_tokens"] for lines in answers.values())
        assert sum(response.usage.output for response in responses) == billed, path.name
        assert all(0 <= r.usage.cached + r.usage.written <= r.usage.input for r in responses), path.name


@pytest.mark.parametrize("folder", ["codex", "codex-growth"])
def test_codex_calls_and_bills_are_those_of_the_log(recorded, folder):
    for path in recorded(folder):
        logged = Counter()
        totals = []
        for line in values(path):
            payload = line["payload"]
            if line["type"] == "response_item" and payload["type"].endswith(
                ("function_call", "tool_call", "search_call")
            ):
                logged.update([payload["call_id"]] if "call_id" in payload else [])
            elif payload.get("type") == "token_count" and payload.get("info"):
                totals.append(
                    (payload["info"]["total_token_usage"]["total_tokens"], payload["info"]["last_token_usage"])
                )
        (recording,) = read(path)
        assert calls(recording.events) == logged, path.name

        distinct = {total: last["input_tokens"] for total, last in totals if last["input_tokens"]}
        billed = [e.usage.input for e in recording.events if isinstance(e, Response) and e.usage]
        assert sorted(billed) == sorted(distinct.values()), path.name


def test_chat_responses_are_the_assistant_messages_of_the_log(recorded):
    for path in recorded("openai-chat"):
        for value, recording in zip(values(path), read(path), strict=True):
            messages = (value.get("request") or value)["messages"]
            choices = (value.get("response") or {}).get("choices") or []
            said = [m for m in [*messages, *(choice["message"] for choice in choices[:1])] if m["role"] == "assistant"]
            responses = [event for event in recording.events if isinstance(event, Response)]
            assert len(responses) == len(said), path.name
            assert calls(responses) == Counter(c["id"] for m in said for c in m.get("tool_calls") or []), path.name


def test_arguments_of_claude_code_are_json_objects(recorded):
    for path in recorded("claude-code"):
        for recording in read(path):
            parts = [p for e in recording.events if isinstance(e, Response) for p in e.turn.parts]
            assert all(isinstance(msgspec.json.decode(p.arguments), dict) for p in parts if isinstance(p, ToolCall))


def test_the_longest_sessions_are_read_in_less_than_a_second(recorded):
    for path in sorted(recorded("claude-code"), key=lambda path: path.stat().st_size)[-3:]:
        began = time.process_time()
        read(path)
        assert time.process_time() - began < 1.0, path.name
