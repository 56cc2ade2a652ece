"""Rows of docs/field-cases.md about requests as a whole: pairs, counts, images, tenancy, work per request."""

from __future__ import annotations

import itertools

import msgspec
import numpy as np
import pytest

import muntin as mt
from agents import ADAPTERS, CAPS, answers, compacted, exchange, fill, says, session, texts, work

WORD = "word "


@pytest.fixture(params=sorted(ADAPTERS))
def provider(request):
    return request.param


# --- pairs ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "turns",
    [[1, 0], [10, 0], [1, 1, 0], [2, 0, 1, 3, 0]],
    ids=["one pair", "a batch of ten", "pair behind pair", "batches between texts"],
)
def test_case_a1_a3_a4_a5_a7_a8_no_cut_divides_a_pair_or_a_batch(provider, turns):
    s = session(provider)
    run, ids = s.start_run("go"), itertools.count()
    for calls in turns:
        exchange(run, says("I look.", *(f"c{next(ids)}" for _ in range(calls))))
        run.guide("and?")
    exchange(run, says("done"))
    run.prepare(CAPS)
    history, entry = s._conversation.lane.history, s._conversation.log.entry
    items = [entry(history.entry(unit)).item for unit in range(len(history))]
    legal = [cut for cut in range(len(items)) if history.is_legal(cut)]
    for cut in legal:
        made = [call.id for item in items[cut:] if isinstance(item, mt.AssistantTurn) for call in item.tool_calls]
        assert all(item.call in made for item in items[cut:] if isinstance(item, mt.ToolResult))
        assert not isinstance(items[cut], mt.ToolResult)
    assert len(legal) > len(turns)  # and there are cuts


def test_case_a6_pairs_are_whole_whatever_the_provider_would_say(provider):
    run = session(provider).start_run("go")
    exchange(run, says("", "c1", "c2"))
    run.record(run.prepare(CAPS), says("", "c3", "c4"))
    run.tool_result("c4", "only this one")
    run.guide("go on without it")
    request = run.prepare(CAPS)
    kinds = [kind for kind, _ in answers(request)]
    assert kinds == ["call", "call", "result", "result"] * 2 or not kinds
    assert not mt.providers.check(provider, request.body)


def test_case_a9_text_beside_a_result_belongs_to_the_call_s_group():
    adapter = ADAPTERS["anthropic"]
    body = {
        "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "read_file", "input": {}}]},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "by the way"},
                    {"type": "tool_result", "tool_use_id": "c1", "content": "ok"},
                ],
            },
        ]
    }
    s = mt.Session.from_messages(adapter, body)
    request = s.run.prepare(CAPS)
    blocks = [block for message in request.to_dict()["messages"] for block in message["content"]]
    assert [block["type"] for block in blocks] == ["text", "tool_use", "tool_result", "text"]
    history = s._conversation.lane.history
    assert not history.is_legal(2)  # between the call and the message that holds its result


def test_case_a10_nothing_is_made_up_for_a_call_that_is_not_there(provider):
    s = session(provider, policy=mt.Policy(window=9_000, reserve_output=1_000, keep_recent=500))
    run = s.start_run("go")
    fill(run)
    assert isinstance(compacted(s), mt.Committed)
    request = run.prepare(CAPS)
    calls = [call for kind, call in answers(request) if kind == "call"]
    results = [call for kind, call in answers(request) if kind == "result"]
    assert calls == results
    assert "no result" not in texts(request)


def test_case_b2_a_compaction_in_mid_turn_leaves_one_result_for_each_call(provider):
    s = session(provider, policy=mt.Policy(window=9_000, reserve_output=1_000, keep_recent=500))
    run = s.start_run("go")
    fill(run)
    run.record(run.prepare(CAPS), says("", "x1", "x2", "x3"))
    run.tool_result("x2", "two")
    assert isinstance(compacted(s), mt.Committed)
    run.tool_result("x1", "one")
    with pytest.raises(mt.DuplicateResult):
        run.tool_result("x2", "again")
    run.tool_result("x3", "three")
    request = run.prepare(CAPS)
    results = [call for kind, call in answers(request) if kind == "result"]
    assert len(results) == len(set(results))
    body = texts(request)
    assert body.index("one") < body.index("two") < body.index("three")


