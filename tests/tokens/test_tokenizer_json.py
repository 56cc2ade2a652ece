"""Files of `tokenizers` as a face: names, equality, pickling, and what is left to the library or refused."""

from __future__ import annotations

import json
import pickle
import sys

import pytest
import tokenizers

import muntin as mt
from muntin import _core
from tokens.files import PATTERNS, dumped, small

END = {"content": "<end>"}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_bytes(dumped(small(added=[END])))
    return path


def test_a_file_is_named_after_itself_and_its_content(file):
    tok = mt.Tokenizer.from_file(file)
    assert tok.name.startswith("tokenizer.json:")
    assert repr(tok) == f"Tokenizer({tok.name!r})"
    assert tok.special_tokens == {"<end>": 272}
    assert tok.n_vocab == 273
    assert tok.encode("abc<end>", special=True) == [tok.encode("abc")[0], 272]
    assert tok.decode([272, 97]) == "<end>a"


def test_files_of_one_content_are_equal(file):
    tok = mt.Tokenizer.from_file(file)
    assert tok == mt.Tokenizer.from_json(file.read_bytes()) == mt.Tokenizer.from_json(file.read_text())
    assert hash(tok) == hash(mt.Tokenizer.from_file(str(file)))
    assert tok != mt.Tokenizer.from_json(dumped(small()))


def test_pickled_is_the_path_and_the_file_must_be_the_same(file):
    tok = mt.Tokenizer.from_file(file)
    pickled = pickle.dumps(tok)
    assert len(pickled) < 1_000
    assert pickle.loads(pickled) == tok
    file.write_bytes(dumped(small()))
    with pytest.raises(mt.EncodingError, match="has changed since"):
        pickle.loads(pickled)


def test_pickled_content_needs_no_file():
    tok = mt.Tokenizer.from_json(dumped(small()), name="mine")
    again = pickle.loads(pickle.dumps(tok))
    assert again == tok
    assert again.name == tok.name


def test_merges_are_pairs_or_lines():
    pairs, lines = (mt.Tokenizer.from_json(dumped(small(pairs=pairs))) for pairs in (True, False))
    assert pairs.encode("the abc aaaa") == lines.encode("the abc aaaa")


def test_arrays_and_counts_of_many(file):
    tok = mt.Tokenizer.from_file(file)
    texts = ["the abc", "", "é"] * 20
    assert tok.count_many(texts, threads=2).tolist() == [tok.count(text) for text in texts]
    assert tok.encode_array("the abc").tolist() == tok.encode("the abc")


@pytest.mark.parametrize("family", PATTERNS)
@pytest.mark.parametrize("switches", [{}, {"lstrip": True}, {"rstrip": True}])
def test_a_text_is_counted_as_it_grows_with_added_tokens_in_it(family, switches):
    added = [{"content": "<t>", "special": False, **switches}]
    tok = mt.Tokenizer.from_json(dumped(small(family, added=added, normalizer={"type": "NFC"})))
    text = "the abc <t>  12e\u0301 \n<t>the  aa" * 2
    stream = tok.stream()
    totals = [stream.append(char) for char in text]
    assert totals == [tok.count(text[: at + 1]) for at in range(len(text))]
    with pytest.raises(mt.EncodingError, match="slices of a text are not measured; count them one by one"):
        tok.measure(text)


@pytest.mark.parametrize("family", PATTERNS)
def test_slices_are_counted_by_every_familys_pattern(family):
    tok = mt.Tokenizer.from_json(dumped(small(family)))
    text = "the abc  12 \n é語aaaa--- 'll 1234 "
    measured = tok.measure(text)
    for start in range(len(text)):
        for stop in range(start, len(text) + 1):
            assert measured.count(start, stop) == tok.count(text[start:stop])


def without_byte(file: dict) -> dict:
    del file["model"]["vocab"]["q"]
    return file


def replaced(**parts) -> dict:
    return {**small(), **parts}


LEFT_TO_THE_LIBRARY = {
    "a model of type WordLevel": replaced(
        model={"type": "WordLevel", "vocab": {"a": 0, "[UNK]": 1}, "unk_token": "[UNK]"}
    ),
    "the normalizer Lowercase": small(normalizer={"type": "Lowercase"}),
    "a pre-tokeniser that puts a blank before a text": small(byte_level={"add_prefix_space": True}),
    "a pre-tokeniser that does not end with ByteLevel": replaced(pre_tokenizer={"type": "Whitespace"}),
    "the pre-tokeniser Digits": replaced(
        pre_tokenizer={
            "type": "Sequence",
            "pretokenizers": [
                {"type": "Digits", "individual_digits": True},
                {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
            ],
        }
    ),
    "the added token 'word', which is one as a word only": small(added=[{"content": "word", "single_word": True}]),
    "end_of_word_suffix": small(end_of_word_suffix="</w>"),
    "no token for the byte 0x71": without_byte(small()),
}


@pytest.mark.parametrize("reason", LEFT_TO_THE_LIBRARY)
def test_what_the_core_does_not_count_is_left_to_the_library(reason, monkeypatch):
    data = dumped(LEFT_TO_THE_LIBRARY[reason])
    ours, theirs = mt.Tokenizer.from_json(data), tokenizers.Tokenizer.from_buffer(data)
    assert not isinstance(ours._core, _core.Tokenizer)
    for text in ("", "a", "the abc 12 Word word", "q", "é"):
        expected = theirs.encode(text, add_special_tokens=False).ids
        assert ours.encode(text, special=True) == ours.encode_array(text, special=True).tolist() == expected
        assert ours.count(text, special=True) == len(expected)
    assert ours.count_many(["a", "a a"], threads=2).tolist() == [ours.count("a"), ours.count("a a")]
    assert isinstance(ours.decode(ours.encode("a")), str)
    assert ours.n_vocab == max(theirs.get_vocab().values()) + 1
    with pytest.raises(mt.EncodingError, match="token 4000 is not in the vocabulary"):
        ours.decode([4000])

    for grow in (ours.stream, lambda: ours.measure("a")):
        with pytest.raises(mt.EncodingError, match="counts whole texts only"):
            grow()

    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(mt.EncodingError, match=r"muntin does not count itself; pip install 'muntin\[hf\]'") as refused:
        mt.Tokenizer.from_json(data)
    assert reason in str(refused.value)


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b'{"model": 1}', b"\xff", json.dumps({"model": {}}).encode()])
def test_what_is_no_tokenizer_json_is_refused(data):
    with pytest.raises(mt.EncodingError, match=r"is no tokenizer\.json"):
        mt.Tokenizer.from_json(data)


def test_a_file_that_is_not_there_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        mt.Tokenizer.from_file(tmp_path / "tokenizer.json")
