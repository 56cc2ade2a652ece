"""Small agents for tests: sessions, tools and answers without a model."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import muntin as mt
from muntin.compaction.parts import PARTS

READ = mt.Tool("read_file", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}})
RUN = mt.Tool("run_tests", "Run the tests.", {"type": "object", "properties": {}})
FETCH = mt.Tool("web_fetch", "Fetch a page.", {"type": "object", "properties": {"url": {"type": "string"}}}, "web")

CAPS = mt.Capabilities(stable=[RUN, READ])

ADAPTERS = {
    "openai_chat": mt.providers.openai_chat("gpt-4o"),
    "anthropic": mt.providers.anthropic("claude-sonnet-4-5"),
}

_numbers = itertools.count(1)


def session(provider: str = "openai_chat", **kwargs: Any) -> mt.Session:
    kwargs.setdefault("system", "You are careful.")
    return mt.Session("s", adapter=ADAPTERS[provider], **kwargs)


def says(text: str = "", *calls: tuple[str, str] | str, finish: str | None = None) -> mt.AssistantTurn:
    """A turn with text and calls; a call is an id, or an id and a tool's name."""
    parts: list[Any] = [mt.Text(text)] if text else []
    for call in calls:
        id, name = (call, "read_file") if isinstance(call, str) else call
        parts.append(mt.ToolCall(id, name, '{"path":"a.py"}'))
    return mt.AssistantTurn(tuple(parts), finish or ("tool_calls" if calls else "stop"))


def exchange(run: mt.Run, turn: mt.AssistantTurn, results: Sequence[str] | str = "ok", caps: Any = CAPS) -> mt.Request:
    """One request, its answer, and the results of its calls."""
    request = run.prepare(caps)
    turn = run.record(request, turn)
    for i, call in enumerate(turn.tool_calls):
        run.tool_result(call.id, results if isinstance(results, str) else results[i])
    return request


def work(run: mt.Run, exchanges: int, size: int = 400, caps: Any = CAPS) -> None:
    """Exchanges of one call each whose results have about `size` words."""
    for _ in range(exchanges):
        call = f"c{next(_numbers)}"
        words = " ".join(f"word{i}" for i in range(size))
        exchange(run, says("I look.", call), f"{call}: {words}", caps)


def fill(run: mt.Run, size: int = 400) -> mt.Request:
    """Exchanges until the window is full enough to be compacted; the request that says so."""
    while (request := run.prepare(CAPS)).usage.state == "ok":
        work(run, 1, size)
    return request


def compacted(session: mt.Session) -> Any:
    return session.commit_compaction(session.plan_compaction().run(mt.ExtractiveSummarizer()))


def summary(goal: str = "Go on.", **parts: str) -> str:
    """A summary with all parts, `none` where nothing is given; parts by the first word of their heading."""
    said = {"goal": goal, **parts}
    return "\n".join(f"## {part}\n{said.get(part.split()[0].lower(), 'none')}" for part in PARTS)


def messages(request: mt.Request) -> list[dict[str, Any]]:
    return request.to_dict()["messages"]


def unmarked(request: mt.Request) -> bytes:
    """The body without the marks that ask for caching; they stand outside the prefix."""
    return request.body.replace(b',"cache_control":{"type":"ephemeral"}', b"")


def texts(request: mt.Request) -> str:
    return request.body.decode()
