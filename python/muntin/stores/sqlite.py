"""The journal in SQLite: one row an event, one transaction a commit."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from types import TracebackType
from typing import Final, Self

from muntin.exceptions import ArtifactNotFound, Conflict, SessionNotFound, StoreError
from muntin.providers import Adapter
from muntin.session import Session

__all__ = ["SqliteStore"]

_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS events (
    tenant TEXT NOT NULL,
    session TEXT NOT NULL,
    number INTEGER NOT NULL,
    event BLOB NOT NULL,
    PRIMARY KEY (tenant, session, number)
) WITHOUT ROWID
"""
_ARTIFACTS: Final = """
CREATE TABLE IF NOT EXISTS artifacts (
    tenant TEXT NOT NULL,
    name TEXT NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (tenant, name)
)
"""
_VERSION: Final = 1
"""Of the schema, kept in `PRAGMA user_version`."""


class SqliteStore:
    """Sessions in one SQLite file, safe to share between threads; several processes may write.

    Args:
        path: The file; `:memory:` for none.
        timeout: Seconds to wait for another writer before giving up.

    Raises:
        StoreError: The file is no database, or one of a newer muntin.
    """

    def __init__(self, path: str, *, timeout: float = 10.0) -> None:
        self._path = path
        self._lock = threading.Lock()
        try:
            # Transactions are opened by hand: the driver's own would begin too late to lock.
            self._database = sqlite3.connect(path, timeout=timeout, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as reason:
            raise StoreError(f"cannot open {path!r}: {reason}") from reason
        try:
            version = self._database.execute("PRAGMA user_version").fetchone()[0]
            if version > _VERSION:
                raise StoreError(
                    f"{path!r} has schema version {version}; this muntin knows up to {_VERSION}: upgrade it"
                )
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute(_SCHEMA)
            self._database.execute(_ARTIFACTS)
            self._database.execute(f"PRAGMA user_version = {_VERSION}")
        except sqlite3.Error as reason:
            self._database.close()
            raise StoreError(f"cannot use {path!r} as a journal: {reason}") from reason
        except StoreError:
            self._database.close()
            raise

    def load(self, session: str, *, tenant: str = "", adapter: Adapter | None = None) -> Session:
        """A session as it was when it was committed last; see `Store.load`."""
        query = "SELECT event FROM events WHERE tenant = ? AND session = ? ORDER BY number"
        with self._lock, closing(self._database.cursor()) as cursor:
            try:
                events = [row[0] for row in cursor.execute(query, (tenant, session))]
            except sqlite3.Error as reason:
                raise StoreError(f"cannot read session {session!r} from {self._path!r}: {reason}") from reason
        if not events:
            raise SessionNotFound(f"no session {session!r} of tenant {tenant!r} in {self._path!r}")
        return Session.from_events(events, adapter=adapter)

    def commit(self, session: Session) -> int:
        """Append what is new in one transaction; see `Store.commit`."""
        key = (session.tenant, session.id)
        with self._lock, closing(self._database.cursor()) as cursor:
            expected = session.stored_version
            events = session.events_since(expected)
            artifacts = session.new_artifacts
            whole = [(session.tenant, name, data) for name, data in artifacts.items()]
            rows = [(*key, number, event) for number, event in enumerate(events, expected)]
            try:
                cursor.execute("BEGIN IMMEDIATE")
                try:
                    last = "SELECT COALESCE(MAX(number) + 1, 0) FROM events WHERE tenant = ? AND session = ?"
                    stored = cursor.execute(last, key).fetchone()[0]
                    if stored != expected:
                        raise Conflict(
                            f"session {session.id!r} has {stored} events in {self._path!r}, not the {expected} that "
                            "were loaded or committed here: "
                            + (
                                "another writer was first. Load it again and repeat what is new"
                                if expected
                                else "it was begun before. Load it with Store.load, or begin one of another name"
                            )
                        )
                    cursor.executemany("INSERT OR IGNORE INTO artifacts VALUES (?, ?, ?)", whole)
                    cursor.executemany("INSERT INTO events VALUES (?, ?, ?, ?)", rows)
                except BaseException:
                    cursor.execute("ROLLBACK")
                    raise
                cursor.execute("COMMIT")
            except sqlite3.Error as reason:
                raise StoreError(f"cannot commit session {session.id!r} to {self._path!r}: {reason}") from reason
            session.mark_artifacts_stored(artifacts)
            session.mark_stored(expected + len(events))
        return expected + len(events)

    def artifact(self, name: str, *, tenant: str = "") -> bytes:
        """The bytes of an artifact; see `Store.artifact`."""
        query = "SELECT data FROM artifacts WHERE tenant = ? AND name = ?"
        with self._lock, closing(self._database.cursor()) as cursor:
            try:
                row = cursor.execute(query, (tenant, name)).fetchone()
            except sqlite3.Error as reason:
                raise StoreError(f"cannot read artifact {name!r} from {self._path!r}: {reason}") from reason
        if row is None:
            raise ArtifactNotFound(f"no artifact {name!r} of tenant {tenant!r} in {self._path!r}")
        data: bytes = row[0]
        return data

    def sessions(self, *, tenant: str = "") -> list[str]:
        """The names of a tenant's sessions, sorted."""
        query = "SELECT DISTINCT session FROM events WHERE tenant = ? ORDER BY session"
        with self._lock, closing(self._database.cursor()) as cursor:
            try:
                return [row[0] for row in cursor.execute(query, (tenant,))]
            except sqlite3.Error as reason:
                raise StoreError(f"cannot list the sessions of {self._path!r}: {reason}") from reason

    def close(self) -> None:
        """Close the database."""
        self._database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
