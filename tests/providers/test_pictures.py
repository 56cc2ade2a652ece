"""Images and documents that a provider does not take: named in words, never sent and never lost silently."""

from __future__ import annotations

import json

import pytest

import muntin as mt
from agents import ADAPTERS, CAPS, says, session
from muntin.providers.pictures import shown
from wire.rules import refused

PNG = "iVBORw0KGgo="
ODD = [
    mt.Image("image/bmp", data="Qk0="),
    mt.Image("image/*", data=PNG),
    mt.Image("image/*", url="https://example.com/a"),
    mt.Image("image/jpeg", data=PNG),
    mt.Image("image/png", url="s3://bucket/a.png"),
    mt.Image("image/svg+xml", url="https://example.com/a.svg"),
]


@pytest.mark.parametrize("provider", sorted(ADAPTERS))
@pytest.mark.parametrize("image", ODD, ids=lambda image: f"{image.media_type}-{image.url[:2]}")
@pytest.mark.parametrize("is_error", [False, True])
def test_an_image_of_any_kind_makes_no_request_that_would_be_refused(provider, image, is_error):
    run = session(provider).start_run(["look", image])
    run.accept(mt.Attachment("a", images=(image,)))
    run.record(run.prepare(CAPS), says("", "c1"))
    run.tool_result("c1", [image], is_error=is_error)
    run.guide("and this", images=[image])
    body = run.prepare(CAPS).to_dict()
    assert refused(provider, body) == []
    told, sent = json.dumps(body).count("[image "), json.dumps(body).count(image.data or image.url)
    assert told + sent >= 4
    assert not told or not image.data or not sent  # either shown or named


@pytest.mark.parametrize(("given", "kind"), [
    (mt.Image("image/png", data="/9j/4AA="), "image/jpeg"),
    (mt.Image("image/*", data="R0lGODlh"), "image/gif"),
    (mt.Image("image/jpeg", data="UklGRg=="), "image/webp"),
    (mt.Image("image/png", data="AAAA"), "image/png"),
    (mt.Image("image/*", url="https://a/B.JPG?x=.png"), "image/jpeg"),
    (mt.Image("image/*", url="https://a/b"), "image/*"),
])  # fmt: skip
def test_the_kind_of_an_image_is_what_its_data_or_else_its_address_shows(given, kind):
    (image,) = shown((given,))
    assert isinstance(image, mt.Image)
    assert (image.media_type, image.data, image.url) == (kind, given.data, given.url)


def test_gemini_takes_no_gif_and_fetches_from_its_own_store():
    gif, stored = mt.Image("image/gif", data="R0lGODlh"), mt.Image("image/png", url="gs://bucket/a.png")
    run = session("gemini").start_run([gif, stored])
    text, image = run.prepare(CAPS).to_dict()["contents"][0]["parts"]
    assert text == {"text": "[image image/gif]"}
    assert image == {"fileData": {"mimeType": "image/png", "fileUri": "gs://bucket/a.png"}}


def test_what_holds_no_image_stays_the_same_object():
    content = (mt.Text("a"),)
    assert shown(content) is content


DOCUMENT = mt.Image("application/pdf", data="JVBERi0xLjQ=")
BLOCKS = {
    "anthropic": '{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0xLjQ="}',
    "bedrock": '"document":{"format":"pdf","name":"document-',
    "gemini": '{"inlineData":{"mimeType":"application/pdf","data":"JVBERi0xLjQ="}}',
    "openai_chat": '{"type":"file","file":{"filename":"document.pdf","file_data":"data:application/pdf;base64,JVBE',
    "openai_responses": '{"type":"input_file","filename":"document.pdf","file_data":"data:application/pdf;base64,JVBE',
}


@pytest.mark.parametrize("provider", sorted(ADAPTERS))
def test_a_pdf_document_goes_where_the_format_has_documents_and_is_named_elsewhere(provider):
    run = session(provider).start_run([DOCUMENT])
    run.record(run.prepare(CAPS), says("", "c1", "c2"))
    run.tool_result("c1", [DOCUMENT])
    run.tool_result("c2", ["failed", DOCUMENT], is_error=True)
    request = run.prepare(CAPS)
    assert refused(provider, request.to_dict()) == []
    block = BLOCKS.get(provider, "[document application/pdf]")
    assert request.body.decode().replace('\\"', '"').count(block) == (
        1 if provider == "bedrock" else 3
    )  # that is shown one once
    adapter = request.adapter
    assert request.usage.tokens == adapter.estimate(adapter.recount(request.body))
    adopted = mt.Session.from_messages(adapter, request.body)
    assert DOCUMENT.data not in b"".join(adopted.events_since(0)).decode().replace(f'"data":"{DOCUMENT.data}"', "")


@pytest.mark.parametrize("provider", sorted(ADAPTERS))
def test_a_document_by_its_address_is_fetched_by_those_that_fetch(provider):
    run = session(provider).start_run(["read", mt.Image("application/pdf", url="https://example.com/a.pdf")])
    request = run.prepare(CAPS)
    assert refused(provider, request.to_dict()) == []
    fetched = provider in ("anthropic", "gemini", "openai_responses")
    assert (b"[document https://example.com/a.pdf]" in request.body or b"[image https" in request.body) != fetched


@pytest.mark.parametrize(("provider", "block", "content"), [
    ("anthropic", {"type": "document", "source": {"type": "text", "data": "T"}}, mt.Text("T")),
    ("anthropic", {"type": "document", "source": {"type": "file", "file_id": "f1"}}, mt.Text("[document f1]")),
    ("bedrock", {"document": {"name": "n", "format": "csv", "source": {"bytes": b"a"}}}, mt.Text("[document n]")),
    ("bedrock", {"document": {"name": "n", "source": {"text": "T"}}}, mt.Text("T")),
    ("openai_chat", {"type": "file", "file": {"file_id": "f1"}}, mt.Text("[document f1]")),
])  # fmt: skip
def test_a_document_of_another_body_is_read_or_named(provider, block, content):
    body = {"messages": [{"role": "user", "content": [block]}]}
    (item,) = ADAPTERS[provider].adopt(body).items
    assert item == mt.UserInput((content,))
