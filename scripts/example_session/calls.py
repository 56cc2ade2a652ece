"""The calls that the agent makes, and what its tools answer."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from example_session.recorder import Call
from example_session.workspace import ToolError, Workspace

__all__ = ["captured", "commit", "create", "diff", "edit", "fetch", "files", "plan", "read", "run", "search", "suite"]

TEXTS = Path(__file__).parent / "texts"

_STATUS = {"x": "completed", ">": "in_progress", "-": "pending"}


def files() -> Call:
    """List all files."""
    return Call("list_files", {}, Workspace.listing)


def read(path: str, first: int = 1, last: int | None = None) -> Call:
    """Read a file, or some of its lines."""
    arguments: dict[str, Any] = {"path": path}
    if last is not None:
        arguments |= {"first": first, "last": last}
    return Call("read_file", arguments, lambda workspace: workspace.read(path, first, last))


def search(pattern: str, under: str = "") -> Call:
    """Search all files, or those of a folder."""
    arguments = {"pattern": pattern, **({"under": under} if under else {})}
    return Call("search", arguments, lambda workspace: workspace.search(pattern, under))


def edit(path: str, old: str, new: str) -> Call:
    """Replace a piece of a file."""
    return Call("edit_file", {"path": path, "old": old, "new": new}, lambda workspace: workspace.edit(path, old, new))


def create(path: str, text: str) -> Call:
    """Write a new file."""
    return edit(path, "", text)


def suite(output: str, *arguments: str, error: bool = False) -> Call:
    """Run the tests. Failing tests are no failure of the tool."""
    return Call("run_tests", {"arguments": list(arguments)} if arguments else {}, _answer(output, error=error))


def run(command: str, output: str, *, error: bool = False, answered: bool = True) -> Call:
    """Run a command in the shell."""
    return Call("run_command", {"command": command}, _answer(output, error=error) if answered else None)


def captured(name: str) -> str:
    """A text that stands beside this code: what `harbour` really printed, or what people sent."""
    return (TEXTS / name).read_text(encoding="utf-8")


def diff() -> Call:
    """Show what changed since the last commit."""
    return Call("run_command", {"command": "git add -A && git diff --cached"}, Workspace.diff)


def commit(message: str, hash_: str, branch: str) -> Call:
    """Commit all that changed."""

    def committed(workspace: Workspace) -> str:
        diff = workspace.diff()
        workspace.commit()
        changed = len(re.findall(r"^\+\+\+ ", diff, re.MULTILINE))
        added, removed = (len(re.findall(rf"^{sign}(?!{sign}{{2}} )", diff, re.MULTILINE)) for sign in (r"\+", "-"))
        return (
            f"{hash_} (HEAD -> {branch}) {message.splitlines()[0]}\n"
            f" {changed} files changed, {added} insertions(+), {removed} deletions(-)"
        )

    return Call(
        "run_command",
        {"command": f"git add -A && git commit -q -m '{message}' && git show --shortstat --oneline"},
        committed,
    )


def fetch(url: str, output: str, *, error: bool = False) -> Call:
    """Fetch a page."""
    return Call("web_fetch", {"url": url}, _answer(output, error=error))


def plan(*steps: str) -> Call:
    """Write down the plan: `x` before what is done, `>` before what is in progress, `-` before what is to come."""
    pairs = tuple((_STATUS[step[0]], step[2:]) for step in steps)
    arguments = {"steps": [{"status": status, "step": step} for status, step in pairs]}
    done = sum(status == "completed" for status, _ in pairs)
    return Call("update_plan", arguments, lambda _: f"{done} of {len(pairs)} steps done.", plan=pairs)


def _answer(output: str, *, error: bool) -> Any:
    def answer(_: Workspace) -> str:
        if error:
            raise ToolError(output)
        return output

    return answer
