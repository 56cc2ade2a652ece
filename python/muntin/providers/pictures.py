"""Images and PDF documents that a provider would refuse become a word; a kind is what the data says it is."""

from __future__ import annotations

from typing import Final

from muntin.items import Content, Image, Text

__all__ = ["PDF", "PICTURES", "WEB", "shown"]

PICTURES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""The kinds that OpenAI, Anthropic and most others take."""

PDF: Final = "application/pdf"
"""The kind of a document, which many providers take in another kind of block."""

WEB: Final = ("https://", "http://")
"""What the address of an image begins with where a provider fetches it."""

_MAGIC: Final = (
    ("iVBORw0KGgo", "image/png"),
    ("/9j/", "image/jpeg"),
    ("R0lGOD", "image/gif"),
    ("UklGR", "image/webp"),
    ("JVBERi", PDF),
)
"""The first bytes of each kind, as base64 has them."""

_ENDINGS: Final = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".gif": "image/gif",
    ".webp": "image/webp",
    ".pdf": PDF,
}


def shown(content: Content, kinds: frozenset[str] = PICTURES, schemes: tuple[str, ...] = WEB) -> Content:
    """Content with every image that a provider does not take replaced by a text that names it. O(parts).

    Servers compare an image with what it is said to be, so the kind is told from the data where that shows it.

    Args:
        content: What is to be shown.
        kinds: Media types that the provider takes.
        schemes: What addresses that it fetches begin with.

    Examples:
        >>> png, tiff = shown((Image("image/*", data="iVBORw0KGgo="), Image("image/tiff", data="SUkqAA==")))
        >>> png.media_type, tiff
        ('image/png', Text(text='[image image/tiff]'))
    """
    if not any(isinstance(part, Image) for part in content):
        return content
    return tuple(_shown(part, kinds, schemes) if isinstance(part, Image) else part for part in content)


def _shown(image: Image, kinds: frozenset[str], schemes: tuple[str, ...]) -> Image | Text:
    if image.url:
        if not image.url.startswith(schemes):
            return _word(image.media_type, image.url)
        kind = image.media_type
        if kind.endswith("*"):
            path = image.url.partition("?")[0].lower()
            kind = next((known for ending, known in _ENDINGS.items() if path.endswith(ending)), kind)
        refused = not kind.endswith("*") and kind not in kinds
    else:
        kind = next((known for begin, known in _MAGIC if image.data.startswith(begin)), image.media_type)
        refused = kind not in kinds
    if refused:
        return _word(kind, image.url)
    return image if kind == image.media_type else Image(kind, image.data, image.url, image.width, image.height)


def _word(kind: str, url: str) -> Text:
    return Text(f"[{'document' if kind == PDF else 'image'} {url or kind}]")
