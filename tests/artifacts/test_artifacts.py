"""Large results: projections that cut nothing in two, windows that can always be read on, artifacts that are kept."""

from __future__ import annotations

import base64
import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from agents import ADAPTERS, CAPS, says, session, texts
from muntin.artifacts import artifact_id, projected

COUNT = ADAPTERS["openai_chat"].count
PIECES = st.lists(
    st.one_of(
        st.sampled_from(
            ["line\n", "word " * 30, "日本語" * 20, "e\u0301" * 40, "👩\u200d👩\u200d👧" * 8, "\n\n", "{}," * 50]
        ),
        st.binary(min_size=60, max_size=120).map(lambda data: base64.b64encode(data).decode() + "\n"),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
    ),
    max_size=12,
)


@pytest.fixture(params=sorted(ADAPTERS))
def provider(request):
    return request.param


def ready(provider, calls, **policy):
    s = session(provider, policy=mt.Policy(**policy))
    run = s.start_run("go")
    run.record(run.prepare(CAPS), says("", *(f"c{i}" for i in range(calls))))
    return s, run


# --- windows --------------------------------------------------------------------------------------------------------
@given(PIECES, st.integers(60, 400))
def test_reading_on_gives_every_byte_once_within_the_budget(pieces, budget):
    whole = "".join(pieces)
    data, at, parts = whole.encode(), 0, []
    for _ in range(len(data) + 1):
        window = mt.read_range(data, start=at, max_tokens=budget, count=COUNT)
        assert COUNT(window.shown) <= budget + 8  # where the note and the text meet, tokens may divide otherwise
        assert window.line == data.count(b"\n", 0, window.start) + 1
        parts.append(window.text)
        if window.next is None:
            break
        assert window.next > at
        at = window.next
    assert "".join(parts) == whole


@given(st.binary(max_size=300), st.integers(60, 100))
def test_bytes_that_are_no_utf8_can_be_read_to_the_end(data, budget):
    at, seen = 0, 0
    while at is not None:
        window = mt.read_range(data, start=at, max_tokens=budget, count=COUNT)
        assert window.start == at
        seen += window.stop - window.start
        at = window.next
    assert seen == len(data)


def test_a_window_begins_at_a_line_and_ends_at_one_where_it_can():
    text = "".join(f"line {i}\n" for i in range(1, 2_000))
    window = mt.read_range(text, line=100, max_tokens=200, count=COUNT)
    assert window.text.startswith("line 100\n")
    assert window.text.endswith("\n")
    assert window.line == 100
    assert f"read on with start={window.stop}" in window.shown
    with pytest.raises(mt.InputError, match="no line 5000; the last one is 2000"):
        mt.read_range(text, line=5_000, count=COUNT)
    for refuse in ({"line": 0}, {"start": -1}, {"start": 10**9}, {"max_tokens": 5}):
        with pytest.raises(mt.InputError):
            mt.read_range(text, count=COUNT, **refuse)


def test_a_start_inside_a_character_is_moved_to_its_beginning():
    data = "aé日".encode()
    assert [mt.read_range(data, start=i, count=COUNT).start for i in range(7)] == [0, 1, 1, 3, 3, 3, 6]


# --- projections ----------------------------------------------------------------------------------------------------
@given(PIECES.filter(lambda pieces: COUNT("".join(pieces)) > 150), st.integers(100, 150))
def test_a_projection_is_within_its_budget_and_made_of_beginning_and_end(pieces, budget):
    whole = "".join(pieces)
    text = projected(whole, budget, COUNT, "art-1")
    head, _, rest = text.partition("\n[… ")
    tail = rest.partition(" …]\n")[2]
    assert COUNT(text) <= budget
    assert whole.startswith(head)
    assert whole.endswith(tail)
    assert f"all {len(whole.encode())} bytes are artifact art-1" in text
    for cut in (len(head), len(whole) - len(tail)):
        if 0 < cut < len(whole):
            assert whole[cut] not in "\u0301\u200d"
            assert whole[cut - 1] != "\u200d"


@pytest.mark.parametrize("lines", [False, True])
def test_case_h2_a_projection_never_cuts_base64(lines):
    data = random.Random(1).randbytes(40_000)
    encoded = base64.encodebytes(data).decode() if lines else base64.b64encode(data).decode()
    text = projected(f'BEGIN "image": "{encoded}" END', 300, COUNT, "art-1")
    assert text.startswith('BEGIN "image": "\n[…')
    assert text.endswith('…]\n" END')
    assert not any(part in text for part in itertools.islice((encoded[i : i + 12] for i in range(0, 9_000, 6)), 1_000))


