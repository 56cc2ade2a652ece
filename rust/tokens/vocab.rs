//! Vocabularies: the tokens of an encoding by rank, and the tables that find them.
//!
//! Tokens are numbered by rank here. The built-in vocabularies' tables are laid out when the crate is built ([`layout`]) and
//! lie in the program's file: nothing is read or made before the first count, and processes share their pages.

use std::borrow::Cow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::key::{Key, LONGEST, hash_long};
use super::layout::{self, Fragment, Layout, NONE, Parts, filtered, place};
use super::neighbours::Neighbours;
use super::pairs::Pairs;

/// The tokens of an encoding, from bytes to rank and back.
pub(super) struct Vocab {
    bytes: Cow<'static, [u8]>,
    starts: Cow<'static, [u8]>,
    fragments: Cow<'static, [u8]>,
    fragment_pilots: Cow<'static, [u8]>,
    twos: Cow<'static, [u8]>,
    pilots: Cow<'static, [u8]>,
    keys: Cow<'static, [u8]>,
    ranks: Cow<'static, [u8]>,
    long: Cow<'static, [u8]>,
    filter: Cow<'static, [u8]>,
    lengths: Cow<'static, [u8]>,
    long_lengths: Cow<'static, [u8]>,
    parts: Cow<'static, [u8]>,
    junctions: Cow<'static, [u8]>,
    /// Bytes of the longest token.
    longest: usize,
    /// Whether every token is what merging makes of its bytes, by merges of rising rank.
    proper: bool,
    /// The merges, where the ranks do not say them.
    pairs: Option<Pairs>,
    /// Tells it from all other vocabularies of the process.
    number: u64,
    neighbours: OnceLock<Neighbours>,
}

/// At the beginning of a line of memory, so that no key lies across two.
#[repr(C, align(64))]
struct Aligned<T: ?Sized>(T);

macro_rules! table {
    ($encoding:literal, $table:literal) => {{
        static TABLE: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/", $encoding, ".", $table)));
        Cow::Borrowed(&TABLE.0)
    }};
}

macro_rules! built_in {
    ($encoding:literal, number $number:literal, longest $longest:literal) => {
        Vocab {
            bytes: table!($encoding, "bytes"),
            starts: table!($encoding, "starts"),
            fragments: table!($encoding, "fragments"),
            fragment_pilots: table!($encoding, "fragment_pilots"),
            twos: table!($encoding, "twos"),
            pilots: table!($encoding, "pilots"),
            keys: table!($encoding, "keys"),
            ranks: table!($encoding, "ranks"),
            long: table!($encoding, "long"),
            filter: table!($encoding, "filter"),
            lengths: table!($encoding, "lengths"),
            long_lengths: table!($encoding, "long_lengths"),
            parts: table!($encoding, "parts"),
            junctions: table!($encoding, "junctions"),
            longest: $longest,
            // The build fails where it is not so.
            proper: true,
            pairs: None,
            number: $number,
            neighbours: OnceLock::new(),
        }
    };
}

static O200K: Vocab = built_in!("o200k_base", number 0, longest 128);
static CL100K: Vocab = built_in!("cl100k_base", number 1, longest 128);

/// Of the next vocabulary that is made at run time.
static NUMBERS: AtomicU64 = AtomicU64::new(2);

