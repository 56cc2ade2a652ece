"""muntin manages the context window of LLM agents.

Before each model call it decides what the model sees, counts it, keeps its beginning byte for byte stable, and renders
it in the provider's wire format.

Names are imported when they are first used: a process that only counts tokens never loads sessions, and the import
itself costs next to nothing.
"""

from __future__ import annotations

import importlib

TYPE_CHECKING = False  # as type checkers know it; `typing` itself would be most of what this import costs
if TYPE_CHECKING:
    from muntin import providers
    from muntin._core import __version__
    from muntin.budget import Policy, Share, WindowUsage
    from muntin.capabilities import Capabilities, Tool
    from muntin.compaction.extractive import ExtractiveSummarizer
    from muntin.compaction.plan import Committed, CompactionReport, Outcome, Plan, Rejected, Summarizer
    from muntin.compaction.request import SummaryRequest
    from muntin.exceptions import (
        CannotCompact,
        Conflict,
        ContextOverflow,
        DuplicateResult,
        DuplicateTool,
        EncodingError,
        InputError,
        InvalidText,
        InvalidTool,
        MuntinError,
        ParameterConflict,
        ResponseError,
        RunStateError,
        SessionNotFound,
        StateError,
        StoreError,
        TranscriptError,
        UnknownCall,
        UnknownRequest,
    )
    from muntin.front import System
    from muntin.items import (
        Approval,
        AssistantTurn,
        Attachment,
        Entry,
        Guidance,
        Image,
        Item,
        Opaque,
        Reasoning,
        SkillText,
        StateDiff,
        StateFull,
        Summary,
        Text,
        ToolCall,
        ToolResult,
        UserInput,
    )
    from muntin.lane import Repair
    from muntin.layout import LAYOUT, Segment
    from muntin.models import Model
    from muntin.prefix import Forecast
    from muntin.request import Request
    from muntin.run import Run
    from muntin.session import Session
    from muntin.stores import Store, open_store
    from muntin.todo import Todo
    from muntin.tokens import MeasuredText, Tokenizer, TokenStream, tokenizer
    from muntin.usage import Usage

_HOMES = {
    "": ("providers",),
    "_core": ("__version__",),
    "budget": ("Policy", "Share", "WindowUsage"),
    "capabilities": ("Capabilities", "Tool"),
    "compaction.extractive": ("ExtractiveSummarizer",),
    "compaction.plan": ("Committed", "CompactionReport", "Outcome", "Plan", "Rejected", "Summarizer"),
    "compaction.request": ("SummaryRequest",),
    "exceptions": (
        "CannotCompact",
        "Conflict",
        "ContextOverflow",
        "DuplicateResult",
        "DuplicateTool",
        "EncodingError",
        "InputError",
        "InvalidText",
        "InvalidTool",
        "MuntinError",
        "ParameterConflict",
        "ResponseError",
        "RunStateError",
        "SessionNotFound",
        "StateError",
        "StoreError",
        "TranscriptError",
        "UnknownCall",
        "UnknownRequest",
    ),
    "front": ("System",),
    "items": (
        "Approval",
        "AssistantTurn",
        "Attachment",
        "Entry",
        "Guidance",
        "Image",
        "Item",
        "Opaque",
        "Reasoning",
        "SkillText",
        "StateDiff",
        "StateFull",
        "Summary",
        "Text",
        "ToolCall",
        "ToolResult",
        "UserInput",
    ),
    "lane": ("Repair",),
    "layout": ("LAYOUT", "Segment"),
    "models": ("Model",),
    "prefix": ("Forecast",),
    "request": ("Request",),
    "run": ("Run",),
    "session": ("Session",),
    "stores": ("Store", "open_store"),
    "todo": ("Todo",),
    "tokens": ("MeasuredText", "TokenStream", "Tokenizer", "tokenizer"),
    "usage": ("Usage",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> object:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'muntin' has no attribute {name!r}")
    module = importlib.import_module(f"muntin.{home or name}")
    value: object = getattr(module, name) if home else module
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__


__all__ = [
    "LAYOUT",
    "Approval",
    "AssistantTurn",
    "Attachment",
    "CannotCompact",
    "Capabilities",
    "Committed",
    "CompactionReport",
    "Conflict",
    "ContextOverflow",
    "DuplicateResult",
    "DuplicateTool",
    "EncodingError",
    "Entry",
    "ExtractiveSummarizer",
    "Forecast",
    "Guidance",
    "Image",
    "InputError",
    "InvalidText",
    "InvalidTool",
    "Item",
    "MeasuredText",
    "Model",
    "MuntinError",
    "Opaque",
    "Outcome",
    "ParameterConflict",
    "Plan",
    "Policy",
    "Reasoning",
    "Rejected",
    "Repair",
    "Request",
    "ResponseError",
    "Run",
    "RunStateError",
    "Segment",
    "Session",
    "SessionNotFound",
    "Share",
    "SkillText",
    "StateDiff",
    "StateError",
    "StateFull",
    "Store",
    "StoreError",
    "Summarizer",
    "Summary",
    "SummaryRequest",
    "System",
    "Text",
    "Todo",
    "TokenStream",
    "Tokenizer",
    "Tool",
    "ToolCall",
    "ToolResult",
    "TranscriptError",
    "UnknownCall",
    "UnknownRequest",
    "Usage",
    "UserInput",
    "WindowUsage",
    "__version__",
    "open_store",
    "providers",
    "tokenizer",
]
