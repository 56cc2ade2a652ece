"""The command line: what it prints, what it writes, and its exit codes."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

import muntin as mt
from muntin.cli.commands import cli
from tokens.files import dumped, small

CHAT = {
    "model": "gpt-4o",
    "messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Look."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "a ship"},
        {"role": "assistant", "content": "A ship."},
    ],
}


def run(*arguments, input=None):
    result = CliRunner().invoke(cli, [str(argument) for argument in arguments], input=input)
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def records(output):
    return [json.loads(line) for line in output.splitlines()]


@pytest.fixture
def chat(tmp_path):
    path = tmp_path / "chat.json"
    path.write_text(json.dumps(CHAT))
    return path


def test_the_demo_shows_what_the_main_job_is():
    lines = records(run("demo", "--json").output)
    totals = lines[-1]
    assert totals["type"] == "totals"
    assert totals["compactions"] >= 2
    assert totals["refused"] == 0
    assert totals["problems"] == 0
    requests = [line for line in lines if line["type"] == "request"]
    assert {"tool removed", "compaction"} <= {request["forecast"]["cause"] for request in requests}
    assert len({request["session"] for request in requests}) == 2  # a fork
    assert max(request["run"] for request in requests) == 2
    assert all(request["safe"] <= 28_000 for request in requests)


def test_the_demo_for_people_has_a_line_a_request_and_totals():
    output = run("demo").output
    lines = output.splitlines()
    assert ["#", "run", "total", "tools"] in [line.split()[:4] for line in lines]
    assert "compacted" in output
    assert "expected from the cache" in output
    assert "goes on from an earlier point" in output


def test_bodies_are_written_as_they_would_be_posted(chat, tmp_path):
    result = run("replay", chat, "--bodies", tmp_path / "bodies")
    assert result.exit_code == 0
    bodies = [json.loads(path.read_bytes()) for path in sorted((tmp_path / "bodies").iterdir())]
    assert [len(body["messages"]) for body in bodies] == [2, 4]
    assert bodies[1]["messages"] == CHAT["messages"][:4]


@pytest.mark.parametrize("provider", mt.providers.names())
def test_a_session_can_be_rendered_for_any_provider(chat, provider):
    lines = records(run("replay", chat, "--provider", provider, "--json").output)
    assert lines[0]["provider"] == provider
    assert [line["type"] for line in lines] == ["recording", "request", "request", "totals"]


def test_what_does_not_fit_in_the_window_is_said_and_the_replay_goes_on(tmp_path):
    messages = [*CHAT["messages"][:3], {"role": "tool", "tool_call_id": "c1", "content": "word " * 5000}]
    messages += CHAT["messages"][4:]
    path = tmp_path / "long.json"
    path.write_text(json.dumps({"messages": messages}))
    result = run("replay", path, "--window", 2000, "--reserve", 500, "--json")
    assert result.exit_code == 0
    requests = [line for line in records(result.output) if line["type"] == "request"]
    assert "too large" in requests[1]["error"]


def test_a_damaged_line_is_reported_with_its_number_and_skipped(tmp_path):
    line = json.dumps(CHAT)
    path = tmp_path / "lines.jsonl"
    path.write_text(f"{line}\n{{broken\n{line}\n")
    result = run("replay", path)
    assert result.exit_code == 0
    assert "line 2 was skipped" in result.output
    assert "2 conversations" in result.output


@pytest.mark.parametrize(
    ("content", "message"),
    [("", "empty"), ("hello, this is prose\n", "no JSON"), ('{"a": 1}', "format"), ('{"messages": [', "")],
    ids=["empty", "prose", "other json", "truncated"],
)
def test_what_is_no_session_is_one_line_and_exit_code_2(tmp_path, content, message):
    path = tmp_path / "file"
    path.write_text(content)
    result = run("replay", path)
    assert result.exit_code == 2
    assert result.output.startswith("muntin: ")
    assert len(result.output.splitlines()) == 1
    assert message in result.output


def test_bad_use_is_exit_code_2(tmp_path):
    assert run("replay", tmp_path / "missing").exit_code == 2
    assert run("replay").exit_code == 2
    assert run("demo", "--window", "0").exit_code == 2
    assert run("demo", "--provider", "nope").exit_code == 2
    assert run("count", "--encoding", "nope", input="x").exit_code == 2


def test_counting_files_and_the_standard_input(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("hello world")
    assert run("count", path).output.split() == ["2", str(path)]
    assert records(run("count", "--json", "--encoding", "gpt-4", input="hello world").output) == [
        {"file": "-", "tokens": 2, "bytes": 11, "encoding": "cl100k_base"}
    ]


def test_counting_with_a_tokenizer_json(tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_bytes(dumped(small()))
    (record,) = records(run("count", "--json", "--encoding", path, input="the abc").output)
    assert record["tokens"] == 3
    assert record["encoding"].startswith("tokenizer.json:")
    assert run("count", "--encoding", tmp_path / "missing.json", input="x").exit_code == 2


def test_models_say_what_is_known_and_where_from():
    assert "https://" in run("models", "claude-opus-4-7").output
    (record,) = records(run("models", "gpt-4.1", "--json").output)
    assert record["window"] == 1_047_576
    assert run("models", "nope").exit_code == 1


def test_every_command_has_help():
    for name, command in cli.commands.items():
        assert command.help, name
        assert run(name, "--help").exit_code == 0


def test_the_module_runs_as_a_program():
    result = subprocess.run([sys.executable, "-m", "muntin", "--version"], capture_output=True, text=True, check=True)
    assert mt.__version__ in result.stdout


def test_without_its_libraries_the_command_line_says_what_to_install():
    code = "import sys; sys.modules['click'] = None; from muntin.cli import main; main()"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert "pip install 'muntin[cli]'" in result.stderr


def test_a_request_body_is_estimated(tmp_path):
    path = tmp_path / "body.json"
    path.write_text(json.dumps({"model": "gpt-4o", "messages": [{"role": "user", "content": "What is 2 + 2?"}]}))
    assert run("count", "--provider", "openai_chat", "--body", str(path)).output.split()[0] == "15"
    asked = ("count", "--provider", "gemini", "--model", "gemini-2.5-pro", "--body", str(path), "--json")
    (record,) = records(run(*asked).output)
    assert record["provider"] == "gemini"
    assert record["tokens"] <= record["safe"]
    assert run("count", "--body", str(path)).exit_code == 2


def test_check_says_what_would_be_refused_and_exits_with_one(chat, tmp_path):
    assert run("check", chat, "--provider", "openai_chat").exit_code == 0
    orphan = tmp_path / "orphan.json"
    orphan.write_text(json.dumps({"model": "m", "messages": [{"role": "tool", "tool_call_id": "c1", "content": "x"}]}))
    result = run("check", orphan, "--provider", "openai_chat")
    assert result.exit_code == 1
    assert "OC2  messages.0.tool_call_id" in result.output
    (finding,) = records(run("check", orphan, "--provider", "openai_chat", "--json").output)
    assert set(finding) == {"rule", "path", "text", "mend"}
    assert run("check", orphan, "--provider", "openai_chat:mistral").exit_code == 1
    orphan.write_text("[]")
    assert run("check", orphan, "--provider", "gemini").exit_code == 2
