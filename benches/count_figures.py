#!/usr/bin/env python3
"""How near estimates come to recorded bills, beside what else people count with.

    python benches/count_figures.py [--peers] [--worst FAMILY]

Needs the recorded data (see tests/README.md). Requests of 200 billed tokens or more, without media, hosted tools and
replayed reasoning. Whatever is read off bills, weights, overheads and the bound of the safe estimate, is read anew for
each source off the other sources, and tested on that one; the growing sessions that weigh texts are no requests of this
table.
`--peers` counts with litellm and LangChain too, where they are installed; both are for this bench alone.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))
import fit_counting as fit

from muntin import tokenizer
from muntin.calibration import Anchor, Calibration
from muntin.counting.costs import Costs, Estimate
from muntin.counting.rules import Rules
from muntin.providers import anthropic

CALIBRATED = 10
GOALS = {
    "gpt": ("openai_chat", "openai_responses"), "gpt-5": ("openai_chat", "openai_responses"),
    "claude": ("anthropic",), "claude-4.7": ("anthropic",), "gemini": ("gemini",),
}  # fmt: skip
"""Families and the formats of their own makers."""

Counter = Callable[[fit.Bill], int]


def held_out(family: str) -> list[tuple[fit.Bill, Estimate]]:
    """The bills of a family, each with an estimate that knows nothing of its source."""
    bills = [bill for bill in fit.bills_of(family) if bill.tokens >= fit.LEAST]
    found = []
    for source in sorted({bill.source for bill in bills}):
        rules = fit.bounded(family, (source,))
        for bill in bills:
            if bill.source == source:
                costs = Costs(bill.model, msgspec.convert(rules, Rules))
                found.append((bill, costs.estimate(bill.outline)))
    return found


def row(name: str, errors: Any, safe: Any) -> str:
    """One line of the table."""
    sizes = np.abs(errors)
    far = np.percentile(sizes, 90)
    text = f"{name:<34}{len(errors):>5}{np.median(sizes):>9.2%}{far:>9.2%}{np.median(errors):>+9.2%}"
    return text if safe is None else f"{text}{np.mean(safe >= 0):>9.1%}{np.median(safe):>+9.2%}"


def chars(bill: fit.Bill) -> int:
    """A quarter of the body's characters."""
    return len(fit.json_text(bill.body)) // 4


def stand_in(bill: fit.Bill) -> int:
    """The body's texts in o200k_base, and tools as they are."""
    count = tokenizer("o200k_base").count
    parts = [*bill.outline.system, *(part for message in bill.outline.messages for part in message.parts)]
    tools = [fit.json_text([tool.name, tool.description, tool.parameters]) for tool in bill.outline.tools]
    return sum(count(part.text) + count(part.name) for part in parts) + sum(map(count, tools))


def peers() -> Iterable[tuple[str, Counter]]:
    """Other counters of chat completions, where they are installed."""
    try:
        litellm = importlib.import_module("litellm")
    except ImportError:
        print("litellm is not installed", file=sys.stderr)
    else:
        yield (
            "litellm",
            lambda bill: litellm.token_counter(
                model=bill.body["model"], messages=bill.body["messages"], tools=bill.body.get("tools")
            ),
        )
    try:
        messages = importlib.import_module("langchain_core.messages")
        utils = importlib.import_module("langchain_core.messages.utils")
    except ImportError:
        print("langchain-core is not installed", file=sys.stderr)
    else:
        yield (
            "langchain, approximate",
            lambda bill: utils.count_tokens_approximately(
                messages.convert_to_messages(bill.body["messages"]), tools=bill.body.get("tools")
            ),
        )


def against(name: str, counter: Counter, bills: list[fit.Bill]) -> str:
    """One line of another counter; bills that it cannot read are left out."""
    errors = []
    for bill in bills:
        try:
            errors.append(counter(bill) / bill.tokens - 1)
        except Exception:  # noqa: BLE001  (whatever it is, it is the peer's own)
            continue
    return row(f"  {name}", np.array(errors), None) if errors else f"  {name:<32} reads none of them"


def conversations(family: str) -> str:
    """Recorded sessions, whose prompts and tools were not recorded: how far off the next bill is after ten of them.

    `Calibration` is what a session learns with: the bill before stands for what is there already, so that only the
    growth is estimated, by what earlier bills of the same conversation have shown.
    """
    grown = [one for one in fit.growths() if one.model.startswith(fit.FAMILIES[family].grows)]
    errors = []
    for source, model in sorted({(one.source, one.model) for one in grown}):
        rules = msgspec.convert(fit.fitted(family, (source,)), Rules)
        weights = [getattr(rules.weights, name) for name in rules.weights.__struct_fields__]
        adapter, learned, raw = anthropic(model), Calibration(), 0
        for bills, one in enumerate(one for one in grown if (one.source, one.model) == (source, model)):
            messages, calls, *made = one.counts
            learned = learned._replace(anchor=Anchor(one.billed - one.tokens, raw, 0))
            raw += round(
                float(np.dot(made, weights)) + rules.message * messages + (rules.call + rules.result) / 2 * calls
            )
            if bills >= CALIBRATED:
                errors.append(learned.estimate(adapter, raw) / one.billed - 1)
            learned = learned.learned(adapter, one.billed, raw, 0)
    return row(f"  in sessions, after {CALIBRATED} bills", np.array(errors), None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", action="store_true", help="count with litellm and LangChain too")
    parser.add_argument("--worst", metavar="FAMILY", help="show the requests that are farthest off")
    options = parser.parse_args()
    if options.worst:
        found = sorted(held_out(options.worst), key=lambda one: -abs(one[1].tokens / one[0].tokens - 1))
        for bill, estimate in found[:20]:
            off = estimate.tokens / bill.tokens - 1
            print(f"{off:+8.1%} {bill.tokens:>6} {bill.source} {bill.model.name} {estimate.parts}")
        return
    others = list(peers()) if options.peers else []
    print(f"{'':<34}{'n':>5}{'median':>9}{'90 %':>9}{'bias':>9}{'holds':>9}{'above':>9}")
    together: list[tuple[fit.Bill, Estimate]] = []
    for family in (*fit.PUBLISHED, *fit.FAMILIES):
        found = held_out(family)
        if family in GOALS:
            together += [one for one in found if one[0].form in GOALS[family]]
        for form in sorted({bill.form for bill, _ in found}):
            pairs = [(bill, estimate) for bill, estimate in found if bill.form == form]
            bills = [bill for bill, _ in pairs]
            errors = np.array([estimate.tokens / bill.tokens - 1 for bill, estimate in pairs])
            safe = np.array([estimate.safe / bill.tokens - 1 for bill, estimate in pairs])
            print(row(f"{family} in {form}", errors, safe))
            print(against("characters / 4", chars, bills))
            print(against("o200k_base", stand_in, bills))
            for name, counter in others if form == "openai_chat" else ():
                print(against(name, counter, bills))
        if family in fit.FAMILIES and fit.FAMILIES[family].grows:
            print(conversations(family))
    print("in the makers' own formats")
    for form in (*dict.fromkeys(form for forms in GOALS.values() for form in forms), ""):
        pairs = [(bill, estimate) for bill, estimate in together if form in ("", bill.form)]
        errors = np.array([estimate.tokens / bill.tokens - 1 for bill, estimate in pairs])
        safe = np.array([estimate.safe / bill.tokens - 1 for bill, estimate in pairs])
        print(row(f"  {form or 'together'}", errors, safe))


if __name__ == "__main__":
    main()
