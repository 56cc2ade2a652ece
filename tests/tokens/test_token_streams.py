"""Streams and measured texts: every number equals a count from scratch, whatever is appended, cut off or cut out."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import muntin as mt
from tokens.oracle import oracle

ENCODINGS = ["o200k_base", "cl100k_base"]
encodings = st.sampled_from(ENCODINGS)

# Few kinds of characters, so that runs of one kind and the edges between them are common.
RUNS = st.sampled_from(
    [*"aAérvlsd'’ \t\u00a0\n\r/!_1語\u0301🎉", "'re", "  ", "\r\n", " the", "tion", "x" * 40, " " * 30]
)
TEXTS = st.one_of(st.lists(RUNS, max_size=40).map("".join), st.text())
OFFSETS = st.one_of(st.none(), st.integers(-60, 60), st.integers())


@given(encodings, st.lists(TEXTS, max_size=6))
def test_every_total_equals_tiktokens_count_of_all_text(encoding, deltas):
    stream, text = mt.tokenizer(encoding).stream(), ""
    for delta in deltas:
        text += delta
        assert stream.append(delta) == len(oracle(encoding).encode_ordinary(text))
    assert (stream.text, len(stream), stream.encoding) == (text, len(text), encoding)


class StreamMachine(RuleBasedStateMachine):
    """Everything that can be done to a stream, beside the text that it should have."""

    @initialize(encoding=encodings)
    def begin(self, encoding):
        self.tok = mt.tokenizer(encoding)
        self.stream, self.text, self.held = self.tok.stream(), "", b""

    @rule(delta=TEXTS, times=st.sampled_from([1, 1, 1, 300]))
    def append(self, delta, times):
        if self.held:
            with pytest.raises(mt.InputError, match="unfinished character"):
                self.stream.append(delta)
        else:
            assert self.stream.append(delta * times) == self.stream.tokens
            self.text += delta * times

    @rule(delta=TEXTS, size=st.integers(1, 5))
    def append_bytes(self, delta, size):
        if self.held:
            return
        encoded = delta.encode()
        for at in range(0, len(encoded), size):
            self.stream.append_bytes(encoded[at : at + size])
        self.text += delta

    @rule(char=st.sampled_from("é語🎉"), size=st.integers(1, 3))
    def append_a_part(self, char, size):
        encoded = char.encode()
        if not self.held and size < len(encoded):
            self.stream.append_bytes(encoded[:size])
            self.held, self.rest = encoded[:size], encoded[size:]

    @rule()
    def append_the_rest(self):
        if self.held:
            self.stream.append_bytes(self.rest)
            self.text += (self.held + self.rest).decode()
            self.held = b""

    @rule(data=st.data())
    def truncate(self, data):
        length = data.draw(st.integers(0, len(self.text)))
        self.text, self.held = self.text[:length], b""
        assert self.stream.truncate(length) == self.stream.tokens

    @rule(delta=TEXTS)
    def fork(self, delta):
        before, self.stream = self.stream, self.stream.fork()
        if not self.held:
            before.append(delta)

    @invariant()
    def it_is_the_text_and_its_count(self):
        if hasattr(self, "stream"):
            assert self.stream.text == self.text
            assert self.stream.tokens == self.tok.count(self.text)
            assert (len(self.stream), self.stream.held) == (len(self.text), len(self.held))


TestStream = StreamMachine.TestCase


def test_what_a_stream_refuses_changes_nothing():
    stream = mt.tokenizer("o200k_base").stream()
    stream.append("Zürich")
    for refused, delta in [
        (mt.InvalidText, lambda: stream.append("\ud83c")),
        (mt.InvalidText, lambda: stream.append_bytes(b"a\xff")),
        (mt.InputError, lambda: stream.truncate(7)),
        (mt.InputError, lambda: stream.truncate(-1)),
        (TypeError, lambda: stream.append(b"a")),
        (TypeError, lambda: stream.append_bytes("a")),
    ]:
        with pytest.raises(refused):
            delta()
    assert (stream.text, stream.held, bool(mt.tokenizer("o200k_base").stream())) == ("Zürich", 0, True)
    with pytest.raises(mt.InvalidText, match=r"byte 8 of the text"):
        stream.append_bytes(b"a\xff")


def test_special_tokens_are_text():
    tok = mt.tokenizer("o200k_base")
    stream = tok.stream()
    for delta in ["<|endof", "text|>"]:
        stream.append(delta)
    assert stream.tokens == tok.measure("<|endoftext|>").tokens == tok.count("<|endoftext|>") > 1


ENDLESS = {
    "spaces": " ",
    "one letter": "a",
    "capitals": "A",
    "blank lines": "\n ",
    "comments": "/\n",
    "symbols": "-",
    "letters with and without case": "語A",
    "contractions": "a'",
    "digits": "1",
    "marks": "!\u0301",
}


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("text", ENDLESS.values(), ids=ENDLESS)
def test_text_without_end_is_counted_in_linear_time(encoding, text):
    tok = mt.tokenizer(encoding)
    deltas = [(text * 5)[at : at + 5] for at in range(len(text))] * (20_000 // len(text))
    stream = tok.stream()
    took = []
    for half in (deltas[: len(deltas) // 4], deltas[len(deltas) // 4 :]):
        start = time.process_time()
        for delta in half:
            stream.append(delta)
        took.append(time.process_time() - start)
    assert stream.tokens == tok.count("".join(deltas))
    # Three times the text, at four to sixteen times the length: in quadratic time it would take fifteen times as long.
    assert took[1] < 9 * took[0] + 0.1


@given(encodings, TEXTS, st.lists(st.tuples(OFFSETS, OFFSETS), max_size=8))
def test_every_slice_counts_as_a_text_of_its_own(encoding, text, slices):
    tok = mt.tokenizer(encoding)
    measured = tok.measure(text)
    assert (measured.text, len(measured), measured.tokens) == (text, len(text), tok.count(text))
    for start, stop in slices:
        assert measured.count(start, stop) == tok.count(text[start:stop])
        before, inside = len(text[: slice(start, stop).indices(len(text))[0]].encode()), text[start:stop].encode()
        assert measured.count_bytes(before, before + len(inside)) == tok.count(text[start:stop])


def test_offsets_that_no_text_has_are_refused():
    measured = mt.tokenizer("o200k_base").measure("Zürich")
    with pytest.raises(mt.InputError, match="offset 8 lies behind the text, which ends at 7"):
        measured.count_bytes(0, 8)
    with pytest.raises(mt.InputError, match="byte 2 lies inside a character"):
        measured.count_bytes(2, 7)
    with pytest.raises(mt.InputError):
        measured.count_bytes(-1, 7)


@given(encodings, TEXTS, st.integers(0, 60))
def test_ends_are_the_longest_that_fit(encoding, text, budget):
    tok = mt.tokenizer(encoding)
    measured = tok.measure(text)
    cuts = [at for at in range(len(text) + 1) if not (text[:at].endswith("\r") and text[at:].startswith("\n"))]
    assert measured.head(budget) == text[: max(at for at in cuts if tok.count(text[:at]) <= budget)]
    assert measured.tail(budget) == text[min(at for at in cuts if tok.count(text[at:]) <= budget) :]


@given(
    encodings,
    TEXTS,
    st.integers(0, 60),
    st.sampled_from(["…{omitted}…", "'s", "\n", "", "{}", "{omitted} of {omitted}"]),
)
def test_both_ends_and_their_marker_fit(encoding, text, budget, marker):
    tok = mt.tokenizer(encoding)
    measured = tok.measure(text)

    def share(n):
        head, tail = measured.head((n + 1) // 2), measured.tail(n // 2)
        omitted = tok.count(text[len(head) : len(text) - len(tail)])
        return head + marker.replace("{omitted}", str(omitted)) + tail

    fitting = [whole for n in range(budget, -1, -1) if tok.count(whole := share(n)) <= budget]
    if measured.tokens <= budget:
        assert measured.middle(budget, marker) == text
    elif fitting:
        assert measured.middle(budget, marker) == fitting[0]
    else:
        with pytest.raises(mt.InputError, match="the marker alone"):
            measured.middle(budget, marker)


def test_a_text_without_a_place_to_cut_is_cut_to_the_character():
    tok = mt.tokenizer("o200k_base")
    text = "語" * 30_000
    measured = tok.measure(text)
    head, tail = measured.head(1000), measured.tail(1000)
    assert text.startswith(head)
    assert text.endswith(tail)
    for end in (head, tail):
        assert tok.count(end) <= 1000 < tok.count(end + "語")
    assert tok.count(measured.middle(1000)) <= 1000
