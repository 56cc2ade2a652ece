"""What a replay prints for programs: one JSON object a line."""

from __future__ import annotations

from typing import Any

import click
import msgspec

from muntin.cli.totals import Totals
from muntin.providers import Adapter
from muntin.replay import Step, suspects_of
from muntin.transcripts.events import Recording

__all__ = ["JsonPrinter"]


class JsonPrinter:
    """Prints a `recording`, then its `request`s, then its `totals`, each as one line of JSON."""

    def __init__(self) -> None:
        self._totals = Totals()
        self._recording = ""

    @staticmethod
    def line(record: Any) -> str:
        """A record as one line."""
        return msgspec.json.encode(record).decode()

    def begin(self, recording: Recording, adapter: Adapter) -> None:
        """The recording and what it is rendered for."""
        self._totals = Totals()
        self._recording = recording.id
        record = {
            "type": "recording",
            "recording": recording.id,
            "format": recording.format,
            "provider": adapter.provider,
            "model": adapter.model.name,
            "problems": recording.problems,
            "suspects": suspects_of(recording),
        }
        click.echo(self.line(record))

    def step(self, step: Step) -> None:
        """One request."""
        self._totals.add(step)
        record: dict[str, Any] = {
            "type": "request",
            "recording": self._recording,
            "number": step.number,
            "session": step.session,
            "run": step.run,
            "compactions": step.compactions,
            "repairs": step.repairs,
            "problems": step.problems,
            "billed": step.billed,
            "error": step.error,
        }
        if step.request:
            usage = step.request.usage
            record |= {
                "tokens": usage.tokens,
                "safe": usage.safe,
                "bands": usage.by_band(),
                "segments": {share.segment.name.lower(): share.tokens for share in usage.shares},
                "remaining": usage.remaining,
                "state": usage.state,
                "forecast": step.request.forecast,
            }
        click.echo(self.line(record))

    def end(self) -> None:
        """The totals of the recording."""
        click.echo(self.line({"type": "totals", "recording": self._recording, **vars(self._totals)}))

    def close(self) -> None:
        """Nothing is left to say."""
