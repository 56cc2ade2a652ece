"""The request types of the real SDKs, made strict: what a body's *shape* may be.

The SDKs describe a request as a `TypedDict`, which pydantic can validate, but leniently: an `Iterable` is not looked
into, unknown keys pass, numbers may be strings, and an object of a response may stand in for a part of a request. Here
the core schema is rewritten so that none of this holds, and unions choose their arm by its tag, so that one fault gives
one finding. What no type can say, the rules between messages, is in `wire.rules`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, Final

from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
from pydantic import TypeAdapter
from pydantic_core import SchemaValidator, ValidationError

__all__ = ["anthropic_findings", "openai_chat_findings", "openai_responses_findings"]

Schema = dict[str, Any]

TAGS: Final = ("role", "type")
"""Keys whose literal tells the arms of a union apart: messages have a role, their parts a type."""

NOT_SCHEMAS: Final = frozenset({"cls", "config", "expected", "function", "metadata", "ref", "serialization"})
"""Keys of a core schema under which no schema stands that validates."""


def openai_chat_findings(body: dict[str, Any]) -> list[str]:
    """What is wrong with the shape of a body of `POST /v1/chat/completions`, not streamed; empty when it is fine.

    A finding is `path: why: the value`. Takes time linear in the size of the body.
    """
    return _findings(CompletionCreateParamsNonStreaming, body)


def anthropic_findings(body: dict[str, Any]) -> list[str]:
    """What is wrong with the shape of a body of `POST /v1/messages`, not streamed; empty when it is fine.

    A finding is `path: why: the value`. Takes time linear in the size of the body.
    """
    return _findings(MessageCreateParamsNonStreaming, body)


def openai_responses_findings(body: dict[str, Any]) -> list[str]:
    """What is wrong with the shape of a body of `POST /v1/responses`, not streamed; empty when it is fine.

    A finding is `path: why: the value`. Takes time linear in the size of the body.
    """
    return _findings(ResponseCreateParamsNonStreaming, body)


def _findings(params: type, body: dict[str, Any]) -> list[str]:
    try:
        _validator(params).validate_python(body, strict=True)
    except ValidationError as error:
        return [_finding(detail) for detail in error.errors(include_url=False, include_context=False)]
    return []


def _finding(detail: Mapping[str, Any]) -> str:
    path = ".".join(part for part in map(str, detail["loc"]) if not part.startswith("<")) or "(body)"
    value = repr(detail["input"])
    return f"{path}: {detail['msg']}: {value if len(value) <= 80 else value[:77] + '...'}"


@cache
def _validator(params: type) -> SchemaValidator:
    """The strict validator of a request type. Building one takes about half a second, hence the cache."""
    schema: Any = TypeAdapter(params).core_schema
    return SchemaValidator(_Strict(schema.get("definitions", ())).of(schema))


class _Strict:
    """Rewrites core schemas; knows the shared definitions, in order to look through references to them."""

    def __init__(self, definitions: Iterable[Schema]) -> None:
        self._definitions = {definition["ref"]: definition for definition in definitions}

    def of(self, schema: Any) -> Any:
        """A copy of a schema that is strict all the way down."""
        if isinstance(schema, list | tuple):
            return [self.of(part) for part in schema]
        if not isinstance(schema, dict):
            return schema
        match schema.get("type"):
            case "generator":  # an Iterable, looked into only while somebody iterates
                return {"type": "list", "items_schema": self.of(schema["items_schema"])}
            case "json-or-python":  # a Sequence, which in JSON can be nothing but a list
                return self.of(schema["json_schema"])
            case "union":
                return self._union(schema)
            case "typed-dict":
                # By name, since a field may be called what a core schema calls its own keys, `function` for one.
                fields = {
                    name: field | {"schema": self.of(field["schema"])} for name, field in schema["fields"].items()
                }
                # A tool's JSON schema says itself that it is open; everything else is closed.
                extra = "allow" if schema.get("extra_behavior") == "allow" else "forbid"
                return schema | {"fields": fields, "extra_behavior": extra}
        return {key: part if key in NOT_SCHEMAS else self.of(part) for key, part in schema.items()}

    def _union(self, union: Schema) -> Schema:
        arms = [arm for arm in union["choices"] if not self._is_response(arm)]
        kinds = {self._seen(arm)["type"] for arm in arms}
        if "typed-dict" in kinds:  # beside which "any dict" would take whatever the precise arm refuses
            arms = [arm for arm in arms if self._seen(arm)["type"] != "dict"]
        choices = [self.of(arm) for arm in arms]
        tags = [self._tags(arm) for arm in arms]
        known = [tag for arm_tags in tags for tag in arm_tags]
        if not all(tags) or len(set(known)) < len(known):
            return {"type": "union", "choices": choices}
        tagged = {tag: choice for arm_tags, choice in zip(tags, choices, strict=True) for tag in arm_tags}
        return {
            "type": "tagged-union",
            "choices": tagged,
            "discriminator": _tag,
            "custom_error_type": "tag",
            "custom_error_message": "The role or type is missing, or unknown here",
        }

    def _seen(self, schema: Schema) -> Schema:
        return self._definitions[schema["schema_ref"]] if schema["type"] == "definition-ref" else schema

    def _is_response(self, arm: Schema) -> bool:
        """Whether an arm is a model of a response; those take attributes and unknown keys, and no body has them."""
        seen = self._seen(arm)
        return seen["type"] == "model" or (seen["type"] == "union" and all(map(self._is_response, seen["choices"])))

    def _tags(self, arm: Schema) -> list[str]:
        """The tags by which `_tag` leads to an arm; none where it cannot."""
        seen = self._seen(arm)
        match seen["type"]:
            case "str" | "literal":
                return [_tag("")]
            case "list" | "generator" | "json-or-python":
                return [_tag([])]
            case "typed-dict":
                key = next((key for key in TAGS if key in seen["fields"]), None)
                if key is None:
                    return []
                field = seen["fields"][key]
                literal = field["schema"]["schema"] if field["schema"]["type"] == "nullable" else field["schema"]
                absent = [] if field.get("required") else [None]
                return [_tag({key: value}) for value in [*literal.get("expected", ()), *absent]]
        return []


def _tag(value: Any) -> str:
    """What tells a value's arm: the role or type of an object, the JSON type of anything else."""
    if isinstance(value, dict):
        return next((f"<{value[key]}>" for key in TAGS if value.get(key) is not None), "<>")
    return f"<{type(value).__name__}>"
