"""Images, documents and sounds in a request: what kind they are and how large, from the first bytes alone."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any, Final, Literal, NamedTuple, TypeAlias

__all__ = ["Media", "MediaKind", "dimensions"]

MediaKind: TypeAlias = Literal["image", "document", "audio", "video"]

HEAD: Final = 512
"""Bytes of an image that say how large it is, but for JPEG."""

JPEG_HEAD: Final = 262_144
"""Bytes of a JPEG image that are searched for its size: previews and colour profiles may stand before it."""

_DATA_URL = re.compile(r"data:([\w.+/-]*)(?:;[\w=.-]+)*;base64,")


class Media(NamedTuple):
    """An image, a document, a sound or a film.

    Attributes:
        kind: Which of them.
        data: Base64 of the bytes, empty where they are elsewhere.
        detail: How closely the model shall look: `low`, `high`, `original` or empty.
        size: Pixels across and down, where they are known beforehand.
        text: The text of a document that is one.
    """

    kind: MediaKind
    data: str = ""
    detail: str = ""
    size: tuple[int, int] | None = None
    text: str = ""

    @classmethod
    def of(cls, block: Mapping[str, Any]) -> Media | None:
        """The media of a block in any wire format, or None where it is something else."""
        for key, kind in _KEYS.items():
            value = block.get(key)
            if value is not None and (key not in ("image", "document", "video") or isinstance(value, Mapping)):
                return cls._from(kind, value, str(block.get("detail") or ""))
        typed = _TYPES.get(str(block.get("type")))
        return cls._from(typed, block.get("source") or block, "") if typed else None

    @classmethod
    def _from(cls, kind: MediaKind, value: Any, detail: str) -> Media:
        if isinstance(value, Mapping):
            detail = str(value.get("detail") or value.get("mediaResolution") or detail)
            mime = str(value.get("mimeType") or value.get("mime_type") or value.get("media_type") or "")
            kind = _MIMES.get(mime.partition("/")[0], "document") if mime else kind
            if value.get("type") == "text":
                return cls("document", text=str(value.get("data") or ""))
            source = value.get("source")
            inner = source.get("bytes") if isinstance(source, Mapping) else None
            value = value.get("url") or value.get("data") or value.get("file_data") or inner or ""
        if isinstance(value, bytes):  # as boto3 has them
            value = base64.b64encode(value).decode()
        text = value if isinstance(value, str) else ""
        head = _DATA_URL.match(text)
        if head:
            text = text[head.end() :]
        elif text.startswith(("http:", "https:", "gs:", "s3:", "file:")):
            text = ""
        return cls(kind, text, detail)

    @property
    def bytes(self) -> int:
        """About how many bytes it has; 0 where they are elsewhere."""
        return len(self.data) * 3 // 4


_KEYS: Final[dict[str, MediaKind]] = {
    "image_url": "image", "input_audio": "audio", "file": "document", "file_data": "document", "inlineData": "image",
    "inline_data": "image", "fileData": "document", "image": "image", "document": "document", "video": "video",
}  # fmt: skip
_TYPES: Final[dict[str, MediaKind]] = {
    "image": "image", "input_image": "image", "document": "document", "input_file": "document", "audio": "audio",
}  # fmt: skip
_MIMES: Final[dict[str, MediaKind]] = {"image": "image", "audio": "audio", "video": "video"}


def dimensions(data: str) -> tuple[int, int] | None:
    """Pixels across and down of a PNG, JPEG, GIF or WebP image in base64, or None. Reads its header alone.

    Examples:
        >>> dimensions("iVBORw0KGgoAAAANSUhEUgAABAAAAAMACAIAAAA=")
        (1024, 768)
    """
    head = _decoded(data, HEAD)
    if head[:8] == b"\x89PNG\r\n\x1a\n" and len(head) >= 24:
        size = int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")
    elif head[:6] in (b"GIF87a", b"GIF89a") and len(head) >= 10:
        size = int.from_bytes(head[6:8], "little"), int.from_bytes(head[8:10], "little")
    elif head[:4] == b"RIFF" and head[8:12] == b"WEBP" and len(head) >= 30:
        size = _webp(head)
    elif head[:2] == b"\xff\xd8":
        size = _jpeg(_decoded(data, 8 * HEAD))
        if not size[0]:
            size = _jpeg(_decoded(data, JPEG_HEAD))
    else:
        return None
    return size if size[0] > 0 and size[1] > 0 else None


def _decoded(data: str, limit: int) -> bytes:
    start = data[: limit // 3 * 4]
    try:
        return base64.b64decode(start[: len(start) // 4 * 4])
    except (binascii.Error, ValueError):
        return b""


def _webp(head: bytes) -> tuple[int, int]:
    match head[12:16]:
        case b"VP8 ":
            return int.from_bytes(head[26:28], "little") & 0x3FFF, int.from_bytes(head[28:30], "little") & 0x3FFF
        case b"VP8L":
            bits = int.from_bytes(head[21:25], "little")
            return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        case b"VP8X":
            return int.from_bytes(head[24:27], "little") + 1, int.from_bytes(head[27:30], "little") + 1
        case _:
            return 0, 0


def _jpeg(head: bytes) -> tuple[int, int]:
    at = 2
    while at + 9 <= len(head) and head[at] == 0xFF:
        marker = head[at + 1]
        if marker == 0xFF:  # filler
            at += 1
        elif 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):  # a start of frame
            return int.from_bytes(head[at + 7 : at + 9], "big"), int.from_bytes(head[at + 5 : at + 7], "big")
        else:
            at += 2 + int.from_bytes(head[at + 2 : at + 4], "big")
    return 0, 0
