"""Images and PDF documents that a provider would refuse become a word; a kind is what the data says it is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from muntin.counting.media import dimensions
from muntin.items import Content, Image, Text

__all__ = ["ANY", "CLAUDE", "CROWDED", "PDF", "PICTURES", "WEB", "Sizes", "crowded", "kind_of", "noted", "shown"]

PICTURES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""The kinds that OpenAI, Anthropic and most others take."""

PDF: Final = "application/pdf"
"""The kind of a document, which many providers take in another kind of block."""

WEB: Final = ("https://", "http://")
"""What the address of an image begins with where a provider fetches it."""

MANY: Final = 20
"""Images of a request beyond which Claude takes none with more pixels a side than `MANY_SIDE`."""
MANY_SIDE: Final = 2000
CROWDED: Final = "cannot be shown beside so many"
"""What is said of an image that is left out for this."""


class Sizes(NamedTuple):
    """The largest image and document that a provider takes.

    Attributes:
        side: Pixels across or down an image; 0 for any.
        image: Characters of its base64; 0 for any.
        document: Characters of the base64 of a document; 0 for any.
    """

    side: int = 0
    image: int = 0
    document: int = 0


ANY: Final = Sizes(document=69_905_064)
"""What OpenAI and Gemini take: images of any size, documents of 50 MB."""

CLAUDE: Final = Sizes(side=8000, image=5_242_880, document=32_000_000)
"""What Anthropic takes, and Bedrock too."""

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


def shown(
    content: Content, kinds: frozenset[str] = PICTURES, schemes: tuple[str, ...] = WEB, sizes: Sizes = ANY
) -> Content:
    """Content with every image that a provider does not take replaced by a text that names it. O(parts).

    Servers compare an image with what it is said to be, so the kind is told from the data where that shows it.

    Args:
        content: What is to be shown.
        kinds: Media types that the provider takes.
        schemes: What addresses that it fetches begin with.
        sizes: How large images and documents may be.

    Examples:
        >>> png, tiff = shown((Image("image/*", data="iVBORw0KGgo="), Image("image/tiff", data="SUkqAA==")))
        >>> png.media_type, tiff
        ('image/png', Text(text='[image image/tiff]'))
    """
    if not any(isinstance(part, Image) for part in content):
        return content
    return tuple(_shown(part, kinds, schemes, sizes) if isinstance(part, Image) else part for part in content)


def kind_of(image: Image) -> str:
    """The media type of an image, told from the data where that shows it."""
    return next((known for begin, known in _MAGIC if image.data.startswith(begin)), image.media_type)


def noted(image: Image) -> Image:
    """What is kept of an image in view: its kind and size, and what tells a document from another. O(bytes)."""
    import hashlib  # noqa: PLC0415  (few sessions have documents, and it costs start-up time)

    kind = kind_of(image)
    if kind == PDF:
        return Image(kind, url=image.url or hashlib.sha256(image.data.encode()).hexdigest())
    width, height = dimensions(image.data) or (image.width, image.height)
    return Image(kind, url=image.url, width=width, height=height)


def crowded(image: Image, view: Iterable[Image]) -> bool:
    """Whether an image and those in view, all as `noted`, are too many for Claude to take the largest. O(images)."""
    images = [one for one in (*view, image) if one.media_type != PDF]
    return len(images) > MANY and any(max(one.width, one.height) > MANY_SIDE for one in images)


def _side(image: Image) -> int:
    """The longer side in pixels; 0 where it cannot be told."""
    return max(dimensions(image.data) or (image.width, image.height))


def _shown(image: Image, kinds: frozenset[str], schemes: tuple[str, ...], sizes: Sizes) -> Image | Text:
    if image.url:
        if not image.url.startswith(schemes):
            return _word(image.media_type, image.url)
        kind = image.media_type
        if kind.endswith("*"):
            path = image.url.partition("?")[0].lower()
            kind = next((known for ending, known in _ENDINGS.items() if path.endswith(ending)), kind)
        refused = not kind.endswith("*") and kind not in kinds
    else:
        kind = kind_of(image)
        most = sizes.document if kind == PDF else sizes.image
        refused = kind not in kinds or 0 < most < len(image.data) or (0 < sizes.side < _side(image) and kind != PDF)
    if refused:
        return _word(kind, image.url)
    return image if kind == image.media_type else Image(kind, image.data, image.url, image.width, image.height)


def _word(kind: str, url: str) -> Text:
    return Text(f"[{'document' if kind == PDF else 'image'} {url or kind}]")
