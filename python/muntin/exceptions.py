"""Everything that muntin raises.

    MuntinError
    ├── InputError (also ValueError)     what was handed over is not usable
    │   ├── EncodingError                an encoding that is not known or usable, or a token id that it does not have
    │   ├── InvalidText                  a lone surrogate, which has no UTF-8 form, or bytes that are none
    │   ├── DuplicateTool                two tools of one name
    │   ├── InvalidSkill                 a skill or rules file that is not as specified
    │   ├── InvalidTool                  a tool that no provider would take
    │   ├── ParameterConflict            a request parameter that the adapter owns
    │   ├── ResponseError                a response that is not of the provider's form
    │   │   └── StreamBroken             a streamed answer that ended before it was complete
    │   └── TranscriptError              a file that is no recorded session
    ├── StateError                       a call that the session's state does not allow now
    │   ├── RunStateError                no run, a finished run, or two runs at once
    │   ├── UnknownCall                  a result for a call that nobody made
    │   ├── DuplicateCall                a second call under an id that is still open
    │   ├── DuplicateResult              a second result for one call
    │   ├── ToolUnavailable              a call that present settings, task state or approvals do not allow
    │   ├── TransactionRefused           a move that a file transaction does not allow
    │   ├── CompactionInFlight           another plan of the session is still on its way
    │   ├── NothingToUndo                no compaction is in effect
    │   ├── UnknownPlan                  a compaction that another session planned
    │   └── UnknownRequest               a response to a request that this session did not prepare
    ├── ContextOverflow                  the request does not fit in the window
    │   └── PayloadOverflow              it would, but has more bytes or images than the provider takes
    ├── EndpointError                    an endpoint that answered with a failure, or could not be reached
    ├── LoopStopped                      a loop that would not come to an end
    ├── CannotCompact                    no legal boundary would make the request fit
    │   └── CompactionHalted             plans on this view keep coming to nothing
    └── StoreError                       the journal refused
        ├── Conflict                     another writer was first
        ├── SessionNotFound              nothing is stored under this name
        └── ArtifactNotFound             no artifact has this name

Bad summaries are not here: `Session.commit_compaction` gives a `Rejected` back, since a bad summary is an
answer to expect of a model, not a fault of the caller.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

__all__ = [
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
]


class MuntinError(Exception):
    """The root of all that muntin raises."""


class InputError(MuntinError, ValueError):
    """What was handed over is not usable; nothing was changed."""


class EncodingError(InputError):
    """An encoding that is not known or not usable, or a token id that it does not have."""


class InvalidText(InputError):
    """Text with a lone surrogate, which has no UTF-8 form and so no tokens and no JSON; or bytes that are no UTF-8."""


class DuplicateTool(InputError):
    """Two tools of one name in one snapshot of capabilities."""


class InvalidSkill(InputError):
    """A skill or a rules file that cannot be read, or is not as its specification wants it."""


class InvalidTool(InputError):
    """A tool whose name or schema no provider would take."""


class ParameterConflict(InputError):
    """A request parameter that the adapter itself sets, such as `messages`."""


class ResponseError(InputError):
    """A response that is not of the provider's form.

    Attributes:
        body: The body of a failure that was given as an answer, as `Run.fail` takes it; None otherwise.
    """

    body: object = None


class StreamBroken(ResponseError):
    """A streamed answer that ended before it was complete: the same request may be made again.

    `body` is the event by which the provider broke it off, None where events just came to an end.
    """


class TranscriptError(InputError):
    """A file that is no recorded session of a known format."""


class StateError(MuntinError):
    """A call that the session's state does not allow now; nothing was changed."""


class RunStateError(StateError):
    """No run is open, the run is finished, or another one is still open."""


class UnknownCall(StateError):
    """A result for a call that no response of the model made."""


class DuplicateCall(StateError):
    """A second call under an id whose first call still waits for its result."""


class DuplicateResult(StateError):
    """A second result for a call that has one; the first stands."""


