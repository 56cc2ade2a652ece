"""What a replay prints for people: a table a session, and its totals."""

from __future__ import annotations

from typing import Final, Protocol

from rich.console import Console
from rich.markup import escape

from muntin.cli.totals import Totals
from muntin.layout import Band
from muntin.providers import Adapter
from muntin.replay import Step, suspects_of
from muntin.transcripts.events import Recording

__all__ = ["Printer", "TablePrinter"]


class Printer(Protocol):
    """Takes what a replay gives, step by step."""

    def begin(self, recording: Recording, adapter: Adapter) -> None:
        """A recording begins."""

    def step(self, step: Step) -> None:
        """One of its requests."""

    def end(self) -> None:
        """It is over."""

    def close(self) -> None:
        """So is the whole replay."""


class TablePrinter:
    """Prints a line a request, as it comes, for people."""

    def __init__(self) -> None:
        self._console = Console(highlight=False, soft_wrap=True)
        self._totals = Totals()
        self._all = Totals()
        self._recordings = 0
        self._session = ""

    def begin(self, recording: Recording, adapter: Adapter) -> None:
        """Head of a table; damaged lines of the file come first."""
        for problem in recording.problems:
            self._console.print(f"[yellow]line {problem.line} was skipped:[/] {escape(problem.why)}")
        for suspect in suspects_of(recording)[:SUSPECTS]:
            self._console.print(f"[yellow]may change at each start:[/] {escape(str(suspect))}")
        self._recordings += 1
        self._totals = Totals()
        self._session = recording.id
        self._console.print(
            f"[bold]{escape(recording.id)}[/] ({recording.format}), rendered for {escape(repr(adapter))}"
        )
        self._console.print(_line([heading for heading, _ in COLUMNS]))

    def step(self, step: Step) -> None:
        """One line."""
        self._totals.add(step)
        self._all.add(step)
        if step.session != self._session:
            self._session = step.session
            self._console.print(f"[bold]{escape(step.session)}[/] goes on from an earlier point")
        if step.request is None:
            self._console.print(_line([f"{step.number}", f"{step.run}"]) + f"  [red]{escape(step.error)}[/]")
            return
        usage, forecast = step.request.usage, step.request.forecast
        bands = usage.by_band()
        fresh = forecast.written + forecast.fresh
        cells = [usage.tokens, bands["tools"], *(bands[band.value] for band in Band), forecast.read, fresh]
        numbers = [f"{step.number}", f"{step.run}", *(f"{cell:,}" if cell else "" for cell in cells)]
        self._console.print(f"{_line(numbers)}  {'; '.join(_notes(step))}".rstrip())

    def end(self) -> None:
        """The totals."""
        self._sum(self._totals, "")

    def close(self) -> None:
        """The totals of all, where there were several."""
        if self._recordings > 1:
            self._sum(self._all, f"{self._recordings} conversations: ")

    def _sum(self, totals: Totals, head: str) -> None:
        lines = [
            f"{head}{totals.requests:,} requests, {totals.tokens:,} input tokens, the largest {totals.largest:,}",
            f"{totals.read:,} ({totals.share_read:.1%}) expected from the cache",
            f"{totals.compactions} compactions, {totals.repairs} repairs",
        ]
        if totals.billed:
            lines.append(
                f"recorded bill: {totals.billed:,} input tokens, {totals.billed_cached:,} of them from the cache"
            )
        if totals.compared:
            share = totals.as_forecast / totals.compared
            lines.append(f"{totals.as_forecast:,} of {totals.compared:,} ({share:.1%}) bills as forecast, within 2 %")
        if totals.breaks:
            causes = ", ".join(f"{count} × {cause}" for cause, count in sorted(totals.breaks.items()))
            lines.append(f"prefix breaks: {causes}")
        if totals.refused:
            lines.append(f"[red]{totals.refused} requests do not fit in the window[/]")
        self._console.print("\n".join(lines) + "\n")


SUSPECTS: Final = 5
"""Suspects that a table names; `--json` has all."""

COLUMNS: Final = (
    ("#", 4), ("run", 4), ("total", 9), ("tools", 7), ("stable", 7), ("semi", 7), ("history", 9), ("task", 9),
    ("tail", 5), ("cached", 9), ("fresh", 8),
)  # fmt: skip


def _line(cells: list[str]) -> str:
    return "".join(f"{cell:>{width}}" for cell, (_, width) in zip(cells, COLUMNS, strict=False))


def _notes(step: Step) -> list[str]:
    """What is worth a remark of a request: compactions, breaks of the prefix, repairs, oddities of the log."""
    notes = [f"[bold]compacted {r.before:,} to {r.after:,}[/]" for r in step.compactions]
    if step.request:
        forecast = step.request.forecast
        if forecast.cause and not (step.compactions and forecast.cause == "compaction"):
            where = f" at {forecast.broken.place}" if forecast.broken else ""
            lost = f" ({forecast.lost:,} tokens lost)" if forecast.lost else ""
            notes.append(escape(f"{forecast.cause}{where}{lost}"))
        if forecast.note:
            notes.append(forecast.why)
    notes += [escape(f"{repair.kind} {repair.call}") for repair in step.repairs]
    return notes + [f"[yellow]{escape(problem)}[/]" for problem in step.problems]
