"""Summaries over HTTP, from a server on this machine that answers in each wire format (D1, C13, M3)."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import http.server
import json
import threading
import time

import pytest

import muntin as mt
from agents import ADAPTERS, CAPS, fill, says, session, summary, texts
from driving import Model, drive
from muntin.endpoint import Endpoint
from streams import streamed

pytest.importorskip("httpx")

POLICY = mt.Policy(window=16_000, reserve_output=2_000, keep_recent=1_000)
TOO_LONG = {
    "openai_chat": {"error": {"code": "context_length_exceeded", "message": "Too long."}},
    "openai_responses": {"error": {"code": "context_length_exceeded", "message": "Too long."}},
    "anthropic": {"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long"}},
    "bedrock": {"message": "Input is too long for requested model."},
    "gemini": {"error": {"code": 400, "message": "The input token count (9) exceeds the maximum number (8)."}},
    "ollama": {"error": "prompt exceeds the available context size"},
}


def answer(provider, text):
    """A whole response of a format."""
    accumulator = ADAPTERS[provider].accumulator()
    for event in streamed(provider, text):
        accumulator.feed(event)
    return json.dumps(accumulator.response()).encode()


class Server:
    """Answers what it is given, in order and the last for ever: a body, a status with one, None for a broken line."""

    def __init__(self):
        self.answers, self.received, self.go = [], [], threading.Event()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                outer.received.append((self.path, dict(self.headers), body))
                given = outer.answers.pop(0) if len(outer.answers) > 1 else outer.answers[0]
                if given == "hang":
                    outer.go.wait(10)
                    return
                if given is None:
                    return  # the connection is closed without a word
                status, content, *headers = given if isinstance(given, tuple) else (200, given)
                self.send_response(status)
                for name, value in headers:
                    self.send_header(name, value)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()

    def close(self):
        self.go.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)


@pytest.fixture
def server():
    with contextlib.closing(Server()) as made:
        yield made


@pytest.fixture(params=sorted(ADAPTERS))
def provider(request):
    return request.param


def over_http(server, provider, **kwargs):
    kwargs = {"pause": 0, "headers": {"x-api-key": "KEY"}, "timeout": 10} | kwargs
    return mt.LLMSummarizer.over_http(server.url, ADAPTERS[provider], **kwargs)


def full(provider="openai_chat"):
    s = session(provider, policy=POLICY)
    fill(s.start_run("The key is AKIA-SECRET."))
    return s


async def asked(plan, summarizer):
    while request := plan.next_request():
        plan.feed(request, await summarizer.ask(request))
    return plan


@pytest.mark.parametrize("how", ["called", "awaited"])
def test_a_summary_of_each_wire_format_comes_over_http(server, provider, how):
    server.answers = [answer(provider, summary("Made over HTTP."))]
    s, summarizer = full(), over_http(server, provider)
    plan = s.plan_compaction(summarizer.adapter)
    plan = plan.run(summarizer) if how == "called" else asyncio.run(asked(plan, summarizer))
    assert isinstance(s.commit_compaction(plan), mt.Committed)
    assert "Made over HTTP." in texts(s.run.prepare(CAPS))
    assert len(server.received) == plan.requests
    path, headers, body = server.received[0]
    assert path == ADAPTERS[provider].path
    sent = {name.lower(): value for name, value in headers.items()}
    assert sent.items() >= {**ADAPTERS[provider].headers(), "x-api-key": "KEY"}.items()
    assert ADAPTERS[provider].check(body) == []


@pytest.mark.parametrize("how", ["called", "awaited"])
@pytest.mark.parametrize("first", [None, (429, b"{}"), (500, b"oops"), (503, b""), (529, b"{}")])
def test_a_broken_line_a_crowd_and_a_server_that_is_down_are_tried_again(server, first, how):
    server.answers = [first, answer("anthropic", summary("Second."))]
    summarizer = over_http(server, "anthropic")
    plan = full().plan_compaction(summarizer.adapter)
    _ = plan.run(summarizer) if how == "called" else asyncio.run(asked(plan, summarizer))
    assert plan.finished
    assert len(server.received) == 2


@pytest.mark.parametrize("how", ["called", "awaited"])
@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, {"error": {"message": "no key"}}, "auth"),
        (400, {"error": {"message": "bad"}}, "refused"),
        (402, {"error": {"message": "pay"}}, "quota"),
        (307, {}, "unknown"),
    ],
)
def test_a_failure_of_another_kind_is_said_at_once_and_the_view_stays(server, status, body, kind, how):
    server.answers = [(status, json.dumps(body).encode(), ("location", "/elsewhere"))]
    s, summarizer = full(), over_http(server, "anthropic")
    before = s.run.prepare(CAPS).body
    plan = s.plan_compaction(summarizer.adapter)
    with pytest.raises(mt.EndpointError, match=f"answered {status}") as raised:
        _ = plan.run(summarizer) if how == "called" else asyncio.run(asked(plan, summarizer))
    assert (raised.value.failure.kind, raised.value.failure.status) == (kind, status)
    assert len(server.received) == 1
    plan.fail(raised.value)
    assert s.commit_compaction(plan).reason is mt.Reason.FAILED
    assert s.run.prepare(CAPS).body == before


def test_case_c13_a_request_that_is_too_long_is_paid_for_once_and_is_said_to_be(server, provider):
    server.answers = [(400, json.dumps(TOO_LONG[provider.partition(":")[0]]).encode())]
    s, summarizer = full(), over_http(server, provider)
    plan = s.plan_compaction(summarizer.adapter)
    with pytest.raises(mt.EndpointError, match="overflow") as raised:
        plan.run(summarizer)
    assert raised.value.failure.kind == "overflow"
    assert len(server.received) == 1
    assert "overflow" in s.commit_compaction(plan).detail


def test_a_line_that_stays_broken_is_an_error_and_so_is_an_answer_of_another_format(server):
    server.answers = [None]
    with pytest.raises(mt.EndpointError, match="broke") as raised:
        full().plan_compaction().run(over_http(server, "openai_chat", retries=1))
    assert raised.value.failure.kind == "transient"
    assert len(server.received) == 2
    for garbage in (b"", b"<html>", answer("gemini", summary())):
        server.answers = [garbage]
        s = full()
        plan = s.plan_compaction()
        with contextlib.suppress(mt.ResponseError):
            plan.run(over_http(server, "openai_chat"))
        assert isinstance(s.commit_compaction(plan), mt.Rejected)
        assert s.epoch == 0


def test_an_endpoint_that_asks_for_time_is_given_it(server):
    server.answers = [(429, b"{}", ("retry-after", "0.2")), answer("openai_chat", summary())]
    started = time.monotonic()
    assert full().plan_compaction().run(over_http(server, "openai_chat")).finished
    assert time.monotonic() - started >= 0.2


@pytest.mark.parametrize("how", ["called", "awaited"])
def test_an_endpoint_that_hangs_is_left_behind_in_time_or_when_it_is_cancelled(server, how):
    server.answers = ["hang"]

    def ask(summarizer):
        request = full().plan_compaction().next_request()
        return summarizer(request) if how == "called" else asyncio.run(summarizer.ask(request))

    with pytest.raises(TimeoutError):
        ask(over_http(server, "openai_chat", timeout=0.2))
    summarizer, waiting = over_http(server, "openai_chat"), len(server.received)

    def cancel():
        while len(server.received) == waiting:
            time.sleep(0.01)
        summarizer.cancel()

    thread = threading.Thread(target=cancel)
    thread.start()
    with pytest.raises(concurrent.futures.CancelledError):
        ask(summarizer)
    thread.join(5)


def test_a_task_that_is_cancelled_is_cancelled_as_any_other(server):
    server.answers = ["hang"]
    request = full().plan_compaction().next_request()

    async def begin_and_cancel():
        task = asyncio.ensure_future(over_http(server, "openai_chat").ask(request))
        while not server.received:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(begin_and_cancel())


def test_case_m3_what_is_redacted_never_leaves(server):
    server.answers = [answer("openai_chat", summary("The key is AKIA-SECRET."))]
    s = full()
    plan = s.plan_compaction(redact=lambda text: text.replace("AKIA-SECRET", "[key]"))
    plan.run(over_http(server, "openai_chat"))
    assert server.received
    assert all(b"AKIA" not in body and b"[key]" in body for _, _, body in server.received)
    assert "AKIA" not in plan.summary


@pytest.mark.parametrize("how", ["loop", "aloop"])
def test_the_loops_ask_an_endpoint_in_its_own_format(server, how):
    server.answers = [answer("gemini", summary("By another model."))]
    s = full()
    summarizer = over_http(server, "gemini")
    model = Model(says("", "c-1"), says("Done."))
    drive(s.run, model, how=how, summarizer=summarizer.ask if how == "aloop" else summarizer, background=False)
    assert server.received[0][0] == ADAPTERS["gemini"].path
    assert "By another model." in texts(s.run.prepare(CAPS))


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://api.openai.com", "https://api.openai.com/v1/chat/completions"),
        ("https://api.openai.com/v1/", "https://api.openai.com/v1/chat/completions"),
        ("https://gate.example/openai/v1", "https://gate.example/openai/v1/chat/completions"),
        ("https://gate.example/v1/chat/completions?key=K", "https://gate.example/v1/chat/completions?key=K"),
        ("http://gate.example:8080/xv1", "http://gate.example:8080/xv1/v1/chat/completions"),
    ],
)
def test_the_path_of_the_format_is_added_to_the_root_once(url, expected):
    endpoint = Endpoint(url, ADAPTERS["openai_chat"], {"authorization": "SECRET"}, 1)
    assert endpoint._url == expected
    assert "K" not in repr(endpoint).replace("OPENAI", "")
    assert "SECRET" not in repr(endpoint)


@pytest.mark.parametrize("url", ["", "api.openai.com", "ftp://x", "https://"])
def test_what_is_no_address_is_refused_at_once(url):
    with pytest.raises(mt.InputError, match="no address"):
        mt.LLMSummarizer.over_http(url, ADAPTERS["openai_chat"])
