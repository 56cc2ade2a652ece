"""The protocol that every wire format follows.

An adapter turns items into *units*: JSON bytes with their raw tokens, made once and kept. A request is the adapter's
head, the kept units joined, and a fresh tail. Raw tokens are tokens of the model's encoding; `estimate` and `safe` turn
them into billed tokens.
"""

from __future__ import annotations

import abc
import functools
import re
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, NamedTuple, Protocol, TypeAlias

import msgspec

from muntin._core import History
from muntin.capabilities import Tool
from muntin.checks import Finding
from muntin.counting import Estimate, costs_of, outlined
from muntin.counting.media import Media
from muntin.counting.outline import Outline
from muntin.exceptions import InputError, ParameterConflict, ResponseError
from muntin.failures import Failure, failure
from muntin.items import AssistantTurn, Image, Item, ToolCall
from muntin.layout import Segment, TailMode
from muntin.models import Model, model
from muntin.providers.pictures import PDF
from muntin.tokens import Tokenizer, tokenizer
from muntin.usage import Usage

__all__ = [
    "Accumulator",
    "Adapter",
    "Adopted",
    "Buffer",
    "Frame",
    "Parsed",
    "Part",
    "Tools",
    "Unit",
    "decoded",
]

Buffer: TypeAlias = bytes | memoryview

_SYSTEM = (b'{"role":"system"', b'{"role":"developer"')


class Unit(NamedTuple):
    """What an adapter rendered of an item.

    Attributes:
        group: The group of units that it may be merged with, an index into `Adapter.groups`.
        wire: JSON without the group's own brackets.
        tokens: Raw tokens, the group's opening not included.
        deferred: Whether it has to wait until all results of its batch have been sent.
    """

    group: int
    wire: bytes
    tokens: int
    deferred: bool = False


class Part(NamedTuple):
    """One part of what stands before the conversation: JSON and raw tokens."""

    segment: Segment
    wire: bytes
    tokens: int


class Tools(NamedTuple):
    """The tool schemas of a request: JSON and raw tokens."""

    wire: bytes
    tokens: int


class Frame(NamedTuple):
    """All that a request is made of.

    Attributes:
        head: The body up to where tools and messages follow.
        tools: The tool schemas, or None.
        front: Segments 1 to 5.
        history: The units of the conversation.
        units: How many of them this request carries.
        tail: Units that are made for this request alone.
        breakpoints: Numbers of units after which the provider is asked to cache, where it has to be asked.
        front_marks: Numbers of front parts after which it is asked; the last one is always their end.
    """

    head: bytes
    tools: Tools | None
    front: tuple[Part, ...]
    history: History
    units: int
    tail: tuple[Unit, ...]
    breakpoints: tuple[int, ...]
    front_marks: tuple[int, ...] = ()


class Parsed(NamedTuple):
    """A provider's response in our terms."""

    turn: AssistantTurn
    usage: Usage | None


class Adopted(NamedTuple):
    """A request body of the provider, taken apart: system text, tools, items in their order."""

    system: str
    tools: tuple[Tool, ...]
    items: tuple[Item, ...]


class Accumulator(Protocol):
    """Puts the events of a streamed answer together."""

    @property
    def finished(self) -> bool:
        """Whether the provider said that the answer is complete; its usage may still be to come."""
        ...

    def feed(self, event: Mapping[str, Any]) -> str:
        """Take one event; the part of the answer that it brings, for counting. O(what it brings).

        Raises:
            ResponseError: The event says that the provider broke the answer off.
            LookupError, TypeError, AttributeError, ValueError: It is not of the provider's form; `Stream` refuses it.
        """
        ...

    def response(self) -> Mapping[str, Any]:
        """The response as far as it has come, as `Adapter.parse` takes it."""
        ...


_ELSEWHERE: Final = frozenset({"conversation", "previous_response_id", "prompt"})
"""Body keys of requests whose conversation the provider has already."""


