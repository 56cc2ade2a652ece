"""World state: JSON objects, and the merge patches between them (RFC 7396)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from muntin.exceptions import InputError

__all__ = ["difference", "json_object", "merged"]

_ABSENT = object()


def json_object(value: Mapping[str, Any], what: str) -> dict[str, Any]:
    """A JSON object that somebody handed over, as a dict of our own.

    Raises:
        InputError: It is none; names what it was given as.
    """
    if not isinstance(value, Mapping):
        raise InputError(f"{what} must be a JSON object as a dict, not {value!r}")
    return dict(value)


def merged(state: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """The state after a merge patch. O(changes) and a copy of each object that changes; the rest is shared.

    Examples:
        >>> merged({"branch": "main", "web": True}, {"branch": "fix", "web": None})
        {'branch': 'fix'}
    """
    result = dict(state)
    for key, change in changes.items():
        if change is None:
            result.pop(key, None)
        elif isinstance(change, dict):
            old = result.get(key)
            result[key] = merged(old if isinstance(old, dict) else {}, change)
        else:
            result[key] = change
    return result


def difference(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """The merge patch that leads from one state to another; empty where they are equal. O(both).

    Nulls cannot be told from absent keys by a merge patch: a state should not hold any.

    Examples:
        >>> difference({"branch": "main", "web": True}, {"branch": "fix"})
        {'web': None, 'branch': 'fix'}
    """
    changes: dict[str, Any] = {key: None for key in before if key not in after}
    for key, value in after.items():
        old = before.get(key, _ABSENT)
        if isinstance(value, dict) and isinstance(old, dict):
            inner = difference(old, value)
            if inner:
                changes[key] = inner
        elif value != old:
            changes[key] = value
    return changes
