"""How often a view may be tried to be compacted: plans that came to nothing are counted in the journal."""

from __future__ import annotations

from typing import Final

from muntin.assembly import floors
from muntin.conversation import Conversation
from muntin.exceptions import CompactionHalted

__all__ = ["ATTEMPTS", "check_breaker"]

ATTEMPTS: Final = 3
"""Plans on one view after which the next waits until the conversation has grown."""

GROWTH: Final = 0.05
"""How much it has to grow for the first further plan, as a fraction of the limit; twice as much for each after it."""


def check_breaker(conversation: Conversation) -> None:
    """Refuse to plan on a view on which plans keep coming to nothing. O(1).

    Every plan counts from when it is made, so that a crash in the middle of one counts too. With growth doubling, a
    window that fills up sees some eight plans on one view, whatever drives the session.

    Raises:
        CompactionHalted: Says how often it was tried, why the last one was rejected, and what lets it go on.
    """
    further = conversation.attempts - ATTEMPTS
    if further < 0:
        return
    tokens = conversation.adapter.safe(conversation.lane.history.total() - conversation.tried_at)
    needed = int(conversation.budget.limit * GROWTH * 2**further)
    if tokens >= needed:
        return
    last = conversation.rejection or "no outcome"
    raise CompactionHalted(
        f"{conversation.attempts} plans on this view came to nothing (the last one: {last}); the next is allowed when "
        f"{needed - max(tokens, 0)} more tokens have been added, on another view (undo, another model), or with "
        "force=True",
        floors=floors(conversation),
        attempts=conversation.attempts,
        reason=last,
    )
