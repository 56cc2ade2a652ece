//! Pieces of up to sixteen bytes, which fit the processor's registers.

use super::super::key::{Key, LONGEST};
use super::super::layout::Fragment;
use super::super::vocab::{Fragments, Vocab};

/// The most bytes of a piece.
pub(super) const MOST: usize = 16;

/// In place of a pair: merged, its parts are no token.
const NONE: u32 = u32::MAX;

/// Merges a piece by the definition: how many tokens it has, and where they end.
#[inline(always)]
pub(super) fn merge(vocab: &Vocab, piece: &[u8]) -> (usize, impl Iterator<Item = usize>) {
    let mut padded = [0; MOST];
    let n = piece.len().min(MOST);
    padded[..n].copy_from_slice(&piece[..n]);
    let text = Text {
        vocab,
        fragments: vocab.fragments(),
        bytes: u128::from_le_bytes(padded),
    };

    // By the place at which a part begins: the rank of its pair with the next part, with the place below it so that the
    // first of equals is the lowest. The places at which parts begin are bits.
    let mut pairs = [NONE; MOST];
    for (at, pair) in pairs.iter_mut().enumerate().take(n.saturating_sub(1)) {
        *pair = text.pair(at, at + 2);
    }
    let all = (1u32 << n) - 1;
    let mut starts = all;
    loop {
        let lowest = pairs.iter().fold(NONE, |lowest, &pair| lowest.min(pair));
        if lowest == NONE {
            break;
        }
        let start = (lowest & 0xf) as usize;
        let behind = starts & !((2u32 << start) - 1);
        let middle = behind.trailing_zeros() as usize;
        starts &= !(1 << middle);
        let end = (behind & (behind - 1)).trailing_zeros().min(n as u32) as usize;
        pairs[middle % MOST] = NONE;
        let next = starts & !((1u32 << end) | ((1u32 << end) - 1));
        pairs[start] = if end < n {
            text.pair(start, next.trailing_zeros().min(n as u32) as usize)
        } else {
            NONE
        };
        let before = starts & ((1 << start) - 1);
        if before != 0 {
            let before = before.ilog2() as usize;
            pairs[before % MOST] = text.pair(before, end);
        }
    }
    // A part ends where another begins, the last at the end.
    let mut ends = (starts | (all + 1)) & !1;
    let ends = std::iter::from_fn(move || {
        (ends != 0).then(|| {
            let end = ends.trailing_zeros() as usize;
            ends &= ends - 1;
            end
        })
    });
    (starts.count_ones() as usize, ends)
}

struct Text<'a> {
    vocab: &'a Vocab,
    fragments: Fragments<'a>,
    bytes: u128,
}

impl Text<'_> {
    /// The bytes between two places as a pair: their rank and the first place.
    #[inline(always)]
    fn pair(&self, start: usize, end: usize) -> u32 {
        let bytes = self.bytes >> (8 * start);
        let len = end - start;
        let rank = if len <= Fragment::LONGEST {
            self.fragments.rank(bytes as u64, len)
        } else if len <= LONGEST {
            self.vocab.merged_rank(Key::of(&bytes.to_le_bytes(), len))
        } else {
            self.vocab.long_rank(&self.bytes.to_le_bytes()[start..end])
        };
        rank.map_or(NONE, |rank| (rank << 4) | start as u32)
    }
}
