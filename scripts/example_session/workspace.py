"""The files that the agent works on, and what its tools show of them.

The tools really work on these files, so that every listing, every search and every diff of the session agrees with the
edits before it.
"""

from __future__ import annotations

import difflib
import re
from pathlib import Path

__all__ = ["ToolError", "Workspace"]


class ToolError(Exception):
    """A tool fails, with the message that the agent reads."""


class Workspace:
    """Text files by their paths."""

    def __init__(self, files: dict[str, str]) -> None:
        self.files = dict(files)
        self._committed = dict(files)

    @classmethod
    def of_folder(cls, folder: Path) -> Workspace:
        """Every file of a folder, by its path in it; what caches leave there does not count."""
        paths = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
        return cls(
            {
                name.as_posix(): path.read_text(encoding="utf-8")
                for name, path in paths.items()
                if not any(part.startswith((".", "__pycache__")) for part in name.parts)
            }
        )

    def listing(self) -> str:
        """All files and their sizes in bytes."""
        return "\n".join(f"{len(text.encode()):>8}  {path}" for path, text in sorted(self.files.items()))

    def read(self, path: str, first: int = 1, last: int | None = None) -> str:
        """Numbered lines of a file, and how many were left out."""
        lines = self._text(path).splitlines()
        shown = lines[first - 1 : last]
        numbered = "\n".join(f"{number:>5}  {line}" for number, line in enumerate(shown, first))
        left = len(lines) - len(shown)
        return f"{numbered}\n({left} of {len(lines)} lines not shown)" if left else numbered

    def search(self, pattern: str, under: str = "") -> str:
        """Lines that a regular expression finds, as `path:line:text`."""
        found = [
            f"{path}:{number}:{line}"
            for path, text in sorted(self.files.items())
            if path.startswith(under)
            for number, line in enumerate(text.splitlines(), 1)
            if re.search(pattern, line)
        ]
        return "\n".join(found) or f"No line matches {pattern!r}."

    def edit(self, path: str, old: str, new: str) -> str:
        """Replace a text that occurs once; with an empty `old`, write a new file."""
        if not old:
            if path in self.files:
                raise ToolError(f"{path} exists. Give the text to replace.")
            self.files[path] = new
            return f"Wrote {path}, {len(new.splitlines())} lines."
        text = self._text(path)
        if (count := text.count(old)) != 1:
            raise ToolError(f"The text to replace occurs {count} times in {path}; it must occur once. Nothing changed.")
        self.files[path] = text.replace(old, new)
        return "Replaced once.\n" + _diff(path, text, self.files[path])

    def diff(self) -> str:
        """What changed since the last commit."""
        paths = sorted(path for path in self.files if self.files[path] != self._committed.get(path))
        return "".join(_diff(path, self._committed.get(path, ""), self.files[path]) for path in paths)

    def commit(self) -> None:
        """Take the files as they are for committed."""
        self._committed = dict(self.files)

    def _text(self, path: str) -> str:
        if path not in self.files:
            near = difflib.get_close_matches(path, self.files, 1)
            raise ToolError(f"There is no file {path}." + (f" Did you mean {near[0]}?" if near else ""))
        return self.files[path]


def _diff(path: str, before: str, after: str) -> str:
    source = f"a/{path}" if before else "/dev/null"
    lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True), source, f"b/{path}", n=2)
    return "".join(lines)