impl Vocab {
    /// Of `o200k_base` and `o200k_harmony`.
    pub(super) fn o200k() -> &'static Self {
        &O200K
    }

    /// Of `cl100k_base`.
    pub(super) fn cl100k() -> &'static Self {
        &CL100K
    }

    /// Of tokens in the order of their ranks; `None` where two are the same. Takes tens of milliseconds for each 100,000.
    pub(super) fn new(tokens: &[&[u8]]) -> Option<Self> {
        let layout = Layout::of(tokens)?;
        Some(Self {
            bytes: layout.bytes.into(),
            starts: layout.starts.into(),
            fragments: layout.fragments.into(),
            fragment_pilots: layout.fragment_pilots.into(),
            twos: layout.twos.into(),
            pilots: layout.pilots.into(),
            keys: layout.keys.into(),
            ranks: layout.ranks.into(),
            long: layout.long.into(),
            filter: layout.filter.into(),
            lengths: layout.lengths.into(),
            long_lengths: layout.long_lengths.into(),
            parts: layout.parts.into(),
            junctions: layout.junctions.into(),
            longest: tokens.iter().map(|token| token.len()).max().unwrap_or(0),
            proper: layout.proper,
            pairs: None,
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            neighbours: OnceLock::new(),
        })
    }

    /// The same tokens, of which only these pairs are merged, in their order; the numbers in them are the tokens' ranks.
    pub(super) fn with_pairs(self, pairs: Pairs) -> Self {
        Self {
            pairs: Some(pairs),
            proper: false,
            ..self
        }
    }

    /// The merges, where the ranks do not say them.
    #[inline]
    pub(super) fn pairs(&self) -> Option<&Pairs> {
        self.pairs.as_ref()
    }

    /// Tells it from all other vocabularies of the process.
    #[inline]
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Which tokens can stand side by side; made on first use.
    pub(super) fn neighbours(&self) -> &Neighbours {
        self.neighbours.get_or_init(|| Neighbours::of(self))
    }

    /// How many tokens there are.
    pub(super) fn len(&self) -> usize {
        self.starts.len() / 4 - 1
    }

    /// Bytes of the longest token.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    /// Whether every token is what merging makes of its bytes, by merges of rising rank: then which tokens may stand side
    /// by side can be told from their parts, and a text can be divided where no token may lie across.
    pub(super) fn is_proper(&self) -> bool {
        self.proper
    }

    /// What finds short tokens: only this is touched where texts consist of whole tokens.
    #[inline(always)]
    pub(super) fn words(&self) -> Words<'_> {
        let keys = self.keys.as_chunks().0;
        Words {
            pilots: &self.pilots,
            keys,
            pilots_shift: u64::BITS - self.pilots.len().trailing_zeros(),
        }
    }

    /// What finds tokens of up to five bytes.
    #[inline(always)]
    pub(super) fn fragments(&self) -> Fragments<'_> {
        Fragments {
            pilots: &self.fragment_pilots,
            cells: self.fragments.as_chunks().0,
            pilots_shift: u64::BITS - self.fragment_pilots.len().trailing_zeros(),
        }
    }

    /// The ranks of tokens of two bytes.
    #[inline(always)]
    pub(super) fn twos(&self) -> Twos<'_> {
        Twos(self.twos.as_chunks().0)
    }

    /// The rank of a token; `None` where the bytes are no token. O(1).
    #[inline]
    pub(super) fn rank(&self, bytes: &[u8]) -> Option<u32> {
        if bytes.len() > LONGEST {
            return self.long_rank(bytes);
        }
        let key = Key::short(bytes);
        let slot = self.words().slot(key, key.hash())?;
        number(&self.ranks, slot)
    }

    /// The rank of a token of up to fifteen bytes, for who mostly asks for what is no token.
    #[inline]
    pub(super) fn merged_rank(&self, key: Key, hash: u64) -> Option<u32> {
        if !self.may_be(hash) {
            return None;
        }
        let slot = self.words().slot(key, hash)?;
        number(&self.ranks, slot)
    }

    /// The same, of who has not looked ahead.
    #[inline]
    pub(super) fn short_rank(&self, key: Key) -> Option<u32> {
        self.merged_rank(key, key.hash())
    }

    /// The rank of the lowest bytes of a number, of which there are up to five.
    #[inline]
    pub(super) fn fragment_rank(&self, bytes: u64, len: usize) -> Option<u32> {
        let (fragments, text) = (self.fragments(), Fragment::text(bytes, len));
        fragments.rank(fragments.cell(text), text)
    }

    /// Where [`Self::merged_rank`] will look first.
    #[inline(always)]
    pub(super) fn filter_at(&self, hash: u64) -> &impl Sized {
        &self.filter.as_chunks::<8>().0[filtered(hash).0]
    }

    #[inline]
    fn may_be(&self, hash: u64) -> bool {
        let (cell, bit) = filtered(hash);
        self.filter
            .as_chunks::<8>()
            .0
            .get(cell)
            .is_some_and(|&cell| u64::from_le_bytes(cell) >> bit & 1 == 1)
    }

    /// The rank of a token of more than fifteen bytes.
    pub(super) fn long_rank(&self, bytes: &[u8]) -> Option<u32> {
        if bytes.len() > self.longest {
            return None;
        }
        let hash = hash_long(bytes);
        if !self.may_be(hash) {
            return None;
        }
        let (slots, _) = self.long.as_chunks::<4>();
        let mut at = hash as usize & (slots.len() - 1);
        loop {
            let rank = u32::from_le_bytes(slots[at]);
            if rank == NONE {
                return None;
            }
            if self.bytes(rank) == Some(bytes) {
                return Some(rank);
            }
            at = (at + 1) & (slots.len() - 1);
        }
    }

    /// The lengths of up to fifteen bytes that tokens which begin with these three have: bit `n` for `n` bytes, bit 0 for
    /// longer ones. May say more than there are.
    #[inline]
    pub(super) fn lengths(&self, three: [u8; 3]) -> u16 {
        let cells = self.lengths.as_chunks().0;
        cells
            .get(layout::lengths_cell(three))
            .map_or(0, |&cell| u16::from_le_bytes(cell))
    }

    /// The lengths from sixteen bytes on that tokens which begin with these have: bit `n` for `16 + n` bytes.
    pub(super) fn long_lengths(&self, head: &[u8; 16]) -> u128 {
        let cells = self.long_lengths.as_chunks().0;
        cells
            .get(layout::long_lengths_cell(head))
            .map_or(0, |&cell| u128::from_le_bytes(cell))
    }

    /// The two parts of which a token of several bytes is merged last.
    #[inline]
    pub(super) fn parts(&self, rank: u32) -> Parts {
        let parts = self.parts.as_chunks().0.get(rank as usize);
        parts.map_or(Parts::NONE, |&parts| Parts::from_bytes(parts))
    }

    /// Whether a token may lie across the place between two characters of three bytes each.
    #[inline]
    pub(super) fn may_join(&self, before: [u8; 3], after: [u8; 3]) -> bool {
        let (cells, _) = self.junctions.as_chunks::<8>();
        let bit = |cell: usize, bit: u32| {
            cells
                .get(cell)
                .is_none_or(|&cell| u64::from_le_bytes(cell) >> bit & 1 == 1)
        };
        let (cell, at) = layout::junction(before, after);
        let pair = usize::from(before[2]) << 8 | usize::from(after[0]);
        bit(cell, at) || bit((1 << (layout::JUNCTIONS_LOG2 - 6)) + (pair >> 6), (pair & 63) as u32)
    }

    /// The bytes of a token. O(1).
    #[inline]
    pub(super) fn bytes(&self, rank: u32) -> Option<&[u8]> {
        let rank = rank as usize;
        let start = number(&self.starts, rank)?;
        let end = number(&self.starts, rank + 1)?;
        self.bytes.get(start as usize..end as usize)
    }

    /// How many bytes a token has; 0 where there is no such token.
    #[inline]
    pub(super) fn len_of(&self, rank: u32) -> usize {
        self.bytes(rank).map_or(0, <[u8]>::len)
    }
}

