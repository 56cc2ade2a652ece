"""A model that answers what it is given, and both loops driven the same way."""

from __future__ import annotations

import asyncio

import muntin as mt
from agents import CAPS


class Model:
    """Answers with what it is given, in order; an exception is raised. Keeps the requests."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.requests = []

    def __call__(self, request):
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def tool(call):
    return f"output of {call.id}"


def drive(run, model, call_tool=tool, how="loop", **kwargs):
    """All events of a loop, whichever way it is driven."""
    if how == "loop":
        return list(mt.loop(run, kwargs.pop("caps", CAPS), model, call_tool, sleep=lambda _: None, **kwargs))

    async def ask(request):
        return model(request)

    async def do(call):
        await asyncio.sleep(0)
        return call_tool(call)

    async def nothing(_):
        pass

    async def collect():
        return [event async for event in mt.aloop(run, kwargs.pop("caps", CAPS), ask, do, sleep=nothing, **kwargs)]

    return asyncio.run(collect())


def kinds(events):
    return [type(event).__name__ for event in events]
