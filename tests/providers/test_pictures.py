"""Images of kinds and from places that a provider does not take: named in words, never sent and never lost silently."""

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
