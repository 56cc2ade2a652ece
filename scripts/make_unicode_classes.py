#!/usr/bin/env python3
r"""Make the table of character classes that the pre-tokenisers use, as tiktoken sees them.

    python scripts/make_unicode_classes.py

The classes must be those of the Unicode version that tiktoken's regex engine carries: newer tables know code points
that tiktoken takes for unassigned, and then miscount. So tiktoken itself is asked: an encoding whose pattern is one
class, and whose vocabulary is the 256 bytes, gives back just the characters of that class.

Written are two files in `rust/tokens/data`. Each has for each block of 256 code points the number of its table (4,352
bytes), then the tables: in `classes.bin` a byte for each code point, in `signs.bin` a bit, set for punctuation and
symbols.
"""

from __future__ import annotations

from pathlib import Path

import tiktoken

# In the order of `Class` in rust/tokens/unicode.rs; what is in none of them is 0.
CLASSES = {
    1: r"[\p{Lu}\p{Lt}]",
    2: r"\p{Ll}",
    3: r"[\p{Lm}\p{Lo}]",
    4: r"\p{M}",
    5: r"\p{N}",
    6: r"[^\S\r\n]",
    7: r"[\r\n]",
}
SIGNS = r"[\p{P}\p{S}]"
TARGET = Path(__file__).resolve().parent.parent / "rust" / "tokens" / "data"
LIMIT = 0x110000


def members(pattern: str) -> set[str]:
    """All characters that a pattern matches."""
    oracle = tiktoken.Encoding(
        "class", pat_str=pattern, mergeable_ranks={bytes([i]): i for i in range(256)}, special_tokens={}
    )
    everything = "".join(chr(cp) for cp in range(LIMIT) if not 0xD800 <= cp < 0xE000)
    return set(bytes(oracle.encode_ordinary(everything)).decode())


def main() -> None:
    classes = bytearray(LIMIT)
    for number, pattern in CLASSES.items():
        for char in members(pattern):
            if classes[ord(char)]:
                raise SystemExit(f"U+{ord(char):04X} is in two classes")
            classes[ord(char)] = number
    write("classes.bin", [bytes(classes[start : start + 256]) for start in range(0, LIMIT, 256)])
    signs = bytearray(LIMIT // 8)
    for char in members(SIGNS):
        signs[ord(char) // 8] |= 1 << (ord(char) % 8)
    write("signs.bin", [bytes(signs[start : start + 32]) for start in range(0, LIMIT // 8, 32)])


def write(name: str, blocks: list[bytes]) -> None:
    """Which table each block has, and the tables, each once."""
    tables: dict[bytes, int] = {}
    index = bytes(tables.setdefault(block, len(tables)) for block in blocks)
    (TARGET / name).write_bytes(index + b"".join(tables))
    print(f"{name}: {len(tables)} tables, {(TARGET / name).stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
