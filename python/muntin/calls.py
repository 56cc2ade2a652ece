"""Ids of tool calls: no two calls of a session share one, since a request may carry both."""

from __future__ import annotations

from collections.abc import Mapping

from muntin.items import AssistantTurn, ToolCall

__all__ = ["with_free_ids"]


def with_free_ids(turn: AssistantTurn, made: Mapping[str, int]) -> tuple[AssistantTurn, tuple[str, ...]]:
    """The turn with call ids that no other call of the session has, and which of them were taken.

    Args:
        turn: As the model gave it.
        made: The ids of all calls that were ever made.
    """
    taken = set[str]()
    renamed: list[str] = []
    copies: dict[str, int] = {}
    parts = []
    for part in turn.parts:
        if isinstance(part, ToolCall):
            name, copy = part.id, copies.get(part.id) or made.get(part.id, 1)
            while name in taken or name in made:
                copy += 1
                name = f"{part.id}-{copy}"
            taken.add(name)
            copies[part.id] = copy  # the names below it are taken, and need no second look
            if name != part.id:
                renamed.append(part.id)
                part = ToolCall(name, part.name, part.arguments)  # noqa: PLW2901
        parts.append(part)
    return (AssistantTurn(tuple(parts), turn.finish), tuple(renamed)) if renamed else (turn, ())
