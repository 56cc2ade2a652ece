"""How much of a tool result the model sees: all of it, or a projection of what becomes an artifact."""

from __future__ import annotations

from typing import Final, NamedTuple

from muntin.artifacts import artifact_id, projected
from muntin.budget import LEAST_RESULT, Budget
from muntin.items import Content, Image, Text
from muntin.providers import Adapter

__all__ = ["Allowance", "Shown", "shown"]


FAR: Final = 8
"""Characters a token above which a text is hardly ever within its limit."""

WIDE: Final = 64
"""Characters a token above which a text is too large for a request's bytes, whatever its tokens are."""


class Shown(NamedTuple):
    """What is shown of a result.

    Attributes:
        content: For the model.
        tokens: About what it costs, by the safe estimate.
        artifact: The artifact's name, or empty where all is shown.
        data: The whole text, where it becomes an artifact.
    """

    content: Content
    tokens: int
    artifact: str = ""
    data: bytes = b""


class Allowance:
    """What the results of one parallel batch may still have, in tokens by the safe estimate."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left: int | None = None

    def renew(self) -> None:
        """Another batch begins."""
        self._left = None

    def of_next(self, budget: Budget, waiting: int) -> int:
        """What the next result may have, with a little kept for each of the others that are waited for."""
        left = budget.batch if self._left is None else self._left
        return min(budget.result, max(left - LEAST_RESULT * (waiting - 1), LEAST_RESULT))

    def spend(self, budget: Budget, tokens: int) -> None:
        """A result was accepted."""
        self._left = (budget.batch if self._left is None else self._left) - tokens


def shown(content: Content, allowed: int, adapter: Adapter) -> Shown:
    """A result within what it may have. Short ones are not counted, and of very long ones only the beginning.

    Args:
        content: The whole.
        allowed: Tokens that it may have, by the safe estimate.
        adapter: Counts them.
    """
    texts = [part.text for part in content if isinstance(part, Text)]
    size = sum(len(text) for text in texts)
    limit = adapter.raw(allowed)
    # A character is at most four bytes and a token at least one, so that this much fits whatever it is.
    if 4 * size <= limit:
        return Shown(content, adapter.safe(size // 2))
    text = texts[0] if len(texts) == 1 else "\n\n".join(texts)
    # What is far too long shows in its beginning; counting all of it would tell nothing more.
    far = len(text) > FAR * limit and adapter.count(text[: FAR * limit]) > limit
    if not far and len(text) <= WIDE * limit:
        tokens = adapter.count(text)
        if tokens <= limit:
            return Shown(content, adapter.safe(tokens))
    data = text.encode()
    name = artifact_id(data)
    projection = projected(text, limit, adapter.count, name)
    images = tuple(part for part in content if isinstance(part, Image))
    return Shown((Text(projection), *images), allowed, name, data)
