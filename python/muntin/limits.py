"""What a provider takes in one request beside tokens: bytes of the body, and images. Data in `limits.json`.

Gateways, clouds and smaller servers take less; `Policy(max_bytes=..., max_images=...)` says so.
"""

from __future__ import annotations

import functools

import msgspec

__all__ = ["WIDE", "Limits", "limits"]

WIDE = 200_000
"""Tokens of a window above which a model counts as one of a wide window."""


class Limits(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """The limits of one provider; 0 where none is known.

    Attributes:
        provider: The wire format, as in `muntin.providers`.
        bytes: Of the whole body.
        images: In one request, whether their data or an address is sent.
        images_wide: The same for models with a window of more than 200,000 tokens, where it is another number.
        source: Where the figures come from.
    """

    provider: str
    bytes: int = 0
    images: int = 0
    images_wide: int = 0
    source: str = ""

    def images_for(self, window: int) -> int:
        """The number of images for a model with a window of so many tokens."""
        return self.images_wide if self.images_wide and window > WIDE else self.images


@functools.cache
def limits(provider: str) -> Limits:
    """The limits of a provider; none for one that is not known.

    Examples:
        >>> limits("anthropic").images_for(200_000), limits("anthropic").images_for(1_000_000)
        (100, 600)
        >>> limits("ollama").bytes
        0
    """
    return next((row for row in _known() if row.provider == provider), Limits(provider=provider))


@functools.cache
def _known() -> tuple[Limits, ...]:
    import importlib.resources  # noqa: PLC0415  (it costs start-up time)

    data = importlib.resources.files("muntin").joinpath("limits.json").read_bytes()
    return msgspec.json.decode(data, type=tuple[Limits, ...])