#[inline]
fn number(table: &[u8], index: usize) -> Option<u32> {
    table.as_chunks().0.get(index).map(|&number| u32::from_le_bytes(number))
}

/// The keys of all tokens of up to fifteen bytes, each in the one slot that its hash leads to.
#[derive(Clone, Copy)]
pub(super) struct Words<'a> {
    pilots: &'a [u8],
    keys: &'a [[u8; 16]],
    pilots_shift: u32,
}

/// The ranks of all tokens of two bytes. Those of common letters lie so close together that they stay near the processor.
#[derive(Clone, Copy)]
pub(super) struct Twos<'a>(&'a [[u8; 4]]);

impl Twos<'_> {
    /// The rank of two bytes; [`NONE`] where they are no token.
    #[inline(always)]
    pub(super) fn rank(self, bytes: u16) -> u32 {
        u32::from_le_bytes(self.0[usize::from(bytes)])
    }
}

/// All tokens of up to five bytes with their ranks.
#[derive(Clone, Copy)]
pub(super) struct Fragments<'a> {
    pilots: &'a [u8],
    cells: &'a [[u8; 8]],
    pilots_shift: u32,
}

impl Fragments<'_> {
    /// The only cell that may be a text's.
    #[inline(always)]
    pub(super) fn cell(self, text: Fragment) -> usize {
        let hash = text.hash();
        let pilot = self.pilots[(hash >> self.pilots_shift) as usize];
        place(hash, pilot, self.cells.len())
    }

    /// Where [`Self::rank`] will look.
    #[inline(always)]
    pub(super) fn at(&self, cell: usize) -> &impl Sized {
        &self.cells[cell]
    }

    /// The rank of a text that may be in this cell.
    #[inline(always)]
    pub(super) fn rank(self, cell: usize, text: Fragment) -> Option<u32> {
        Fragment(u64::from_le_bytes(self.cells[cell])).rank_of(text)
    }
}

