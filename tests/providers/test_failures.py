"""Why requests fail, by the words and exceptions of every provider."""

from __future__ import annotations

import email.message
import json
import types
import urllib.error

import anthropic
import botocore.exceptions
import httpx2 as httpx
import openai
import pytest
from google.genai import errors as genai

import muntin as mt
from agents import ADAPTERS, CAPS, says, session

# The numbers are the provider's own: how long the input is, and how long it may be.
TOO_LONG = [
    (
        "openai_chat",
        35569,
        4097,
        "maximum context length is 4097 tokens. However, your messages resulted in 35569 tokens.",
    ),
    (
        "openai_chat",
        2054,
        2049,
        "maximum context length is 2049 tokens, however you requested 2054 tokens (2049 in your",
    ),
    (
        "openai_chat",
        35000,
        30000,
        "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 35000.",
    ),
    (
        "openai_chat:mistral",
        40000,
        32768,
        "Prompt contains 40000 tokens, too large for model with 32768 maximum context",
    ),
    (
        "openai_chat:vllm",
        131134,
        131072,
        "maximum context length is 131072 tokens. However, you requested 131134 tokens",
    ),
    ("openai_responses", 0, 0, "Your input exceeds the context window of this model. Please adjust your input."),
    ("anthropic", 208310, 200000, "prompt is too long: 208310 tokens > 200000 maximum"),
    (
        "anthropic",
        199759,
        200000,
        "input length and `max_tokens` exceed context limit: 199759 + 8192 > 200000, decrease",
    ),
    (
        "gemini",
        1196265,
        1048575,
        "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
    ),
    ("bedrock", 0, 0, "Input is too long for requested model."),
    ("ollama", 5000, 4096, "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it"),
]


@pytest.mark.parametrize(("provider", "tokens", "limit", "text"), TOO_LONG)
def test_a_request_that_is_too_long_is_known_with_the_providers_numbers(provider, tokens, limit, text):
    body = {"error": {"message": text, "type": "invalid_request_error", "code": 400}}
    adapter = ADAPTERS[provider]
    for error in (body, json.dumps(body).encode(), text, RuntimeError(text)):
        failure = adapter.failure(error)
        assert (failure.kind, failure.tokens, failure.limit) == ("overflow", tokens, limit)
        assert not failure.retryable


