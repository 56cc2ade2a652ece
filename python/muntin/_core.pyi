"""The native half of muntin, kept true by stubtest. Use `muntin.tokens` and `muntin.Session`, not this module."""

from collections.abc import Sequence
from typing import Final, final

__version__: Final[str]

@final
class History:
    """The units of a conversation in append-only shared chunks: wire bytes, tokens, digests, pairing.

    A unit is what an adapter rendered of one entry. `groups` tells how units become JSON: for each group number the
    bytes that open a run of units of that group, those that close it, and the tokens that opening one costs. Neighbours
    of one group are joined by a comma; the stored bytes of a unit include what must stand before it.

    Forks share the chunks; not safe to mutate from two threads at once without the session's lock, and never unsound.
    """

    def __new__(cls, groups: Sequence[tuple[bytes, bytes, int]]) -> History:
        """An empty history. At most 16 groups."""

    def append(
        self,
        group: int,
        wire: bytes,
        tokens: int,
        entry: int,
        kind: int = 0,
        opens: Sequence[str] = (),
        closes: Sequence[str] = (),
    ) -> int:
        """Add a unit and return its index. O(len(wire)) amortised.

        Args:
            group: Number of the group, an index into `groups`.
            wire: JSON without the group's own brackets.
            tokens: Raw tokens of the unit, its group's opening not included.
            entry: The id of the entry that it renders (0 ≤ entry < 2**32).
            kind: Bits: 1 the unit begins a run, 2 it begins a user's turn, 4 it is a response of the model; the
                others are the caller's.
            opens: Ids of the calls that the unit makes.
            closes: Ids of the calls that it answers, its own among them where it makes and answers one.

        Raises:
            DuplicateCall: A call id in `opens` is open already.
            UnknownCall: A call id in `closes` is not open.
            InputError: A group that does not exist, a number out of its range, or more than 2 GiB of wire.
        """

    def extend(self, other: History, start: int, stop: int) -> None:
        """Append the units `start … stop` of another history of the same groups, their leads made anew. O(bytes).

        Raises:
            UnknownCall: A call that was made before the range is answered in it: begin at a legal cut.
            DuplicateCall: A call of the range is open in this history.
            InputError: The groups differ.
        """

    def fork(self, at: int | None = None) -> History:
        """A history that shares the first `at` units (all by default).

        O(chunks), and inside O(units) from the last legal cut up to `at`.
        """

    def __len__(self) -> int: ...
    def total(self, start: int = 0, stop: int | None = None) -> int:
        """Raw tokens of the units `start … stop`, openings included. O(log n)."""

    def byte_len(self, start: int = 0, stop: int | None = None) -> int:
        """Wire bytes of the units `start … stop`, leads included. O(log n)."""

    def digest(self, unit: int) -> bytes:
        """XXH3-128 of the unit's stored bytes, 16 bytes big-endian."""

    def chain(self, n: int) -> bytes:
        """The digest of the first `n` units: XXH3-128 over the digest before it and the unit's digest. O(log n)."""

    def common_prefix(self, other: History) -> int:
        """How many leading units of both are the same byte for byte. O(log² n)."""

    def entry(self, unit: int) -> int:
        """The entry id that a unit renders."""

    def entries(self, start: int, stop: int) -> list[int]:
        """The entry ids that the units `start … stop` render. O(units)."""

    def kind(self, unit: int) -> int:
        """The bits that the unit was appended with."""

    def group(self, unit: int) -> int:
        """The group that the unit was appended with."""

    def wire(self, unit: int) -> bytes:
        """The unit's JSON without its lead."""

    def kinds(self, start: int, stop: int) -> bytes:
        """The kind bits of the units `start … stop`, a byte each (for scans without a call a unit)."""

    def slices(self, start: int, stop: int) -> list[memoryview | bytes]:
        """The stored bytes of the units `start … stop` as read-only buffers, not joined. O(chunks).

        Where a chunk is complete its bytes are not copied; the last one, at most 64 KiB, is.
        """

    def lead(self, group: int, at: int | None = None) -> bytes:
        """What must stand between the first `at` units and a further one of `group`."""

    def close(self, at: int | None = None) -> bytes:
        """What closes the group of unit `at - 1`; empty where there is none."""

    def open_calls(self) -> list[str]:
        """Ids of the calls that are not answered yet, in the order in which they were made."""

    def is_legal(self, cut: int) -> bool:
        """Whether no call before `cut` is answered, or still open, at or after it. O(log n)."""

    def grade(self, cut: int) -> int:
        """3 where a run ends at `cut`, 2 a user's turn, 1 a tool exchange; 0 otherwise or where it is not legal."""

    def of_kind(self, start: int, stop: int, bits: int) -> list[int]:
        """The units of `start … stop` that have all of these kind bits. O(1) a chunk, and O(units) of those that do."""

    def answers(self, start: int, stop: int) -> list[int]:
        """The units of `start … stop` that answer a call with 100 raw tokens or more. O(1) a chunk, and O(1) each."""

    def clearable(self, start: int, stop: int, keep: int) -> tuple[int, int, int, int] | None:
        """What could be shown in a line among the units of `start … stop` that leave `keep` raw tokens behind them.

        The unit before which those end; the first that answers a call with 100 raw tokens or more; how many such units
        there are, and their raw tokens. None where there is none. O(log² n).
        """

    def search(self, start: int, stop: int, keep: int, tolerance: int) -> tuple[int, int] | None:
        """The best cut `c` in `start < c <= stop`, with its grade; None where the range has none.

        A cut is one that is legal and where something ends, so that its grade is above 0.

        Wanted is the cut that leaves at most `keep` raw tokens between it and the end of the history, and as many as
        possible. Among the cuts that leave between `keep - tolerance` and `keep`, the highest grade wins, and of
        those the one that leaves most. Where there is none, the cut that leaves most but at most `keep`; where
        there is none either, the one that leaves least. O(log n) plus a scan over chunk summaries, under 100 µs at a
        million units.
        """

