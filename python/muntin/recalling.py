"""A tool with which a model reads again, word for word, what was summarised or cleared."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from muntin.artifacts import Window, read_range
from muntin.capabilities import Tool
from muntin.compaction.request import transcript
from muntin.exceptions import InputError
from muntin.items import ToolCall
from muntin.run import Run

__all__ = ["RECALL", "RecallTool"]

RECALL: Final = Tool(
    "recall_entry",
    "Read an earlier entry of this conversation word for word. The summary and cleared results say which entries there "
    "are, by number. A long one comes in parts: pass the byte to read on from as start.",
    {
        "type": "object",
        "properties": {
            "entry": {"type": "integer", "description": "The number behind the #."},
            "start": {"type": "integer", "description": "The byte to begin at; 0 by default."},
        },
        "required": ["entry"],
    },
)
"""The tool; it belongs among the stable ones."""


class RecallTool:
    """Carries calls of `RECALL` out. It gives windows that fit and are never offloaded again.

    Args:
        run: The run whose model calls.
    """

    def __init__(self, run: Run) -> None:
        self._run = run

    def __call__(self, call: ToolCall) -> Window:
        """The entry, or a part of it, as `Run.tool_result` takes it.

        Raises:
            InputError: The arguments are none, or the entry is not among those that can be recalled. Give the error to
                the model as the call's result.
        """
        try:
            arguments = msgspec.json.decode(call.arguments, type=dict[str, Any])
            entry, start = arguments["entry"], arguments.get("start", 0)
        except (msgspec.DecodeError, KeyError) as reason:
            raise InputError(f"{RECALL.name} takes an entry and a start, not {call.arguments[:100]!r}") from reason
        if not isinstance(entry, int) or not isinstance(start, int):
            raise InputError(f"entry and start are whole numbers, not {entry!r} and {start!r}")
        session = self._run.session
        text = transcript(session.recall(entry))
        count = session.adapter.count
        return read_range(text, count=count, start=start, max_tokens=self._run.read_tokens, name=f"entry #{entry}")