class Adapter(abc.ABC):
    """One provider's wire format for one model. Stateless: any number of sessions may share one.

    Attributes:
        provider: The provider's name, as in `muntin.providers`.
        path: Where the body is POSTed, below the API's root.
        stream_path: Where it is POSTed for an answer that is streamed.
        owned: Body keys that the adapter sets itself.
        messages: The body key that has the conversation.
        groups: For each group of units the bytes that open it, those that close it, and the raw tokens of opening it.
        front_opening: Raw tokens of opening a front whose parts share one message.
        opening: A unit for the beginning of a conversation that may not begin with what the model said.
        markable: Groups whose units may carry a mark that asks for caching; none where the provider caches by itself.
        no_tools: What is sent as tools where none is left and the conversation has calls, if the provider insists.
        tail_mode: What becomes of a tail that was sent: `volatile`, or `sticky` or `in_result` where taking it away
            again would break what the provider keeps of the prefix.
        overflows: What the provider says of a request that is too long; groups named `tokens` and `limit` are numbers,
            and one named `minute` says that the limit is a minute's.
    """

    provider: str
    path: str
    owned: ClassVar[frozenset[str]]
    messages: ClassVar[str] = "messages"
    groups: tuple[tuple[bytes, bytes, int], ...]
    front_opening: int = 0
    markable: frozenset[int] = frozenset()
    tail_mode: TailMode = "volatile"
    overflows: ClassVar[tuple[re.Pattern[str], ...]] = ()
    opening: Unit | None = None
    no_tools: Tools | None = None

    def __init__(self, name: str | Model) -> None:
        self.model = name if isinstance(name, Model) else model(name)
        self.tokenizer: Tokenizer = tokenizer(self.model.encoding)
        self.costs = costs_of(self.model)
        self._plain: tuple[int, bytes] = (-1, b"")

    def __repr__(self) -> str:
        return f"{self.provider}({self.model.name!r})"

    @property
    def stream_path(self) -> str:
        """As `path`, where `params` alone ask for a stream."""
        return self.path

    # --- counting ---------------------------------------------------------------------------------------------------
    def estimate(self, raw: int) -> int:
        """The best estimate of what the provider bills for raw tokens."""
        return self.costs.billed(raw)

    def safe(self, raw: int) -> int:
        """The upper estimate of what the provider bills for raw tokens; decisions use it."""
        return self.costs.safe(raw)

    def raw(self, safe: int) -> int:
        """The raw tokens that fit in an upper estimate."""
        return self.costs.counted(safe)

    def estimate_body(self, body: Mapping[str, Any] | bytes) -> Estimate:
        """What a whole request body is expected to be billed for, whoever made it. O(body).

        Raises:
            InputError: The body is no JSON object.
        """
        return self.costs.estimate(self._outline(decoded(body, "the request body", InputError)))

    def recount(self, body: bytes) -> int:
        """Raw tokens of a body, counted from scratch. O(body).

        Equal to what the session adds up incrementally, for every body that muntin made.
        """
        return self.costs.total(self._outline(decoded(body, "the request body", InputError)))

    def framing(self, *, tools: bool, front: bool, first: bytes = b"") -> int:
        """Raw tokens of a request that belong to no segment: its opening and that of the reply.

        Args:
            tools: Whether it has any.
            front: Whether it has segments 1 to 5.
            first: The beginning of its first unit, which may have a system role, as that of a summary may.
        """
        opening = self.front_opening if front else 0
        return opening + self.costs.framing(tools=tools, system=front or first.startswith(_SYSTEM))

    def asked(self, head: bytes) -> int:
        """Raw tokens of what the parameters ask for: a schema of the answer, and how tools may be called."""
        given, costs = _of_head(self._form, head), self.costs
        if given.schema is None and not given.choice and given.parallel:
            return 0
        plain = costs.framing(tools=True, system=True)
        return (
            costs.schema(given.schema)
            + costs.framing(tools=True, system=True, choice=given.choice, parallel=given.parallel)
            - plain
        )

    def tools_tokens(self, wire: bytes) -> int:
        """Raw tokens of tool schemas, by the rules of the model."""
        tools = msgspec.json.decode(wire)
        # Converse has its tools below a key of their own.
        return self.costs.tools(self._outline({"tools": tools, "toolConfig": {"tools": tools}}).tools)

    def image_tokens(self, image: Image) -> int:
        """Raw tokens of an image or a document, by its size and the rules of the model."""
        size = (image.width, image.height) if image.width and image.height else None
        return self.costs.media(Media("document" if image.media_type == PDF else "image", image.data, size=size))

    def read_tokens(self, body: Mapping[str, Any]) -> int:
        """Raw tokens of all that the messages of a body hold, without their openings, as estimates read it."""
        return sum(self.costs.part(part) for message in self._outline(body).messages for part in message.parts)

    @property
    def _form(self) -> str:
        return self.provider.partition(":")[0]

    def _outline(self, body: Mapping[str, Any]) -> Outline:
        return outlined(self._form, body)

    # --- rendering --------------------------------------------------------------------------------------------------
    @abc.abstractmethod
    def units(self, item: Item, *, reasoning: bool = True, call: ToolCall | None = None) -> list[Unit]:
        """The units of an item; none where the provider would refuse all of it.

        Args:
            item: What to render. An `AssistantTurn` has one unit at most.
            reasoning: Whether reasoning may be replayed; not where the prefix that it was made on has changed.
            call: The call that a `ToolResult` answers; some formats name its tool again.
        """

    def left_out(self, image: Image, view: Sequence[Image]) -> str:
        """Why an image or a document may not be shown beside those in view, in a few words; empty where it may be.

        Both are as `pictures.noted` has them, without their data.
        """
        del image, view
        return ""

    @abc.abstractmethod
    def text_unit(self, text: str) -> Unit:
        """A unit that says something to the model on the application's behalf."""

    @abc.abstractmethod
    def front_part(self, segment: Segment, text: str) -> Part:
        """One part of segments 1 to 5."""

    @abc.abstractmethod
    def tools(self, tools: Sequence[Tool]) -> Tools:
        """The tool schemas."""

    @abc.abstractmethod
    def fields(self, params: Mapping[str, Any], max_tokens: int) -> dict[str, Any]:
        """What stands in the body beside tools and messages."""

    def head(self, params: Mapping[str, Any], max_tokens: int) -> bytes:
        """The body up to where tools and messages follow, made at once: later changes of `params` change no request.

        Without parameters it is kept, since most requests are alike.

        Raises:
            InputError: A parameter has no JSON form.
        """
        if params:
            return self._head(params, max_tokens)
        kept = self._plain
        if kept[0] != max_tokens:
            self._plain = kept = max_tokens, self._head(params, max_tokens)
        return kept[1]

    def _head(self, params: Mapping[str, Any], max_tokens: int) -> bytes:
        fields = self.fields(params, max_tokens)
        try:
            return msgspec.json.encode(fields)[:-1]
        except (TypeError, UnicodeEncodeError) as reason:
            raise InputError(f"a parameter among {sorted(map(str, params))} has no JSON form: {reason}") from reason

    @abc.abstractmethod
    def pieces(self, frame: Frame) -> list[Buffer]:
        """The body of a request as buffers to be joined."""

    def cached_content(self, frame: Frame, seconds: float) -> bytes:
        """The body that makes tools and front of a request a cached content, where the provider has such.

        Raises:
            InputError: It has none.
        """
        del frame, seconds
        raise InputError(
            f"{self.provider} has no contents that are cached before they are used; of all formats gemini has"
        )

    def pieces_on(self, frame: Frame, name: str) -> list[Buffer]:
        """The body of a request behind a cached content, without what that holds.

        Raises:
            InputError: The provider has none, or a parameter may not go with it.
        """
        del name
        self.cached_content(frame, 0)
        return self.pieces(frame)

    def headers(self) -> dict[str, str]:
        """Headers that go with the body; the caller adds its credentials."""
        return {"content-type": "application/json"}

    def ending(self, group: int | None) -> Unit | None:
        """A unit for a request that may not end with units of this group; None where it may."""
        del group
        return None

    def bridge(self, before: int, group: int) -> Unit | None:
        """A unit to stand between units of two groups that may not follow each other; None where they may."""
        del before, group
        return None

    def check_params(self, params: Mapping[str, Any]) -> None:
        """Refuse parameters that the adapter sets itself.

        Raises:
            ParameterConflict: Names the key and what to use instead.
        """
        for key in params:
            if key in self.owned:
                raise ParameterConflict(
                    f"params[{key!r}] is set by muntin for {self.provider}: change the session's system, capabilities "
                    "or adapter instead"
                )

    def check_tools(self, tools: Sequence[Tool]) -> None:
        """Refuse tools that the provider would refuse.

        Raises:
            InvalidTool: Says which, and the limit.
        """
        del tools

    @abc.abstractmethod
    def max_tokens_of(self, params: Mapping[str, Any]) -> int | None:
        """The answer's token limit that the caller asked for, if any."""

    # --- reading ----------------------------------------------------------------------------------------------------
    @abc.abstractmethod
    def parse(self, response: Mapping[str, Any] | bytes) -> Parsed:
        """A whole response.

        Raises:
            ResponseError: It is not of the provider's form.
        """

    def read(self, response: Mapping[str, Any] | bytes) -> Parsed:
        """The same of any response whatever: what is wrong with it is never more than a `ResponseError`.

        Raises:
            ResponseError: It is not of the provider's form.
        """
        try:
            found = self.parse(response)
            _require_form(found)
        except ResponseError:
            raise
        except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as reason:
            raise ResponseError(f"the answer is not of the form of {self.provider}: {reason!r}") from reason
        return found

    def failure(self, error: object) -> Failure:
        """Why a request came to nothing, by an exception of any SDK or HTTP client, or by the body of an answer."""
        return failure(error, self.overflows)

    @abc.abstractmethod
    def accumulator(self) -> Accumulator:
        """What puts the events of a streamed answer together."""

    @abc.abstractmethod
    def adopt(self, body: Mapping[str, Any] | bytes) -> Adopted:
        """A request body that muntin did not make, taken apart.

        Raises:
            InputError: It is not of the provider's form.
        """

    @staticmethod
    @abc.abstractmethod
    def findings(body: dict[str, Any]) -> list[Finding]:
        """What the provider would refuse in a body; `check` is the public face of it."""

    @classmethod
    def check(cls, body: Mapping[str, Any] | bytes) -> list[Finding]:
        """What the provider would refuse in a request body, whoever made it; empty when it is fine. O(body).

        Only rules between the parts of a body and of their form are known here, not what a model or an account may do.

        Raises:
            InputError: The body is no JSON object, or none of this format's.
        """
        whole = dict(decoded(body, "the request body", InputError))
        if cls.messages not in whole and not whole.keys() & _ELSEWHERE:
            raise InputError(
                f"the request body has no {cls.messages!r}, as {cls.provider} wants it, but {sorted(whole)}: "
                "whose is it?"
            )
        try:
            return cls.findings(whole)
        except (AttributeError, LookupError, TypeError, ValueError) as reason:
            raise InputError(f"the request body is not of the form of {cls.provider}: {reason!r}") from reason

    # --- shared by the formats --------------------------------------------------------------------------------------
    def tail_pieces(self, frame: Frame) -> list[Buffer]:
        """The tail's units with what stands before them, and what closes the last group."""
        pieces: list[Buffer] = []
        group = frame.history.group(frame.units - 1) if frame.units else None
        for unit in frame.tail:
            if group is None:
                pieces.append(self.groups[unit.group][0])
            elif unit.group == group:
                pieces.append(b",")
            else:
                pieces.append(self.groups[group][1] + b"," + self.groups[unit.group][0])
            pieces.append(unit.wire)
            group = unit.group
        if group is not None:
            pieces.append(self.groups[group][1])
        return pieces

    def tail_tokens(self, frame_group: int | None, tail: Sequence[Unit]) -> int:
        """Raw tokens of a tail behind a unit of the given group, openings included."""
        total = 0
        for unit in tail:
            total += unit.tokens + (self.groups[unit.group][2] if unit.group != frame_group else 0)
            frame_group = unit.group
        return total

    def count(self, text: str) -> int:
        """Raw tokens of a text: exact where the model's tokenizer is public."""
        return self.costs.text(text)


