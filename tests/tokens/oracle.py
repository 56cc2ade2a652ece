"""tiktoken without a network: its encodings with the ranks of the built-in vocabularies, checked first."""

from __future__ import annotations

import base64
import functools
import hashlib
from unittest import mock

import tiktoken
from tiktoken_ext import openai_public

import muntin as mt

# From tiktoken's own `openai_public.py`.
SHA256 = {
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}
TOKENS = {"cl100k_base": 100_256, "o200k_base": 199_998}


@functools.cache
def ranks(encoding: str) -> dict[bytes, int]:
    """The built-in ranks, which must give the published file byte for byte."""
    tok = mt.tokenizer(encoding)
    tokens = [tok.decode_bytes([rank]) for rank in range(TOKENS[encoding])]
    text = b"".join(b"%s %d\n" % (base64.b64encode(token), rank) for rank, token in enumerate(tokens))
    assert hashlib.sha256(text).hexdigest() == SHA256[encoding]
    return {token: rank for rank, token in enumerate(tokens)}


@functools.cache
def oracle(encoding: str) -> tiktoken.Encoding:
    def load(url: str, expected_hash: str | None = None) -> dict[bytes, int]:
        return ranks(url.rsplit("/", 1)[1].removesuffix(".tiktoken"))

    with mock.patch.object(openai_public, "load_tiktoken_bpe", load):
        return tiktoken.Encoding(**openai_public.ENCODING_CONSTRUCTORS[encoding]())
