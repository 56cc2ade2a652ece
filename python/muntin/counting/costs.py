"""What each part of a request costs for one model, whether a session adds it up or a whole body is counted."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from muntin.counting.formats import FORMATS
from muntin.counting.images import image_size
from muntin.counting.media import Media
from muntin.counting.outline import Message, Outline, Part, Schema, Shape, json_text
from muntin.counting.rules import Rules, image_rule, rules
from muntin.counting.schemas import answer_format, namespace, tool_texts, uncommented
from muntin.exceptions import InputError
from muntin.models import Model
from muntin.tokens import tokenizer

__all__ = ["Costs", "Estimate", "costs_of", "outlined"]

SYSTEM_ROLES: Final = ("system", "developer")

ROUNDING: Final = 2
"""Tokens by which the estimate of a text may lie above those of its parts."""


class Estimate(msgspec.Struct, frozen=True):
    """What a request is expected to be billed for, in tokens of input.

    Attributes:
        tokens: The best estimate; exact, but for what providers add, where the model's tokenizer is public.
        safe: The bound that decisions use; it errs on the high side.
        parts: Best estimates of `system`, `tools`, `messages`, `media`, `schema` and `framing`, where there are any.
    """

    tokens: int
    safe: int
    parts: dict[str, int]


class Costs:
    """The costs of one model, in tokens as billed. Immutable, safe to share.

    Args:
        model: Whose costs.
        given: Other rules than the model's own.
    """

    __slots__ = ("_factor", "_image", "_model", "_tokenizer", "_weights", "rules")

    def __init__(self, model: Model, given: Rules | None = None) -> None:
        self._model = model
        self._tokenizer = tokenizer(model.encoding)
        self.rules = given or rules(model.rules or "other")
        self._weights = self.rules.weights if self.rules.weights.read_texts else None
        self._factor = self.rules.weights.least
        self._image = image_rule(model.image or self.rules.image)

    # --- the parts --------------------------------------------------------------------------------------------------
    def text(self, text: str) -> int:
        """Tokens of a text. O(n)."""
        if not text:
            return 0
        tokens = self._tokenizer.count(text)
        if self._weights is None:
            return max(1, int(self._factor * tokens + 0.5))
        return max(1, self._weights.estimate(tokens, text))

    def sealed(self, content: str) -> int:
        """Tokens of reasoning that only the provider can read, where it goes on with its own."""
        return int(len(content) * self.rules.sealed + 0.5)

    def call(self, name: str, arguments: str) -> int:
        """Tokens of a call of a tool."""
        return self.rules.call + self.rules.call_names * self.text(name) + self.text(arguments)

    def calls(self, number: int) -> int:
        """Tokens of having so many calls in one message."""
        return self.rules.batch if number > 1 else 0

    def media(self, media: Media) -> int:
        """Tokens of an image by its size, or of a document, a sound or a film by what it is made of."""
        if media.text:
            return self.text(media.text)
        if media.kind == "image":
            return self._image.tokens(image_size(media), media.detail)
        return self.rules.media.tokens(media)

    def part(self, part: Part) -> int:
        """Tokens of any part."""
        match part.kind:
            case "call":
                return self.call(part.name, part.text)
            case "result":
                return self.rules.result
            case "sealed":
                return self.sealed(part.text)
            case "media" if part.media is not None:
                return self.media(part.media)
            case _:
                return self.text(part.text)

    def tools(self, shapes: Sequence[Shape]) -> int:
        """Tokens of the tools, where system text stands before them, with the prompt that the provider adds."""
        if not shapes:
            return 0
        given = [shape for shape in shapes if not shape.hosted]
        total = (
            self.rules.tools + self._model.tool_prompt[0] + sum(self.hosted(shape) for shape in shapes if shape.hosted)
        )
        if self.rules.tools_as == "namespace":
            text = self.text(namespace(given)) if given else 0
            return total + text - sum(map(uncommented, given))
        for shape in given:
            told = sum(times * self.text(text) for text, times in tool_texts(shape, self.rules.tools_as))
            total += self.rules.tool + round(self.rules.tool_weight * told)
        return total

    def hosted(self, shape: Shape) -> int:
        """Tokens of a tool that the provider hosts; what it finds is billed besides, and cannot be known beforehand."""
        known = (tokens for name, tokens in self.rules.hosted.items() if shape.name.startswith(name))
        return next(known, 0) or self.text(shape.hosted)

    def schema(self, schema: Schema | None) -> int:
        """Tokens of the schema that the answer has to follow."""
        if schema is None:
            return 0
        told = answer_format(schema) if self.rules.tools_as == "namespace" else json_text(schema.schema)
        return self.rules.schema + round(self.rules.schema_weight * self.text(told))

    def framing(self, *, tools: bool, system: bool, choice: str = "", parallel: bool = True) -> int:
        """Tokens that belong to no part: the reply's opening, and what depends on how tools may be called.

        Args:
            tools: Whether there are any.
            system: Whether there is system text.
            choice: Which tool has to be called, as in `Outline`.
            parallel: Whether several may be called at once.
        """
        total = self.rules.request
        if tools:
            forced = choice not in ("", "none")
            total += self._model.tool_prompt[1] - self._model.tool_prompt[0] if forced else 0
            total += 0 if system else self.rules.tools_alone
            total += 0 if parallel or forced else self.rules.serial
            if choice.startswith("tool:"):
                total += self.rules.forced + self.text(choice.removeprefix("tool:"))
        return total

    # --- whole requests ---------------------------------------------------------------------------------------------
    def message(self, message: Message) -> int:
        """Tokens of a message with its opening."""
        total = self.rules.message + sum(map(self.part, message.parts))
        total += self.calls(sum(part.kind == "call" for part in message.parts))
        return total + (self.rules.name + self.text(message.name) if message.name else 0)

    def estimate(self, outline: Outline) -> Estimate:
        """What a request is expected to cost."""
        parts = self._shares(outline)
        total = sum(parts.values())
        return Estimate(
            self.billed(total), self.safe(total), {name: tokens for name, tokens in parts.items() if tokens}
        )

    def total(self, outline: Outline) -> int:
        """Tokens of a request before the model's ratio: what a session adds up bit by bit."""
        return sum(self._shares(outline).values())

    def _shares(self, outline: Outline) -> dict[str, int]:
        parts: dict[str, int] = dict.fromkeys(("system", "tools", "messages", "media", "schema", "framing"), 0)
        parts["system"] = sum(self.rules.system + self.part(part) for part in outline.system)
        for message in outline.messages:
            cost = self.message(message)
            media = sum(self.media(part.media) for part in message.parts if part.media is not None)
            parts["media"] += media
            parts["system" if message.role in SYSTEM_ROLES else "messages"] += cost - media
        parts["tools"] = self.tools(outline.tools)
        parts["schema"] = self.schema(outline.schema)
        parts["framing"] = self.framing(
            tools=bool(outline.tools), system=outline.has_system, choice=outline.choice, parallel=outline.parallel
        )
        return parts

    def billed(self, counted: int) -> int:
        """The best estimate of the bill for so many tokens."""
        return counted if self._model.ratio == 1.0 else math.ceil(counted * self._model.ratio)

    def streamed(self, tokens: int) -> int:
        """About how many tokens a text is billed that has so many in the stand-in, before all of it is there."""
        weights = self.rules.weights
        if weights.are_exact:
            return self.billed(tokens)
        # What a token of ordinary mixed text holds of each kind.
        beside = 0.1 * weights.capitals + 0.1 * weights.digits + 0.35 * weights.punctuation + 0.08 * weights.breaks
        beside += 0.5 * weights.words + 0.3 * weights.marks + 0.04 * weights.humps
        return self.billed(round(tokens * (weights.token + beside)))

    @property
    def margin(self) -> float:
        """Factor from the best estimate to the safe one."""
        return self.rules.margin if self._model.margin is None else self._model.margin

    def safe(self, counted: int) -> int:
        """The upper estimate of the bill for so many tokens."""
        slack = self.rules.slack if self._model.margin is None else 0
        return math.ceil(counted * self._model.ratio * self.margin) + (slack if counted else 0)

    def counted(self, safe: int) -> int:
        """The tokens that fit in an upper estimate."""
        slack = self.rules.slack if self._model.margin is None else 0
        fits = int(max(0, safe - slack) / (self._model.ratio * self.margin))
        # Estimates are rounded: a text may come out at a token more than its parts do.
        return fits if self.rules.weights.are_exact else max(0, fits - ROUNDING)


@functools.lru_cache(maxsize=64)
def costs_of(model: Model) -> Costs:
    """The costs of a model, kept."""
    return Costs(model)


def outlined(form: str, body: Mapping[str, Any]) -> Outline:
    """The outline of a request body in a wire format, by the format's name.

    Raises:
        InputError: No wire format has this name, or the body is not of its form.
    """
    if form not in FORMATS:
        raise InputError(f"no wire format {form!r} is counted; there are {', '.join(FORMATS)}")
    try:
        return FORMATS[form](body)
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as reason:
        raise InputError(f"the request body is not of the form of {form}: {reason!r}; check says where") from reason
