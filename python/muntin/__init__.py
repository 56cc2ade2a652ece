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
    from muntin.agentloop import aloop, loop
    from muntin.artifacts import MemoryArtifacts, Window, read_range
    from muntin.audit import CacheReport, Checked
    from muntin.bodies import compare_bodies
    from muntin.budget import Policy, Share, WindowUsage
    from muntin.calibration import WindowMismatch
    from muntin.capabilities import Capabilities, Tool
    from muntin.compaction.economics import Prices
    from muntin.compaction.extractive import ExtractiveSummarizer
    from muntin.compaction.facts import Facts
    from muntin.compaction.gate import Proposal, Validator
    from muntin.compaction.outcome import Committed, CompactionReport, Outcome, Reason, Rejected
    from muntin.compaction.plan import Plan, Summarizer
    from muntin.compaction.request import SummaryRequest
    from muntin.counting import Estimate
    from muntin.crank import (
        Answered,
        ApprovalNeeded,
        CompactionDone,
        LoopEvent,
        Retrying,
        Sending,
        ToolDone,
    )
    from muntin.diagnosis import Break, Cause
    from muntin.exceptions import (
        ArtifactNotFound,
        CannotCompact,
        CompactionHalted,
        CompactionInFlight,
        Conflict,
        ContextOverflow,
        DuplicateCall,
        DuplicateResult,
        DuplicateTool,
        EncodingError,
        EndpointError,
        InputError,
        InvalidSkill,
        InvalidText,
        InvalidTool,
        LoopStopped,
        MuntinError,
        NothingToUndo,
        ParameterConflict,
        PayloadOverflow,
        ResponseError,
        RunStateError,
        SessionNotFound,
        StateError,
        StoreError,
        StreamBroken,
        ToolUnavailable,
        TransactionRefused,
        TranscriptError,
        UnknownCall,
        UnknownPlan,
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
    from muntin.outputs import ToolOutput
    from muntin.prefix import Forecast
    from muntin.recalling import RECALL, RecallTool
    from muntin.request import CachedContent, Request
    from muntin.run import Run
    from muntin.session import Session
    from muntin.skills import Skill
    from muntin.stores import Store, open_store
    from muntin.stream import Stream
    from muntin.summarizer import LLMSummarizer
    from muntin.suspects import Suspect, UnstablePrefixWarning, find_suspects
    from muntin.todo import Todo
    from muntin.tokens import MeasuredText, Tokenizer, TokenStream, tokenizer
    from muntin.transactions import FileTransaction, TransactionSnapshot
    from muntin.usage import Usage

_HOMES = {
    "": ("providers", "skills"),
    "_core": ("__version__",),
    "agentloop": ("aloop", "loop"),
    "crank": ("Answered", "ApprovalNeeded", "CompactionDone", "LoopEvent", "Retrying", "Sending", "ToolDone"),
    "artifacts": ("MemoryArtifacts", "Window", "read_range"),
    "audit": ("CacheReport", "Checked"),
    "bodies": ("compare_bodies",),
    "budget": ("Policy", "Share", "WindowUsage"),
    "capabilities": ("Capabilities", "Tool"),
    "compaction.extractive": ("ExtractiveSummarizer",),
    "compaction.economics": ("Prices",),
    "compaction.facts": ("Facts",),
    "compaction.gate": ("Proposal", "Validator"),
    "compaction.outcome": ("Committed", "CompactionReport", "Outcome", "Reason", "Rejected"),
    "compaction.plan": ("Plan", "Summarizer"),
    "compaction.request": ("SummaryRequest",),
    "calibration": ("WindowMismatch",),
    "counting": ("Estimate",),
    "diagnosis": ("Break", "Cause"),
    "exceptions": (
        "ArtifactNotFound",
        "CannotCompact",
        "CompactionHalted",
        "CompactionInFlight",
        "Conflict",
        "ContextOverflow",
        "DuplicateCall",
        "DuplicateResult",
        "DuplicateTool",
        "EncodingError",
        "EndpointError",
        "InputError",
        "InvalidSkill",
        "InvalidText",
        "InvalidTool",
        "LoopStopped",
        "MuntinError",
        "NothingToUndo",
        "ParameterConflict",
        "PayloadOverflow",
        "ResponseError",
        "RunStateError",
        "SessionNotFound",
        "StateError",
        "StoreError",
        "StreamBroken",
        "ToolUnavailable",
        "TransactionRefused",
        "TranscriptError",
        "UnknownCall",
        "UnknownPlan",
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
    "outputs": ("ToolOutput",),
    "prefix": ("Forecast",),
    "recalling": ("RECALL", "RecallTool"),
    "request": ("CachedContent", "Request"),
    "run": ("Run",),
    "session": ("Session",),
    "skills": ("Skill",),
    "stores": ("Store", "open_store"),
    "stream": ("Stream",),
    "summarizer": ("LLMSummarizer",),
    "suspects": ("Suspect", "UnstablePrefixWarning", "find_suspects"),
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
    "RECALL",
    "Answered",
    "Approval",
    "ApprovalNeeded",
    "ArtifactNotFound",
    "AssistantTurn",
    "Attachment",
    "Break",
    "CacheReport",
    "CachedContent",
    "CannotCompact",
    "Capabilities",
    "Cause",
    "Checked",
    "Committed",
    "CompactionDone",
    "CompactionHalted",
    "CompactionInFlight",
    "CompactionReport",
    "Conflict",
    "ContextOverflow",
    "DuplicateCall",
    "DuplicateResult",
    "DuplicateTool",
    "EncodingError",
    "EndpointError",
    "Entry",
    "ExtractiveSummarizer",
    "Facts",
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
    "LLMSummarizer",
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
    "NothingToUndo",
    "Opaque",
    "Outcome",
    "ParameterConflict",
    "PayloadOverflow",
    "Plan",
    "Policy",
    "Prices",
    "Proposal",
    "Reason",
    "Reasoning",
    "RecallTool",
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
    "StreamBroken",
    "Stream",
    "Summarizer",
    "Summary",
    "SummaryRequest",
    "Suspect",
    "System",
    "Text",
    "Todo",
    "TokenStream",
    "Tokenizer",
    "Tool",
    "ToolCall",
    "ToolDone",
    "ToolOutput",
    "ToolResult",
    "ToolUnavailable",
    "TransactionRefused",
    "TransactionSnapshot",
    "TranscriptError",
    "UnknownCall",
    "UnknownPlan",
    "UnknownRequest",
    "UnstablePrefixWarning",
    "Usage",
    "UserInput",
    "Validator",
    "Window",
    "WindowUsage",
    "__version__",
    "aloop",
    "compare_bodies",
    "find_suspects",
    "loop",
    "open_store",
    "providers",
    "read_range",
    "skills",
    "tokenizer",
]
