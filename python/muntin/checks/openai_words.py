"""How OpenAI's servers say what is wrong with a key; its two formats share the words, and nothing else."""

from __future__ import annotations

from muntin.checks.finding import said
from muntin.checks.shape import Fault, bracketed, kinds, named

__all__ = ["words"]


def words(fault: Fault) -> str:
    """What the server answers to a fault."""
    path, key = bracketed(fault.path), fault.key
    match fault.wrong:
        case "missing":
            return f"Missing required parameter: '{path}'."
        case "type":
            return (
                f"Invalid type for '{path}': expected {_article(kinds(key.types, ' or an '))}, but got "
                f"{_article(named(fault.value))} instead."
            )
        case _:
            *most, last = [f"'{value}'" for value in key.values]
            supported = f"{', '.join(most)}, and {last}" if most else last
            return f"Invalid value: {said(fault.value)}. Supported values are: {supported}."


def _article(name: str) -> str:
    return f"an {name}" if name[0] in "aio" else f"a {name}"
