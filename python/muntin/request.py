"""A request: what `Run.prepare` gives back, ready to be sent."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import msgspec

from muntin.budget import WindowUsage
from muntin.capabilities import Capabilities
from muntin.prefix import Forecast
from muntin.providers.base import Adapter, Buffer, Frame

__all__ = ["Request"]


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

    def to_dict(self) -> dict[str, Any]:
        """The body as keyword arguments for the provider's SDK."""
        arguments: dict[str, Any] = msgspec.json.decode(self.body)
        return arguments
