"""A request: what `Run.prepare` gives back, ready to be sent."""

from __future__ import annotations

from typing import Any

import msgspec

from muntin.budget import WindowUsage
from muntin.prefix import Forecast
from muntin.providers.base import Adapter, Buffer, Frame

__all__ = ["Request"]


class Request:
    """One model request. It stays as it is, whatever happens to the session afterwards.

    Attributes:
        id: Names the request in `Run.record` and `Run.fail`.
        number: Its number in the session, from 1.
        usage: How full the window is with it.
        forecast: What the provider is expected to read from its cache.
    """

    __slots__ = ("_adapter", "_frame", "forecast", "id", "number", "usage")

    def __init__(
        self,
        *,
        id: str,  # noqa: A002
        number: int,
        adapter: Adapter,
        frame: Frame,
        usage: WindowUsage,
        forecast: Forecast,
    ) -> None:
        self.id = id
        self.number = number
        self.usage = usage
        self.forecast = forecast
        self._adapter = adapter
        self._frame = frame

    def __repr__(self) -> str:
        return f"Request({self.id!r}, {self.usage.tokens} tokens, {self.usage.state})"

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
