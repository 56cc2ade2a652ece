"""The journal: where a session's events are kept."""

from __future__ import annotations

from types import TracebackType
from typing import Protocol, Self

from muntin.providers import Adapter
from muntin.session import Session

__all__ = ["Store"]


class Store(Protocol):
    """A place that keeps sessions. Append-only: what was committed is never changed."""

    def load(self, session: str, *, tenant: str = "", adapter: Adapter | None = None) -> Session:
        """A session as it was when it was committed last, rendered byte for byte.

        Args:
            session: Its name.
            tenant: Whose it is.
            adapter: Instead of the one that it was opened with.

        Raises:
            SessionNotFound: Nothing is stored under this name.
        """
        ...

    def commit(self, session: Session) -> int:
        """Append what is new, artifacts included, all of it or nothing, and return how many events are stored now.

        Raises:
            Conflict: Another writer appended since this session was loaded or committed; nothing was written.
        """
        ...

    def artifact(self, name: str, *, tenant: str = "") -> bytes:
        """The bytes of an artifact that one of a tenant's sessions made.

        Raises:
            ArtifactNotFound: Nothing is kept under this name.
        """
        ...

    def sessions(self, *, tenant: str = "") -> list[str]:
        """The names of a tenant's sessions, sorted."""
        ...

    def close(self) -> None:
        """Give up the connection; uncommitted events stay in their sessions."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
