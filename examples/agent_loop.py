"""A whole agent: prepare, call, record, run tools, compact when the window fills, commit."""

import json
import re
import tempfile
from typing import Any

import muntin as mt

PAGES = 12
PAGE = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
CAPABILITIES = mt.Capabilities(stable=[mt.Tool("read_page", "Read a page of the log book.", PAGE)])


def model(body: bytes) -> bytes:
    """Stands for the provider: takes what would be POSTed, gives what would come back. It reads page after page."""
    messages = json.loads(body)["messages"]
    print(f"  the model sees {len(messages)} messages")
    read = re.match(r"Page (\d+)", messages[-1]["content"])
    number = int(read[1]) + 1 if read else 1
    if number > PAGES:
        message: dict[str, Any] = {"content": f"I have read {PAGES} pages: ships came in every day."}
    else:
        function = {"name": "read_page", "arguments": json.dumps({"number": number})}
        message = {"content": None, "tool_calls": [{"id": f"call_{number}", "function": function}]}
    return json.dumps({"choices": [{"message": message}]}).encode()


def read_page(number: int) -> str:
    return f"Page {number}. " + f"On day {number} the harbour master wrote down every ship that came in. " * 120


def carry_out(call: mt.ToolCall) -> tuple[str, bool]:
    """The result of a call and whether it is an error: models make up names and arguments."""
    try:
        return {"read_page": read_page}[call.name](**json.loads(call.arguments)), False
    except (KeyError, TypeError, ValueError) as reason:
        return f"{call.name} failed: {reason!r}", True


def prepared(session: mt.Session, run: mt.Run) -> mt.Request:
    try:
        request = run.prepare(CAPABILITIES)
        if request.usage.state == "ok":
            return request
    except mt.ContextOverflow as reason:  # one long result can pass the threshold and the window at once
        print(f"  {reason}")
    try:
        outcome = session.commit_compaction(session.plan_compaction().run(mt.ExtractiveSummarizer()))
        print(f"  {outcome}")
    except mt.CannotCompact as reason:
        print(f"  {reason}")
    return run.prepare(CAPABILITIES)


def work(session: mt.Session, store: mt.Store, task: str) -> str:
    run = session.start_run(task)
    while True:
        request = prepared(session, run)
        store.commit(session)  # on disk before it is sent
        print(f"{request}, {request.usage.remaining:,} left")
        turn = run.record(request, model(request.body))
        store.commit(session)  # and the calls before they are carried out
        if not turn.tool_calls:
            run.finish()
            store.commit(session)
            return turn.text
        for call in turn.tool_calls:
            output, is_error = carry_out(call)
            run.tool_result(call.id, output, is_error=is_error)


if __name__ == "__main__":
    policy = mt.Policy(window=16_000, reserve_output=2_000, keep_recent=2_000)
    agent = mt.Session("log-book", adapter=mt.providers.openai_chat("gpt-4o"), policy=policy, system="Be exact.")
    with tempfile.TemporaryDirectory() as folder, mt.open_store(f"sqlite:///{folder}/agent.db") as store:
        print(work(agent, store, "When did ships come in?"))
    print(f"{agent}; all {len(list(agent.history()))} entries are kept")
