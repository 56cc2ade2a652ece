"""Images and documents that are too large or too many: found in any body, and left out of those that muntin makes."""

from __future__ import annotations

import base64

import pytest

import muntin as mt
from agents import ADAPTERS

FORMATS = ["anthropic", "bedrock", "gemini", "openai_chat", "openai_responses"]
MEGABYTE = 1_048_576


def png(across, down, size=0):
    """The header of an image of so many pixels, and bytes behind it."""
    head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + across.to_bytes(4, "big") + down.to_bytes(4, "big")
    return base64.b64encode(head.ljust(size, b"\0")).decode()


def pdf(pages=1, size=0, mark=b""):
    return base64.b64encode((b"%PDF-1.7 " + mark + b"/Type /Page \n" * pages).ljust(size, b"\0")).decode()


def block(form, kind, data, name="document"):
    """An image or a document as a format has it in a message."""
    mime = "image/png" if kind == "image" else "application/pdf"
    url = f"data:{mime};base64,{data}"
    match form:
        case "anthropic":
            return {"type": kind, "source": {"type": "base64", "media_type": mime, "data": data}}
        case "bedrock":
            named = {} if kind == "image" else {"name": name}
            return {kind: {"format": mime.partition("/")[2], **named, "source": {"bytes": data}}}
        case "gemini":
            return {"inlineData": {"mimeType": mime, "data": data}}
        case "openai_chat" if kind == "image":
            return {"type": "image_url", "image_url": {"url": url}}
        case "openai_chat":
            return {"type": "file", "file": {"file_data": url, "filename": "a.pdf"}}
        case _ if kind == "image":
            return {"type": "input_image", "image_url": url}
        case _:
            return {"type": "input_file", "file_data": url, "filename": "a.pdf"}


def body(form, *blocks, model="", **more):
    """A request with one message of the user's."""
    text = {
        "bedrock": {"text": "Look."},
        "gemini": {"text": "Look."},
        "openai_responses": {"type": "input_text", "text": "."},
    }
    parts = [*blocks, text.get(form, {"type": "text", "text": "Look."})]
    if form == "gemini":
        return {"contents": [{"role": "user", "parts": parts}]}
    message = {"role": "user", "content": parts}
    if form == "bedrock":
        return {"messages": [message], **more}
    limit = {"max_tokens": 9} if form == "anthropic" else {}
    key = "input" if form == "openai_responses" else "messages"
    return {"model": model or {"anthropic": "claude-opus-4-8"}.get(form, "gpt-4o"), **limit, key: [message]}


def found(form, made):
    return [(one.rule, one.text) for one in mt.providers.check(form, made)]


@pytest.mark.parametrize("form", FORMATS)
def test_images_and_documents_that_fit_are_fine(form):
    names = [f"document {i}" for i in range(5)]
    made = body(
        form, *[block(form, "image", png(2000, 2000))] * 21, *(block(form, "document", pdf(), n) for n in names)
    )
    assert found(form, made) == []


WORD = base64.b64encode(b"PK" * 5 * 524_288).decode()
SIDES = "At least one of the image dimensions exceed max allowed size"
MAXIMUM = "image exceeds 5 MB maximum: 5592408 bytes > 5242880 bytes"
TOO_MUCH = {
    "AM18": ("anthropic", "image", png(8001, 9), 1, f"image.source.base64.data: {SIDES}: 8000 pixels"),
    "BC14": ("bedrock", "image", png(9, 8001), 1, f"{SIDES}: 8000 pixels"),
    "AM18 many": ("anthropic", "image", png(2001, 9), 21, f"{SIDES} for many-image requests: 2000 pixels"),
    "BC14 many": ("bedrock", "image", png(2001, 9), 21, f"{SIDES} for many-image requests: 2000 pixels"),
    "AM18 heavy": ("anthropic", "image", png(9, 9, 4 * MEGABYTE), 1, MAXIMUM),
    "BC14 heavy": ("bedrock", "image", png(9, 9, 4 * MEGABYTE), 1, MAXIMUM),
    "AM23": ("anthropic", "document", pdf(601), 1, "A maximum of 600 PDF pages may be provided."),
    "AM23 heavy": ("anthropic", "document", pdf(1, 13 * MEGABYTE), 2, "Request exceeds the maximum size"),
    "BC14 together": ("bedrock", "image", png(9, 9, 3 * MEGABYTE), 5, "Input is too long for requested model."),
    "BC15": ("bedrock", "document", WORD, 1, "The maximum document size is 4.5 MB."),
    "OC15": ("openai_chat", "document", pdf(1, 51 * MEGABYTE), 1, "50 MB"),
    "OR15": ("openai_responses", "document", pdf(1, 51 * MEGABYTE), 1, "50 MB"),
    "GG14": ("gemini", "document", pdf(1, 51 * MEGABYTE), 1, "50 MB"),
    "OC15 many": ("openai_chat", "image", png(9, 9), 1501, "1500"),
    "OR15 many": ("openai_responses", "image", png(9, 9), 1501, "1500"),
    "GG14 many": ("gemini", "image", png(9, 9), 3601, "3600"),
}  # fmt: skip