@final
class MeasuredText:
    """A text measured once: the exact tokens of any slice, and cuts that fit a budget. `Tokenizer.measure` makes one.

    Beside the text it keeps 0.29 bytes for each byte, and an eighth more for each character unless all are ASCII. It is
    immutable and safe to share between threads. Texts of special tokens are text like any other.
    """

    def count(self, start: int | None = None, stop: int | None = None) -> int:
        """Tokens of `text[start:stop]`, exactly as a text of its own, offsets as slices take them.

        Reads the pieces at both edges again, so that slices of any length cost about the same. A piece without end,
        such as a million letters, is read whole.
        """

    def count_bytes(self, start: int, stop: int) -> int:
        """Tokens of the UTF-8 bytes `start` to `stop`; 0 where `stop` is not behind `start`.

        Raises:
            InputError: An offset behind the text's end or inside a character.
        """

    def head(self, budget: int) -> str:
        """The longest beginning that has at most `budget` tokens. No newline of two characters is divided.

        A beginning can have fewer tokens than a shorter one; of all that fit this is the longest. Where the pieces
        around the cut have more than 256 bytes, as in a text without spaces, it is one that fits while one character
        more would not. Microseconds in ordinary text; O(n log n) in the length of the pieces around the cut.
        """

    def tail(self, budget: int) -> str:
        """The longest end that has at most `budget` tokens; otherwise as `head`."""

    def middle(self, budget: int, marker: str = "… {omitted} tokens left out …") -> str:
        """Both ends with a marker between them, in all at most `budget` tokens; the whole text where it fits.

        The ends are `head((n + 1) // 2)` and `tail(n // 2)` for the largest n for which all of it, counted as one text,
        fits.

        Args:
            budget: Tokens that the result may have, those of the marker included.
            marker: What stands between the ends. `{omitted}` is replaced by the tokens of what is left out.

        Raises:
            InputError: Not even the marker alone fits.
        """

    @property
    def tokens(self) -> int:
        """Tokens of the whole text."""

    @property
    def text(self) -> str:
        """The whole text."""

    @property
    def encoding(self) -> str:
        """The encoding's name."""

    def __len__(self) -> int:
        """Characters of the whole text."""

