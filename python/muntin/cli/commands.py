"""The commands: their options, their exit codes, and what each calls.

Exit codes: 0 fine, 1 found something, 2 bad use or bad input.
"""

from __future__ import annotations

import importlib.resources
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from muntin import __version__, providers
from muntin.budget import Policy
from muntin.cli.output import Printer, TablePrinter
from muntin.cli.records import JsonPrinter
from muntin.counting.formats import FORMATS
from muntin.exceptions import MuntinError
from muntin.models import is_known, known_models, model
from muntin.replay import Replay, adapter_of
from muntin.tokens import Tokenizer, tokenizer
from muntin.transcripts import read

__all__ = ["cli"]

EXAMPLE = "transcripts/example.jsonl"
DEMO = """\
A recorded session of an agent that repairs a ferry timetable: two runs and a fork, parallel calls, a failure, an
approval, a capability that is switched off and on. Each line is one model request as muntin would have sent it: its
tokens, by band from the most stable to the most fleeting; how many are expected to be read from the provider's cache,
how many are fresh; and what broke the prefix, was compacted or mended. `--bodies DIR` writes the requests themselves.
"""

Command = TypeVar("Command", bound=Callable[..., Any])


class _Group(click.Group):
    """Turns muntin's own errors into one line and exit code 2."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            raise  # click ends the program quietly
        except (MuntinError, OSError) as error:
            click.echo(f"muntin: {error}", err=True)
            ctx.exit(2)


@click.group(cls=_Group)
@click.version_option(__version__)
def cli() -> None:
    """Manage the context window of LLM agents."""


def _replay_options(command: Command) -> Command:
    for option in (
        click.option("--bodies", type=click.Path(file_okay=False, path_type=Path), help="Write each body there."),
        click.option("--json", "as_json", is_flag=True, help="One JSON object a line, and nothing else."),
        click.option("--reserve", type=click.IntRange(1), help="Tokens kept free for the answer."),
        click.option("--window", type=click.IntRange(1), help="Tokens of the context window."),
        click.option("--model", help="The model to render for; by default the recorded one."),
        click.option("--provider", type=click.Choice(providers.names()), help="The wire format to render in."),
    ):
        command = option(command)
    return command


@cli.command()
@_replay_options
def demo(
    provider: str | None, model: str | None, window: int | None, reserve: int | None, as_json: bool, bodies: Path | None
) -> None:
    """Replay the bundled session: no key, no network, a few seconds.

    The window is 32,000 tokens by default, so that the session has to be compacted.
    """
    if not as_json:
        click.echo(DEMO)
    with importlib.resources.as_file(importlib.resources.files("muntin").joinpath(EXAMPLE)) as path:
        _replay(path, provider, model, window or 32_000, reserve or 4_000, as_json, bodies)


@cli.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@_replay_options
def replay(
    file: Path,
    provider: str | None,
    model: str | None,
    window: int | None,
    reserve: int | None,
    as_json: bool,
    bodies: Path | None,
) -> None:
    """Show every model request of a recorded session as muntin would have sent it.

    FILE is a Claude Code session, a Codex rollout, chat-completions messages or a session in muntin's own format, as it
    is or compressed with xz or gzip.
    """
    _replay(file, provider, model, window, reserve, as_json, bodies)


@cli.command()
@click.argument("files", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--encoding",
    default="o200k_base",
    show_default=True,
    help="An encoding, a model's name, or the path of a tokenizer.json.",
)
@click.option("--provider", type=click.Choice(tuple(FORMATS)), help="Estimate request bodies in this wire format.")
@click.option("--model", help="Whose request it is; by default the one that the body names.")
@click.option("--body", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="A request body.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, and nothing else.")
def count(
    files: tuple[Path, ...], encoding: str, provider: str | None, model: str | None, body: Path | None, as_json: bool
) -> None:
    """Count the tokens of files, or of the standard input; or estimate what a request body is billed for."""
    if body or provider:
        if not (body and provider) or files:
            raise click.UsageError("--body and --provider go together, and without other files")
        _estimate(provider, body, model, as_json)
        return
    if model:
        encoding = model
    tok = Tokenizer.from_file(encoding) if encoding.endswith(".json") else tokenizer(encoding)
    sources = [(str(path), path.read_bytes()) for path in files] or [("-", sys.stdin.buffer.read())]
    for name, data in sources:
        tokens = tok.count(data.decode(errors="replace"))
        if as_json:
            click.echo(JsonPrinter.line({"file": name, "tokens": tokens, "bytes": len(data), "encoding": tok.name}))
        else:
            click.echo(f"{tokens:>12,}  {name}")


def _estimate(provider: str, body: Path, model: str | None, as_json: bool) -> None:
    found = providers.estimate(provider, body.read_bytes(), model=model)
    if as_json:
        click.echo(JsonPrinter.line({"file": str(body), "provider": provider, **msgspec.structs.asdict(found)}))
        return
    click.echo(f"{found.tokens:>12,}  {body}, at most about {found.safe:,}")
    for part, tokens in found.parts.items():
        click.echo(f"{tokens:>12,}    {part}")


@cli.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--provider", type=click.Choice(providers.names()), required=True, help="Whose format the body is in.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, and nothing else.")
def check(file: Path, provider: str, as_json: bool) -> None:
    """Say what the provider would refuse in the request body in FILE, and why; exit with 1 if anything."""
    findings = providers.check(provider, file.read_bytes())
    for finding in findings:
        if as_json:
            click.echo(JsonPrinter.line(msgspec.structs.asdict(finding)))
        else:
            click.echo(f"{finding.rule}  {finding.path}\n    {finding.text}\n    mend: {finding.mend}")
    if findings:
        raise SystemExit(1)
    if not as_json:
        click.echo(
            f"nothing found that {provider} would refuse; the shape of single parts is for the SDK's types to check"
        )


@cli.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, and nothing else.")
def models(name: str | None, as_json: bool) -> None:
    """Show what is known of the model NAME, or of all, and where from."""
    known = known_models()
    found = [one for one in known if one.name == name] or [one for one in known if one.name.startswith(name or "")]
    if not found and name and is_known(name):
        found = [model(name)]
    if not found:
        click.echo(f"muntin: nothing is known of a model {name!r}; try `muntin models`", err=True)
        raise SystemExit(1)
    for one in found:
        if as_json:
            click.echo(JsonPrinter.line(msgspec.structs.asdict(one)))
        else:
            click.echo(
                f"{one.name:<22} {one.provider:<10} window {one.window:>9,}  output {one.max_output:>7,}  {one.source}"
            )


def _replay(
    path: Path,
    provider: str | None,
    model: str | None,
    window: int | None,
    reserve: int | None,
    as_json: bool,
    bodies: Path | None,
) -> None:
    recordings = read(path)
    printer: Printer = JsonPrinter() if as_json else TablePrinter()
    if bodies:
        bodies.mkdir(parents=True, exist_ok=True)
    written = 0
    for recording in recordings:
        adapter = adapter_of(recording, provider, model)
        policy = Policy(window=window) if reserve is None else Policy(window=window, reserve_output=reserve)
        printer.begin(recording, adapter)
        for step in Replay(recording, adapter, policy=policy).steps():
            printer.step(step)
            if bodies and step.request:
                written += 1
                (bodies / f"{written:05d}.json").write_bytes(step.request.body)
        printer.end()
    printer.close()
