"""The keys of a body's first level: all that the SDKs know are known, and what never reaches a server is let alone."""

from __future__ import annotations

import botocore.session
import pytest
from anthropic.types.beta.message_create_params import MessageCreateParamsBase as BetaMessages
from anthropic.types.message_create_params import MessageCreateParamsBase as Messages
from openai.types.chat.completion_create_params import CompletionCreateParamsBase as Completions
from openai.types.responses.response_create_params import ResponseCreateParamsBase as Responses

import muntin as mt
from agents import ADAPTERS, exchange, says, session
from muntin.checks.top import KNOWN
from wire.sdk_models import GEMINI

CONVERSE = botocore.session.get_session().get_service_model("bedrock-runtime").operation_model("Converse")
SDKS = {
    "anthropic": {*Messages.__annotations__, *BetaMessages.__annotations__, "stream"},
    "bedrock": set(CONVERSE.input_shape.members),
    "gemini": set(GEMINI),
    "openai_chat": {*Completions.__annotations__, "stream"},
    "openai_responses": {*Responses.__annotations__, "stream"},
}


@pytest.mark.parametrize("form", sorted(KNOWN))
def test_every_key_that_an_sdk_has_is_known(form):
    assert SDKS[form] <= KNOWN[form]


def sent(form):
    run = session(form).start_run("look")
    exchange(run, says("I look.", "c1"), ["ok"])
    return run.prepare().to_dict()


@pytest.mark.parametrize("form", sorted(KNOWN))
def test_a_key_that_is_spelt_wrong_is_found_and_an_argument_of_the_sdk_is_not(form):
    body = sent(form)
    assert mt.providers.check(form, body | {"extra_headers": {}, "timeout": 5}) == []
    (finding,) = mt.providers.check(form, body | {"temprature": 0})
    assert finding.path == "temprature"


@pytest.mark.parametrize("server", ["ollama", "openai_chat:vllm", "openai_chat:deepseek", "openai_chat:openrouter"])
def test_a_server_that_leaves_keys_unread_or_has_its_own_may_have_any(server):
    form = server.partition(":")[0]
    body = sent(form if server not in ADAPTERS else server)
    assert mt.providers.check(server, body | {"top_k": 5}) == []


def test_either_spelling_of_gemini_is_right():
    body = sent("gemini")
    assert mt.providers.check("gemini", body | {"generation_config": {}, "cached_content": "cachedContents/1"}) == []


def test_a_cloud_has_the_model_in_the_path():
    body = {key: value for key, value in sent("anthropic").items() if key != "model"}
    assert [one.path for one in mt.providers.check("anthropic", body)] == ["model"]
    assert mt.providers.check("anthropic", body | {"anthropic_version": "bedrock-2023-05-31"}) == []


@pytest.mark.parametrize(
    "more", [{"previous_response_id": "resp_1"}, {"conversation": "conv_1"}, {"prompt": {"id": "p"}}]
)
def test_a_response_may_follow_what_the_server_has(more):
    assert mt.providers.check("openai_responses", {"model": "gpt-5", **more}) == []