def test_case_b11_a_call_whose_result_never_came_does_not_block_a_compaction_for_ever():
    s = session(policy=mt.Policy(window=9_000, reserve_output=1_000, keep_recent=500))
    run = s.start_run("go")
    run.record(run.prepare(CAPS), says("", "dead"))
    run.finish()
    run = s.start_run("go on")
    fill(run)
    assert [(repair.kind, repair.call) for repair in s.repairs] == [("dangling", "dead")]
    assert isinstance(compacted(s), mt.Committed)


# --- counts -----------------------------------------------------------------------------------------------------------
def test_case_f2_only_the_last_bill_says_how_long_the_conversation_is():
    run = session("anthropic").start_run(WORD * 10_000)
    for i in range(4):
        request = run.prepare(CAPS)
        run.record(request, says(f"answer {i}"), usage=mt.Usage(input=request.usage.tokens, output=5))
        run.guide("and?")
    assert run.prepare(CAPS).usage.tokens < 1.1 * request.usage.tokens


def test_case_f4_system_and_tools_are_counted(provider):
    tool = mt.Tool("t", WORD * 20_000)
    run = session(provider, system=WORD * 5_000).start_run("go")
    usage = run.prepare(mt.Capabilities(stable=[tool])).usage
    assert usage.tools > 15_000
    assert usage.tokens > usage.tools + 4_000
    small = session(provider, policy=mt.Policy(window=20_000, reserve_output=1_000)).start_run("go")
    with pytest.raises(mt.ContextOverflow) as overflow:
        small.prepare(mt.Capabilities(stable=[tool]))
    assert overflow.value.floors["tools"] > 15_000


def test_case_f5_the_room_for_the_answer_is_reserved():
    model = mt.Model(name="m", window=131_072, max_output=65_536)
    run = mt.Session("s", adapter=mt.providers.openai_chat(model)).start_run(WORD * 70_000)
    assert run.prepare(CAPS, params={"max_tokens": 8_192}).usage.remaining > 0
    with pytest.raises(mt.ContextOverflow) as overflow:
        run.prepare(CAPS, params={"max_tokens": 65_536})
    assert overflow.value.limit == 131_072 - 65_536


def test_case_f8_what_is_counted_is_what_is_sent(provider):
    s = session(provider, policy=mt.Policy(result_tokens=1_000))
    run = s.start_run("go")
    exchange(run, says("", "c1"), WORD * 150_000)
    request = run.prepare(CAPS)
    adapter = s.adapter
    assert request.usage.tokens == adapter.estimate(adapter.recount(request.body)) < 3_000
    assert s.new_artifacts


def test_case_f9_the_run_s_own_pair_stays_and_the_refusal_is_typed():
    s = session(policy=mt.Policy(window=4_000, reserve_output=500, result_tokens=3_400, batch_tokens=3_400))
    run = s.start_run("go")
    run.record(run.prepare(CAPS), says("", "c1"))
    run.tool_result("c1", WORD * 3_300)
    run.guide(WORD * 500)
    before = len(s._conversation.lane.history)
    for _ in range(2):
        with pytest.raises(mt.ContextOverflow) as overflow:
            run.prepare(CAPS)
        assert overflow.value.floors["not yet observed"] > 3_000
    assert len(s._conversation.lane.history) >= before
    assert "c1" in s._conversation.answered


def test_case_f10_hashes_and_ids_are_counted_by_a_vocabulary_and_not_by_their_length(provider):
    count = ADAPTERS[provider].count
    assert count("3f9a1c77be02d4e586a0b1c2d3e4f5061728394a") >= 20
    assert count("6f1e2d3c-4b5a-4789-9a0b-1c2d3e4f5061") >= 15


# --- images -----------------------------------------------------------------------------------------------------------
def test_case_g1_g7_an_image_costs_what_images_cost_and_not_its_base64(provider):
    def tokens(*inputs):
        return session(provider).start_run(list(inputs)).prepare(CAPS).usage.tokens

    image = mt.Image("image/png", data="A" * 4_197_680, width=800, height=600)
    assert tokens("look", image) - tokens("look") < 6_000


