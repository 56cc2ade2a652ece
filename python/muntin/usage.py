"""What a provider billed for one request, normalised: providers differ in what their input count includes."""

from __future__ import annotations

import msgspec

__all__ = ["Usage"]


class Usage(msgspec.Struct, frozen=True, omit_defaults=True):
    """Billed tokens of one request.

    Attributes:
        input: The whole input, read from a cache or not.
        cached: The part of `input` that was read from the provider's cache.
        written: The part of `input` that was written to it.
        output: The output, reasoning included.
    """

    input: int = 0
    cached: int = 0
    written: int = 0
    output: int = 0

    @property
    def possible(self) -> bool:
        """Whether it can be a bill; servers that do not count say 0, or part of an input that they leave out."""
        parts = (self.cached, self.written, self.output)
        return self.input > 0 and min(parts) >= 0 and self.cached + self.written <= self.input
