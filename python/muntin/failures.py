"""Why a request came to nothing, by what the provider or its SDK said.

SDKs are read by the attributes that their exceptions share, so none of them is imported. Words for the kinds:
https://platform.openai.com/docs/guides/error-codes, https://docs.claude.com/en/api/errors,
https://ai.google.dev/gemini-api/docs/troubleshooting,
https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html#API_runtime_Converse_Errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Literal, TypeAlias

import msgspec

from muntin.exceptions import ResponseError, StreamBroken

__all__ = ["Failure", "FailureKind", "failure", "given_as_answer"]

FailureKind: TypeAlias = Literal["overflow", "rate", "quota", "auth", "refused", "transient", "unknown"]


class Failure(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why a request came to nothing.

    Attributes:
        kind: `overflow`: it is too long, compact the session. `rate`: too many at once, wait. `quota`: nothing is left
            to spend. `auth`: the credentials do not allow it. `refused`: the provider will not take this body, see
            `muntin check`. `transient`: the provider or the way to it is out of order, try again. `unknown`: none of
            these can be told.
        message: What was said.
        status: The HTTP status; 0 where none was given.
        tokens: How long the provider says that the input is; 0 where it does not.
        limit: How long the provider says that it may be; 0 where it does not. Less than the model's window says that
            the window is set wrong.
        wait: Seconds that the provider asks to wait.
        per_minute: Whether `limit` is what may be sent in a minute and says nothing of the window.
    """

    kind: FailureKind
    message: str
    status: int = 0
    tokens: int = 0
    limit: int = 0
    wait: float = 0.0
    per_minute: bool = False

    @property
    def retryable(self) -> bool:
        """Whether the same request may fare better later."""
        return self.kind in ("rate", "transient", "unknown")


_WORDS: Final[tuple[tuple[FailureKind, str], ...]] = (
    ("overflow", r"context_length_exceeded|request_too_large"),
    ("quota", r"insufficient_quota|billing_error|billing_hard_limit_reached|servicequotaexceededexception"),
    ("auth", r"authentication_error|permission_error|invalid_api_key|unauthenticated|permission_denied"),
    ("auth", r"accessdeniedexception|unrecognizedclientexception|expiredtokenexception|invalidsignatureexception"),
    ("rate", r"rate_limit_(?:error|exceeded)|resource_exhausted|throttlingexception|toomanyrequestsexception"),
    ("transient", r"overloaded_error|api_error|server_error|timeout_error|unavailable|internal|deadline_exceeded"),
    ("transient", r"(?:internalserver|serviceunavailable|modeltimeout|modelnotready|modelstreamerror)exception"),
    ("transient", r"\w*(?:timeout|connect|connection|network|protocol)(?:error|exception)?"),
    ("refused", r"invalid_request_error|invalid_argument|validationexception|not_found(?:_error)?"),
)
"""Codes and names of exceptions, in the order in which they decide."""

_STATUS: Final[dict[int, FailureKind]] = {
    401: "auth",
    402: "quota",
    403: "auth",
    408: "transient",
    409: "transient",
    413: "overflow",
    425: "transient",
    429: "rate",
}
_SPENT: Final = re.compile(r"credit balance is too low|exceeded your current quota|insufficient balance", re.IGNORECASE)


