"""From a file to a format: compression, damage, and what no reader knows."""

import gzip
import json
import lzma

import pytest

from muntin.exceptions import TranscriptError
from muntin.items import Text
from muntin.transcripts import formats, read
from muntin.transcripts.events import Problem, Prompt
from muntin.transcripts.lines import compact, parse, split

CHAT = [{"role": "user", "content": "hello"}]


def test_a_compressed_file_is_opened_whatever_its_name(tmp_path):
    plain = json.dumps(CHAT).encode()
    for name, data in {"a.xz": lzma.compress(plain), "b.gz": gzip.compress(plain), "c": lzma.compress(plain)}.items():
        (tmp_path / name).write_bytes(data)
        (recording,) = read(tmp_path / name)
        assert isinstance(recording.events[0], Prompt)


def test_a_compressed_file_that_was_cut_off_says_so(tmp_path):
    path = tmp_path / "log.xz"
    path.write_bytes(lzma.compress(b"x" * 1000)[:-20])
    with pytest.raises(TranscriptError, match=r"log\.xz: the compressed file is damaged or cut off"):
        read(path)


@pytest.mark.parametrize("data", [b"", b"\n \n", b"\xef\xbb\xbf"])
def test_an_empty_file_says_that_it_is_empty_and_what_to_give_instead(tmp_path, data):
    path = tmp_path / "log.jsonl"
    path.write_bytes(data)
    with pytest.raises(TranscriptError) as raised:
        read(path)
    assert "the file is empty" in str(raised.value)
    assert all(name in str(raised.value) for name in formats())


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (b'{"kind": "x", "at": 1}', "line 1 is a JSON object with the keys `kind`, `at`"),
        (b"\n[1, 2]", "line 2 is a JSON array|line 1 is a JSON array"),
        (b"17", "line 1 is a single JSON value"),
        (b"dear diary\n", "there is no JSON in it .line 1: not JSON"),
        (b'[{"role": "user", "content": "cut o', "there is no JSON in it .line 1: not JSON"),
    ],
)
def test_an_unknown_format_says_what_was_found(tmp_path, data, found):
    path = tmp_path / "log"
    path.write_bytes(data)
    with pytest.raises(TranscriptError, match=found):
        read(path)


def test_a_messages_body_of_another_provider_is_not_taken_for_chat_completions(tmp_path):
    path = tmp_path / "body.json"
    result = {"type": "tool_result", "tool_use_id": "t", "content": "x"}
    path.write_text(json.dumps({"messages": [{"role": "user", "content": [result]}]}))
    with pytest.raises(TranscriptError, match="no known format"):
        read(path)


def test_a_damaged_line_is_skipped_under_its_number(log):
    (recording,) = log(
        {"messages": [{"role": "user", "content": "one"}]},
        b"",
        b'{"messages": [{"role": "us',
        {"messages": []},
    )[:1]
    assert [problem.line for problem in recording.problems] == [3]
    assert recording.problems[0].why.startswith("not JSON: ")


def test_one_document_may_span_lines(tmp_path):
    path = tmp_path / "body.json"
    path.write_text(json.dumps({"messages": CHAT}, indent=2))
    assert len(read(path)) == 1


def test_a_lone_surrogate_becomes_the_replacement_character(log):
    (recording,) = log(b'[{"role": "user", "content": "half \\ud83d of a pair, \\ud83d\\ude00 whole"}]')
    assert recording.events[0].inputs[0].content == (Text("half \ufffd of a pair, \U0001f600 whole"),)


def test_what_strict_json_refuses_is_read_all_the_same():
    assert parse(b'{"a": NaN, "b": [Infinity, 1.5]}') == {"a": None, "b": [None, 1.5]}
    assert parse(b'"bad \xff byte"') == "bad \ufffd byte"
    assert parse(b'"a\tb"') == "a\tb"


def test_nesting_without_end_is_a_problem_and_no_crash():
    assert split(b"[" * 200_000 + b"\n1").problems == (Problem(1, "not JSON: nested too deeply"),)


def test_compact_text_keeps_the_order_of_keys():
    assert compact({"b": 1, "a": [1.0, "é"]}) == '{"b":1,"a":[1.0,"é"]}'
