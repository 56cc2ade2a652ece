"""File transactions: a large file is written in steps, each with the draft revision and the index that it expects."""

from __future__ import annotations

from typing import Final, Literal, Self, TypeAlias

import msgspec

from muntin.exceptions import InputError, TransactionRefused

__all__ = ["FileTransaction", "TransactionSnapshot"]

Status: TypeAlias = Literal["begun", "drafting", "committed", "aborted"]

_ALLOWED: Final[dict[Status, tuple[str, ...]]] = {
    "begun": ("append", "abort"),
    "drafting": ("append", "commit", "abort"),
    "committed": (),
    "aborted": (),
}
"""What may be done next, by the status."""


class TransactionSnapshot(msgspec.Struct, frozen=True, rename="camel"):
    """What the model sees of an unfinished file transaction; these fields and no others, in this order.

    One that allows nothing next is finished, and is shown no more.

    Attributes:
        transaction_id: Names the transaction.
        file_path: The file that it writes.
        operation: What it does to it, for example `create`.
        strategy: How, for example `append_chunks`.
        status: Where it stands.
        expected_draft_revision: The revision that the next action has to name.
        next_index: The index that the next piece has to have.
        allowed_next_actions: What may be done next.
    """

    transaction_id: str
    file_path: str
    operation: str
    strategy: str
    status: str
    expected_draft_revision: int
    next_index: int
    allowed_next_actions: tuple[str, ...]

    @property
    def finished(self) -> bool:
        """Whether nothing may be done next."""
        return not self.allowed_next_actions


class FileTransaction(msgspec.Struct, frozen=True, kw_only=True):
    """One file transaction. A move gives the transaction after it; this one stays as it is.

    Attributes:
        id: Its name.
        path: The file.
        operation: What it does to the file.
        strategy: How.
        status: `begun` without a piece, `drafting` with some, `committed` or `aborted`.
        revision: Of the draft: how many pieces it took.
        index: The index of the next piece.
    """

    id: str
    path: str
    operation: str = "create"
    strategy: str = "append_chunks"
    status: Status = "begun"
    revision: int = 0
    index: int = 0

    @classmethod
    def begin(cls, id: str, path: str, *, operation: str = "create", strategy: str = "append_chunks") -> Self:  # noqa: A002
        """A transaction without a piece.

        Raises:
            InputError: It has no id or no file.
        """
        if not id or not path:
            raise InputError(f"a file transaction needs an id and a file, not {id!r} and {path!r}")
        return cls(id=id, path=path, operation=operation, strategy=strategy)

    @classmethod
    def from_snapshot(cls, snapshot: TransactionSnapshot) -> Self:
        """The transaction that a snapshot was made of, to go on with it after a restart.

        Examples:
            >>> begun = FileTransaction.begin("t1", "notes.md").append(revision=0, index=0)
            >>> FileTransaction.from_snapshot(begun.snapshot()) == begun
            True

        Raises:
            InputError: It has a status that none of ours has, or allows something else.
        """
        allowed = _ALLOWED.get(snapshot.status)  # type: ignore[call-overload]
        if allowed is None or allowed != snapshot.allowed_next_actions:
            raise InputError(
                f"the snapshot of transaction {snapshot.transaction_id!r} is {snapshot.status!r} and allows "
                f"{', '.join(snapshot.allowed_next_actions) or 'nothing'}: it was made of no FileTransaction"
            )
        return cls(
            id=snapshot.transaction_id,
            path=snapshot.file_path,
            operation=snapshot.operation,
            strategy=snapshot.strategy,
            status=snapshot.status,  # type: ignore[arg-type]
            revision=snapshot.expected_draft_revision,
            index=snapshot.next_index,
        )

    @property
    def allowed(self) -> tuple[str, ...]:
        """What may be done next; nothing where it is finished."""
        return _ALLOWED[self.status]

    def append(self, *, revision: int, index: int) -> Self:
        """Take the next piece.

        Args:
            revision: The draft's revision that the caller has seen.
            index: The index of the piece.

        Raises:
            TransactionRefused: Not allowed now, or another revision or index is expected.
        """
        self._check("append", revision)
        if index != self.index:
            raise self._refused("append", f"piece {index} is not the next one, {self.index}")
        return msgspec.structs.replace(self, status="drafting", revision=self.revision + 1, index=self.index + 1)

    def commit(self, *, revision: int) -> Self:
        """Make the draft the file.

        Raises:
            TransactionRefused: Not allowed now, or another revision is expected.
        """
        self._check("commit", revision)
        return msgspec.structs.replace(self, status="committed")

    def abort(self) -> Self:
        """Give the draft up; the file stays as it was.

        Raises:
            TransactionRefused: It is finished.
        """
        self._check("abort", self.revision)
        return msgspec.structs.replace(self, status="aborted")

    def snapshot(self) -> TransactionSnapshot:
        """What the model is shown of it."""
        return TransactionSnapshot(
            self.id, self.path, self.operation, self.strategy, self.status, self.revision, self.index, self.allowed
        )

    def _check(self, action: str, revision: int) -> None:
        if action not in self.allowed:
            raise self._refused(action, f"the transaction is {self.status}")
        if revision != self.revision:
            raise self._refused(action, f"draft revision {revision} is not the present one, {self.revision}")

    def _refused(self, action: str, why: str) -> TransactionRefused:
        allowed = ", ".join(self.allowed) or "nothing"
        return TransactionRefused(
            f"{action} of {self.path!r} in transaction {self.id!r} refused: {why}; allowed now is {allowed}, with "
            f"draft revision {self.revision} and index {self.index}",
            allowed=self.allowed,
        )
