"""A provider's cache, made of nothing but its published rules and the bodies that it is sent.

It shares no code with the forecast, so that the two can be held against each other.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterator
from typing import Any, NamedTuple

from muntin.cacherules import CacheRules

MARKS = {"cache_control", "prompt_cache_breakpoint"}


class Block(NamedTuple):
    """One block of a body: the list that it stands in, how many of it, what it says, and whether it is marked."""

    level: str
    message: int
    count: int
    text: str
    kind: str
    marked: bool


class Answer(NamedTuple):
    """What a request reads, and what stands in the cache for sure after it, each as the beginning of a body."""

    read: dict[str, Any]
    written: dict[str, Any]


class ProviderCache:
    """A cache that is only written where a request asks for it, and read at its marks and a few positions before."""

    def __init__(self, rules: CacheRules) -> None:
        self.rules = rules
        self.entries: dict[str, float] = {}

    def send(self, body: dict[str, Any], now: float = 0.0, lifetime: float = 300.0) -> Answer:
        """Read what earlier requests left, and leave what this one asks for."""
        found = list(blocks(body))
        keys = list(self._keys(body, found))
        places = list(self._positions(found))
        marks = [at for at, block in enumerate(found) if block.marked]
        assert len(marks) <= self.rules.slots
        reach = max(self.rules.lookback, 1)
        within = [at for m in marks for at in range(m + 1) if places[at] > places[m] - reach]
        live = [at for at in within if self.entries.get(keys[at], -1e9) + lifetime >= now]
        read = max(live, default=-1)
        for at in {*marks, read} - {-1}:
            self.entries[keys[at]] = now
        return Answer(_cut(body, found[: read + 1]), _cut(body, found[: max(marks, default=-1) + 1]))

    def _keys(self, body: dict[str, Any], found: list[Block]) -> Iterator[str]:
        """The chained digest of each block, with the parameters that break the prefix from its list on."""
        before = {"tools": ("nothing",), "system": ("nothing", "tools"), "messages": ("nothing", "tools", "system")}
        chain, level = body.get("model", ""), ""
        for block in found:
            if block.level != level:
                level = block.level
                kept = before[level]
                chain += json.dumps([(name, _choice(body, name)) for name, k in self.rules.keeps.items() if k in kept])
            chain = hashlib.sha256(f"{chain}\0{block.text}".encode()).hexdigest()
            yield chain

    def _positions(self, found: list[Block]) -> Iterator[int]:
        at, before = 0, ""
        for block in found:
            at += not (self.rules.runs_as_one and block.kind in ("call", "result") and block.kind == before)
            before = block.kind
            yield at


def blocks(body: dict[str, Any]) -> Iterator[Block]:
    """The blocks of a body of Messages, Converse, chat completions or Responses, in the order of the cache."""
    config = body.get("toolConfig") or {}
    for level, given in (("tools", body.get("tools") or config.get("tools") or []), ("system", body.get("system", []))):
        yield from _listed(level, -1, given, "")
    for number, message in enumerate(body.get("messages") or body["input"]):
        key = _parts(message)
        about = json.dumps({name: value for name, value in message.items() if name != key})
        if key:
            yield from _listed("messages", number, message[key], about)
        else:
            yield Block("messages", number, 0, about, "", False)


def _parts(message: dict[str, Any]) -> str:
    """The key of a message's list of parts; empty where it has none."""
    return next((key for key in ("content", "output") if isinstance(message.get(key), list)), "")


def _listed(level: str, message: int, given: list[dict[str, Any]], about: str) -> Iterator[Block]:
    for at, one in enumerate(given):
        if "cachePoint" in one:
            continue
        after = given[at + 1 : at + 2]
        marked = bool(MARKS & one.keys()) or bool(after and "cachePoint" in after[0])
        plain = {key: value for key, value in one.items() if key not in MARKS}
        name = one.get("type") or next(iter(one))
        kind = {"tool_use": "call", "toolUse": "call", "tool_result": "result", "toolResult": "result"}.get(name, "")
        yield Block(level, message, at + 1, f"{about}\n{json.dumps(plain)}", kind, marked)


def _choice(body: dict[str, Any], name: str) -> Any:
    value = body.get(name)
    return value.get("toolChoice") if name == "toolConfig" and value else value


def _cut(body: dict[str, Any], kept: list[Block]) -> dict[str, Any]:
    """The beginning of a body that ends with a block, without marks."""
    last = kept[-1] if kept else Block("", -1, 0, "", "", False)
    levels = {block.level for block in kept}
    key = "input" if "input" in body else "messages"
    whole: dict[str, Any] = {"model": body.get("model", ""), key: []}
    if "tools" in levels and "toolConfig" in body:
        whole["toolConfig"] = {"tools": body["toolConfig"]["tools"]}
    elif "tools" in levels:
        whole["tools"] = body["tools"]
    if "system" in levels:
        whole["system"] = body["system"][: last.count] if last.level == "system" else body["system"]
    if last.level == "messages":
        end = body[key][last.message]
        parts = _parts(end)
        end = {**end, parts: end[parts][: last.count]} if parts else end
        whole[key] = [*body[key][: last.message], end]
    return unmarked(copy.deepcopy(whole))


def unmarked(value: Any) -> Any:
    """A part of a body without what asks for caching."""
    if isinstance(value, dict):
        return {key: unmarked(one) for key, one in value.items() if key not in MARKS}
    if isinstance(value, list):
        return [unmarked(one) for one in value if not (isinstance(one, dict) and "cachePoint" in one)]
    return value
