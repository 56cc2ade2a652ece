"""The front of a request, segments 1 to 5: what stands before the conversation and changes least."""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from muntin.capabilities import Capabilities
from muntin.layout import Segment
from muntin.wording import front_text

__all__ = ["Front", "FrontText", "System"]


class System(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The stable system prompt. It lives as long as the session; anything that changes belongs elsewhere.

    Attributes:
        rules: Base rules of behaviour.
        tool_guidance: Stable guidance on the use of tools.
        transaction_rules: Fixed rules of file transactions.
        custom: The user's own instructions.
    """

    rules: str = ""
    tool_guidance: str = ""
    transaction_rules: str = ""
    custom: str = ""

    @property
    def text(self) -> str:
        """All parts that have content, in their order."""
        parts = (self.rules, self.tool_guidance, self.transaction_rules, self.custom)
        return "\n\n".join(part for part in parts if part)


class FrontText(NamedTuple):
    """One part of the front."""

    segment: Segment
    text: str


class Front(msgspec.Struct, frozen=True, kw_only=True):
    """The sources of the front.

    Attributes:
        system: Segment 1.
        catalogue: Segment 2, as of the run's start.
        collaboration: Segment 3, as of the run's start.
        state: Segment 5: the session's state as of its first request, capability switches included.
    """

    system: System = System()
    catalogue: str = ""
    collaboration: str = ""
    state: dict[str, Any] = {}

    def texts(self, capabilities: Capabilities) -> tuple[FrontText, ...]:
        """The parts that have content, in the order of the layout; the guides come from the snapshot."""
        sources: list[tuple[Segment, str, str | dict[str, Any]]] = [
            (Segment.SYSTEM, "", self.system.text),
            (Segment.CATALOGUE, "", self.catalogue),
            (Segment.COLLABORATION, "", self.collaboration),
            *((Segment.GUIDES, name, text) for name, text in capabilities.shown_guides),
            (Segment.STATE, "", self.state),
        ]
        return tuple(
            FrontText(segment, front_text(segment, name, content))
            for segment, name, content in sources
            if (content.strip() if isinstance(content, str) else content)
        )
