"""A request: what `Run.prepare` gives back, ready to be sent."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import msgspec

from muntin.budget import WindowUsage
from muntin.capabilities import Capabilities
from muntin.exceptions import InputError
from muntin.prefix import Forecast
from muntin.providers.base import Adapter, Buffer, Frame

__all__ = ["CachedContent", "Request"]


class CachedContent(msgspec.Struct, frozen=True):
    """Tools and front of a request, to be cached by the provider before requests are sent that begin with them.

    Attributes:
        body: The JSON to POST to `/v1beta/cachedContents`; the answer has the `name` for `Request.body_on`.
        tokens: Tokens of it by the best estimate; each request on it is expected to read so many at least.
    """

    body: bytes
    tokens: int


class Request:
    """One model request. It stays as it is, whatever happens to the session afterwards.

    Attributes:
        id: Names the request in `Run.record` and `Run.fail`.
        number: Its number in the session, from 1.
        capabilities: The snapshot that its tools and guides are from.
    """

    def __init__(
        self,
        *,
        id: str,  # noqa: A002
        number: int,
        adapter: Adapter,
        capabilities: Capabilities,
        frame: Frame,
        usage: Callable[[], WindowUsage],
        forecast: Callable[[], Forecast],
    ) -> None:
        self.id = id
        self.number = number
        self.capabilities = capabilities
        self._adapter = adapter
        self._frame = frame
        self._usage = usage
        self._forecast = forecast

    def __repr__(self) -> str:
        return f"Request({self.id!r}, {self.usage.tokens} tokens, {self.usage.state})"

    @functools.cached_property
    def usage(self) -> WindowUsage:
        """How full the window is with it; added up when it is first looked at. O(segments)."""
        return self._usage()

    @functools.cached_property
    def forecast(self) -> Forecast:
        """What the provider was expected to read from its cache when the request was prepared. O(log units).

        Compared when it is first looked at; where a prefix broke, also O(bytes of what differs).
        """
        return self._forecast()

    @property
    def adapter(self) -> Adapter:
        """The wire format that it is rendered in, whatever the session uses by now."""
        return self._adapter

    @property
    def path(self) -> str:
        """Where to POST the body, below the API's root."""
        return self._adapter.path

    @property
    def stream_path(self) -> str:
        """Where to POST it for an answer that is streamed; see `Run.stream`."""
        return self._adapter.stream_path

    @property
    def headers(self) -> dict[str, str]:
        """Headers that go with the body, credentials not included."""
        return self._adapter.headers()

    @property
    def body(self) -> bytes:
        """The JSON to POST. Each access makes one copy of the kept bytes; `chunks` makes none of complete chunks."""
        return b"".join(self.chunks())

    def chunks(self) -> list[Buffer]:
        """The body as buffers that are not joined, for `writelines` and its like. O(chunks)."""
        return self._adapter.pieces(self._frame)

    def cached_content(self, seconds: float = 3_600) -> CachedContent:
        """Tools and segments 1 to 5 as a content that Gemini caches on demand and for a price by the hour.

        Args:
            seconds: How long it shall live.

        Raises:
            InputError: The format has no such, or they are shorter than the model caches.
        """
        body, adapter, frame = self._adapter.cached_content(self._frame, seconds), self._adapter, self._frame
        raw = (frame.tools.tokens if frame.tools else 0) + sum(part.tokens for part in frame.front)
        tokens, least = adapter.estimate(raw), adapter.model.cache_min
        if tokens < least:
            raise InputError(
                f"tools and system text have about {tokens} tokens, and {adapter.model.name} caches {least} or more"
            )
        return CachedContent(body, tokens)

    def body_on(self, name: str, content: CachedContent) -> bytes:
        """The JSON to POST behind a cached content, without what that holds.

        Args:
            name: What the provider named it.
            content: What it was made of.

        Raises:
            InputError: The request has other tools, another front or another model, so that it needs a content of its
                own; or a parameter may not go with one.
        """
        made, own = (msgspec.json.decode(one) for one in (content.body, self._adapter.cached_content(self._frame, 0)))
        others = sorted(key for key in made.keys() | own.keys() if key != "ttl" and made.get(key) != own.get(key))
        if others:
            raise InputError(
                f"request {self.id!r} has another {' and '.join(others)} than {name!r}: cache a new content"
            )
        return b"".join(self._adapter.pieces_on(self._frame, name))

    def to_dict(self) -> dict[str, Any]:
        """The body as keyword arguments for the provider's SDK."""
        arguments: dict[str, Any] = msgspec.json.decode(self.body)
        return arguments