class ToolUnavailable(StateError):
    """A call that may not be carried out now, though the model was offered its tool when it made it.

    Attributes:
        call: The id of the call.
        tool: The tool's name.
        reason: Why not, in words that may be given to the model as the call's result.
    """

    def __init__(self, message: str, *, call: str, tool: str, reason: str) -> None:
        super().__init__(message)
        self.call = call
        self.tool = tool
        self.reason = reason


class TransactionRefused(StateError):
    """A move that a file transaction does not allow now; the transaction is as it was.

    Attributes:
        allowed: What may be done next.
    """

    def __init__(self, message: str, *, allowed: tuple[str, ...]) -> None:
        super().__init__(message)
        self.allowed = allowed


class CompactionInFlight(StateError):
    """Another plan of the session is on its way: commit it, let it fail, or supersede it."""


class NothingToUndo(StateError):
    """No compaction is in effect that could be undone."""


class UnknownPlan(StateError):
    """A plan of a compaction that another session made, such as the one that this was forked from."""


class UnknownRequest(StateError):
    """A response or failure for a request that this session did not prepare, or has already settled."""


class ContextOverflow(MuntinError):
    """A request that does not fit in the context window.

    Attributes:
        tokens: Tokens of the request by the safe estimate.
        limit: Tokens that the input may have: the window less the output reserve.
        floors: Tokens that cannot be compacted away, by what they belong to: `tools`, a segment's name in lower case,
            `task` (segments 8 to 10), `not yet observed`, `tail`.
        compactable: Tokens that a compaction could still cover.
        usage: The `WindowUsage` of the request, whose state is `full`.
    """

    def __init__(
        self, message: str, *, tokens: int, limit: int, floors: Mapping[str, int], compactable: int, usage: Any
    ) -> None:
        super().__init__(message)
        self.usage = usage
        self.tokens = tokens
        self.limit = limit
        self.floors = dict(floors)
        self.compactable = compactable


class PayloadOverflow(ContextOverflow):
    """A request whose tokens would fit, but which has more bytes or images than the provider takes.

    Attributes:
        what: `bytes` or `images`.
        amount: How many the request has.
        most: How many it may have.
    """

    def __init__(self, message: str, *, what: Literal["bytes", "images"], amount: int, most: int, **rest: Any) -> None:
        super().__init__(message, **rest)
        self.what = what
        self.amount = amount
        self.most = most


class CannotCompact(MuntinError):
    """No legal boundary would make the request smaller, or small enough.

    Attributes:
        floors: Tokens that no compaction can remove, as in `ContextOverflow`.
    """

    def __init__(self, message: str, *, floors: Mapping[str, int]) -> None:
        super().__init__(message)
        self.floors = dict(floors)


class CompactionHalted(CannotCompact):
    """Plans on this view kept coming to nothing, so that no further one is made for now.

    Attributes:
        attempts: How many plans were made on this view.
        reason: Why the last one was rejected.
    """

    def __init__(self, message: str, *, floors: Mapping[str, int], attempts: int, reason: str) -> None:
        super().__init__(message, floors=floors)
        self.attempts = attempts
        self.reason = reason


class EndpointError(MuntinError):
    """An endpoint that answered a request with a failure, or could not be reached.

    Attributes:
        failure: Why, as a `Failure`: its kind, its status, what the provider said.
    """

    def __init__(self, message: str, *, failure: Any) -> None:
        super().__init__(message)
        self.failure = failure


class LoopStopped(MuntinError):
    """A loop gave up: it made as many requests as it may, or the model kept answering with nothing."""


class StoreError(MuntinError):
    """The journal refused; what was stored before still stands."""


class Conflict(StoreError):
    """Another writer appended first; load the session again and repeat what is new."""


class SessionNotFound(StoreError):
    """Nothing is stored under this tenant and session."""


class ArtifactNotFound(StoreError):
    """No artifact is kept under this name for this tenant."""
