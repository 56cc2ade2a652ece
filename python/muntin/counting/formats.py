"""Request bodies of the six wire formats, read into an outline."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from muntin.counting.media import Media
from muntin.counting.outline import Message, Outline, Part, Schema, Shape, json_text, parts_of, texts

__all__ = ["FORMATS"]

Body = Mapping[str, Any]


def chat(body: Body) -> Outline:
    """Chat completions, and Ollama's own format, which differs in how it gives calls and images."""
    messages = []
    for message in _maps(body.get("messages")):
        parts = list(texts(message.get("content")))
        role = str(message.get("role") or "user")
        if role == "tool":
            parts.insert(0, Part("result"))
        parts += [Part("media", media=Media("image", str(data))) for data in message.get("images") or ()]
        # What servers beside OpenAI's take back of the model's reasoning.
        for key in ("reasoning_content", "reasoning", "thinking"):
            if isinstance(message.get(key), str) and message[key]:
                parts.append(Part("reasoning", message[key]))
        if message.get("reasoning_details"):
            parts.append(Part("other", json_text(message["reasoning_details"])))
        for call in (*_maps(message.get("tool_calls")), *_maps([message.get("function_call")])):
            function = call.get("function") or call
            given = function.get("arguments")
            parts.append(Part("call", "" if given is None else json_text(given), str(function.get("name") or "")))
        name = "" if role == "tool" else str(message.get("name") or "")
        messages.append(Message(role, tuple(parts), name))
    form = body.get("response_format") or body.get("format") or {}
    given = form.get("json_schema") if isinstance(form, Mapping) else None
    shapes = [_function(tool) for tool in _maps(body.get("tools"))]
    shapes += [_shape(one, "parameters") for one in _maps(body.get("functions"))]
    return Outline(
        (),
        tuple(messages),
        tuple(shapes),
        _choice(body.get("tool_choice")),
        _schema(given),
        body.get("parallel_tool_calls") is not False,
    )


def messages(body: Body) -> Outline:
    """Anthropic's Messages."""
    said = [
        Message(str(message.get("role") or "user"), tuple(texts(message.get("content"))))
        for message in _maps(body.get("messages"))
    ]
    shapes = [
        _shape(tool, "input_schema") if "input_schema" in tool else Shape(str(tool.get("name")), hosted=json_text(tool))
        for tool in _maps(body.get("tools"))
        if not tool.get("defer_loading")  # the model sees such a tool once it has been found
    ]
    form = (body.get("output_config") or {}).get("format") or body.get("output_format")
    schema = _schema({"schema": form.get("schema")}) if isinstance(form, Mapping) else None
    choice = body.get("tool_choice")
    return Outline(
        tuple(texts(body.get("system"))),
        tuple(said),
        tuple(shapes),
        _choice(choice),
        schema,
        not (isinstance(choice, Mapping) and choice.get("disable_parallel_tool_use")),
    )


def responses(body: Body) -> Outline:
    """OpenAI's Responses."""
    given = body.get("input")
    said = [Message("user", (Part("text", given),))] if isinstance(given, str) else []
    for item in _maps(given if not isinstance(given, str) else ()):
        match item.get("type", "message"):
            case "message":
                said.append(Message(str(item.get("role") or "user"), tuple(texts(item.get("content")))))
            case "function_call" | "custom_tool_call":
                arguments = str(item.get("arguments") or item.get("input") or "")
                said.append(Message("assistant", (Part("call", arguments, str(item.get("name") or "")),)))
            case "function_call_output" | "custom_tool_call_output":
                said.append(Message("tool", (Part("result"), *texts(item.get("output")))))
            case "reasoning":
                said.append(Message("assistant", tuple(_reasoning(item))))
            case _:
                said.append(Message("other", (Part("other", json_text(item)),)))
    shapes = [
        _shape(tool, "parameters") if tool.get("type") == "function" else Shape("", hosted=json_text(tool))
        for tool in _maps(body.get("tools"))
    ]
    form = (body.get("text") or {}).get("format") or {}
    instructions = body.get("instructions")
    return Outline(
        (Part("text", instructions),) if isinstance(instructions, str) and instructions else (),
        tuple(said),
        tuple(shapes),
        _choice(body.get("tool_choice")),
        _schema(form),
        body.get("parallel_tool_calls") is not False,
    )


