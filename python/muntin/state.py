"""World state: JSON objects, and the merge patches between them (RFC 7396)."""

from __future__ import annotations

import copy
from typing import Any

__all__ = ["difference", "merged"]


def merged(state: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """The state after a merge patch; neither argument is changed.

    Examples:
        >>> merged({"branch": "main", "web": True}, {"branch": "fix", "web": None})
        {'branch': 'fix'}
    """
    import json_merge_patch  # noqa: PLC0415  (imported where used: it costs start-up time)

    result: dict[str, Any] = json_merge_patch.merge(copy.deepcopy(state), copy.deepcopy(changes))
    return result


def difference(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """The merge patch that leads from one state to another; empty where they are equal.

    Examples:
        >>> difference({"branch": "main", "web": True}, {"branch": "fix"})
        {'web': None, 'branch': 'fix'}
    """
    import json_merge_patch  # noqa: PLC0415  (imported where used: it costs start-up time)

    patch: dict[str, Any] = json_merge_patch.create_patch(copy.deepcopy(before), copy.deepcopy(after))
    return patch
