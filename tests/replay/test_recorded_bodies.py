"""Request bodies that other agents sent, taken over in their own format and carried on in every other."""

from __future__ import annotations

import json
import logging
import warnings

import pytest

import muntin as mt
from agents import ADAPTERS
from recorded import open_text
from wire.rules import refused

LOG = logging.getLogger(__name__)

FOLDERS = {
    "anthropic": "anthropic",
    "anthropic-from-claude-code": "anthropic",
    "bedrock-converse": "bedrock",
    "gemini": "gemini",
    "openai-chat": "openai_chat",
    "openai-responses": "openai_responses",
}

pytestmark = [pytest.mark.shared, pytest.mark.timeout(300)]


def bodies(folder):
    """The recorded requests of a folder, each with its name; of whole sessions the messages at their ends."""
    for path in sorted([*folder.glob("*__*.json"), *folder.glob("*__*.json.xz")]):
        with open_text(path) as text:
            for segment in json.load(text).get("segments", ()):
                yield f"{path.name}/{segment['segment']}", {"messages": segment["messages"]}
    if (folder / "cassette_conversations.jsonl.xz").is_file():
        with open_text(folder / "cassette_conversations.jsonl.xz") as lines:
            for line in lines:
                record = json.loads(line)
                yield record["id"], record["request"]


@pytest.mark.parametrize("provider", sorted(ADAPTERS))
@pytest.mark.parametrize("folder", sorted(FOLDERS))
def test_a_recorded_body_goes_on_in_every_format(shared, folder, provider):
    path = shared / "data" / folder
    if not path.is_dir():
        pytest.skip(f"no recorded bodies in {path}")
    checked = 0
    for name, body in bodies(path):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # models of which nothing is known
            session = mt.Session.from_messages(ADAPTERS[FOLDERS[folder]], body)
            session.use(ADAPTERS[provider])
            run = session.run or session.start_run("Go on.")
            try:
                made = run.prepare().to_dict()
            except mt.ContextOverflow:
                continue  # longer than the window of the model that it goes to
        assert [fault for fault in refused(provider, made) if "base64" not in fault] == [], name
        checked += 1
    LOG.info("%d bodies of %s in %s, and none would be refused", checked, folder, provider)