@pytest.mark.parametrize("case", TOO_MUCH)
def test_what_is_too_large_or_too_many_is_found_in_the_servers_words(case):
    form, kind, data, times, text = TOO_MUCH[case]
    findings = found(form, body(form, *[block(form, kind, data)] * times))
    assert {rule for rule, _ in findings} == {case.partition(" ")[0]}
    assert text in findings[0][1]


def test_a_narrow_window_takes_fewer_pages():
    made = body("anthropic", block("anthropic", "document", pdf(101)), model="claude-sonnet-4-5")
    assert "A maximum of 100 PDF pages" in found("anthropic", made)[0][1]
    assert found("anthropic", body("anthropic", block("anthropic", "document", pdf(101)))) == []


def test_converse_takes_five_documents_and_each_name_once():
    six = [block("bedrock", "document", pdf(), f"document {i}") for i in range(6)]
    assert [rule for rule, _ in found("bedrock", body("bedrock", *six))] == ["BC15"]
    twice = [block("bedrock", "document", pdf())] * 2
    (finding,) = mt.providers.check("bedrock", body("bedrock", *twice))
    assert (finding.rule, finding.path) == ("BC16", "messages.0.content.1.document.name")
    assert "Messages can't contain duplicate document names." in finding.text


def test_models_that_are_not_claude_take_many_large_images():
    made = body("bedrock", *[block("bedrock", "image", png(2001, 9))] * 21, modelId="amazon.nova-pro-v1:0")
    assert found("bedrock", made) == []


# --- what muntin makes ------------------------------------------------------------------------------------------------
def sent(form, *contents, adapter=None):
    """The last request of a session in which a person says so much in a turn, and nothing that would be refused."""
    session = mt.Session("s", adapter=adapter or ADAPTERS[form])
    for content in contents:
        run = session.start_run(list(content))
        request = run.prepare()
        assert mt.providers.check(form, request.to_dict()) == []
        run.record(request, mt.AssistantTurn((mt.Text("ok"),)))
        run.finish()
    return request.body.decode()


def image(data):
    return mt.Image("image/png", data=data)


def document(data):
    return mt.Image("application/pdf", data=data)


@pytest.mark.parametrize("form", ["anthropic", "bedrock"])
def test_an_image_or_a_document_that_would_be_refused_for_its_size_becomes_a_word(form):
    for data in (png(8001, 9), png(9, 9, 4 * MEGABYTE)):
        assert "[image image/png]" in sent(form, [image(data)])
    assert "[document application/pdf]" in sent(form, [document(pdf(1, 24 * MEGABYTE))])


@pytest.mark.parametrize("form", FORMATS)
def test_a_document_of_more_than_fifty_megabytes_becomes_a_word_everywhere(form):
    assert "[document application/pdf]" in sent(form, [document(pdf(1, 51 * MEGABYTE))])


def test_converse_is_shown_a_document_once_and_five_of_them():
    one, *others = [document(pdf(mark=bytes([48 + i]))) for i in range(6)]
    again = sent("bedrock", [one], ["Look again.", one])
    assert again.count('"document":') == 1
    assert "[document: the same as above]" in again
    many = sent("bedrock", [one], others)
    assert many.count('"document":') == 5
    assert "[document: one more than can be shown]" in many


def test_a_document_that_left_the_view_can_be_shown_again():
    session = mt.Session("s", adapter=ADAPTERS["bedrock"], policy=mt.Policy(keep_recent=1_000))
    for i in range(6):
        run = session.start_run([f"{i} {'word ' * 20_000}", *([document(pdf())] if i == 0 else [])])
        run.record(run.prepare(), mt.AssistantTurn((mt.Text("ok"),)))
        run.finish()
    session.commit_compaction(session.plan_compaction(force=True).run(mt.ExtractiveSummarizer()))
    assert b'"document":' in session.start_run([document(pdf())]).prepare().body


@pytest.mark.parametrize("form", ["anthropic", "bedrock"])
def test_a_large_image_is_left_out_beside_twenty_others_and_others_beside_a_large_one(form):
    small, large = image(png(9, 9)), image(png(2001, 9))
    for first, last in ((small, large), (large, small)):
        made = sent(form, [first] * 20, [last])
        assert made.count("iVBORw0KGgo") == 20
        assert "[image: cannot be shown beside so many]" in made
    assert sent(form, [small] * 20, [small]).count("iVBORw0KGgo") == 21


def test_images_of_results_attachments_and_guidance_are_looked_at_too():
    one = document(pdf())
    session = mt.Session("s", adapter=ADAPTERS["bedrock"])
    run = session.start_run([one])
    run.record(run.prepare(), mt.AssistantTurn((mt.ToolCall("c1", "read"),)))
    run.tool_result("c1", ["Here.", one])
    run.accept(mt.Attachment("a.pdf", images=(one,)))
    run.guide("This one.", images=[one])
    made = run.prepare(mt.Capabilities(stable=[mt.Tool("read")]))
    assert mt.providers.check("bedrock", made.to_dict()) == []
    assert made.body.count(b"[document: the same as above]") == 3


def test_bytes_of_boto3_are_measured_too():
    raw = base64.b64decode(png(8001, 9))
    assert [rule for rule, _ in found("bedrock", body("bedrock", block("bedrock", "image", raw)))] == ["BC14"]
