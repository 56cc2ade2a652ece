"""Two request bodies that muntin did not make, compared as their provider's cache compares them.

For conversations that another client keeps: the first difference says why its cache is never read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from muntin.cacherules import cache_rules
from muntin.diagnosis import Break, Cause, broke, tools_break
from muntin.exceptions import InputError
from muntin.layout import Segment
from muntin.providers.base import decoded
from muntin.reach import MARKS, out_of_reach

__all__ = ["compare_bodies"]

_SYSTEM: Final = ("system", "instructions", "systemInstruction", "system_instruction")
_MESSAGES: Final = ("messages", "input", "contents")
_IMAGES: Final = frozenset({"image", "image_url", "input_image", "inlineData", "inline_data"})


def compare_bodies(
    before: Mapping[str, Any] | bytes, after: Mapping[str, Any] | bytes, *, provider: str = ""
) -> Break | None:
    """Why the second of two requests of one conversation cannot read all that the first one left in the cache.

    What asks for caching may move; the order of keys counts, as it does for providers. O(bytes).

    Args:
        before: The body of the request before, in the format of Messages, chat completions, Responses, Gemini or
            Converse.
        after: The body of the request.
        provider: The wire format, as in `muntin.providers`, for the parameters that may not change and for how far the
            provider looks back from a mark; by default only the model may not change, and marks are not looked at.

    Returns:
        The first difference in the order tools, system text, messages; where the second only goes on, the entry of the
        first that none of its marks finds, or None. A break's `unit` is the place in the list of messages here.

    Raises:
        InputError: A body is no JSON object, or has no list of messages.

    Examples:
        >>> one = {"model": "m", "messages": [{"role": "system", "content": "It is 9:30."}]}
        >>> two = {"model": "m", "messages": [{"role": "system", "content": "It is 9:31."}]}
        >>> compare_bodies(one, two).cause
        'system text changed'
    """
    old, new = decoded(before, "the body", InputError), decoded(after, "the body", InputError)
    rules = cache_rules(provider, str(new.get("model") or ""))
    for name in ("model", *rules.keeps):
        was, now = (_parameter(body, name) for body in (old, new))
        if was != now:
            cause = Cause.MODEL if name == "model" else Cause.PARAMETER
            return broke(cause, name, _plain(was), _plain(now))
    had, has = (list(map(_plain, _tools(body))) for body in (old, new))
    if had != has:
        return tools_break(had, has)
    texts = [_plain(next((body[key] for key in _SYSTEM if body.get(key)), "")) for body in (old, new)]
    if texts[0] != texts[1]:
        return broke(Cause.SYSTEM, "system text", *texts, segment=Segment.SYSTEM)
    return _messages(_listed(old), _listed(new)) or out_of_reach(old, new, rules)


def _parameter(body: Mapping[str, Any], name: str) -> Any:
    """A parameter by its name; Converse has its tools beside the choice among them."""
    value = body.get(name)
    return value.get("toolChoice") if name == "toolConfig" and isinstance(value, Mapping) else value


def _messages(old: list[Any], new: list[Any]) -> Break | None:
    for at, message in enumerate(old):
        if at >= len(new):
            return None  # a beginning of what was sent before
        before, after = _plain(message), _plain(new[at])
        if before != after:
            if at + 1 == len(old) and _goes_on(message, new[at]):
                return None
            cause = _cause(old, new, at)
            segment = Segment.SYSTEM if cause is Cause.SYSTEM else Segment.HISTORY
            return broke(cause, f"message {at}", before, after, segment=segment, unit=at)
    return None


def _goes_on(before: Any, after: Any) -> bool:
    """Whether a message is another with blocks added to its end."""
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return False
    key = "parts" if "parts" in before else "content"
    had, has = before.get(key), after.get(key)
    if not isinstance(had, list | tuple) or not isinstance(has, list | tuple) or len(had) > len(has):
        return False
    same = _plain({**before, key: None}) == _plain({**after, key: None})
    mine, theirs = _unmarked(list(had)), _unmarked(list(has))
    return same and _plain(mine) == _plain(theirs[: len(mine)])


def _cause(old: list[Any], new: list[Any], at: int) -> Cause:
    before, after = old[at], new[at]
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        return Cause.MESSAGE
    if _sorted(_opened(before)) == _sorted(_opened(after)):
        return Cause.FORM
    role = before.get("role")
    if role in ("system", "developer") and role == after.get("role"):
        return Cause.SYSTEM
    ours, theirs = _blocks(before), _blocks(after)
    gone = [block for block in ours if block not in theirs]
    if any(_holds_image(block) for block in gone):
        return Cause.IMAGE
    if role == "tool" or before.get("type") == "function_call_output" or any(_is_result(block) for block in gone):
        return Cause.RESULT
    leaves_text = gone and all(isinstance(block, Mapping) and "text" in block for block in gone)
    if leaves_text and len(theirs) < len(ours) and all(block in ours for block in theirs):
        return Cause.TAIL
    if at + 1 == len(old) and role in ("system", "developer"):
        return Cause.TAIL
    if at + 1 < len(old) and _plain(old[at + 1]) == _plain(after):
        return Cause.TAIL if role in ("user", "system", "developer") else Cause.MESSAGE
    return Cause.MESSAGE


def _tools(body: Mapping[str, Any]) -> list[Any]:
    tools = body.get("tools") or (body.get("toolConfig") or {}).get("tools") or ()
    return [one for tool in tools for one in (tool.get("functionDeclarations") or (tool,))]


def _listed(body: Mapping[str, Any]) -> list[Any]:
    value: Any = next((body[key] for key in _MESSAGES if key in body), None)
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list | tuple):
        raise InputError(f"the body has no list of messages under any of {_MESSAGES}, only keys {sorted(body)}")
    return list(value)


def _plain(value: Any) -> bytes:
    """The JSON of a value without what asks for caching."""
    return msgspec.json.encode(_unmarked(value))


def _sorted(value: Any) -> bytes:
    return msgspec.json.encode(value, order="sorted")


def _unmarked(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _unmarked(one) for key, one in value.items() if key not in MARKS}
    if isinstance(value, list | tuple):
        return [_unmarked(one) for one in value if not (isinstance(one, Mapping) and one.keys() == {"cachePoint"})]
    return value


def _opened(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message whose text stands in a block, however it was given."""
    return {**_unmarked(message), "content": _blocks(message)}


def _blocks(message: Mapping[str, Any]) -> list[Any]:
    content = message.get("content") or message.get("parts") or ()
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    blocks: list[Any] = _unmarked(list(content))
    return blocks


def _holds_image(block: Any) -> bool:
    if not isinstance(block, Mapping):
        return False
    inner = block.get("content")
    inside = inner if isinstance(inner, list | tuple) else ()
    return block.get("type") in _IMAGES or bool(_IMAGES & block.keys()) or any(map(_holds_image, inside))


def _is_result(block: Any) -> bool:
    return isinstance(block, Mapping) and (
        block.get("type") == "tool_result" or bool({"toolResult", "functionResponse"} & block.keys())
    )
