"""The public face, the doors to the native half, and what an import costs."""

from __future__ import annotations

import ast
import functools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import muntin as mt
from muntin import _core, exceptions

PACKAGE = Path(mt.__file__).parent
ROOT = Path(__file__).resolve().parent.parent

NATIVE_IMPORTERS = {
    "tokens.py", "vocabularies.py", "lane.py", "prefix.py", "view.py", "providers/base.py", "compaction/request.py",
}  # fmt: skip


def test_the_public_names_are_the_same_for_people_type_checkers_and_the_interpreter():
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module != "__future__"]
    homes = {alias.name: node.module.removeprefix("muntin").lstrip(".") for node in imports for alias in node.names}
    assert homes == mt._HOME_OF
    assert sorted(mt.__all__) == sorted(homes)
    assert all(hasattr(mt, name) for name in dir(mt))
    with pytest.raises(AttributeError, match="'muntin' has no attribute 'nope'"):
        mt.nope  # noqa: B018


def test_every_public_name_has_a_docstring():
    bare = [name for name in mt.__all__ if callable(getattr(mt, name)) and not getattr(mt, name).__doc__]
    assert not bare


def test_every_exception_is_exported_and_rooted():
    for name in exceptions.__all__:
        assert issubclass(getattr(exceptions, name), mt.MuntinError)
        assert name in exceptions.__doc__


def test_few_modules_import_the_native_half():
    importing = re.compile(r"^(?:from muntin\._core import|from muntin import .*\b_core\b)", re.MULTILINE)
    found = {str(path.relative_to(PACKAGE)) for path in PACKAGE.rglob("*.py") if importing.search(path.read_text())}
    assert found == NATIVE_IMPORTERS


def test_every_native_class_is_frozen():
    sources = "".join(path.read_text() for path in (ROOT / "rust").rglob("*.rs"))
    classes = re.findall(r"#\[pyclass\(([^)]*)\)\]", sources)
    assert classes
    assert all("frozen" in arguments for arguments in classes)


def test_the_core_knows_no_python():
    outside = [path for path in (ROOT / "rust").rglob("*.rs") if "python" not in path.parts]
    assert not [path.name for path in outside if "pyo3" in path.read_text()]


def test_native_and_python_versions_agree():
    assert mt.__version__ == _core.__version__


def test_an_import_brings_nothing_heavy():
    code = (
        "import sys, muntin; print(*sorted({'numpy', 'click', 'rich', 'yaml', 'openai', 'anthropic', 'tiktoken', "
        "'sqlite3', 'asyncio'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == ""


@pytest.mark.timeout(60)
def test_an_import_is_quick():
    code = "import time; t = time.process_time(); import muntin; print(time.process_time() - t)"
    # With compiled modules, as users have them; the first run makes them where they are missing.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    run = functools.partial(subprocess.run, [sys.executable, "-c", code], capture_output=True, text=True, check=True)
    runs = [run(env=env) for _ in range(7)]
    assert min(float(run.stdout) for run in runs) < 0.060
