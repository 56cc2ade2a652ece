"""Small values that several logs write in the same way: times, images, JSON that should be text."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from muntin.items import Image
from muntin.transcripts.lines import compact

__all__ = ["as_arguments", "as_text", "epoch", "image_at", "integer", "mapping", "objects"]


MEDIA_TYPES = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}


def as_text(value: Any) -> str:
    """A string as it is, nothing as the empty string, and any other JSON value as its compact text."""
    if isinstance(value, str):
        return value
    return "" if value is None else compact(value)


def as_arguments(raw: str) -> str:
    """The arguments of a tool whose input is free text: one JSON string under the key `input`."""
    return compact({"input": raw})


def integer(value: Any) -> int:
    """A count, or 0 where the log has no number."""
    return int(value) if isinstance(value, int | float) else 0


def mapping(value: Any) -> dict[str, Any]:
    """A JSON object, or an empty one where the log has something else."""
    return value if isinstance(value, dict) else {}


def objects(value: Any) -> list[dict[str, Any]]:
    """The JSON objects of an array; nothing where the log has something else."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def epoch(value: Any) -> float:
    """Seconds since the epoch from an ISO 8601 time or a number of seconds; 0.0 where it is neither."""
    if isinstance(value, int | float):
        return float(value)
    try:
        time = datetime.fromisoformat(value)
        return time.replace(tzinfo=time.tzinfo or UTC).timestamp()
    except (TypeError, ValueError, OverflowError):
        return 0.0


def image_at(url: str) -> Image:
    """An image by its URL, inline if that is a `data:` URL; the media type is empty where the URL does not tell it."""
    if url.startswith("data:"):
        head, _, data = url.removeprefix("data:").partition(",")
        return Image(head.partition(";")[0], data=data)
    suffix = url.partition("?")[0].rpartition(".")[2].lower()
    return Image(MEDIA_TYPES.get(suffix, ""), url=url)
