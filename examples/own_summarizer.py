"""Compaction by a model of your own: each summary request has a body to POST, and its answer is handed back as it came.

`post` stands for the HTTP client. Another model than the session's writes the summary, in its own wire format.
"""

import json

import muntin as mt

CHEAP = mt.providers.anthropic("claude-haiku-4-5")

SUMMARY = """## Goal
Find the oldest ship.
## Decisions
none
## Evidence of completion
The pages so far name no ship older than the Juno of 1871.
## Failures and approvals
none
## Unfinished work
The pages that follow.
## Next steps
Read on."""


def post(path: str, body: bytes, headers: dict[str, str]) -> bytes:
    """Instead of `urlopen(Request(BASE_URL + path, body, {**headers, "x-api-key": KEY})).read()`."""
    sent = json.loads(body)
    print(f"POST {path} to {sent['model']}, {len(body):,} bytes, at most {sent['max_tokens']:,} tokens back")
    print(f"  headers: {', '.join(headers)}")
    return json.dumps({"content": [{"type": "text", "text": SUMMARY}], "stop_reason": "end_turn"}).encode()


def summarize(request: mt.SummaryRequest) -> bytes:
    """A `Summarizer`: any function that answers one summary request."""
    return post(CHEAP.path, request.body, CHEAP.headers())


def filled_session() -> mt.Session:
    policy = mt.Policy(window=16_000, reserve_output=2_000, keep_recent=2_000)
    session = mt.Session("ships", adapter=mt.providers.openai_chat("gpt-4o"), policy=policy)
    run = session.start_run("Find the oldest ship in the log book.")
    page = 0
    while (request := run.prepare()).usage.state == "ok":
        page += 1
        call = mt.ToolCall(f"call_{page}", "read_page", json.dumps({"number": page}))
        run.record(request, mt.AssistantTurn((call,), "tool_calls"))
        run.tool_result(call.id, f"Page {page}: " + "the Juno of 1871 came in with timber; " * 120)
    return session


def main() -> None:
    session = filled_session()
    plan = session.plan_compaction(CHEAP)
    try:
        plan.run(summarize)
    except OSError as error:  # it passes through; the plan has failed, the session is as it was
        print(f"the summariser could not be reached: {error}")
    outcome = session.commit_compaction(plan)
    report = outcome.report
    if isinstance(outcome, mt.Committed):
        print(f"compacted from {report.before:,} to {report.after:,} tokens; the summary has {report.summary:,}")
    else:
        print(f"nothing was changed: {outcome.reason} ({outcome.detail})")


if __name__ == "__main__":
    main()
