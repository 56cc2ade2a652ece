"""Shapes by the SDKs that describe requests as models rather than as dictionaries: google-genai and botocore.

Both are strict by themselves, but for a few things that are added here. Findings are as in `wire.strict`.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import botocore.session
from botocore.validate import ParamValidator
from mistral_common.exceptions import MistralCommonException
from mistral_common.protocol.instruct.request import ChatCompletionRequest
from mistral_common.protocol.instruct.validator import MistralRequestValidatorV13, ValidationMode
from pydantic import TypeAdapter, ValidationError

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of the SDK about Python itself
    from google.genai import types

__all__ = ["bedrock_findings", "gemini_findings", "mistral_findings"]

GEMINI: Final = {
    "contents": list[types.Content],
    "systemInstruction": types.Content,
    "tools": list[types.Tool],
    "toolConfig": types.ToolConfig,
    "generationConfig": types.GenerationConfig,
    "safetySettings": list[types.SafetySetting],
    "cachedContent": str,
    "labels": dict[str, str],
}
DATA: Final = {"text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode"}


@cache
def _gemini(key: str) -> TypeAdapter[Any]:
    return TypeAdapter(GEMINI[key])  # which takes longer than all that it is used for


def gemini_findings(body: dict[str, Any]) -> list[str]:
    """What is wrong with the shape of a body of `generateContent`; empty when it is fine."""
    found = [f"{key}: unknown" for key in body if key not in GEMINI]
    found += ["contents: missing"] if "contents" not in body else []
    for key, value in body.items():
        if key in GEMINI:
            try:
                _gemini(key).validate_python(value)
            except ValidationError as error:
                for detail in error.errors(include_url=False, include_context=False):
                    found.append(f"{'.'.join(map(str, (key, *detail['loc'])))}: {detail['msg']}")
    if found:
        return found
    for i, content in enumerate(body["contents"]):
        for j, part in enumerate(content.get("parts") or ()):
            if len(DATA & set(part)) > 1:
                found.append(f"contents.{i}.parts.{j}: more than one kind of data")
    return found


@cache
def _converse() -> Any:
    service = botocore.session.get_session().get_service_model("bedrock-runtime")
    return service.operation_model("Converse").input_shape


def bedrock_findings(body: dict[str, Any]) -> list[str]:
    """What is wrong with the shape of a body of `converse`; empty when it is fine."""
    report = ParamValidator().validate({"modelId": "model", **body}, _converse())
    if report.has_errors():
        return report.generate_report().splitlines()
    return list(_limits(body, _converse(), ""))


def mistral_findings(body: dict[str, Any]) -> list[str]:
    """What Mistral's own validator has against the messages and tools of a body; empty when it is fine."""
    try:
        request = ChatCompletionRequest.from_openai(body["messages"], body.get("tools"), model=body["model"])
        MistralRequestValidatorV13(ValidationMode.serving).validate_request(request)
    except (ValueError, MistralCommonException) as error:
        return [str(error)]
    return []


def _limits(value: Any, shape: Any, path: str) -> Iterator[str]:
    """Enums, lengths and patterns, which botocore knows and leaves to the server."""
    known = shape.metadata
    match shape.type_name:
        case "structure" if not known.get("document"):
            for key, part in value.items():
                yield from _limits(part, shape.members[key], f"{path}{key}.")
        case "list":
            for i, part in enumerate(value):
                yield from _limits(part, shape.member, f"{path}{i}.")
        case "string":
            if known.get("enum") and value not in known["enum"]:
                yield f"{path[:-1]}: {value!r} is none of {known['enum']}"
            if len(value) > known.get("max", len(value)):
                yield f"{path[:-1]}: longer than {known['max']}"
            if known.get("pattern") and not re.fullmatch(known["pattern"], value):
                yield f"{path[:-1]}: {value!r} does not match {known['pattern']}"
