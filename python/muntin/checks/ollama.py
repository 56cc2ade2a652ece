"""The rules `OL…` of `docs/wire-rules.md` that a request body can show."""

from __future__ import annotations

from typing import Final

from muntin.checks.finding import Body, Finding, Findings, Rule, listed, run, said
from muntin.checks.ollama_shapes import SHAPES

__all__ = ["findings"]


def findings(body: Body) -> list[Finding]:
    """What Ollama's `POST /api/chat` would refuse."""
    return run(body, RULES)


def _arguments_are_objects(body: Body) -> Findings:
    for i, message in listed(body.get("messages")):
        for j, call in listed(message.get("tool_calls")):
            function = call.get("function")
            if isinstance(function, dict) and not isinstance(function.get("arguments"), dict):
                kind = "string" if isinstance(function.get("arguments"), str) else "value"
                text = (
                    f"json: cannot unmarshal {kind} into Go struct field "
                    "ChatRequest.messages.tool_calls.function.arguments of type api.ToolCallFunctionArguments"
                )
                path = f"messages.{i}.tool_calls.{j}.function.arguments"
                yield Finding("OL1", path, text, "send the arguments as an object, not as JSON text")


def _content_is_text(body: Body) -> Findings:
    for i, message in listed(body.get("messages")):
        if isinstance(message.get("content"), list | dict):
            kind = "array" if isinstance(message["content"], list) else "object"
            text = f"json: cannot unmarshal {kind} into Go struct field ChatRequest.messages.content of type string"
            yield Finding("OL2", f"messages.{i}.content", text, "send text; images go into `images` as base64")


def _roles_are_known(body: Body) -> Findings:
    for i, message in listed(body.get("messages")):
        if message.get("role") not in ("system", "user", "assistant", "tool"):
            text = f"invalid role: {said(message.get('role'))}, role must be one of [system, user, assistant, tool]"
            yield Finding("OL3", f"messages.{i}.role", text, "use one of these roles")


def _images_are_data(body: Body) -> Findings:
    for i, message in listed(body.get("messages")):
        images = message.get("images")
        for j, image in enumerate(images) if isinstance(images, list) else ():
            if not isinstance(image, str) or ":" in image[:20]:
                text = "illegal base64 data at input byte 4"
                yield Finding(
                    "OL4", f"messages.{i}.images.{j}", text, "send the base64 alone, no address and no data: URL"
                )


RULES: Final[tuple[Rule, ...]] = (*SHAPES, _arguments_are_objects, _content_is_text, _roles_are_known, _images_are_data)
