"""What a request is expected to cost: texts, tools and media, whole bodies, and the same in a session."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from agents import says
from muntin.counting import costs_of, outlined
from muntin.counting.formats import FORMATS
from muntin.counting.images import pages
from muntin.counting.media import dimensions
from muntin.counting.outline import Shape
from muntin.counting.rules import image_rule, rules
from muntin.counting.schemas import tool_texts
from muntin.models import model

WEATHER = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "Where."},
        "unit": {"type": "string", "enum": ["celsius", "fahrenheit"], "default": "celsius"},
        "days": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    },
    "required": ["city"],
}
CAPS = mt.Capabilities(
    stable=[mt.Tool("get_weather", "Tell the weather.\n\nBy day.", WEATHER), mt.Tool("stop", "Stop.")]
)


def b64(data):
    return base64.b64encode(data).decode()


PNG = b64(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + (1024).to_bytes(4, "big") + (768).to_bytes(4, "big") + bytes(5))
JPEG = b64(
    b"\xff\xd8\xff\xe0\0\x10JFIF" + bytes(10) + b"\xff\xff\xc2\0\x11\x08" + (600).to_bytes(2, "big")
    + (800).to_bytes(2, "big") + bytes(20)
)  # fmt: skip
GIF = b64(b"GIF89a" + (320).to_bytes(2, "little") + (200).to_bytes(2, "little") + bytes(20))
WEBP = {
    "VP8 ": b"RIFF\0\0\0\0WEBPVP8 " + bytes(10) + (640).to_bytes(2, "little") + (480).to_bytes(2, "little") + bytes(8),
    "VP8L": b"RIFF\0\0\0\0WEBPVP8L" + bytes(5) + (639 | 479 << 14).to_bytes(4, "little") + bytes(8),
    "VP8X": b"RIFF\0\0\0\0WEBPVP8X" + bytes(8) + (639).to_bytes(3, "little") + (479).to_bytes(3, "little") + bytes(8),
}


@pytest.mark.parametrize(
    ("data", "size"),
    [(PNG, (1024, 768)), (JPEG, (800, 600)), (GIF, (320, 200)), *((b64(one), (640, 480)) for one in WEBP.values())],
)
def test_an_image_says_how_large_it_is_in_its_first_bytes(data, size):
    assert dimensions(data) == size
    assert dimensions(data + "A" * 4_000_000) == size


@given(
    st.binary(max_size=64), st.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8", b"GIF89a", b"RIFF\0\0\0\0WEBP"])
)
def test_bytes_that_are_no_image_have_no_size_and_do_no_harm(data, start):
    size = dimensions(b64(start + data))
    assert size is None or min(size) > 0
    assert dimensions(data.decode("latin-1")) is None


@pytest.mark.parametrize(
    ("rule", "size", "detail", "tokens"),
    [
        ("tiles", (1024, 1024), "high", 765), ("tiles", (2048, 4096), "", 1105), ("tiles", (4096, 8192), "low", 85),
        ("tiles-5", (512, 512), "", 210), ("claude", (4000, 3000), "", 1564), ("claude-large", (4000, 3000), "", 4740),
        ("claude", (200, 200), "", 64), ("patches-1.62", (1024, 1024), "", 1659),
        ("patches-1.62", (1800, 2400), "", 2353),
        ("gemini-3", None, "MEDIA_RESOLUTION_LOW", 280), ("gemini-3", None, "MEDIA_RESOLUTION_MEDIUM", 560),
        ("gemini-3", None, "media_resolution_high", 1120), ("gemini-3", None, "MEDIA_RESOLUTION_ULTRA_HIGH", 2240),
        ("gemini", (4000, 3000), "", 258), ("claude", None, "", 1568), ("tiles-o", (1024, 1024), "", 675),
        ("tiles-4o-mini", (1024, 1024), "", 25501), ("patches-2.46", (1024, 1024), "", 2520),
        ("patches-1.72", (1024, 1024), "", 1762), ("patches-1.5", (1024, 1024), "", 1536),
        ("patches-1.2", (1024, 1024), "low", 1229), ("patches-large", (1600, 1600), "high", 3000),
        ("patches-large", (3200, 3200), "original", 12_000),
    ],
)  # fmt: skip
def test_images_cost_what_the_providers_pages_say(rule, size, detail, tokens):
    assert image_rule(rule).tokens(size, detail) == tokens


@given(st.tuples(st.integers(1, 20_000), st.integers(1, 20_000)))
def test_no_image_costs_more_than_one_whose_size_is_not_known(size):
    for name in ("tiles", "tiles-5", "patches-1.2", "patches-large", "claude", "claude-large"):
        assert 0 < image_rule(name).tokens(size) <= image_rule(name).tokens(None)


def test_pages_of_a_document_are_counted_where_they_can_be_seen():
    pdf = b"%PDF-1.4\n1 0 obj <</Type /Pages>>\n2 0 obj <</Type/Page >>\n3 0 obj <</Type /Page/Parent 1 0 R>>"
    assert pages(b64(pdf)) == 2
    assert pages(b64(b"PK\3\4")) == 0


BODIES = {
    "openai_chat": {
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": [{"type": "text", "text": "hello"}]},
            {
                "role": "assistant", "content": None,
                "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}],
            },
            {"role": "tool", "tool_call_id": "a", "content": "two"},
        ],
        "tools": [{"type": "function", "function": {"name": "f", "description": "D", "parameters": WEATHER}}],
        "tool_choice": "required",
    },
    "anthropic": {
        "system": "Be kind.",
        "messages": [
            {"role": "user", "content": "hello"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "two"}]},
        ],
        "tools": [{"name": "f", "description": "D", "input_schema": WEATHER}],
        "tool_choice": {"type": "any"},
    },
    "openai_responses": {
        "instructions": "Be kind.",
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "hello"}]},
            {"type": "function_call", "call_id": "a", "name": "f", "arguments": '{"x":1}'},
            {"type": "function_call_output", "call_id": "a", "output": "two"},
        ],
        "tools": [{"type": "function", "name": "f", "description": "D", "parameters": WEATHER, "strict": True}],
        "tool_choice": "required",
    },
    "gemini": {
        "systemInstruction": {"parts": [{"text": "Be kind."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "hello"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {"x": 1}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "two"}}}]},
        ],
        "tools": [{"functionDeclarations": [{"name": "f", "description": "D", "parametersJsonSchema": WEATHER}]}],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY"}},
    },
    "bedrock": {
        "system": [{"text": "Be kind."}],
        "messages": [
            {"role": "user", "content": [{"text": "hello"}]},
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": "a", "name": "f", "input": {"x": 1}}}]},
            {"role": "user", "content": [{"toolResult": {"toolUseId": "a", "content": [{"text": "two"}]}}]},
        ],
        "toolConfig": {
            "tools": [{"toolSpec": {"name": "f", "description": "D", "inputSchema": {"json": WEATHER}}}],
            "toolChoice": {"any": {}},
        },
    },
}  # fmt: skip
BODIES["ollama"] = json.loads(json.dumps(BODIES["openai_chat"]))
BODIES["ollama"]["messages"][2]["tool_calls"][0]["function"]["arguments"] = {"x": 1}


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_a_body_of_any_format_is_read_into_the_same_outline(form):
    outline = outlined(form, BODIES[form])
    parts = [part for message in outline.messages for part in message.parts]
    assert [part.kind for part in parts if part.kind != "text"] == ["call", "result"]
    assert outline.has_system
    assert [(part.name, part.text) for part in parts if part.kind == "call"] == [("f", '{"x":1}')]
    assert [(tool.name, tool.description, tool.parameters) for tool in outline.tools] == [("f", "D", WEATHER)]
    assert outline.choice == "any"
    found = mt.providers.estimate(form, BODIES[form], model="claude-sonnet-4-5")
    assert found.tokens == sum(found.parts.values()) <= found.safe


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["type", "content", "text", "role", "tools", "input", "parts", "image", "source"]), inner
    ),
    max_leaves=12,
)  # fmt: skip


@given(form=st.sampled_from(sorted(FORMATS)), messages=st.lists(JSON, max_size=3), tools=JSON)
def test_whatever_a_list_of_messages_holds_it_is_counted(form, messages, tools):
    body = {
        "messages": messages,
        "contents": messages,
        "input": messages,
        "tools": tools if isinstance(tools, list) else [],
    }
    assert mt.providers.estimate(form, body, model="gpt-4o").tokens >= 0


@pytest.mark.parametrize(
    ("provider", "name"),
    [
        ("openai_chat", "gpt-4o"), ("openai_chat", "gpt-5.2"), ("openai_chat", "deepseek-chat"),
        ("anthropic", "claude-sonnet-4-5"), ("anthropic", "claude-opus-4-8"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("params", [{}, {"tool_choice": {"type": "any"}}, {"parallel_tool_calls": False}])
def test_a_session_and_an_estimate_of_its_body_agree(provider, name, params):
    session = mt.Session("s", adapter=mt.providers.adapter(provider, name), system="Be exact.")
    run = session.start_run(["Look at this.", mt.Image("image/png", data=PNG)])
    request = run.prepare(CAPS, params=params)
    for turn in (says("Hm.", "c1", "c2"), says("Done: `f(x)` = 12.5\n\n日本語")):
        estimate = mt.providers.estimate(provider, request.body)
        assert (estimate.tokens, estimate.safe) == (request.usage.tokens, request.usage.safe)
        run.record(request, turn)
        for call in turn.tool_calls:
            run.tool_result(call.id, '{"a": [1, 2, 3]}\nok')
        run.guide("Go on.")
        request = run.prepare(CAPS, params=params)


def test_a_text_of_openais_models_is_counted_exactly_and_a_claude_text_by_what_it_is_made_of():
    exact, claude = costs_of(model("gpt-4o")), costs_of(model("claude-sonnet-4-5"))
    prose, code = "the sea was calm that night and nobody spoke " * 40, "if (A[i] != B[j]) { X.Y(); }\n" * 40
    assert exact.text(prose) == mt.tokenizer("gpt-4o").count(prose)
    ratios = [claude.text(text) / exact.text(text) for text in (prose, code)]
    assert ratios[0] < 1.1 < ratios[1]


def test_sealed_reasoning_is_counted_by_its_length_and_not_by_the_summary_beside_it():
    thought = {"type": "reasoning", "id": "rs_1", "encrypted_content": "A" * 1_000, "summary": []}
    said = {"summary": [{"type": "summary_text", "text": "I looked. " * 100}]}
    tokens = [
        mt.providers.estimate("openai_responses", {"input": ["Go.", *items]}, model="gpt-5").tokens
        for items in ([], [thought], [thought | said])
    ]
    assert tokens == [tokens[0], tokens[0] + 104, tokens[0] + 104]


def test_a_tool_that_the_provider_hosts_costs_what_is_known_of_it():
    costs = costs_of(model("claude-sonnet-4-5"))
    tools = [{"type": "memory_20250818", "name": "memory"}, {"type": "memento_1", "name": "memento"}]
    known, unknown = (costs.tools(outlined("anthropic", {"tools": [tool]}).tools) - 496 for tool in tools)
    assert (known, unknown) == (1050, costs.text(json.dumps(tools[1], separators=(",", ":"))))


def test_gemini_bills_an_object_within_an_object_again_and_one_in_a_list_once():
    inner = {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}
    fields = {
        "flat": {"type": "string"}, "listed": {"type": "array", "items": inner}, "inner": inner,
        "referred": {"$ref": "#/$defs/Inner"}, "deeper": {"type": "object", "properties": {"inner": inner}},
    }  # fmt: skip
    told = {}
    for name, field in fields.items():
        schema = {"type": "object", "properties": {"x": field}, "$defs": {"Inner": inner}, "title": "Left out"}
        texts = tool_texts(Shape("f", "D", schema), "nested")
        assert "title" not in texts[1][0]
        told[name] = [times for _, times in texts[2:]]
    assert told == {"flat": [], "listed": [], "inner": [1], "referred": [1], "deeper": [1, 2]}


def test_a_tool_whose_references_lead_in_a_circle_is_counted():
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
    body = BODIES["gemini"] | {
        "tools": [{"functionDeclarations": [{"name": "f", "parametersJsonSchema": {**node, "$defs": {"Node": node}}}]}]
    }
    assert 20 < mt.providers.estimate("gemini", body, model="gemini-2.5-pro").parts["tools"] < 200


@pytest.mark.parametrize("name", ["claude-sonnet-4-5", "claude-opus-4-8", "gemini-2.5-pro"])
@pytest.mark.parametrize(
    "text", ["明日の予定を確認してください。", "Сегодня хорошая погода.", "اليوم الطقس جميل", "ab" * 99]
)
def test_other_scripts_and_long_words_are_not_taken_for_next_to_nothing(name, text):
    tokens = mt.tokenizer("o200k_base").count(text)
    assert 0.7 * tokens < costs_of(model(name)).text(text) < 3.5 * tokens


def test_the_prompt_that_comes_with_tools_is_counted_by_model():
    body = BODIES["anthropic"] | {"tool_choice": {"type": "auto"}}
    framing = {
        name: mt.providers.estimate("anthropic", body, model=name).parts["tools"]
        - mt.providers.estimate("anthropic", body, model=mt.Model(name="x", rules=model(name).rules)).parts["tools"]
        for name in ("claude-sonnet-4-5", "claude-opus-4-7")
    }
    assert framing == {"claude-sonnet-4-5": 496, "claude-opus-4-7": 675}


def test_unknown_names_are_refused_with_what_there_is():
    with pytest.raises(mt.InputError, match="anthropic, bedrock"):
        mt.providers.estimate("telegraph", {}, model="gpt-4o")
    with pytest.raises(mt.InputError, match="names no model"):
        mt.providers.estimate("openai_chat", {"messages": []})
    with pytest.raises(mt.InputError, match="no rules of counting"):
        rules("abacus")
    with pytest.raises(mt.InputError, match="no rule of images"):
        image_rule("abacus")