def test_case_h2_one_line_without_end_is_projected_quickly_and_shows_both_ends():
    text = projected("start " + "x;" * 4_000_000 + " finish", 300, COUNT, "art-1")
    assert text.startswith("start x;x;")
    assert text.endswith("x; finish")


def test_a_character_with_accents_without_end_costs_no_more_than_its_length():
    text = "a" + "\u0301" * 300_000 + "z"
    assert projected(text, 200, COUNT, "art-1").endswith("…]\nz")
    assert mt.read_range(text, count=COUNT).next


# --- in a session ---------------------------------------------------------------------------------------------------
def test_case_h1_a_huge_result_becomes_an_artifact_before_anything_is_sent(provider):
    s, run = ready(provider, 1, window=20_000, reserve_output=2_000)
    output = "".join(f"row {i}: {i * i}\n" for i in range(20_000))
    run.tool_result("c0", output)
    request = run.prepare(CAPS)
    assert request.usage.state == "ok"
    name = artifact_id(output.encode())
    assert s.new_artifacts == {name: output.encode()}
    assert name in texts(request)
    assert "row 0:" in texts(request)
    assert "row 19999:" in texts(request)
    (entry,) = [entry for entry in s.history() if isinstance(entry.item, mt.ToolResult)]
    assert entry.item.artifact == name


def test_results_of_one_batch_share_a_limit(provider):
    s, run = ready(provider, 10, window=40_000, reserve_output=4_000)
    for i in range(10):
        run.tool_result(f"c{i}", f"RESULT-{i} " + "word " * 6_000)
    request = run.prepare(CAPS)
    assert request.usage.safe < 36_000 * 0.6
    assert all(f"RESULT-{i} " in texts(request) for i in range(10))
    run.record(request, says("", "d0"))
    run.tool_result("d0", "NEW-BATCH " + "word " * 6_000)
    artifacts = [e.item.artifact for e in s.history() if isinstance(e.item, mt.ToolResult)]
    assert artifacts[0] == artifacts[-1] == ""
    assert all(artifacts[3:10])


def test_case_h5_a_window_on_an_artifact_is_never_offloaded_again(provider):
    s, run = ready(provider, 2, window=20_000, reserve_output=2_000)
    output = "word " * 30_000
    run.tool_result("c0", output)
    adapter = ADAPTERS[provider]
    (name,) = s.new_artifacts
    window = mt.read_range(s.new_artifacts[name], max_tokens=run.read_tokens, count=adapter.count, start=500)
    run.tool_result("c1", window)
    assert list(s.new_artifacts) == [name]
    assert f"[{name}: bytes 500 to {window.stop} of 150000" in texts(run.prepare(CAPS))
    run.record(run.prepare(CAPS), says("", "c2"))
    large = mt.read_range(output, max_tokens=2 * run.read_tokens, count=adapter.count)
    with pytest.raises(mt.InputError, match=f"max_tokens={run.read_tokens} at most"):
        run.tool_result("c2", large)


def test_case_h8_artifacts_are_committed_with_the_session_and_kept_by_tenant(tmp_path):
    with mt.open_store(f"sqlite:///{tmp_path}/agent.db") as store:
        s, run = ready("openai_chat", 2, window=20_000, reserve_output=2_000)
        run.tool_result("c0", "word " * 30_000)
        run.tool_result("c1", "word " * 30_000)
        (name,) = s.new_artifacts
        store.commit(s)
        assert s.new_artifacts == {}
        assert store.artifact(name) == b"word " * 30_000
        again = store.load("s")
        assert again.run.prepare(CAPS).body == run.prepare(CAPS).body
        with pytest.raises(mt.ArtifactNotFound, match="tenant 'other'"):
            store.artifact(name, tenant="other")


@pytest.mark.timeout(20)
def test_case_h2_a_result_of_megabytes_in_one_line_is_accepted_quickly(provider):
    s, run = ready(provider, 3, window=20_000, reserve_output=2_000)
    run.tool_result("c0", "x;" * 8_000_000)
    run.tool_result("c1", " " * 16_000_000)
    run.tool_result("c2", base64.b64encode(random.Random(1).randbytes(6_000_000)).decode())
    assert run.prepare(CAPS).usage.state == "ok"
    assert len(s.new_artifacts) == 3


def test_artifacts_in_memory_are_named_by_their_content():
    kept = mt.MemoryArtifacts()
    name = kept.put(b"abc")
    assert kept.put(b"abc") == name
    assert kept.get(name) == b"abc"
    with pytest.raises(mt.ArtifactNotFound):
        kept.get("art-0")


def test_a_limit_that_shows_nothing_is_refused():
    with pytest.raises(mt.InputError, match="result_tokens 10 is too small"):
        session(policy=mt.Policy(result_tokens=10))