def failure(error: object, overflows: Iterable[re.Pattern[str]] = ()) -> Failure:
    """What kind of failure an error is.

    Args:
        error: An exception of any SDK or HTTP client, a decoded body, or its text or bytes.
        overflows: What the provider says of a request that is too long; groups named `tokens` and `limit` are numbers,
            and one named `minute` says that the limit is a minute's.
    """
    body = _body(error)
    message = " ".join(dict.fromkeys(filter(None, (str(error) if isinstance(error, Exception) else "", *_texts(body)))))
    status, wait = _status(error, body), _wait(error, body)

    def of(kind: FailureKind, *, per_minute: bool = False, **numbers: int) -> Failure:
        said = message or (error if isinstance(error, str) else repr(error))
        return Failure(kind, said, status, wait=wait, per_minute=per_minute, **numbers)

    for overflow in overflows:
        if said := overflow.search(message):
            groups = said.groupdict()
            numbers = {key: int(groups[key].replace(",", "")[:18]) for key in ("tokens", "limit") if groups.get(key)}
            return of("overflow", per_minute="minute" in groups, **numbers)
    if _SPENT.search(message):
        return of("quota")
    words = {word.lower() for word in (*_codes(body), *_names(error))}
    for kind, pattern in _WORDS:
        if any(re.fullmatch(pattern, word) for word in words):
            return of(kind)
    if status >= 400:
        return of(_STATUS.get(status, "transient" if status >= 500 else "refused"))
    return of("transient" if isinstance(error, OSError | StreamBroken) else "unknown")


def given_as_answer(response: object) -> ResponseError | None:
    """What to raise where a body of a failure was given as an answer; None where it is none."""
    body = _body(response)
    if not isinstance(body, Mapping) or not (
        body.get("type") == "error" or isinstance(body.get("error"), Mapping | str)
    ):
        return None
    reason = ResponseError(f"the provider answered with a failure: {' '.join(_texts(body))}; give it to Run.fail")
    reason.body = body
    return reason


def _body(error: object) -> Any:
    """What the provider answered, decoded where it is JSON."""
    given: Any = error
    if isinstance(error, Exception):
        response = getattr(error, "response", None)
        values = (getattr(error, "body", None), getattr(error, "details", None), response)
        found = next((value for value in values if isinstance(value, Mapping | list)), None)
        given = next((value for value in (found, _text(response), values[0]) if value is not None), None)
    if isinstance(given, str | bytes | bytearray):
        try:
            return msgspec.json.decode(given)
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return given if isinstance(given, str) else bytes(given).decode(errors="replace")
    return given


def _text(response: object) -> Any:
    try:
        return getattr(response, "text", None)
    except Exception:  # noqa: BLE001  (an answer that was streamed and not read has no text, as each client says in its own way)
        return None


def _values(body: Any, keys: tuple[str, ...]) -> Iterator[Any]:
    """The values under some keys, from the outside in."""
    if isinstance(body, Mapping):
        yield from (body[key] for key in keys if key in body)
        for value in body.values():
            yield from _values(value, keys)
    elif isinstance(body, list):
        for value in body:
            yield from _values(value, keys)


def _texts(body: Any) -> list[str]:
    if isinstance(body, str):
        return [body]
    return [text for text in _values(body, ("message", "Message", "error", "detail")) if isinstance(text, str)]


def _codes(body: Any) -> list[str]:
    keys = ("code", "type", "status", "Code", "__type")
    return [word.rpartition("#")[2] for word in _values(body, keys) if isinstance(word, str)]


def _names(error: object) -> list[str]:
    """The names of an exception and of those that it is a kind of."""
    return [kind.__name__ for kind in type(error).__mro__] if isinstance(error, Exception) else []


def _status(error: object, body: Any) -> int:
    given = [getattr(error, key, None) for key in ("status_code", "code", "status")]
    given.append(getattr(getattr(error, "response", None), "status_code", None))
    given += _values(body, ("HTTPStatusCode", "code", "status_code"))
    return next((one for one in given if isinstance(one, int) and not isinstance(one, bool) and 100 <= one < 600), 0)


def _pairs(headers: Any) -> Iterable[tuple[Any, Any]]:
    return headers.items() if hasattr(headers, "items") else ()


def _wait(error: object, body: Any) -> float:
    response = getattr(error, "response", None)
    headers: Any = getattr(error if response is None else response, "headers", None)
    given = [value for key, value in _pairs(headers) if str(key).lower() == "retry-after"]
    for value in (*given, *_values(body, ("retryDelay", "retry_after"))):
        if found := re.fullmatch(r"(\d+(?:\.\d+)?)s?", str(value)):
            return float(found[1])
    return 0.0
