"""One request of each format, readable: `golden/*.json`. The environment `MUNTIN_GOLDEN=write` makes them anew.

Their bytes are a promise: a change here breaks the cached prefix of every session and belongs into the changelog.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

import muntin as mt
from agents import ADAPTERS, CAPS, says
from wire.rules import refused

GOLDEN = Path(__file__).parent / "golden"


def request(provider):
    """A second request of a run: parallel calls, one of which failed, steering, a change of state and a reminder."""
    adapter = ADAPTERS[provider]
    session = mt.Session("s", adapter=adapter, system="You are careful.", state={"branch": "main"})
    run = session.start_run(["Fix the test.", mt.Image("image/png", data="iVBORw0KGgo=")])
    turn = says("I look.", "call_1", ("call_2", "run_tests"))
    thought = mt.Reasoning("They want green.", "rs_1", adapter.provider, SEALED.get(provider, ""))
    run.record(run.prepare(CAPS), mt.AssistantTurn((thought, *turn.parts), turn.finish))
    run.tool_result("call_2", "1 failed", is_error=True)
    run.tool_result("call_1", "assert 1 == 2")
    run.guide("Be quick.")
    session.update_state({"branch": "fix"}, reason="switched")
    run.todo([("in_progress", "fix it")], goal="green")
    return run.prepare(CAPS)


SEALED = {"openai_responses": "gAAAAA=="}


@pytest.mark.parametrize("provider", sorted(ADAPTERS))
def test_a_request_is_as_it_was(provider):
    made = request(provider)
    body = json.loads(made.body)
    path = GOLDEN / f"{provider.replace(':', '-')}.json"
    if os.environ.get("MUNTIN_GOLDEN") == "write":
        path.write_text(
            json.dumps({"path": made.path, "body": body}, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
        )
    assert json.loads(path.read_text(encoding="utf-8")) == {"path": made.path, "body": body}
    assert refused(provider, body) == []
