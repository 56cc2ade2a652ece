"""The command line. Its libraries are an extra, so that servers do not carry them."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line; says what to install where its libraries are missing."""
    try:
        import click  # noqa: F401, PLC0415
        import rich  # noqa: F401, PLC0415
    except ImportError as missing:
        sys.stderr.write(f"muntin's command line needs {missing.name}: pip install 'muntin[cli]'\n")
        raise SystemExit(2) from None
    from muntin.cli.commands import cli  # noqa: PLC0415

    cli(prog_name="muntin")
