"""The tokenizer's face: names, arrays, threads, and what it refuses."""

from __future__ import annotations

import copy
import os
import pickle
import threading

import numpy as np
import pytest
from tiktoken.model import MODEL_PREFIX_TO_ENCODING, MODEL_TO_ENCODING

import muntin as mt
from muntin.tokens import ENCODINGS


@pytest.fixture
def tok():
    return mt.tokenizer("o200k_base")


def test_names_of_encodings_and_models():
    assert mt.tokenizer("gpt-4o-mini").name == "o200k_base"
    assert mt.tokenizer("gpt-4-0613").name == "cl100k_base"
    assert mt.tokenizer("gpt-oss-120b").name == "o200k_harmony"
    assert mt.tokenizer("o200k_base") is mt.tokenizer("o200k_base")
    with pytest.raises(mt.EncodingError, match=r"'llama-3'; encodings are cl100k_base.*gpt-4o"):
        mt.tokenizer("llama-3")


def test_models_count_in_what_tiktoken_counts_them_in():
    known = {
        **MODEL_TO_ENCODING,
        **{
            f"{beginning}x": encoding
            for beginning, encoding in MODEL_PREFIX_TO_ENCODING.items()
            if "ft:" not in beginning
        },
    }
    built_in = {model: encoding for model, encoding in known.items() if encoding in ENCODINGS}
    assert {model: mt.tokenizer(model).name for model in built_in} == built_in


def test_a_fine_tuned_model_counts_as_the_one_it_was_made_of():
    assert mt.tokenizer("ft:gpt-4:org::id").name == "cl100k_base"
    assert mt.tokenizer("ft:gpt-4.1-mini-2025-04-14:org:suffix:id").name == "o200k_base"


@pytest.mark.parametrize("model", ["", "-", "gpt", "gpt-4.7", "gpt-4xl", "o10", "o", "ft:"])
def test_a_model_that_nobody_knows_is_not_guessed_from_a_similar_name(model):
    with pytest.raises(mt.EncodingError):
        mt.tokenizer(model)


def test_sizes_of_the_vocabularies_equal_tiktokens():
    sizes = {name: mt.tokenizer(name).n_vocab for name in ("cl100k_base", "o200k_base", "o200k_harmony")}
    assert sizes == {"cl100k_base": 100_277, "o200k_base": 200_019, "o200k_harmony": 201_088}
    assert mt.tokenizer("cl100k_base").special_tokens["<|fim_middle|>"] == 100_259


def test_arrays_are_lists_of_the_same_ids(tok):
    text = "héllo wörld 日本語 " * 1000
    array = tok.encode_array(text)
    assert array.dtype == np.uint32
    assert array.tolist() == tok.encode(text)


@pytest.mark.parametrize("threads", [0, 1, 2, 7])
def test_counting_many_on_any_number_of_threads(tok, threads):
    texts = [f"word {i} " * i * 10 for i in range(100)]
    assert tok.count_many(texts, threads=threads).tolist() == [tok.count(text) for text in texts]
    assert tok.count_many([], threads=threads).tolist() == []


def test_counting_many_on_more_threads_than_a_system_has(tok):
    texts = ["hello world " * 200] * 5000
    assert set(tok.count_many(texts, threads=100_000).tolist()) == {401}


def test_counting_many_after_a_fork(tok):
    texts = ["hello world " * 1000] * 50
    tok.count_many(texts, threads=2)
    read, write = os.pipe()
    child = os.fork()
    if not child:
        os.write(write, bytes(tok.count_many(texts, threads=2)))
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(read, 1000) == bytes(np.full(50, 2001, dtype=np.uint32))
    os.close(read)
    os.close(write)


def test_empty_text_and_nul_are_text(tok):
    assert tok.count("") == 0
    assert tok.encode("") == []
    assert tok.decode([]) == ""
    assert tok.decode(tok.encode("a\x00b")) == "a\x00b"


@pytest.mark.parametrize("text", ["\ud800", "fine \udfff", "a" * 20_000 + "\ud83d"])
def test_lone_surrogates_are_refused_with_their_place(tok, text):
    place = next(i for i, char in enumerate(text) if "\ud800" <= char <= "\udfff")
    for refuse in (tok.count, tok.encode, tok.encode_array, lambda text: tok.count_many(["ok", text])):
        with pytest.raises(mt.InvalidText, match=f"character {place} "):
            refuse(text)


def test_what_is_no_text_is_a_type_error(tok):
    with pytest.raises(TypeError):
        tok.count(b"bytes")
    with pytest.raises(TypeError):
        tok.count_many([1])


def test_unknown_tokens_are_refused(tok):
    for token in (199_998, 200_019, 2**32 - 1):
        with pytest.raises(mt.EncodingError, match=f"token {token} is not in the vocabulary of o200k_base"):
            tok.decode([token])
    for token in (-1, 2**40):
        with pytest.raises(mt.InputError):
            tok.decode([token])


def test_tokens_that_end_inside_a_character(tok):
    half = tok.encode("\U0001f9ff")[:1]
    assert tok.decode(half).endswith("\ufffd")
    with pytest.raises(UnicodeDecodeError):
        tok.decode(half, errors="strict")
    assert len(tok.decode_bytes(half)) < 4


def test_tokenizers_can_be_pickled_copied_and_compared(tok):
    assert pickle.loads(pickle.dumps(tok)) == tok
    assert copy.deepcopy(tok) == tok
    assert hash(mt.Tokenizer("o200k_base")) == hash(tok)
    assert tok != mt.tokenizer("cl100k_base")
    assert repr(tok) == "Tokenizer('o200k_base')"


def test_other_threads_run_while_a_long_text_is_counted(tok):
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(1)
            stop.wait(0.001)

    ticker = threading.Thread(target=tick)
    ticker.start()
    before = len(ticks)
    tok.count("hello world " * 2_000_000)
    during = len(ticks) - before
    stop.set()
    ticker.join()
    assert during > 5


@pytest.mark.timeout(60)
def test_a_hundred_megabytes_are_counted(tok):
    assert tok.count("hello world " * 8_400_000) == 16_800_001
