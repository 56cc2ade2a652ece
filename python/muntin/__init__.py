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
    from muntin import providers, skills
    from muntin._core import __version__
    from muntin.agentloop import (
        Answered,
        ApprovalNeeded,
        CompactionDone,
        LoopEvent,
        Retrying,
        Sending,
        ToolDone,
        aloop,
        loop,
    )
    from muntin.artifacts import MemoryArtifacts, Window, read_range
    from muntin.budget import Policy, Share, WindowUsage
    from muntin.calibration import WindowMismatch
    from muntin.capabilities import Capabilities, Tool
    from muntin.compaction.extractive import ExtractiveSummarizer
    from muntin.compaction.plan import Committed, CompactionReport, Outcome, Plan, Rejected, Summarizer
    from muntin.compaction.request import SummaryRequest
    from muntin.counting import Estimate
    from muntin.exceptions import (
        ArtifactNotFound,
        CannotCompact,
        Conflict,
        ContextOverflow,
        DuplicateResult,
        DuplicateTool,
        EncodingError,
        InputError,
        InvalidSkill,
        InvalidText,
        InvalidTool,
        LoopStopped,
        MuntinError,
        ParameterConflict,
        ResponseError,
        RunStateError,
        SessionNotFound,
        StateError,
        StoreError,
        ToolUnavailable,
        TransactionRefused,
        TranscriptError,
        UnknownCall,
        UnknownRequest,
    )
    from muntin.failures import Failure
    from muntin.front import System
    from muntin.items import (
        Approval,
        AssistantTurn,
        Attachment,
        Entry,
        Guidance,
        IgnoredInteraction,
        Image,
        Item,
        Opaque,
        Reasoning,
        Recovery,
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
    from muntin.longtask import LongTask, Milestone
    from muntin.models import Model, load_models, register_models
    from muntin.prefix import Forecast
    from muntin.request import Request
    from muntin.run import Run
    from muntin.session import Session
    from muntin.skills import Skill
    from muntin.stores import Store, open_store
    from muntin.stream import Stream
    from muntin.todo import Todo
    from muntin.tokens import MeasuredText, Tokenizer, TokenStream, tokenizer
    from muntin.transactions import FileTransaction, TransactionSnapshot
    from muntin.usage import Usage

_HOMES = {
    "": ("providers", "skills"),
    "_core": ("__version__",),
    "agentloop": (
        "Answered",
        "ApprovalNeeded",
        "CompactionDone",
        "LoopEvent",
        "Retrying",
        "Sending",
        "ToolDone",
        "aloop",
        "loop",
    ),
    "artifacts": ("MemoryArtifacts", "Window", "read_range"),
    "budget": ("Policy", "Share", "WindowUsage"),
    "capabilities": ("Capabilities", "Tool"),
    "compaction.extractive": ("ExtractiveSummarizer",),
    "compaction.plan": ("Committed", "CompactionReport", "Outcome", "Plan", "Rejected", "Summarizer"),
    "compaction.request": ("SummaryRequest",),
    "calibration": ("WindowMismatch",),
    "counting": ("Estimate",),
    "exceptions": (
        "ArtifactNotFound",
        "CannotCompact",
        "Conflict",
        "ContextOverflow",
        "DuplicateResult",
        "DuplicateTool",
        "EncodingError",
        "InputError",
        "InvalidSkill",
        "InvalidText",
        "InvalidTool",
        "LoopStopped",
        "MuntinError",
        "ParameterConflict",
        "ResponseError",
        "RunStateError",
        "SessionNotFound",
        "StateError",
        "StoreError",
        "ToolUnavailable",
        "TransactionRefused",
        "TranscriptError",
        "UnknownCall",
        "UnknownRequest",
    ),
    "failures": ("Failure",),
    "front": ("System",),
    "items": (
        "Approval",
        "AssistantTurn",
        "Attachment",
        "Entry",
        "Guidance",
        "IgnoredInteraction",
        "Image",
        "Item",
        "Opaque",
        "Reasoning",
        "Recovery",
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
    "longtask": ("LongTask", "Milestone"),
    "models": ("Model", "load_models", "register_models"),
    "prefix": ("Forecast",),
    "request": ("Request",),
    "run": ("Run",),
    "session": ("Session",),
    "skills": ("Skill",),
    "stores": ("Store", "open_store"),
    "stream": ("Stream",),
    "todo": ("Todo",),
    "tokens": ("MeasuredText", "TokenStream", "Tokenizer", "tokenizer"),
    "transactions": ("FileTransaction", "TransactionSnapshot"),
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
    "Answered",
    "Approval",
    "ApprovalNeeded",
    "ArtifactNotFound",
    "AssistantTurn",
    "Attachment",
    "CannotCompact",
    "Capabilities",
    "Committed",
    "CompactionDone",
    "CompactionReport",
    "Conflict",
    "ContextOverflow",
    "DuplicateResult",
    "DuplicateTool",
    "EncodingError",
    "Entry",
    "ExtractiveSummarizer",
    "Failure",
    "FileTransaction",
    "Forecast",
    "Guidance",
    "IgnoredInteraction",
    "Image",
    "InputError",
    "InvalidSkill",
    "InvalidText",
    "InvalidTool",
    "Item",
    "LongTask",
    "LoopEvent",
    "LoopStopped",
    "MeasuredText",
    "MemoryArtifacts",
    "Milestone",
    "Estimate",
    "WindowMismatch",
    "Model",
    "load_models",
    "register_models",
    "MuntinError",
    "Opaque",
    "Outcome",
    "ParameterConflict",
    "Plan",
    "Policy",
    "Reasoning",
    "Recovery",
    "Rejected",
    "Repair",
    "Request",
    "ResponseError",
    "Retrying",
    "Run",
    "RunStateError",
    "Segment",
    "Sending",
    "Session",
    "SessionNotFound",
    "Share",
    "Skill",
    "SkillText",
    "StateDiff",
    "StateError",
    "StateFull",
    "Store",
    "StoreError",
    "Stream",
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
    "ToolDone",
    "ToolResult",
    "ToolUnavailable",
    "TransactionRefused",
    "TransactionSnapshot",
    "TranscriptError",
    "UnknownCall",
    "UnknownRequest",
    "Usage",
    "UserInput",
    "Window",
    "WindowUsage",
    "__version__",
    "aloop",
    "loop",
    "open_store",
    "providers",
    "read_range",
    "skills",
    "tokenizer",
]
