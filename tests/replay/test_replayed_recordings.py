"""Every recorded session, request by request: valid on the wire, stable in its prefix, counted right."""

from __future__ import annotations

import logging
import os
import time
import warnings

import pytest

from agents import ADAPTERS, unmarked
from muntin import Capabilities, ContextOverflow, Policy, Tool
from muntin.counting.outline import Shape
from muntin.counting.schemas import namespace, uncommented
from muntin.replay import Replay, adapter_of
from muntin.transcripts import read
from tokens.oracle import oracle
from wire.rules import refused

FOLDERS = ["claude-code", "codex", "openai-chat"]
GROWTH = ["claude-code-growth", "codex-growth"]
"""Snapshots of sessions that grow, which say nothing new to any other test."""

WINDOWS = [None, 32_000]

ALL = os.environ.get("MUNTIN_ACCEPT") == "all"
"""Whether every request is held against the SDKs' types and the rules, as by `make accept`, or about a hundredth."""

LOG = logging.getLogger(__name__)

pytestmark = [pytest.mark.shared, pytest.mark.timeout(600)]


def replays(folder, window, provider=None):
    """Each recording's name and replay."""
    policy = Policy(window=window, reserve_output=4_000)
    for path in sorted((folder).glob("*.json*")):
        if not path.name.startswith("SOURCE"):
            for recording in read(path):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", UserWarning)  # models of which nothing is known
                    adapter = adapter_of(recording, provider, None)
                yield f"{path.name}/{recording.id}", Replay(recording, adapter, policy=policy)


def stable_part(request):
    """The body up to the tail, without the marks that ask for caching."""
    tail = b"".join(request._adapter.tail_pieces(request._frame)) + b"]}"
    body = request.body
    assert body.endswith(tail)
    return unmarked(body[: len(body) - len(tail)]), unmarked(body)


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("folder", FOLDERS)
def test_a_stable_prefix_changes_only_for_a_named_cause(shared, folder, window):
    unexplained, requests = [], 0
    for name, replay in replays(shared / "data" / folder, window):
        before = session = None
        for step in replay.steps():
            if step.session != session:
                before, session = None, step.session  # a fork goes on from an earlier request
            if step.request is None:
                assert step.error
                continue
            requests += 1
            stable, body = stable_part(step.request)
            forecast = step.request.forecast
            if before is not None and not body.startswith(before) and not forecast.cause:
                unexplained.append((name, step.number))
            if step.compactions:
                assert forecast.cause == "compaction"
            before = stable
    assert requests > 1_000
    assert not unexplained


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("folder", FOLDERS)
def test_every_request_fits_and_its_tokens_equal_a_recount(shared, folder, window):
    for name, replay in replays(shared / "data" / folder, window):
        due = 1
        for step in replay.steps():
            if step.request is None:
                continue
            usage = step.request.usage
            assert usage.safe <= usage.window - usage.reserve
            # A recount costs as much as the whole history: now and then, and after whatever rebuilt it.
            if step.number >= due or step.compactions or step.repairs:
                due = step.number * 2
                assert usage.tokens - usage.learned == replay.session.adapter.estimate(
                    replay.session.adapter.recount(step.request.body)
                ), (name, step.number)


def counted_with_tiktoken(body, encoding):
    """The rule of chat completions; of the package only the rendering of tools is used."""

    def count(text):
        return len(oracle(encoding).encode_ordinary(text))

    system = any(message["role"] in ("system", "developer") for message in body["messages"])
    newer = body["model"].startswith(("gpt-5", "o"))
    total = 2 if newer else 3
    if body.get("tools"):
        shapes = [Shape(f["name"], f["description"], f["parameters"]) for f in (t["function"] for t in body["tools"])]
        total += count(namespace(shapes)) - sum(map(uncommented, shapes))
        total += (85 if system else 82) if newer else (0 if system else 2)
    for message in body["messages"]:
        total += 4
        content = message["content"]
        for part in [{"type": "text", "text": content or ""}] if not isinstance(content, list) else content:
            total += count(part["text"])
        calls = message.get("tool_calls", ())
        total += 16 if len(calls) > 1 and not newer else 0
        for call in calls:
            name, arguments = call["function"]["name"], call["function"]["arguments"]
            total += (9 if newer else 5) + 2 * count(name) + count(arguments)
    return total


@pytest.mark.parametrize("folder", ["codex", "openai-chat"])
def test_tokens_of_chat_requests_equal_a_recount_with_tiktoken(shared, folder):
    checked = 0
    for name, replay in replays(shared / "data" / folder, None, "openai_chat"):
        requests = [step.request for step in replay.steps() if step.request]
        for request in requests[:1] + requests[-1:]:
            adapter = replay.session.adapter
            if not adapter.costs.rules.weights.are_exact or b'"image_url"' in request.body:
                continue
            checked += 1
            expected = counted_with_tiktoken(request.to_dict(), adapter.model.encoding)
            assert request.usage.tokens - request.usage.learned == expected, (name, request)
    assert checked > 20


def faults(provider, body):
    """What would be refused, but for images that are cut off in the recording itself."""
    return [fault for fault in refused(provider, body) if "valid base64" not in fault]


@pytest.mark.parametrize("provider", sorted(ADAPTERS))
@pytest.mark.parametrize("folder", [*FOLDERS, *(GROWTH if ALL else ())])
def test_no_request_would_be_refused(shared, folder, provider):
    """By the SDKs' own types made strict, and by the rules between messages; the session is resumed after its end.

    In its midst it goes to another provider now and then, and at its end to every other one.
    """
    made = checked = switched = 0
    formats = sorted(ADAPTERS)
    for i, (name, replay) in enumerate(replays(shared / "data" / folder, 32_000, provider)):
        if not ALL and i % len(formats) != formats.index(provider):
            continue  # the formats share the sessions among them
        due = 4
        for step in replay.steps():
            made += step.request is not None
            if step.request and (ALL or made % len(formats) == 0):
                checked += 1
                assert faults(provider, step.request.to_dict()) == [], (name, step.number)
            if step.number == due:
                due *= 2
                other = formats[(made + formats.index(provider)) % len(formats)]
                switched += assert_goes_on(replay.session.fork(f"to-{other}-{due}"), other, (name, step.number))
        session = replay.session
        if session.run:
            session.run.finish()
        for other in [provider, *formats] if ALL else [provider, formats[made % len(formats)]]:
            switched += assert_goes_on(session, other, name)
    LOG.info(
        "%s in %s: %d of %d requests and %d after a switch checked, and none would be refused",
        provider, folder, checked, made, switched,
    )  # fmt: skip
    assert checked


def assert_goes_on(session, provider, name):
    """Let a session go to a provider and hold its next request against the rules; 0 where it does not fit, else 1."""
    session.use(ADAPTERS[provider])
    run = session.run or session.start_run("Go on.")
    try:
        body = run.prepare(Capabilities(stable=[Tool("go")])).to_dict()
    except ContextOverflow:
        return 0
    assert faults(provider, body) == [], (name, provider)
    return 1


def test_the_longest_session_is_replayed_in_seconds(shared):
    folder = shared / "data" / "claude-code"
    path = max(folder.glob("*.xz"), key=lambda path: path.stat().st_size)
    started = time.process_time()
    (recording,) = read(path)
    steps = list(Replay(recording, adapter_of(recording, None, None)).steps())
    assert len(steps) > 300
    assert time.process_time() - started < 20
