"""How large and how many images and documents may be, for which each provider has limits of its own.

Sizes are read off headers and lengths, so that only what stands in the body itself is judged, not what an address leads
to. Ollama has no limits of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Final, NamedTuple

from muntin.checks.finding import Body, Finding, Findings
from muntin.counting.images import image_size, pages
from muntin.counting.media import Media
from muntin.limits import WIDE, limits

__all__ = ["Shown", "anthropic", "bedrock", "gemini", "openai", "shown"]

MEGABYTE: Final = 1_048_576
SIDE: Final = 8000
"""Pixels of a side that Anthropic and Bedrock take."""
MANY: Final = 20
"""Images of a request beyond which Claude takes smaller ones only."""
MANY_SIDE: Final = 2000
"""Pixels of a side that it takes then."""
IMAGE: Final = 5 * MEGABYTE
"""Characters of base64 that Anthropic and Bedrock take of an image."""
PAGES: Final = (100, 600)
"""Pages of all PDFs that Claude takes, in a narrow and in a wide window."""
FILE: Final = 50 * MEGABYTE
"""Bytes of a document that OpenAI and Gemini take."""
DOCUMENTS: Final = 5
"""Documents that Converse takes in a request."""
DOCUMENT: Final = 9 * MEGABYTE // 2
"""Bytes of a document that Converse takes; of PDFs newer models take more."""
SMALLER: Final = "make it smaller, or send its text"


class Shown(NamedTuple):
    """An image or a document of a request, and where its block is."""

    path: str
    media: Media


def shown(places: Iterable[tuple[str, Body]]) -> list[Shown]:
    """Everything among blocks that is no text. O(blocks)."""
    return [Shown(path, media) for path, block in places if (media := Media.of(block))]


def anthropic(found: list[Shown], window: int) -> Findings:
    """What the Messages API does not take, for a model with a window of so many tokens; 0 where it is not known."""
    images = _images(found)
    most = limits("anthropic").images_for(window or WIDE + 1)
    if len(images) > most:
        text = f"too many images and documents: {len(images)} + 0 > {most}"
        yield Finding("AM18", images[most].path, text, "leave older images out")
    yield from _sides("AM18", images, "image.source.base64.data")
    for path, media in images:
        if len(media.data) > IMAGE:
            text = f"{path}.image.source.base64: image exceeds 5 MB maximum: {len(media.data)} bytes > {IMAGE} bytes"
            yield Finding("AM18", path, text, "make it smaller: an image of this size is scaled down anyway")
    total, most = 0, PAGES[not window or window > WIDE]
    for path, media in _documents(found):
        total += pages(media.data)
        if total > most:
            text = f"{path}.pdf.source.base64.data: A maximum of {most} PDF pages may be provided."
            yield Finding("AM23", path, text, "send the pages that matter, or their text")
            break
    yield from _together("AM23", "anthropic", found, "Request exceeds the maximum size")


def bedrock(found: list[Shown], names: Iterable[tuple[str, str]], *, claude: bool) -> Findings:
    """What Converse does not take.

    Args:
        found: Images and documents.
        names: The paths and names of the documents.
        claude: Whether the model is one of Anthropic's, as far as the body says.
    """
    images, documents = _images(found), _documents(found)
    yield from _sides("BC14", images, "image.source.bytes", many=MANY if claude else len(images))
    for path, media in images:
        if len(media.data) > IMAGE:
            text = f"{path}.image.source.bytes: image exceeds 5 MB maximum: {len(media.data)} bytes > {IMAGE} bytes"
            yield Finding("BC14", path, text, "make it smaller than 3.75 MB, which base64 makes 5 of")
    for path, media in documents:
        if media.bytes > DOCUMENT and not media.data.startswith("JVBERi"):
            text = "The maximum document size is 4.5 MB. Reduce the size of your document and retry your request."
            yield Finding("BC15", path, text, SMALLER)
    if claude:
        yield from _together("BC14", "bedrock", found, "Input is too long for requested model.")
    if len(documents) > DOCUMENTS:
        text = (
            f"You can't include more than {DOCUMENTS} documents in a request. Reduce the number of documents and retry "
            "your request."
        )
        yield Finding("BC15", documents[DOCUMENTS].path, text, "leave older documents out, or send their text")
    for (_, before), (path, name) in pairwise(sorted(names, key=lambda one: one[1])):
        if name == before:
            text = "Messages can't contain duplicate document names. Rename the document and retry your request."
            yield Finding("BC16", f"{path}.name", text, "give each document a name of its own, or show it once")


def openai(rule: str, form: str, found: list[Shown]) -> Findings:
    """What OpenAI's servers do not take, in one of its two formats."""
    yield from _number(rule, form, _images(found), "Too many images in request. Max is {most}.")
    for path, media in _documents(found):
        if media.bytes > FILE:
            text = "The file is too large: a file may have 50 MB at most."
            yield Finding(rule, path, text, SMALLER)
    yield from _together(rule, form, found, "The request is too large: 512 MB at most.")


def gemini(found: list[Shown]) -> Findings:
    """What generateContent does not take."""
    yield from _number("GG14", "gemini", _images(found), "The request has more than {most} images.")
    for path, media in _documents(found):
        if media.bytes > FILE:
            text = "The document is too large: 50 MB at most."
            yield Finding("GG14", path, text, SMALLER)
    most = limits("gemini").bytes
    yield from _together("GG14", "gemini", found, f"Request payload size exceeds the limit: {most} bytes.")


def _images(found: Iterable[Shown]) -> list[Shown]:
    return [one for one in found if one.media.kind == "image"]


def _documents(found: Iterable[Shown]) -> list[Shown]:
    return [one for one in found if one.media.kind == "document" and not one.media.text]


def _sides(rule: str, images: list[Shown], below: str, many: int = MANY) -> Findings:
    most, why = (MANY_SIDE, " for many-image requests") if len(images) > many else (SIDE, "")
    for path, media in images:
        size = image_size(media)
        if size and max(size) > most:
            text = f"{path}.{below}: At least one of the image dimensions exceed max allowed size{why}: {most} pixels"
            yield Finding(rule, path, text, f"make it smaller than its {size[0]} x {size[1]} pixels")


def _number(rule: str, form: str, images: list[Shown], text: str) -> Findings:
    most = limits(form).images
    if len(images) > most:
        yield Finding(rule, images[most].path, text.format(most=most), "leave older images out")


def _together(rule: str, form: str, found: list[Shown], text: str) -> Findings:
    """All that is inline must fit in a body."""
    size, most = sum(len(media.data) for _, media in found), limits(form).bytes
    if size > most:
        yield Finding(rule, found[-1].path, text, f"leave out some of the {size:,} characters of images and documents")
