"""Stores, by URL."""

from __future__ import annotations

from muntin.exceptions import InputError
from muntin.stores.base import Store

__all__ = ["Store", "open_store"]


def open_store(url: str) -> Store:
    """A store by its URL: `sqlite:///relative.db`, `sqlite:////absolute/path.db` or `sqlite://` for one in memory.

    Raises:
        InputError: No store has this scheme.
        StoreError: The store cannot be opened.
    """
    scheme, separator, path = url.partition("://")
    if scheme != "sqlite" or not separator:
        raise InputError(f"no store for {url!r}: known is sqlite, as in sqlite:///agent.db")
    # The driver is imported where it is used: not every process that imports muntin stores anything.
    from muntin.stores.sqlite import SqliteStore  # noqa: PLC0415

    return SqliteStore(path.removeprefix("/") or ":memory:")
