"""What the pages say is what happens: their code runs, prints what they show, and their commands work.

Blocks of `python` on one page share a namespace and run in order; one that begins with `# not run` is left out. A block
of `text` right behind is what it prints. In a block of `console`, a line that begins with `$ ` is run and the other
lines are found in its output; `…` stands for what is left out.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import muntin as mt
from muntin import exceptions

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "how-to").glob("*.md")]
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def blocks(page):
    text = page.read_text()
    for found in BLOCK.finditer(text):
        yield found[1], text.count("\n", 0, found.start(2)), found[2], found[3]


@pytest.fixture(params=[page for page in PAGES if BLOCK.search(page.read_text())], ids=lambda page: page.name)
def page(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("muntin.models._registered", {})  # what a page registers is for that page
    return request.param


def test_the_code_of_a_page_runs_and_its_commands_print_what_is_shown(page, capsys):
    namespace = {"__name__": "__main__"}
    for kind, line, source, shown in blocks(page):
        if kind == "console":
            check_console(source)
        elif not source.startswith("# not run"):
            # The lines before it keep the numbers of a traceback those of the page.
            exec(compile("\n" * line + source, str(page), "exec", dont_inherit=True), namespace)
            printed = capsys.readouterr().out
            if shown is not None:
                assert printed == shown, f"{page.name}, line {line}"


def check_console(source):
    printed = ""
    for line in source.splitlines():
        if line.startswith("$ "):
            command = [sys.executable, "-m", *shlex.split(line[2:])]
            printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        else:
            assert all(part.strip() in printed for part in line.split("…")), f"{line!r} is not in\n{printed}"


def test_the_pages_that_teach_are_run():
    taught = {page.stem for page in PAGES if any(kind == "python" for kind, *_ in blocks(page))}
    assert {"tutorial", "compact", "store", "fork", "capabilities", "cache", "replay"} <= taught


def test_every_public_name_is_in_the_reference():
    pages = "".join(page.read_text() for page in (ROOT / "docs" / "reference").glob("*.md"))
    shown = set(re.findall(r"^::: muntin\.(\w+)$", pages, re.MULTILINE))
    if "exceptions" in shown:  # the page of the errors shows the whole module
        shown |= set(exceptions.__all__)
    assert set(mt.__all__) - shown == {"__version__"}


def test_every_page_is_in_the_navigation():
    pages = {str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")}
    assert pages == set(re.findall(r"- ([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))
