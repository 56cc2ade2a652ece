"""A process stops in the middle of a run; another one goes on from the journal with the same bytes."""

import tempfile

import muntin as mt

CAPABILITIES = mt.Capabilities(stable=[mt.Tool("run_tests", "Run the tests.")])
ADAPTER = mt.providers.anthropic("claude-sonnet-4-5")


def begin(url: str) -> None:
    """The first process: commits, and is gone while a tool was running."""
    session = mt.Session(
        "repair", adapter=ADAPTER, tenant="acme", system="You repair programs.", state={"branch": "main"}
    )
    run = session.start_run("Make the tests pass.")
    request = run.prepare(CAPABILITIES)
    with mt.open_store(url) as store:
        store.commit(session)
        call = mt.ToolCall("toolu_1", "run_tests")
        run.record(request, mt.AssistantTurn((mt.Text("I run them first."), call), "tool_calls"))
        store.commit(session)


def resume(url: str) -> None:
    """The second process: finds the open run and the call that waits for its result."""
    with mt.open_store(url) as store:
        session = store.load("repair", tenant="acme")
        run = session.run
        assert run is not None
        print(f"loaded {session} with {session.version} events, waiting for {[c.id for c in session.open_calls]}")
        for call in session.open_calls:
            run.tool_result(call.id, "3 passed")
        request = run.prepare(CAPABILITIES)
        print(f"goes on with {request}, prefix broken: {request.forecast.cause or 'no'}")
        store.commit(session)


def collide(url: str) -> None:
    """Two writers load the same session: the second to commit is refused and loads again."""
    with mt.open_store(url) as store:
        mine, theirs = store.load("repair", tenant="acme"), store.load("repair", tenant="acme")
        theirs.update_state({"branch": "fix"}, reason="somebody switched")
        store.commit(theirs)
        mine.update_state({"reviewer": "Ada"})
        try:
            store.commit(mine)
        except mt.Conflict as reason:
            print(f"refused: {reason}")
            mine = store.load("repair", tenant="acme")
            mine.update_state({"reviewer": "Ada"})
            store.commit(mine)
        print(f"the state is now {mine.state}")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        url = f"sqlite:///{folder}/agent.db"
        begin(url)
        resume(url)
        collide(url)


if __name__ == "__main__":
    main()
