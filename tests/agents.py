"""Small agents for tests: sessions, tools and answers without a model."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import muntin as mt
from muntin.compaction.parts import PARTS

READ = mt.Tool("read_file", "Read a file.", {"type": "object", "properties": {"path": {"type": "string"}}})
RUN = mt.Tool("run_tests", "Run the tests.", {"type": "object", "properties": {}})
FETCH = mt.Tool("web_fetch", "Fetch a page.", {"type": "object", "properties": {"url": {"type": "string"}}}, "web")

MARKS = (b',"cache_control":{"type":"ephemeral"}', b',{"cachePoint":{"type":"default"}}')
"""What asks for caching; it stands outside the prefix."""

CAPS = mt.Capabilities(stable=[RUN, READ])

ADAPTERS = {
    "openai_chat": mt.providers.openai_chat("gpt-4o"),
    "anthropic": mt.providers.anthropic("claude-sonnet-4-5"),
    "openai_responses": mt.providers.openai_responses("gpt-5"),
    "gemini": mt.providers.gemini("gemini-3-pro-preview"),
    "bedrock": mt.providers.bedrock("us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
    "ollama": mt.providers.ollama("gpt-oss:20b"),
    "openai_chat:deepseek": mt.providers.openai_chat("deepseek-chat", profile="deepseek"),
    "openai_chat:mistral": mt.providers.openai_chat("mistral-large-latest", profile="mistral"),
    "openai_chat:vllm": mt.providers.openai_chat("openai/gpt-oss-120b", profile="vllm"),
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
        words = " ".join(f"word{i % 10}" for i in range(size))
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


def unmarked(request: mt.Request | bytes) -> bytes:
    """The body without the marks that ask for caching; they stand outside the prefix."""
    body = request if isinstance(request, bytes) else request.body
    for mark in MARKS:
        body = body.replace(mark, b"")
    return body


def answers(request: mt.Request | dict[str, Any]) -> list[tuple[str, str]]:
    """Ids of calls and of results of a request, or of a part of one, in the order of the wire, whatever the format."""
    return list(_answers(request.to_dict() if isinstance(request, mt.Request) else request))


def _answers(value: Any) -> Iterator[tuple[str, str]]:
    for part in value if isinstance(value, list) else value.values() if isinstance(value, dict) else ():
        yield from _answers(part)
    match value:
        case (
            {"type": "tool_use", "id": call}
            | {"type": "function_call", "call_id": call}
            | {"id": call, "function": _}
            | {"functionCall": {"id": call}}
            | {"toolUse": {"toolUseId": call}}
        ):
            yield "call", call
        case (
            {"type": "tool_result", "tool_use_id": call}
            | {"type": "function_call_output", "call_id": call}
            | {"role": "tool", "tool_call_id": call}
            | {"functionResponse": {"id": call}}
            | {"toolResult": {"toolUseId": call}}
        ):
            yield "result", call
        case _:
            pass


def texts(request: mt.Request) -> str:
    return request.body.decode()
