"""Rules of servers that speak chat completions: `MI…` Mistral, `DS…` DeepSeek, `CT…` chat templates, as with vLLM."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

from muntin.checks.finding import Body, Finding, Findings, Rule, listed, run, said

__all__ = ["findings"]

SHORT_ID: Final = re.compile(r"[a-zA-Z0-9]{9}")


def findings(body: Body, server: str) -> list[Finding]:
    """What a server would refuse beside what OpenAI would: `deepseek`, `mistral`, `vllm` …; no rules for another."""
    return run(body, RULES.get(server, ()))


def _ids_have_nine_signs(body: Body) -> Findings:
    for i, message in listed(body.get("messages")):
        places = [(f"messages.{i}.tool_call_id", message.get("tool_call_id"))]
        places += [(f"messages.{i}.tool_calls.{j}.id", call.get("id")) for j, call in listed(message.get("tool_calls"))]
        for path, call in places:
            if isinstance(call, str) and not SHORT_ID.fullmatch(call):
                text = f"Tool call id was {call} but must be a-z, A-Z, 0-9, with a length of 9."
                yield Finding("MI1", path, text, "hash the id to nine letters and digits, in call and result alike")


def _roles_follow(body: Body) -> Findings:
    for (_, before), (i, message) in pairwise(listed(body.get("messages"))):
        role, last = message.get("role"), before.get("role")
        if (role == "system" and last in ("assistant", "tool")) or (role == "tool" and last in ("user", "system")):
            mend = "let a user message say it" if role == "system" else "put the result directly behind its call"
            yield Finding("MI2", f"messages.{i}.role", f"Unexpected role '{role}' after role '{last}'", mend)


def _counts_agree(body: Body) -> Findings:
    calls = results = 0
    for i, message in [*listed(body.get("messages")), (-1, Body(role="(end)"))]:
        if message.get("role") == "tool":
            results += 1
            continue
        if calls != results:
            place = i if i >= 0 else len(body.get("messages") or ())
            text = "Not the same number of function calls and responses"
            yield Finding("MI3", f"messages.{place - 1}", text, "answer each call once, directly behind its turn")
        calls, results = len(listed(message.get("tool_calls"))), 0


def _ends_as_it_may(body: Body) -> Findings:
    for i, message in listed(body.get("messages"))[-1:]:
        role = message.get("role")
        if role not in ("user", "tool") and not message.get("prefix"):
            text = f"Expected last role User or Tool (or Assistant with prefix True) for serving but got {role}"
            yield Finding("MI4", f"messages.{i}.role", text, "end with a user message or a result")


def _role_is_known(body: Body) -> Findings:
    for i, message in listed(body.get("messages")):
        if message.get("role") not in ("system", "user", "assistant", "tool"):
            text = f"Unexpected role {said(message.get('role'))}"
            yield Finding("MI5", f"messages.{i}.role", text, "use `system`, `user`, `assistant` or `tool`")


def _no_developer(body: Body) -> Findings:
    for i, message in listed(body.get("messages")):
        if message.get("role") == "developer":
            text = "unknown variant `developer`, expected one of `system`, `user`, `assistant`, `tool`"
            yield Finding("DS1", f"messages.{i}.role", text, "use `system`")


def _reasoning_stays_with_calls(body: Body) -> Findings:
    """Where any turn brings its reasoning the model thinks, and then all turns with calls have to."""
    messages = listed(body.get("messages"))
    if not any(message.get("reasoning_content") for _, message in messages):
        return
    for i, message in messages:
        if message.get("tool_calls") and message.get("reasoning_content") is None:
            text = "The `reasoning_content` in the thinking mode must be passed back to the API."
            path = f"messages.{i}.reasoning_content"
            yield Finding("DS2", path, text, "send back the reasoning that came with these calls")


def _old_model_takes_no_reasoning(body: Body) -> Findings:
    if body.get("model") != "deepseek-reasoner":
        return
    for i, message in listed(body.get("messages")):
        if message.get("reasoning_content") is not None:
            path = f"messages.{i}.reasoning_content"
            text = f"{said('reasoning_content')} is not taken as input by this model"
            yield Finding("DS3", path, text, "leave the key out")


def _system_stands_first(body: Body) -> Findings:
    for i, message in listed(body.get("messages")):
        if i and message.get("role") in ("system", "developer"):
            text = "System message must be at the beginning."
            yield Finding("CT1", f"messages.{i}.role", text, "one system message in front; later text from the user")


def _roles_alternate(body: Body) -> Findings:
    messages = [one for one in listed(body.get("messages")) if one[1].get("role") in ("user", "assistant")]
    for (_, before), (i, message) in pairwise([(-1, Body(role="assistant")), *messages]):
        if message.get("role") == "user" == before.get("role"):
            text = "Conversation roles must alternate user/assistant/user/assistant/..."
            yield Finding("CT2", f"messages.{i}.role", text, "put neighbours of the user into one message")


RULES: Final[dict[str, tuple[Rule, ...]]] = {
    "deepseek": (_no_developer, _reasoning_stays_with_calls, _old_model_takes_no_reasoning),
    "mistral": (_ids_have_nine_signs, _roles_follow, _counts_agree, _ends_as_it_may, _role_is_known),
    "vllm": (_system_stands_first, _roles_alternate),
}
