"""Documents, sounds and films are estimated by what they are made of, by figures in the data."""

from __future__ import annotations

import base64

import pytest

import muntin as mt
from muntin.counting.rules import rules
from muntin.models import model


def b64(raw):
    return base64.b64encode(raw).decode()


PDF = b64(b"%PDF-1.4\n" + b"<</Type /Page>>\n" * 3)
SOUND = b64(bytes(160_000))
BLOCKS = {
    "openai_chat": (
        {"type": "file", "file": {"filename": "a.pdf", "file_data": f"data:application/pdf;base64,{PDF}"}},
        {"type": "input_audio", "input_audio": {"data": SOUND, "format": "wav"}},
    ),
    "openai_responses": (
        {"type": "input_file", "filename": "a.pdf", "file_data": f"data:application/pdf;base64,{PDF}"},
        None,
    ),
    "anthropic": (
        {"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": PDF}},
        None,
    ),
    "gemini": (
        {"inlineData": {"mimeType": "application/pdf", "data": PDF}},
        {"inlineData": {"mimeType": "audio/wav", "data": SOUND}},
    ),
    "bedrock": ({"document": {"format": "pdf", "name": "a", "source": {"bytes": PDF}}}, None),
}
MODELS = {"anthropic": "claude-opus-4-5", "bedrock": "claude-opus-4-5", "gemini": "gemini-2.5-pro"}


def tokens(form, *blocks):
    name = MODELS.get(form, "gpt-4o")
    key = {"gemini": "contents", "openai_responses": "input"}.get(form, "messages")
    body = {key: [{"role": "user", "parts" if form == "gemini" else "content": list(blocks)}]}
    return mt.providers.estimate(form, body, model=name).tokens


def media_of(form):
    return rules(model(MODELS.get(form, "gpt-4o")).rules).media


@pytest.mark.parametrize("form", sorted(BLOCKS))
def test_a_document_costs_its_pages(form):
    document, _ = BLOCKS[form]
    assert tokens(form, document) - tokens(form) == 3 * media_of(form).page


@pytest.mark.parametrize("form", [form for form, (_, sound) in sorted(BLOCKS.items()) if sound])
def test_a_sound_costs_its_seconds(form):
    media = media_of(form)
    seconds = 160_000 / media.audio_bytes
    assert tokens(form, BLOCKS[form][1]) - tokens(form) == pytest.approx(seconds * media.audio_second, abs=1)


def test_a_film_costs_its_seconds_and_what_is_elsewhere_something():
    media = media_of("gemini")
    film = {"inlineData": {"mimeType": "video/mp4", "data": b64(bytes(500_000))}}
    seconds = 500_000 / media.video_bytes
    assert tokens("gemini", film) - tokens("gemini") == pytest.approx(seconds * media.video_second, abs=1)
    elsewhere = {"fileData": {"mimeType": "video/mp4", "fileUri": "gs://bucket/film.mp4"}}
    assert tokens("gemini", elsewhere) > tokens("gemini")
