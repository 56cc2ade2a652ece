"""What happened to a session, event by event: the only thing that is stored, and all that is needed to rebuild it.

Applying the same events in the same order gives the same session, byte for byte. An event is never changed after it was
appended.
"""

from __future__ import annotations

import array
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

import msgspec

from muntin.budget import Policy
from muntin.capabilities import Capabilities
from muntin.exceptions import InputError, InvalidText, StoreError
from muntin.front import System
from muntin.items import Entry
from muntin.layout import Segment
from muntin.models import Model
from muntin.todo import Todo
from muntin.transactions import TransactionSnapshot
from muntin.usage import Usage

__all__ = [
    "Added",
    "ApprovalAsked",
    "Cleared",
    "Compacted",
    "CompactionRejected",
    "CompactionTried",
    "Event",
    "Failed",
    "Forked",
    "Log",
    "Opened",
    "Path",
    "Planned",
    "PolicySet",
    "Prepared",
    "Recorded",
    "RepairRaised",
    "Resumed",
    "Rewound",
    "RunFinished",
    "RunStarted",
    "Snapshot",
    "Transacted",
    "Using",
    "ViewUndone",
    "Waiting",
]


class Opened(msgspec.Struct, frozen=True, tag="opened"):
    """A session begins; `version` is that of the events' form."""

    session: str
    tenant: str
    provider: str
    model: Model
    policy: Policy
    system: System
    state: dict[str, Any]
    version: int = 1


class Using(msgspec.Struct, frozen=True, tag="using"):
    """Requests are rendered for this provider and model from now on."""

    provider: str
    model: Model


class PolicySet(msgspec.Struct, frozen=True, tag="policy_set"):
    """The window is used by this policy from now on."""

    policy: Policy


class Forked(msgspec.Struct, frozen=True, tag="forked"):
    """The session goes on under another name; everything before is shared with the one that it came from."""

    session: str


class Snapshot(msgspec.Struct, frozen=True, tag="snapshot"):
    """Capabilities are now these."""

    capabilities: Capabilities


class RunStarted(msgspec.Struct, frozen=True, tag="run_started", omit_defaults=True):
    """A run begins, with the catalogue and the collaboration notes of that moment (None: as before)."""

    run: int
    catalogue: str | None = None
    collaboration: str | None = None


class Added(msgspec.Struct, frozen=True, tag="added"):
    """An entry was accepted; `segment` is where a run's request shows it first, 8 to 11."""

    entry: Entry
    segment: Segment = Segment.TIMELINE


class ApprovalAsked(msgspec.Struct, frozen=True, tag="approval_asked"):
    """A call waits for a person's decision; the model sees the decision when it comes."""

    call: str


class Planned(msgspec.Struct, frozen=True, tag="planned"):
    """The agent's plan is now this."""

    todo: Todo


class Waiting(msgspec.Struct, frozen=True, tag="waiting"):
    """The run waits for a person."""

    reason: str


class Resumed(msgspec.Struct, frozen=True, tag="resumed"):
    """The run goes on."""


class Rewound(msgspec.Struct, frozen=True, tag="rewound"):
    """The session is again as it was when an entry was its newest, -1 for before the first."""

    entry: int


class RepairRaised(msgspec.Struct, frozen=True, tag="repair_raised"):
    """The next request that is answered reminds the model of something."""

    kind: str
    text: str


class Transacted(msgspec.Struct, frozen=True, tag="transacted"):
    """A file transaction is now as this."""

    snapshot: TransactionSnapshot


class Prepared(msgspec.Struct, frozen=True, tag="prepared", omit_defaults=True):
    """A request was prepared: everything that was accepted until now is sealed in its place.

    `switches` are its parameters that break a provider's prefix when they change; `spare_mark` says that one place to
    ask for caching is somebody else's; `asked` are raw tokens of what its parameters ask for.
    """

    request: int
    now: float | None = None
    switches: dict[str, Any] = {}
    spare_mark: bool = False
    asked: int = 0


class Recorded(msgspec.Struct, frozen=True, tag="recorded", omit_defaults=True):
    """The model answered a request; `renamed` are the call ids that were given anew, since they were taken."""

    request: int
    entry: Entry
    usage: Usage | None = None
    renamed: tuple[str, ...] = ()


class Failed(msgspec.Struct, frozen=True, tag="failed"):
    """A request came to nothing."""

    request: int
    error: str


class RunFinished(msgspec.Struct, frozen=True, tag="run_finished"):
    """A run ended; what belonged to it is history from now on."""

    run: int


class Compacted(msgspec.Struct, frozen=True, tag="compacted"):
    """A summary took the place of the units before `cut`, pins excepted.

    Attributes:
        epoch: The number of the view from now on.
        keeps: The entry whose first unit is the first that is kept as it was.
        summary: The summary's entry.
        net: State diffs that say what the covered ones came to, and calls that still run.
    """

    epoch: int
    keeps: int
    summary: Entry
    net: tuple[Entry, ...]


class Cleared(msgspec.Struct, frozen=True, tag="cleared"):
    """Old tool results are shown as one line each; `epoch` is the number of the view from now on."""

    epoch: int
    entries: tuple[int, ...]


class ViewUndone(msgspec.Struct, frozen=True, tag="view_undone"):
    """The view is again as if it had not been changed.

    Attributes:
        epoch: The number of the view that the change made.
        first: The id that the next entry got when it was made.
        until: The id that the next entry gets now; what the model said between them was said to another view.
    """

    epoch: int
    first: int
    until: int