def test_case_g2_the_same_pixels_cost_the_same_whatever_the_file_s_size(provider):
    def tokens(size):
        image = mt.Image("image/png", data="A" * size, width=800, height=600)
        return session(provider).start_run(["look", image]).prepare(CAPS).usage.tokens

    assert tokens(136_000) == tokens(4_000_000)


# --- tenancy, roles ---------------------------------------------------------------------------------------------------
def test_case_m1_a_summary_belongs_to_its_tenant_and_session(tmp_path):
    policy = mt.Policy(window=9_000, reserve_output=1_000, keep_recent=500)
    with mt.open_store(f"sqlite:///{tmp_path}/a.db") as store:
        for tenant in ("a", "b"):
            s = session(policy=policy, tenant=tenant)
            run = s.start_run(f"SECRET-OF-{tenant}")
            fill(run)
            run.finish()
            run = s.start_run("next")
            assert isinstance(compacted(s), mt.Committed)
            store.commit(s)
        for mine, other in (("a", "b"), ("b", "a")):
            body = texts(store.load("s", tenant=mine).run.prepare(CAPS))
            assert f"SECRET-OF-{mine}" in body
            assert f"SECRET-OF-{other}" not in body


def test_case_m5_the_system_text_is_never_cut(provider):
    s = session(provider, system="THE-RULES", policy=mt.Policy(window=9_000, reserve_output=1_000, keep_recent=500))
    run = s.start_run("go")
    for _ in range(3):
        fill(run)
        assert isinstance(compacted(s), mt.Committed)
        assert texts(run.prepare(CAPS)).count("THE-RULES") == 1


# --- work per request -------------------------------------------------------------------------------------------------
class Watched(type(ADAPTERS["openai_chat"])):
    """Notes what is rendered, and how many characters are counted."""

    def __init__(self, name):
        self.rendered, self.counted = [], 0
        super().__init__(name)

    def units(self, item, **kwargs):
        self.rendered.append(type(item).__name__)
        return super().units(item, **kwargs)

    def count(self, text):
        self.counted += len(text)
        return super().count(text)


def test_case_m6_m7_a_step_renders_and_counts_what_is_new_however_long_the_history_is():
    adapter = Watched("gpt-4o")
    s = mt.Session("s", adapter=adapter, system="system " * 500, policy=mt.Policy(window=10_000_000))
    run = s.start_run("go")
    work(run, 300, size=60)
    run.prepare(CAPS)
    adapter.rendered.clear()
    adapter.counted = 0
    exchange(run, says("short", "new"), "ok")
    run.prepare(CAPS)
    assert adapter.rendered == ["AssistantTurn", "ToolResult"]
    assert adapter.counted < 500


def test_case_m8_requests_share_the_bytes_of_the_conversation():
    s = session(policy=mt.Policy(window=10_000_000))
    run = s.start_run("go")
    work(run, 300, size=60)
    one, two = run.prepare(CAPS), run.prepare(CAPS)
    fork = s.fork("f").run.prepare(CAPS)
    of = [
        {np.frombuffer(part, np.uint8).ctypes.data for part in request.chunks() if isinstance(part, memoryview)}
        for request in (one, two, fork)
    ]
    assert len(of[0]) > 1  # the chunks that are full; the last one is copied
    assert of[0] == of[1] == of[2]


def test_case_m10_what_was_covered_can_be_recalled_seen_and_brought_back():
    s = session(policy=mt.Policy(window=9_000, reserve_output=1_000, keep_recent=500))
    run = s.start_run("go")
    work(run, 1)
    run.guide("mind the gap")
    fill(run)
    before = texts(run.prepare(CAPS))
    outcome = compacted(s)
    assert outcome.report.before > outcome.report.after
    assert s.recall(s.reachable[0]).id == s.reachable[0]
    assert len(list(s.history())) > outcome.report.covered
    s.undo_compaction()
    assert msgspec.json.decode(texts(run.prepare(CAPS))) == msgspec.json.decode(before)