def gemini(body: Body) -> Outline:
    """Gemini's generateContent; its keys come in camel case or with underscores."""
    said = []
    for content in _maps(body.get("contents")):
        parts = tuple(part for one in _maps(content.get("parts")) for part in _gemini_parts(one))
        said.append(Message(str(content.get("role") or "user"), parts))
    system = body.get("systemInstruction") or body.get("system_instruction") or {}
    system = {"parts": [{"text": system}]} if isinstance(system, str) else system
    config = body.get("generationConfig") or body.get("generation_config") or {}
    shapes = []
    for tool in _maps(body.get("tools")):
        given = tool.get("functionDeclarations") or tool.get("function_declarations")
        for one in _maps(given):
            key = next((key for key in ("parametersJsonSchema", "parameters_json_schema") if key in one), "parameters")
            shapes.append(_shape(one, key))
        if given is None:
            shapes.append(Shape("", hosted=json_text(tool)))
    schema = next(
        (config[k] for k in ("responseSchema", "responseJsonSchema", "response_schema") if config.get(k)), None
    )
    calling = (body.get("toolConfig") or body.get("tool_config") or {}).get("functionCallingConfig") or {}
    return Outline(
        tuple(part for one in _maps(system.get("parts")) for part in _gemini_parts(one)),
        tuple(said),
        tuple(shapes),
        _choice(calling.get("mode")),
        _schema({"schema": schema}),
    )


def converse(body: Body) -> Outline:
    """Bedrock's Converse."""
    said = [
        Message(str(message.get("role") or "user"), tuple(texts(message.get("content"))))
        for message in _maps(body.get("messages"))
    ]
    config = body.get("toolConfig") or {}
    shapes = []
    for tool in _maps(config.get("tools")):
        given = tool.get("toolSpec")
        if isinstance(given, Mapping):
            parameters = (given.get("inputSchema") or {}).get("json") or {}
            shapes.append(Shape(str(given.get("name") or ""), str(given.get("description") or ""), parameters))
        elif "cachePoint" not in tool:
            shapes.append(Shape("", hosted=json_text(tool)))
    form = (((body.get("outputConfig") or {}).get("textFormat") or {}).get("structure") or {}).get("jsonSchema") or {}
    schema = form.get("schema")
    if isinstance(schema, str):  # the service takes its JSON text
        schema = _object(schema)
    return Outline(
        tuple(texts(body.get("system"))),
        tuple(said),
        tuple(shapes),
        _choice(config.get("toolChoice")),
        _schema({**form, "schema": schema}),
    )


FORMATS: Final[dict[str, Callable[[Body], Outline]]] = {
    "anthropic": messages,
    "bedrock": converse,
    "gemini": gemini,
    "ollama": chat,
    "openai_chat": chat,
    "openai_responses": responses,
}
"""The readers by the names of the wire formats, as in `muntin.providers`."""


def _maps(values: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(values, Sequence) and not isinstance(values, str | bytes):
        yield from (value for value in values if isinstance(value, Mapping))


def _object(text: str) -> Mapping[str, Any] | None:
    try:
        return msgspec.json.decode(text, type=dict[str, Any])
    except msgspec.DecodeError:
        return None


def _function(tool: Body) -> Shape:
    if isinstance(tool.get("function"), Mapping):
        return _shape(tool["function"], "parameters")
    return Shape("", hosted=json_text(tool))


def _shape(tool: Body, key: str) -> Shape:
    parameters = tool.get(key)
    return Shape(
        str(tool.get("name") or ""),
        str(tool.get("description") or ""),
        parameters if isinstance(parameters, Mapping) else {},
    )


def _schema(given: Any) -> Schema | None:
    if not isinstance(given, Mapping) or not isinstance(given.get("schema"), Mapping):
        return None
    return Schema(str(given.get("name") or ""), str(given.get("description") or ""), given["schema"])


def _choice(given: Any) -> str:
    if isinstance(given, Mapping):
        inner = given.get("function") or given.get("tool") or given
        name = inner.get("name") if isinstance(inner, Mapping) else None
        if isinstance(name, str):
            return f"tool:{name}"
        given = given.get("type") or given.get("mode") or next(iter(given), "")
    match str(given or "").lower():
        case "required" | "any":
            return "any"
        case "none":
            return "none"
        case _:
            return ""


def _reasoning(item: Body) -> Iterator[Part]:
    if item.get("encrypted_content"):  # a summary beside it is for people
        yield Part("sealed", str(item["encrypted_content"]))
        return
    for part in (*_maps(item.get("content")), *_maps(item.get("summary"))):
        yield Part("reasoning", str(part.get("text") or ""))


def _gemini_parts(part: Body) -> Iterator[Part]:
    call = part.get("functionCall") or part.get("function_call")
    result = part.get("functionResponse") or part.get("function_response")
    if isinstance(call, Mapping):
        yield Part("call", json_text(call.get("args") or {}), str(call.get("name") or ""))
    elif isinstance(result, Mapping):
        yield Part("result", "", str(result.get("name") or ""))
        yield Part("text", json_text(result.get("response") or {}))
        for inner in _maps(result.get("parts")):
            yield from _gemini_parts(inner)
    elif "text" in part:
        yield Part("reasoning" if part.get("thought") else "text", str(part.get("text") or ""))
    else:
        yield from parts_of(part)
    if part.get("thoughtSignature") and (isinstance(call, Mapping) or "text" in part):
        yield Part("sealed", str(part["thoughtSignature"]))