class CompactionTried(msgspec.Struct, frozen=True, tag="compaction_tried"):
    """A compaction was planned; it counts as an attempt whatever comes of it."""


class CompactionRejected(msgspec.Struct, frozen=True, tag="compaction_rejected", omit_defaults=True):
    """A compaction changed nothing."""

    reason: str
    detail: str = ""


class Path(NamedTuple):
    """The events that led to a moment, without what was taken back on the way.

    Attributes:
        events: Their stored forms.
        elsewhere: Ranges of entries, each from its first to before its last, that came about on a view that is no more.
    """

    events: list[bytes]
    elsewhere: tuple[tuple[int, int], ...]


Event: TypeAlias = (
    Opened
    | Using
    | PolicySet
    | Forked
    | Snapshot
    | RunStarted
    | Added
    | ApprovalAsked
    | Planned
    | RepairRaised
    | Waiting
    | Resumed
    | Rewound
    | Transacted
    | Prepared
    | Recorded
    | Failed
    | RunFinished
    | Compacted
    | Cleared
    | ViewUndone
    | CompactionTried
    | CompactionRejected
)

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Event).decode


class Log:
    """A session's events as encoded, and where each entry is among them. Append-only."""

    __slots__ = ("_events", "_places", "_rewinds", "_undone", "_views")

    def __init__(self) -> None:
        self._events: list[bytes] = []
        self._places = array.array("Q")
        self._rewinds: list[tuple[int, int]] = []
        self._views: dict[int, int] = {}
        self._undone: list[tuple[int, ViewUndone]] = []

    def __len__(self) -> int:
        return len(self._events)

    @staticmethod
    def stored(event: Event) -> tuple[bytes, Event]:
        """An event's stored form, and the event as it reads back from there.

        What could not be loaded again is refused before it is accepted, and what is applied is what will be loaded, not
        objects that the caller may go on to change.

        Raises:
            InvalidText: It holds text with a lone surrogate.
            InputError: It holds something of another type than it should.
        """
        try:
            data = _encode(event)
            return data, _decode(data)
        except (TypeError, msgspec.ValidationError) as reason:
            raise InputError(f"{type(event).__name__.lower()} holds something of the wrong type: {reason}") from reason
        except UnicodeEncodeError as reason:
            raise InvalidText(
                f"text with a lone surrogate at character {reason.start} of {reason.object[:40]!r}… has no UTF-8 form; "
                'mend it with text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")'
            ) from reason

    @staticmethod
    def decoded(data: bytes) -> Event:
        """An event from its stored form.

        Raises:
            StoreError: It is none that this version knows.
        """
        try:
            return _decode(data)
        except msgspec.DecodeError as reason:
            raise StoreError(f"a stored event cannot be read ({reason}); was it written by a newer muntin?") from reason

    def append(self, event: Event, data: bytes) -> None:
        """Add an event with its stored form."""
        place = len(self._events)
        self._events.append(data)
        for _ in _entries(event):
            self._places.append(place)
        match event:
            case Rewound(entry):
                self._rewinds.append((place, entry))
            case Compacted(epoch=epoch) | Cleared(epoch=epoch):
                self._views[epoch] = place
            case ViewUndone():
                self._undone.append((place, event))
            case _:
                pass

    def since(self, version: int) -> list[bytes]:
        """The stored forms of all events from number `version` on."""
        return self._events[version:]

    def entry(self, number: int) -> Entry:
        """An entry by its id, decoded anew."""
        event = _decode(self._events[self._places[number]])
        return next(entry for entry in _entries(event) if entry.id == number)

    def entries(self) -> Iterator[Entry]:
        """All entries, in causal order."""
        for data in self._events[:]:
            yield from _entries(_decode(data))

    @property
    def next_entry(self) -> int:
        """The id that the next entry gets."""
        return len(self._places)

    def upto(self, entry: int) -> list[bytes]:
        """The stored forms of the events up to the one that brought an entry; for -1 the opening alone."""
        return self._events[: self._places[entry] + 1 if entry >= 0 else 1]

    def path(self, entry: int) -> Path:
        """The events that lead to an entry, without what was rewound or undone on the way. O(events).

        Rewinding over earlier rewindings would otherwise do their work again, and theirs again.
        """
        return self._path(self._places[entry] + 1 if entry >= 0 else 1)

    @property
    def present(self) -> Path:
        """The events that lead to now, without what was rewound or undone on the way. O(events)."""
        return self._path(len(self._events))

    def _path(self, stop: int) -> Path:
        parts: list[range] = []
        for place, target in reversed(self._rewinds):
            if place < stop:
                parts.append(range(place + 1, stop))
                stop = self._places[target] + 1 if target >= 0 else 1
        parts.append(range(stop))
        undone = [(place, event) for place, event in self._undone if any(place in part for part in parts)]
        left_out = {place for place, _ in undone} | {self._views[event.epoch] for _, event in undone}
        events = [self._events[place] for part in reversed(parts) for place in part if place not in left_out]
        return Path(events, tuple((event.first, event.until) for _, event in undone))

    def copy(self) -> Log:
        """A log that goes on by itself. O(events), without copying what they hold."""
        other = Log()
        other._events = self._events[:]
        other._places = self._places[:]
        other._rewinds = self._rewinds[:]
        other._views = dict(self._views)
        other._undone = self._undone[:]
        return other


def _entries(event: Event) -> tuple[Entry, ...]:
    match event:
        case Added(entry) | Recorded(entry=entry):
            return (entry,)
        case Compacted(summary=summary, net=net):
            return (summary, *net)
        case _:
            return ()
