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

from muntin.exceptions import DuplicateTool, InvalidTool, ToolUnavailable
from muntin.items import StateDiff, ToolCall

__all__ = ["Capabilities", "Tool", "capability_change", "check_call"]

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
"""What OpenAI, Anthropic and Bedrock all take as the name of a function."""

_MCP_KEYS = ("name", "title", "description", "inputSchema")


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

    @classmethod
    def from_mcp(cls, tool: Any, *, name: str = "", capability: str = "") -> Tool:
        """A tool as an MCP server lists it: a dict of the wire, or the SDK's object.

        Args:
            tool: With `name`, `inputSchema` and perhaps `title` and `description`.
            name: Instead of the server's own, which may be longer than providers take, have dots, or be another
                server's too.
            capability: The switch that it hangs on.

        Raises:
            InvalidTool: It has no name or no schema, or a name that providers do not take.
        """
        shape = tool if isinstance(tool, Mapping) else {key: getattr(tool, key, None) for key in _MCP_KEYS}
        own, schema = shape.get("name"), shape.get("inputSchema")
        if not isinstance(own, str) or not isinstance(schema, Mapping):
            raise InvalidTool(f"an MCP tool has a 'name' and an 'inputSchema', which {tool!r} has not")
        if not name and not _NAME.fullmatch(own):
            raise InvalidTool(
                f"MCP tool {own!r}: providers take names of 1 to 64 letters, digits, '_' or '-'; "
                "give it another with Tool.from_mcp(tool, name=...)"
            )
        described = shape.get("description") or shape.get("title") or ""
        # The schema may leave out the type of an object without arguments.
        return cls(name or own, described, {"type": "object", **schema}, capability)


class Capabilities(msgspec.Struct, frozen=True, dict=True, omit_defaults=True):
    """An immutable snapshot of capabilities.

    Whatever order tools and guides are given in, they come out sorted by name: stable tools first, then dynamic ones.

    Attributes:
        stable: Tools that stay as long as the session; a tool may be given as an MCP server lists it.
        dynamic: Tools that come and go, such as those of MCP servers.
        guides: Prose on using a capability, by its name; shown while the switch of that name is not off.
        switches: Which capabilities are on.
        reasons: Why a capability, or a tool by its name, is as it is; told to the model when that changes.

    Raises:
        DuplicateTool: Two tools have one name; says which two.
        InvalidTool: Something that is no tool, or that no provider would take.
    """

    stable: Sequence[Tool] = ()
    dynamic: Sequence[Tool] = ()
    guides: Mapping[str, str] = {}
    switches: Mapping[str, bool] = {}
    reasons: Mapping[str, str] = {}

    def __post_init__(self) -> None:
        for field in ("stable", "dynamic"):
            given = [_tool(tool) for tool in getattr(self, field)]
            msgspec.structs.force_setattr(self, field, tuple(sorted(given, key=lambda tool: tool.name)))
        for field in ("guides", "switches", "reasons"):
            msgspec.structs.force_setattr(self, field, dict(sorted(getattr(self, field).items())))
        places: dict[str, str] = {}
        for kind, tools in (("stable", self.stable), ("dynamic", self.dynamic)):
            for tool in tools:
                place = f"{kind} ({tool.description[:40]!r})" if tool.description else kind
                if tool.name in places:
                    raise DuplicateTool(
                        f"tool {tool.name!r} is given twice: as {places[tool.name]} and as {place}; "
                        "rename one, as with Tool.from_mcp(tool, name=...)"
                    )
                places[tool.name] = place

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
    knew, knows = (dict(snapshot.shown_guides) for snapshot in (before, after))
    # A guide that goes with its switch is told by the switch.
    guides = dict.fromkeys(knows.keys() - knew.keys() - switched.keys(), "available") | dict.fromkeys(
        knew.keys() - knows.keys() - switched.keys(), "unavailable"
    )
    changes: dict[str, Any] = {}
    if switched:
        changes["capabilities"] = switched
    if guides:
        changes["guides"] = dict(sorted(guides.items()))
    if had != has:
        gone, new = sorted(had - has), sorted(has - had)
        changes["tools"] = dict.fromkeys(new, "available") | dict.fromkeys(gone, "unavailable")
    if not changes:
        return None
    concerned = dict.fromkeys([*switched, *changes.get("guides", ()), *changes.get("tools", ())])
    reason = "; ".join(f"{name}: {after.reasons[name]}" for name in concerned if name in after.reasons)
    return StateDiff("session", changes, reason)


def check_call(call: ToolCall, capabilities: Capabilities) -> None:
    """Refuse a call that present settings do not allow, whatever the request that it answers allowed.

    Args:
        call: As the model made it.
        capabilities: Of now.

    Raises:
        ToolUnavailable: Says what is off or gone, and why.
    """
    tool = next((one for one in (*capabilities.stable, *capabilities.dynamic) if one.name == call.name), None)
    if tool is None:
        why = capabilities.reasons.get(call.name, "no such tool is available now")
        raise ToolUnavailable(f"{call.name!r} cannot be called: {why}", call=call.id, tool=call.name, reason=why)
    if tool.capability and not capabilities.is_on(tool.capability):
        why = capabilities.reasons.get(tool.capability, "")
        raise ToolUnavailable(
            f"{call.name!r} cannot be called: capability {tool.capability!r} is off{f' ({why})' if why else ''}",
            call=call.id,
            tool=call.name,
            reason=why or f"{tool.capability} is off",
        )


def _tool(given: Any) -> Tool:
    if isinstance(given, Tool):
        return given
    if (given.get("inputSchema") if isinstance(given, Mapping) else getattr(given, "inputSchema", None)) is not None:
        return Tool.from_mcp(given)
    raise InvalidTool(
        f"a tool must be a muntin.Tool(name, description, parameters) or an MCP tool with inputSchema, not {given!r}"
    )