impl Words<'_> {
    /// The only slot that may be a key's.
    #[inline(always)]
    pub(super) fn slot_at(self, hash: u64) -> usize {
        let pilot = self.pilots[(hash >> self.pilots_shift) as usize];
        place(hash, pilot, self.keys.len())
    }

    /// Where [`Self::holds`] will look.
    #[inline(always)]
    pub(super) fn key_at(&self, slot: usize) -> &impl Sized {
        &self.keys[slot]
    }

    /// Whether a slot has a key.
    #[inline(always)]
    pub(super) fn holds(self, slot: usize, key: Key) -> bool {
        let found = u128::from_le_bytes(self.keys[slot]);
        (found as u64 ^ key.low) | ((found >> 64) as u64 ^ key.high) == 0
    }

    /// The slot of a key; `None` where it is no token's.
    #[inline(always)]
    pub(super) fn slot(self, key: Key, hash: u64) -> Option<usize> {
        let slot = self.slot_at(hash);
        self.holds(slot, key).then_some(slot)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sizes() -> [(&'static Vocab, usize); 2] {
        [(Vocab::o200k(), 199_998), (Vocab::cl100k(), 100_256)]
    }

    #[test]
    fn every_token_is_found_under_its_bytes_and_none_is_there_twice() {
        for (vocab, len) in sizes() {
            assert_eq!(vocab.len(), len);
            let mut longest = 0;
            for id in 0..len as u32 {
                assert_eq!(vocab.rank(vocab.bytes(id).unwrap()), Some(id));
                longest = longest.max(vocab.len_of(id));
            }
            assert_eq!(vocab.bytes(len as u32), None);
            assert_eq!(vocab.longest(), longest);
        }
    }

    #[test]
    fn every_byte_is_a_token() {
        for (vocab, _) in sizes() {
            assert!((0..=255).all(|byte| vocab.rank(&[byte]).is_some()));
        }
    }

    #[test]
    fn zero_bytes_count() {
        for (vocab, _) in sizes() {
            assert_ne!(vocab.rank(b"a"), vocab.rank(b"a\0"));
            assert_eq!(vocab.rank(b""), None);
        }
    }

    #[test]
    fn tables_can_be_made_at_run_time() {
        let vocab = Vocab::o200k();
        let tokens: Vec<&[u8]> = (0..5000).filter_map(|rank| vocab.bytes(rank)).collect();
        let few = Vocab::new(&tokens).unwrap();
        assert!(few.is_proper());
        for rank in 0..5000 {
            assert_eq!(few.rank(vocab.bytes(rank).unwrap()), Some(rank));
        }
        assert_eq!(few.rank(vocab.bytes(5000).unwrap()), None);
        assert!(Vocab::new(&[b"a", b"b", b"a"]).is_none());
    }

    #[test]
    fn tokens_that_merging_does_not_make_are_noticed() {
        assert!(Vocab::new(&[b"a", b"b", b"ab"]).unwrap().is_proper());
        assert!(!Vocab::new(&[b"a", b"b", b"c", b"abc"]).unwrap().is_proper());
    }

    proptest! {
        #[test]
        fn what_is_found_has_the_bytes_that_were_asked_for(bytes in proptest::collection::vec(97u8..100, 0..24)) {
            for (vocab, _) in sizes() {
                if let Some(rank) = vocab.rank(&bytes) {
                    prop_assert_eq!(vocab.bytes(rank), Some(&bytes[..]));
                }
                if bytes.len() <= LONGEST {
                    prop_assert_eq!(vocab.short_rank(Key::short(&bytes)), vocab.rank(&bytes));
                }
            }
        }
    }
}
