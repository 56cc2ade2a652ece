"""The recorded sessions and requests that stand beside a development checkout."""

from __future__ import annotations

import lzma
import os
from pathlib import Path
from typing import TextIO

__all__ = ["ROOT", "open_text"]

ROOT = Path(os.environ.get("MUNTIN_SHARED") or Path(__file__).parents[2] / "shared")
"""The folder that holds `data`; it need not exist."""


def open_text(path: Path) -> TextIO:
    """A file as UTF-8 text, decompressed where its name ends in `.xz`. Raises `OSError` where there is none."""
    if path.suffix == ".xz":
        return lzma.open(path, "rt", encoding="utf-8")
    return path.open(encoding="utf-8")