@final
class TokenStream:
    """A text that is still being written, and its exact tokens. `Tokenizer.stream` makes one.

    After each call the total is what `Tokenizer.count` gives for all text so far, though the last word may go on. Texts
    of special tokens are text like any other. The text is kept, with 72 bytes for every 4 KiB of it; of a last word
    that is longer than 24 bytes, up to sixteen times as much. Safe to share between threads.
    """

    def append(self, delta: str) -> int:
        """Add text and return the tokens of all text so far. O(delta), amortised, whatever came before.

        Raises:
            InvalidText: A lone surrogate.
            InputError: `append_bytes` still waits for the rest of a character.
        """

    def append_bytes(self, delta: bytes) -> int:
        """Add UTF-8 that may begin and end inside a character; return the tokens of all whole characters so far.

        The bytes of a character that is not complete are held back, and counted when it is. O(delta), amortised.

        Raises:
            InvalidText: Bytes that are not UTF-8, whatever follows; nothing is changed.
        """

    def truncate(self, length: int) -> int:
        """Keep the first `length` characters, drop bytes that are held back, and return the tokens left.

        Reads at most 4 KiB again, and the piece at the new end.

        Raises:
            InputError: The text has fewer characters; nothing is changed.
        """

    def fork(self) -> TokenStream:
        """A stream that goes on by itself from here. Shares the text but for the last few KiB; O(n / 4 KiB)."""

    @property
    def tokens(self) -> int:
        """Tokens of all text so far, without bytes that are held back."""

    @property
    def text(self) -> str:
        """All text so far. O(n)."""

    @property
    def held(self) -> int:
        """Bytes of an unfinished character that wait for the others: 0 to 3."""

    @property
    def encoding(self) -> str:
        """The encoding's name."""

    def __len__(self) -> int:
        """Characters of all text so far."""

    def __bool__(self) -> bool:
        """True, though it may be empty."""

@final
class Tokenizer:
    """A vocabulary with its pre-tokeniser. Frozen and safe to share between threads."""

    @staticmethod
    def builtin(encoding: str) -> Tokenizer:
        """A built-in encoding: `o200k_base`, `cl100k_base` or `o200k_harmony`. Loaded once a process."""

    @staticmethod
    def custom(
        name: str,
        patterns: Sequence[str],
        tokens: Sequence[tuple[bytes, int]],
        *,
        merges: Sequence[tuple[int, int, int]] | None = None,
        ignore_merges: bool = False,
        added: Sequence[tuple[str, int, bool, bool, bool, bool]] = (),
        others: Sequence[tuple[bytes, int]] = (),
        nfc: bool = False,
    ) -> Tokenizer:
        """A tokenizer of one's own; see `muntin.tokens.tokenizer` and `muntin.Tokenizer.from_file`.

        Args:
            name: For messages.
            patterns: The regular expressions that divide a text one after the other, as they are written.
            tokens: Tokens and their ids, which may have gaps; without `merges` an id is the token's rank.
            merges: Left token, right token and what they become, in their order.
            ignore_merges: A piece that is a token is that token, even if merging would not make it.
            added: Texts that are tokens before a text is divided: text, id, special, normalized, lstrip, rstrip.
            others: Tokens that can be decoded but that no piece is made of.
            nfc: Bring a text into Unicode's form NFC first.

        Raises:
            EncodingError: A pattern that is none of those that are known; a byte without a token; two tokens of one
                id, two ids of one token, more than 2**21 tokens, or one of more than 255 bytes.
        """

    @staticmethod
    def knows(patterns: Sequence[str]) -> bool:
        """Whether `custom` knows these patterns, which divide a text one after the other."""

    @property
    def name(self) -> str: ...
    @property
    def n_vocab(self) -> int:
        """One more than the highest token id, special tokens included."""

    @property
    def special_tokens(self) -> dict[str, int]:
        """Special tokens and their ids."""

    def count(self, text: str, special: bool = False) -> int:
        """Exact tokens of `text`. With `special`, texts of special tokens are those tokens; otherwise plain text."""

    def count_many(self, texts: Sequence[str], threads: int = 1) -> bytes:
        """Exact tokens of each text, as native-endian uint32. 0 threads means one for each core."""

    def encode(self, text: str, special: bool = False) -> list[int]:
        """Token ids."""

    def encode_bytes(self, text: str, special: bool = False) -> bytes:
        """Token ids as native-endian uint32."""

    def stream(self) -> TokenStream:
        """An empty text that will be written bit by bit."""

    def measure(self, text: str) -> MeasuredText:
        """A text counted once, for slices and cuts."""

    def decode_bytes(self, tokens: Sequence[int]) -> bytes:
        """The bytes that the tokens stand for.

        Raises:
            EncodingError: A token id that the vocabulary does not have.
        """
