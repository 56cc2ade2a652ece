"""One snapshot of what the agent can do now: tools, guides, switches.

A snapshot is the only source of the tool schemas, the guides and the capability switches of a request, so that
definition, guidance and state never disagree.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from muntin.exceptions import DuplicateTool, InvalidTool
from muntin.items import StateDiff

__all__ = ["Capabilities", "Tool", "capability_change"]

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""What OpenAI, Anthropic and Bedrock all take as the name of a function."""


class Tool(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool that the model may call.

    Attributes:
        name: 1 to 64 letters, digits, `_` or `-`.
        description: What it does, for the model.
        parameters: JSON Schema of its arguments, of type object.
        capability: The switch that it hangs on; empty for a tool that is always there.
    """

    name: str
    description: str = ""
    parameters: dict[str, Any] = msgspec.field(default_factory=lambda: {"type": "object", "properties": {}})
    capability: str = ""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise InvalidTool(
                f"tool name {self.name!r} is not usable: providers take 1 to 64 letters, digits, '_' or '-'"
            )
        # Users of untyped code hand over what they have.
        given: Any = self.parameters
        kind = given.get("type") if isinstance(given, dict) else given
        if kind != "object":
            raise InvalidTool(f"tool {self.name!r}: parameters must be a JSON Schema of type 'object', not {kind!r}")


class Capabilities(msgspec.Struct, frozen=True, dict=True, omit_defaults=True):
    """An immutable snapshot of capabilities.

    Whatever order tools and guides are given in, they come out sorted by name: stable tools first, then dynamic ones.

    Attributes:
        stable: Tools that stay as long as the session.
        dynamic: Tools that come and go, such as those of MCP servers.
        guides: Prose on using a capability, by its name; shown while the switch of that name is not off.
        switches: Which capabilities are on.
        reasons: Why a capability is as it is, by its name; told to the model when the switch changes.

    Raises:
        DuplicateTool: Two tools have one name.
    """

    stable: Sequence[Tool] = ()
    dynamic: Sequence[Tool] = ()
    guides: Mapping[str, str] = {}
    switches: Mapping[str, bool] = {}
    reasons: Mapping[str, str] = {}

    def __post_init__(self) -> None:
        for tool in (*self.stable, *self.dynamic):
            if not isinstance(tool, Tool):
                raise InvalidTool(f"a tool must be a muntin.Tool(name, description, parameters), not {tool!r}")
        for field in ("stable", "dynamic"):
            ordered = tuple(sorted(getattr(self, field), key=lambda tool: tool.name))
            msgspec.structs.force_setattr(self, field, ordered)
        for field in ("guides", "switches", "reasons"):
            msgspec.structs.force_setattr(self, field, dict(sorted(getattr(self, field).items())))
        kinds: dict[str, str] = {}
        for kind, tools in (("stable", self.stable), ("dynamic", self.dynamic)):
            for tool in tools:
                if tool.name in kinds:
                    raise DuplicateTool(f"tool {tool.name!r} is given twice: as {kinds[tool.name]} and as {kind}")
                kinds[tool.name] = kind

    def is_on(self, capability: str) -> bool:
        """Whether a capability is on; one without a switch is."""
        return self.switches.get(capability, True)

    @functools.cached_property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that a request carries, in their order; those of a capability that is off are left out."""
        return tuple(
            tool for tool in (*self.stable, *self.dynamic) if not tool.capability or self.is_on(tool.capability)
        )

    @functools.cached_property
    def shown_guides(self) -> tuple[tuple[str, str], ...]:
        """Name and text of the guides that a request carries, in their order."""
        return tuple((name, text) for name, text in self.guides.items() if self.is_on(name))

    @functools.cached_property
    def identity(self) -> bytes:
        """Equal for snapshots that put the same things into a request."""
        return msgspec.json.encode((self.tools, self.shown_guides, self.switches), order="sorted")


def capability_change(before: Capabilities, after: Capabilities) -> StateDiff | None:
    """What the timeline says of the change from one snapshot to the next; None where the model would see none.

    A withdrawn guide is not quoted: the record says that a capability is off and why, not how it was used.
    """
    switched = {name: on for name, on in after.switches.items() if before.switches.get(name) != on} | {
        name: None for name in before.switches if name not in after.switches
    }
    had, has = ({tool.name for tool in snapshot.tools} for snapshot in (before, after))
    changes: dict[str, Any] = {}
    if switched:
        changes["capabilities"] = switched
    if had != has:
        changes["tools"] = dict.fromkeys(sorted(has - had), "available") | dict.fromkeys(
            sorted(had - has), "unavailable"
        )
    if not changes:
        return None
    reason = "; ".join(f"{name}: {after.reasons[name]}" for name in switched if name in after.reasons)
    return StateDiff("session", changes, reason)
