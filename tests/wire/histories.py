"""Random histories: whatever models, tools and people may leave behind, and a session that goes through it.

A history is a list of moves, plain tuples, so that one that fails can be read and written down. Ids, names, arguments
and images are such as some provider gives and another refuses.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from hypothesis import strategies as st

import muntin as mt
from agents import ADAPTERS, CAPS, FETCH, READ

__all__ = ["HISTORIES", "PROVIDERS", "played"]

PROVIDERS = sorted(ADAPTERS)
FORMATS = ("anthropic", "bedrock", "gemini", "ollama", "openai_chat", "openai_responses", "openai_chat:deepseek")

TEXTS = st.sampled_from(
    ["", " ", "\n\t", "hello", "x ", "日本語", "\x00", '{"a": 1}', "<|endoftext|>", "a\n\nb", "\u2028"]
)
IMAGES = st.sampled_from([
    mt.Image("image/png", data="iVBORw0KGgo="), mt.Image("image/jpeg", data="/9j/4AA=", width=3000, height=20),
    mt.Image("image/webp", data="UklGRg=="), mt.Image("image/png", url="https://example.com/a.png"),
    mt.Image("image/*", url="https://example.com/a"), mt.Image("image/png", url="s3://bucket/a.png"),
    mt.Image("image/*", data="iVBORw0KGgo="), mt.Image("image/bmp", data="Qk0="),
    mt.Image("application/pdf", data="JVBERi0xLjQ="), mt.Image("application/pdf", url="https://example.com/a.pdf"),
])  # fmt: skip
CONTENTS = st.lists(st.one_of(TEXTS.map(mt.Text), IMAGES), max_size=3).map(tuple)
IDS = st.sampled_from([
    "c1", "c2", "toolu_01AbC", "tooluse_a.b:c", "fc 1", "call_" + "x" * 64, "D681PevKs", "é", "call_0", "a" * 300,
])  # fmt: skip
NAMES = st.sampled_from(["read_file", "web_fetch", "a.b", "3d view", "x" * 70, "mcp__a__b", "ä"])
ARGUMENTS = st.sampled_from([
    "{}", '{"path":"a.py"}', '{"path": "cut o', "", " ", "[1]", "null", '"text"', '{"b":1,"a":{"c":"é"},"d":[1,{}]}',
    '{"n":123456789012345678901234567890,"f":1e400}', '{"n":NaN}', '{"":null}', '{"a":1,"a":2}', '{"u":"\\ud800"}',
])  # fmt: skip
CALLS = st.builds(mt.ToolCall, IDS, NAMES, ARGUMENTS)

OWN = {
    "anthropic": [
        '{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"q"}}',
        '{"type":"container_upload","file_id":"f"}',
    ],
    "bedrock": ['{"citationsContent":{"content":[{"text":"OPAQUE"}]}}'],
    "gemini": [
        '{"executableCode":{"language":"PYTHON","code":"1"}}',
        '{"codeExecutionResult":{"outcome":"OUTCOME_OK"}}',
    ],
    "openai_responses": [
        '{"type":"web_search_call","id":"ws_1","status":"completed","action":{"type":"search","query":"q"}}'
    ],
}
"""Parts that only one provider understands, as it sends them."""


@st.composite
def thoughts(draw: st.DrawFn, maker: str) -> mt.Reasoning:
    """Reasoning of a provider, sealed in its way, or not sealed at all."""
    text, kind = draw(TEXTS), draw(st.integers(0, 2))
    sealed = {
        "openai_responses": mt.Reasoning(text, "rs_1", maker, "gAAAA"),
        "bedrock": mt.Reasoning("", "", maker, "YWJj"),
        "anthropic": mt.Reasoning("", "", maker, "sealed"),
    }
    if kind == 0:
        return mt.Reasoning(text, "", maker)
    if kind == 1 and maker in sealed:
        return sealed[maker]
    return mt.Reasoning(text if maker != "gemini" else "", "c2ln", maker)


@st.composite
def turns(draw: st.DrawFn) -> mt.AssistantTurn:
    """One answer, of one provider or of several."""
    maker = draw(st.sampled_from(FORMATS))
    own = [st.sampled_from(OWN[maker]).map(lambda json: mt.Opaque(maker, json))] if maker in OWN else []
    part = st.one_of(TEXTS.map(mt.Text), CALLS, CALLS, thoughts(maker), *own)
    return mt.AssistantTurn(tuple(draw(st.lists(part, max_size=4))), draw(st.sampled_from(["stop", "length"])))


MOVES = st.one_of(
    st.tuples(st.just("answer"), turns()),
    st.tuples(st.just("answer"), turns()),
    st.tuples(st.just("result"), st.integers(0, 3), CONTENTS, st.booleans()),
    st.tuples(st.just("result"), st.integers(0, 3), CONTENTS, st.booleans()),
    st.tuples(st.just("pend"), st.integers(0, 3), TEXTS),
    st.tuples(st.just("guide"), TEXTS, st.lists(IMAGES, max_size=1)),
    st.tuples(st.just("attach"), TEXTS, st.lists(IMAGES, max_size=2)),
    st.tuples(st.sampled_from(["recover", "ignore", "skill", "todo", "repair"]), TEXTS),
    st.tuples(st.just("state"), st.integers(0, 3)),
    st.tuples(st.just("prepare"), st.booleans()),
    st.tuples(st.just("next"), st.lists(CONTENTS, min_size=1, max_size=3)),
    st.tuples(st.just("use"), st.sampled_from(PROVIDERS)),
    st.tuples(st.just("compact")),
)
HISTORIES = st.tuples(
    st.sampled_from(PROVIDERS), TEXTS, st.sampled_from(["auto", "volatile", "sticky", "in_result"]), CONTENTS,
    st.lists(MOVES, max_size=12),
)  # fmt: skip
"""Where it begins, the system text, what becomes of tails, the first input, and what happens then."""

WEB = mt.Capabilities(stable=[READ], dynamic=[FETCH], guides={"web": "GUIDE"}, switches={"web": True})


def played(history: Any) -> Iterator[tuple[str, mt.Request]]:
    """Every request of a history with its provider; at the end one in each format, as after a switch to it."""
    provider, system, tail, first, moves = history
    session = mt.Session(
        "s", adapter=ADAPTERS[provider], system=system, policy=mt.Policy(tail=tail), state={"n": 0} if system else None
    )
    session.start_run([mt.UserInput(first)])
    capabilities = CAPS
    for name, *given in moves:
        run = session.run or session.start_run("go")
        open_calls = session.open_calls
        match name:
            case "answer" | "prepare":
                capabilities = WEB if given == [True] else CAPS
                request = run.prepare(capabilities)
                yield session.adapter.provider, request
                if name == "answer":
                    run.record(request, given[0])
            case "result" if open_calls:
                which, content, is_error = given
                run.tool_result(open_calls[which % len(open_calls)].id, content, is_error=is_error)
            case "pend" if open_calls:
                run.tool_pending(open_calls[given[0] % len(open_calls)].id, given[1])
            case "next":
                run.finish()
                session.start_run([mt.UserInput(content) for content in given[0]])
            case "use":
                session.use(ADAPTERS[given[0]])
            case "compact":
                _compact(session)
            case _:
                _tell(session, run, name, given)
    for other in PROVIDERS:
        session.use(ADAPTERS[other])
        yield other, (session.run or session.start_run("go")).prepare(capabilities)


def _tell(session: mt.Session, run: mt.Run, name: str, given: Sequence[Any]) -> None:
    match name:
        case "guide":
            run.guide(given[0], images=given[1])
        case "attach":
            run.accept(mt.Attachment("a.txt", text=given[0], images=tuple(given[1])))
        case "skill":
            run.activate_skill(mt.SkillText("k", given[0]))
        case "todo":
            run.todo([("pending", given[0])])
        case "repair":
            run.repair("own", given[0] or "again")
        case "state":
            session.update_state({"n": given[0]}, reason="why")
        case "recover" | "ignore":
            getattr(run, name)(given[0])


def _compact(session: mt.Session) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            session.commit_compaction(session.plan_compaction(force=True).run(mt.ExtractiveSummarizer()))
        except mt.CannotCompact:
            return
