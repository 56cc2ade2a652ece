"""A conversation that began without muntin: take over its messages, try two ways from there, switch a capability."""

import muntin as mt

BODY = {
    "model": "gpt-4o",
    "messages": [
        {"role": "system", "content": "You look after a harbour."},
        {"role": "user", "content": "Will the Juno reach the quay tonight?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "tide", "arguments": '{"hour":21}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "3.9 m"},
    ],
}

TIDE = mt.Tool("tide", "Height of the water.", {"type": "object", "properties": {"hour": {"type": "integer"}}})
WEB = mt.Tool(
    "web_fetch", "Fetch a page.", {"type": "object", "properties": {"url": {"type": "string"}}}, capability="web"
)


def capabilities(*, web: bool, why: str = "") -> mt.Capabilities:
    return mt.Capabilities(
        stable=[TIDE],
        dynamic=[WEB],
        guides={"web": "Fetch a page only where the person named it."},
        switches={"web": web},
        reasons={"web": why} if why else {},
    )


def names(request: mt.Request) -> list[str]:
    return [tool["function"]["name"] for tool in request.to_dict()["tools"]]


def main() -> None:
    session = mt.Session.from_messages(mt.providers.openai_chat("gpt-4o"), BODY, id="juno")
    run = session.run  # open, since the model's answer is still to come
    assert run is not None
    request = run.prepare(capabilities(web=True))
    print(f"{session}: tools {names(request)}, {request.usage.tokens} tokens")

    other = session.fork("juno-careful")
    assert other.run is not None
    other.run.guide("Wait for the second high water.")
    careful = other.run.prepare(capabilities(web=True))
    print(f"{other}: {careful.usage.tokens} tokens, prefix broken: {careful.forecast.cause or 'no'}")

    run.record(request, mt.AssistantTurn((mt.Text("Yes, shortly after nine."),)))
    run.guide("And without the web?")
    request = run.prepare(capabilities(web=False, why="the person is offline"))
    print(f"{session}: tools {names(request)}, prefix broken: {request.forecast.cause}")
    print(f"the model is told: {list(session.history())[-1].item}")


if __name__ == "__main__":
    main()