def _require_form(found: Parsed) -> None:
    """Refuse values of another type than their field's, which nothing before has looked at. O(parts), not O(text).

    Raises:
        TypeError: Names the part and the value.
    """
    if not isinstance(found.turn.finish, str):
        raise TypeError(f"the reason to stop is {found.turn.finish!r}")
    for part in found.turn.parts:
        for field in part.__struct_fields__:
            if not isinstance(value := getattr(part, field), str):
                raise TypeError(f"{field} of a {type(part).__name__} is {value!r}")
    for field in found.usage.__struct_fields__ if found.usage else ():
        if type(value := getattr(found.usage, field)) is not int:
            raise TypeError(f"{field} of the usage is {value!r}")


def decoded(value: Mapping[str, Any] | bytes, what: str, error: type[InputError] = ResponseError) -> Mapping[str, Any]:
    """A JSON object from bytes or from what an SDK has decoded already.

    Raises:
        InputError: The given kind of it: the bytes are no JSON object.
    """
    if isinstance(value, Mapping):
        return value
    if not isinstance(value, bytes | bytearray | memoryview | str):
        hint = "; pass its model_dump()" if hasattr(value, "model_dump") else ""
        raise error(f"{what} must be a JSON object as a dict or as bytes, not {type(value).__name__}{hint}")
    try:
        return msgspec.json.decode(value, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeError) as reason:
        raise error(f"{what} is no JSON object: {reason}; it begins with {value[:80]!r}") from reason


@functools.lru_cache(maxsize=256)
def _of_head(form: str, head: bytes) -> Outline:
    """What the parameters in the head of a body say that is billed; heads are the same from request to request."""
    return outlined(form, msgspec.json.decode(head + b"}"))