@pytest.mark.parametrize(
    ("provider", "body", "kind"),
    [
        ("openai_chat", {"error": {"message": "x", "type": "requests", "code": "rate_limit_exceeded"}}, "rate"),
        ("openai_chat", {"error": {"message": "x", "code": "insufficient_quota"}}, "quota"),
        ("openai_chat", {"error": {"message": "x", "code": "invalid_api_key"}}, "auth"),
        ("openai_responses", {"error": {"message": "x", "code": "server_error"}}, "transient"),
        ("openai_responses", {"error": {"message": "x", "code": "context_length_exceeded"}}, "overflow"),
        ("anthropic", {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "transient"),
        ("anthropic", {"type": "error", "error": {"type": "rate_limit_error", "message": "x"}}, "rate"),
        ("anthropic", {"type": "error", "error": {"type": "authentication_error", "message": "x"}}, "auth"),
        ("anthropic", {"type": "error", "error": {"type": "request_too_large", "message": "x"}}, "overflow"),
        ("anthropic", {"error": {"type": "invalid_request_error", "message": "credit balance is too low"}}, "quota"),
        ("anthropic", {"error": {"type": "invalid_request_error", "message": "messages: at least one"}}, "refused"),
        ("gemini", {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "x"}}, "rate"),
        ("gemini", {"error": {"code": 503, "status": "UNAVAILABLE", "message": "x"}}, "transient"),
        ("gemini", {"error": {"code": 403, "status": "PERMISSION_DENIED", "message": "x"}}, "auth"),
        ("gemini", {"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "x"}}, "refused"),
        ("bedrock", {"__type": "com.amazon#ThrottlingException", "message": "Too many requests"}, "rate"),
        ("bedrock", {"__type": "AccessDeniedException", "message": "x"}, "auth"),
        ("bedrock", {"__type": "ModelTimeoutException", "message": "x"}, "transient"),
        ("ollama", {"error": "model requires more system memory"}, "unknown"),
    ],
)  # fmt: skip
def test_kinds_of_failures_by_the_providers_words(provider, body, kind):
    assert ADAPTERS[provider].failure(body).kind == kind


def _answer(status, body, **headers):
    return httpx.Response(status, json=body, headers=headers, request=httpx.Request("POST", "https://a.b/c"))


def test_exceptions_of_the_sdks_are_read_without_importing_them():
    body = {"error": {"message": "slow down", "type": "requests", "code": "rate_limit_exceeded"}}
    error = openai.RateLimitError("slow down", response=_answer(429, body, **{"retry-after": "7"}), body=body["error"])
    failure = ADAPTERS["openai_chat"].failure(error)
    assert (failure.kind, failure.status, failure.wait) == ("rate", 429, 7.0)
    body = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    error = anthropic.APIStatusError("Overloaded", response=_answer(529, body), body=body)
    assert ADAPTERS["anthropic"].failure(error).kind == "transient"
    connection = anthropic.APIConnectionError(request=httpx.Request("POST", "https://a.b/c"))
    assert ADAPTERS["anthropic"].failure(connection).kind == "transient"
    retry = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}]
    body = {"error": {"code": 429, "message": "x", "status": "RESOURCE_EXHAUSTED", "details": retry}}
    failure = ADAPTERS["gemini"].failure(genai.ClientError(429, body))
    assert (failure.kind, failure.wait) == ("rate", 34.0)
    said = {"Error": {"Code": "ValidationException", "Message": "Input is too long for requested model."}}
    said["ResponseMetadata"] = {"HTTPStatusCode": 400}
    failure = ADAPTERS["bedrock"].failure(botocore.exceptions.ClientError(said, "Converse"))
    assert (failure.kind, failure.status) == ("overflow", 400)
    said["Error"] = {"Code": "ThrottlingException", "Message": "x"}
    assert ADAPTERS["bedrock"].failure(botocore.exceptions.ClientError(said, "Converse")).kind == "rate"
    error = httpx.HTTPStatusError("502", request=httpx.Request("POST", "https://a.b/c"), response=_answer(502, {}))
    assert ADAPTERS["ollama"].failure(error).kind == "transient"
    assert ADAPTERS["ollama"].failure(TimeoutError()).kind == "transient"
    assert ADAPTERS["ollama"].failure(ConnectionResetError()).kind == "transient"
    assert ADAPTERS["ollama"].failure(object()).kind == "unknown"


def test_a_run_that_fails_says_why():
    run = session("anthropic").start_run("go")
    failure = run.fail(run.prepare(CAPS), RuntimeError("prompt is too long: 208310 tokens > 200000 maximum"))
    assert failure == mt.Failure("overflow", "prompt is too long: 208310 tokens > 200000 maximum", 0, 208310, 200000)
    run.record(run.prepare(CAPS), says("fine"))


def test_what_urllib_raises_says_how_long_to_wait():
    headers = email.message.Message()
    headers["Retry-After"] = "7"
    error = urllib.error.HTTPError("https://api.example", 429, "Too Many Requests", headers, None)
    found = ADAPTERS["openai_chat"].failure(error)
    assert (found.kind, found.status, found.wait) == ("rate", 429, 7.0)


def test_headers_are_found_whatever_their_case():
    error = RuntimeError("busy")
    error.response = types.SimpleNamespace(status_code=429, headers={"RETRY-AFTER": "3"}, text="")
    assert ADAPTERS["openai_chat"].failure(error).wait == 3.0
