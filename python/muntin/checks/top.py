"""The first level of a request: the keys that a server knows there. Most servers refuse any other.

The lists are those of the SDKs, with what clouds and betas add and what is retired but still taken. A key that came
later than this release is called unknown, which is the price of finding one that is misspelt.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from muntin.checks.finding import Body, Finding, Findings

__all__ = ["KNOWN", "strangers"]

NOT_SENT: Final = frozenset({"extra_body", "extra_headers", "extra_query", "timeout"})
"""Arguments of an SDK's method, which never reach the server as keys of the body."""

KNOWN: Final[Mapping[str, frozenset[str]]] = {
    "openai_chat": frozenset({
        "audio", "data_sources", "frequency_penalty", "function_call", "functions", "logit_bias", "logprobs",
        "max_completion_tokens", "max_tokens", "messages", "metadata", "modalities", "model", "moderation", "n",
        "parallel_tool_calls", "prediction", "presence_penalty", "prompt_cache_key", "prompt_cache_options",
        "prompt_cache_retention", "reasoning_effort", "response_format", "safety_identifier", "seed", "service_tier",
        "stop", "store", "stream", "stream_options", "temperature", "tool_choice", "tools", "top_logprobs", "top_p",
        "user", "verbosity", "web_search_options",
    }),
    "openai_responses": frozenset({
        "access_programs", "background", "background_options", "context_management", "conversation", "image", "include",
        "input", "instructions", "max_output_tokens", "max_tool_calls", "metadata", "model", "moderation",
        "parallel_tool_calls", "previous_response_id", "prompt", "prompt_cache_key", "prompt_cache_options",
        "prompt_cache_retention", "reasoning", "safety_identifier", "service_tier", "store", "stream",
        "stream_options", "temperature", "text", "tool_choice", "tools", "top_logprobs", "top_p", "truncation", "user",
    }),
    "anthropic": frozenset({
        "anthropic_beta", "anthropic_version", "betas", "billing_policy", "cache_control", "compaction", "container",
        "context_management", "diagnostics", "fallback_credit_token", "fallbacks", "inference_geo", "max_tokens",
        "mcp_servers", "messages", "metadata", "model", "output_config", "output_format", "service_tier", "speed",
        "stop_sequences", "stream", "system", "temperature", "thinking", "thread", "tool_choice", "tools", "top_k",
        "top_p", "user_profile_id", "workspace_id",
    }),
    "gemini": frozenset({
        "cachedContent", "contents", "continuationToken", "generationConfig", "labels", "model", "modelArmorConfig",
        "safetySettings", "serviceTier", "store", "systemInstruction", "toolConfig", "tools",
    }),
    "bedrock": frozenset({
        "additionalModelRequestFields", "additionalModelResponseFieldPaths", "guardrailConfig", "inferenceConfig",
        "messages", "modelId", "outputConfig", "performanceConfig", "projectIdentifier", "promptVariables",
        "requestMetadata", "serviceTier", "system", "toolConfig",
    }),
}  # fmt: skip
"""Of each format whose server refuses others; Ollama's leaves them unread."""


def strangers(
    rule: str, form: str, body: Body, words: Callable[[str], str], spelt: Callable[[str], str] = str
) -> Findings:
    """The keys of a body that a format does not have, as findings of a rule.

    Args:
        rule: The id of the rule.
        form: The name of the format.
        body: The request.
        words: What the server says of a key.
        spelt: A key as the API has it, where the server takes it in another spelling too.
    """
    for key in body:
        if spelt(key) not in KNOWN[form] and key not in NOT_SENT:
            yield Finding(rule, key, words(key), "take the key out, or spell it as the API has it")
