"""Tokens of images, documents and sounds, by the rules that providers publish; from their dimensions alone."""

from __future__ import annotations

import base64
import binascii
import math
import re
from typing import Final, Literal

import msgspec

from muntin.counting.media import Media, dimensions

__all__ = ["ImageRule", "MediaRule", "pages"]

DECODED: Final = 16_777_216
"""Bytes of a document that are searched for its pages."""

_PAGE = re.compile(rb"/Type\s*/Page[^s\w]")


class ImageRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How images are billed.

    Attributes:
        kind: `tiles`: a base and so many a tile of 512 pixels, once the image fits in 2,048 pixels and
            its short side in 768.
            `patches`: squares of `patch` pixels, times `factor`, after fitting in `cap` of them.
            `areas`: the same in the largest image that fits.
            `flat`: the same for every image, by detail.
        source: Where the rule is from.
        base: Tokens of an image, of one without detail for tiles.
        tile: Tokens of a tile.
        patch: Pixels of a patch's side.
        factor: Tokens of a patch.
        cap: Patches that an image may have; it is made smaller until it has no more.
        edge: Pixels that the long side may have; it is made smaller until it has no more. 0 for any.
        low: Tokens of an image whose detail is low; 0 where that changes nothing.
        medium: The same for a medium detail.
        ultra: The same for an ultra high detail.
        original: Patches that an image may have whose detail is `original`; 0 where that changes nothing.
    """

    kind: Literal["tiles", "patches", "areas", "flat"]
    source: str
    base: int = 0
    tile: int = 0
    patch: int = 32
    factor: float = 1.0
    cap: int = 0
    edge: int = 0
    low: int = 0
    medium: int = 0
    ultra: int = 0
    original: int = 0

    def tokens(self, size: tuple[int, int] | None, detail: str = "") -> int:
        """Tokens of an image of so many pixels across and down; of the most expensive where that is not known."""
        detail = detail.lower().removeprefix("media_resolution_")  # as Gemini writes it
        told = {"low": self.low, "medium": self.medium, "ultra_high": self.ultra}.get(detail)
        if told:
            return told
        if detail == "original" and self.original:
            return msgspec.structs.replace(self, cap=self.original).tokens(size)
        match self.kind:
            case "tiles":
                return self._tiles(size or (4096, 1536))
            case "patches" | "areas":
                return math.ceil(self._patches(size) * self.factor) if size else math.ceil(self.cap * self.factor)
            case "flat":
                return self.base

    def _tiles(self, size: tuple[int, int]) -> int:
        width, height = float(size[0]), float(size[1])
        shrink = min(1.0, 2048 / max(width, height))
        width, height = width * shrink, height * shrink
        shrink = min(1.0, 768 / min(width, height))
        across, down = math.ceil(width * shrink / 512), math.ceil(height * shrink / 512)
        return self.base + self.tile * across * down

    def _patches(self, size: tuple[int, int]) -> int:
        shrink = min(1.0, self.edge / max(size)) if self.edge else 1.0
        across, down = (max(1.0, side * shrink) / self.patch for side in size)
        if math.ceil(across) * math.ceil(down) <= self.cap:
            return math.ceil(across) * math.ceil(down)
        if self.kind == "areas":
            return self._largest(across, down)
        shrink = math.sqrt(self.cap / (across * down))
        across, down = across * shrink, down * shrink
        shrink = min(max(1, math.floor(side)) / side for side in (across, down))
        return min(self.cap, math.ceil(across * shrink - 1e-9) * math.ceil(down * shrink - 1e-9))

    def _largest(self, across: float, down: float) -> int:
        """Patches of the largest image of this shape that has no more than the cap."""
        fits, too_large = 0.0, 1.0
        for _ in range(40):
            middle = (fits + too_large) / 2
            if math.ceil(across * middle) * math.ceil(down * middle) <= self.cap:
                fits = middle
            else:
                too_large = middle
        return math.ceil(across * fits) * math.ceil(down * fits)


class MediaRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How what is no image is billed; estimates, since no header says how much a model reads.

    Attributes:
        page: Tokens of a page of a document.
        page_bytes: Bytes of a document for each page, where its pages cannot be counted.
        audio_second: Tokens of a second of sound.
        video_second: Tokens of a second of film.
        audio_bytes: Bytes of a second of sound.
        video_bytes: Bytes of a second of film.
    """

    page: int = 1500
    page_bytes: int = 60_000
    audio_second: float = 10.0
    video_second: float = 263.0
    audio_bytes: int = 16_000
    video_bytes: int = 250_000

    def tokens(self, media: Media) -> int:
        """Tokens of a document, a sound or a film; of one page or ten seconds where it is elsewhere."""
        match media.kind:
            case "audio":
                return math.ceil((media.bytes / self.audio_bytes or 10.0) * self.audio_second)
            case "video":
                return math.ceil((media.bytes / self.video_bytes or 10.0) * self.video_second)
            case _:
                counted = pages(media.data)
                return self.page * (counted or max(1, media.bytes // self.page_bytes))


def pages(data: str) -> int:
    """Pages of a PDF in base64 as far as they can be told without reading it; 0 where they cannot."""
    if not data.startswith("JVBERi"):  # %PDF-
        return 0
    try:
        raw = base64.b64decode(data[: DECODED // 3 * 4])
    except (binascii.Error, ValueError):
        return 0
    return len(_PAGE.findall(raw))


def image_size(media: Media) -> tuple[int, int] | None:
    """Pixels across and down, as said or as its header says."""
    return media.size or (dimensions(media.data) if media.data else None)
