"""A summariser by a model: time limits, retries on the line only, cancellation (D1, C13); and the recall tool (H5)."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading

import pytest

import muntin as mt
from agents import ADAPTERS, CAPS, exchange, fill, says, session, summary, texts

POLICY = mt.Policy(window=16_000, reserve_output=2_000, keep_recent=1_000, result_tokens=1_000)
REQUEST = mt.SummaryRequest(1, b"{}", "", "", (), 100)


def broken_once(error):
    tries = []

    def send(_):
        tries.append(1)
        if len(tries) == 1:
            raise error
        return "fine"

    send.tries = tries
    return send


class SdkError(Exception):
    pass


class APIConnectionError(SdkError):
    pass


class StatusError(OSError):
    status_code = 429


@pytest.mark.parametrize("error", [ConnectionResetError("reset"), TimeoutError("slow"), APIConnectionError("line")])
def test_a_broken_line_is_tried_again(error):
    send = broken_once(error)
    assert mt.LLMSummarizer(send, pause=0)(REQUEST) == "fine"
    assert len(send.tries) == 2


@pytest.mark.parametrize("error", [StatusError("too many"), ValueError("bug"), SdkError("refused")])
def test_an_answer_that_says_no_is_not_tried_again(error):
    send = broken_once(error)
    with pytest.raises(type(error)):
        mt.LLMSummarizer(send, pause=0)(REQUEST)
    assert len(send.tries) == 1


def test_one_that_hangs_is_left_behind_and_the_view_stays():
    s = session(policy=POLICY)
    run = s.start_run("go")
    fill(run)
    before, go = run.prepare(CAPS).body, threading.Event()
    plan = s.plan_compaction()
    with pytest.raises(TimeoutError, match="no summary within"):
        plan.run(mt.LLMSummarizer(lambda _: go.wait(10) and summary(), timeout=0.05))
    go.set()
    assert s.commit_compaction(plan).reason is mt.Reason.FAILED
    assert run.prepare(CAPS).body == before


def test_one_that_waits_is_cancelled():
    go, begun = threading.Event(), threading.Event()

    def send(_):
        begun.set()
        go.wait(10)
        return ""

    summarizer = mt.LLMSummarizer(send)
    threading.Thread(target=lambda: (begun.wait(10), summarizer.cancel()), daemon=True).start()
    with pytest.raises(concurrent.futures.CancelledError):
        summarizer(REQUEST)
    with pytest.raises(concurrent.futures.CancelledError):
        summarizer(REQUEST)
    go.set()


def test_an_asynchronous_one_is_awaited_tried_again_and_limited():
    send = broken_once(ConnectionResetError("reset"))

    async def asend(request):
        return send(request)

    assert asyncio.run(mt.LLMSummarizer(asend, pause=0).ask(REQUEST)) == "fine"

    async def hangs(_):
        await asyncio.sleep(10)

    with pytest.raises(TimeoutError):
        asyncio.run(mt.LLMSummarizer(hangs, timeout=0.01).ask(REQUEST))
    with pytest.raises(TypeError, match="awaited by"):
        mt.LLMSummarizer(lambda _: asyncio.sleep(0, "x"), retries=0)(REQUEST)


@pytest.mark.parametrize("provider", sorted(ADAPTERS))
def test_case_h5_a_model_reads_a_covered_entry_again_in_windows_that_fit(provider):
    s = session(provider, policy=POLICY)
    caps = mt.Capabilities(stable=[*CAPS.stable, mt.RECALL])
    run = s.start_run("go")
    exchange(run, says("", "big"), "BEGIN " + "word " * 900 + "END", caps)
    fill(run)
    number = next(entry.id for entry in s.history() if isinstance(entry.item, mt.ToolResult))
    s.commit_compaction(s.plan_compaction().run(lambda _: summary(f"[#{number}] matters.")))
    artifacts = set(s.new_artifacts)
    recall, read, start = mt.RecallTool(run), "", 0
    while start is not None:
        call = mt.ToolCall(f"r{start}", "recall_entry", f'{{"entry": {number}, "start": {start}}}')
        run.record(run.prepare(caps), mt.AssistantTurn((call,), "tool_calls"))
        window = recall(run.session.open_calls[0])
        run.tool_result(call.id, window)
        read, start = read + window.text, window.next
    assert read.startswith(f"[#{number}] result of big: BEGIN")
    assert read.endswith("END")
    assert set(s.new_artifacts) == artifacts
    assert "recall_entry" in texts(run.prepare(caps))
    for arguments in ("{}", "[", '{"entry": "x"}', '{"entry": 1000000}'):
        with pytest.raises(mt.InputError):
            recall(mt.ToolCall("x", "recall_entry", arguments))
