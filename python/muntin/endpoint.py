"""Where requests of a wire format are POSTed: one URL, one model, by httpx.

Needs `pip install 'muntin[http]'`; httpx is imported when the first request is sent. Proxies and certificates are taken
from the environment, as httpx does. Redirects are not followed, so that credentials go to no other host.
"""

from __future__ import annotations

import urllib.parse
from collections.abc import Mapping
from typing import Any

from muntin.exceptions import EndpointError, InputError
from muntin.failures import Failure
from muntin.providers.base import Adapter

__all__ = ["Endpoint", "is_passing"]


class Endpoint:
    """Sends bodies of a wire format and gives the responses as they come. To be used from any thread.

    Args:
        url: The API's root, below which the adapter's path is added; what of the path it has already is not repeated,
            so that roots with and without `/v1` and whole addresses do. A query stays.
        adapter: The wire format and the model.
        headers: What goes with each request beside the format's own headers: credentials.
        timeout: Seconds until a connection stands, and between any two pieces of a response.

    Raises:
        InputError: The URL is none of `http` or `https`.
    """

    def __init__(self, url: str, adapter: Adapter, headers: Mapping[str, str], timeout: float) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise InputError(f"{url!r} is no address of an API: it begins with https:// and a host")
        self._adapter = adapter
        self._url = parts._replace(path=_joined(parts.path, adapter.path), fragment="").geturl()
        # Credentials may stand in a query or before the host; no message says more than host and path.
        self._name = f"{parts.hostname}{_joined(parts.path, adapter.path)}"
        self._headers = {**adapter.headers(), **headers}
        self._timeout = timeout

    def __repr__(self) -> str:
        return f"Endpoint({self._name!r}, {self._adapter!r})"

    def post(self, body: bytes) -> bytes:
        """Send a body and give the response.

        Raises:
            EndpointError: It answered with a failure, or the line broke.
            ImportError: httpx is not installed.
        """
        httpx = _httpx()
        try:
            with httpx.Client(timeout=self._timeout) as client:
                return self._read(client.post(self._url, content=body, headers=self._headers))
        except httpx.HTTPError as reason:
            raise self._broken(reason) from reason

    async def apost(self, body: bytes) -> bytes:
        """As `post`; a cancellation closes the connection."""
        httpx = _httpx()
        try:
            async with httpx.AsyncClient(timeout=self._timeout) as client:
                return self._read(await client.post(self._url, content=body, headers=self._headers))
        except httpx.HTTPError as reason:
            raise self._broken(reason) from reason

    def _read(self, response: Any) -> bytes:
        if response.is_success:
            content: bytes = response.content
            return content
        known = self._adapter.failure(_Status(response))
        raise EndpointError(
            f"{self._name} answered {response.status_code}, {known.kind}: {known.message[:500]}"
            + _way_out(known, self._adapter),
            failure=known,
        )

    def _broken(self, reason: Exception) -> EndpointError:
        known = Failure("transient", f"{type(reason).__name__}: {reason}")
        return EndpointError(f"the line to {self._name} broke: {known.message}", failure=known)


class _Status(Exception):
    """A response with an error status, as SDKs raise it. The words of httpx's own would name the query."""

    def __init__(self, response: Any) -> None:
        super().__init__("")
        self.response = response
        self.status_code = response.status_code


def is_passing(error: BaseException) -> bool:
    """Whether the same request may be answered later: the line broke, too many came at once, or a server is down."""
    return isinstance(error, EndpointError) and error.failure.kind in ("rate", "transient")


def _way_out(known: Failure, adapter: Adapter) -> str:
    if known.kind == "overflow":
        return (
            f"; {adapter.model.name!r} was taken to have a window of {adapter.model.window} tokens: register it with "
            "its own"
        )
    return "; give credentials in headers" if known.kind == "auth" else ""


def _joined(root: str, path: str) -> str:
    """The path below a root, without what both have: the longest end of one that is a beginning of the other."""
    root = root.rstrip("/")
    for size in range(len(path), 0, -1):
        if root.endswith(path[:size]) and path[size : size + 1] in ("", "/"):
            return root + path[size:]
    return root + path


def _httpx() -> Any:
    try:
        import httpx  # noqa: PLC0415  (an extra)
    except ImportError as reason:
        raise ImportError("requests over HTTP need httpx: pip install 'muntin[http]'") from reason
    return httpx
