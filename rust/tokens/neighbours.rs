//! Which tokens can end where, and which can stand side by side.
//!
//! Merging takes the pairs inside a stretch in the same order whatever stands around it, as long as no pair is merged across
//! its edges. So tokens that follow each other are what a piece is merged to exactly where each neighbouring two of them
//! are what those two alone are merged to.

use std::sync::atomic::{AtomicU64, Ordering};

use super::bpe;
use super::vocab::Vocab;

/// Shared by all that asks about one vocabulary: three quarters of a megabyte, made in a few milliseconds.
pub(super) struct Neighbours {
    /// By a hash of the last four bytes of a token: the lengths that such tokens have, a bit each.
    lengths: Box<[u128]>,
    /// Pairs that were merged, each in the one cell that it can be in; a newer one takes the older one's place.
    pairs: Box<[AtomicU64]>,
}

/// Half a megabyte.
const LENGTH_BITS: u32 = 15;
/// A quarter of a megabyte.
const PAIR_BITS: u32 = 15;

/// The bit that stands for all lengths from it on.
const LONG: usize = 127;
/// Tokens of fewer bytes are not in the table: looking them up is as fast.
const SHORT: usize = 4;

/// In place of the token before the first one.
pub(super) const NOTHING: u32 = (1 << ID_BITS) - 1;
/// Bits that an id has at most.
pub(super) const ID_BITS: u32 = 24;

impl Neighbours {
    /// Looks at every token once.
    pub(super) fn of(vocab: &Vocab) -> Self {
        let mut lengths = vec![0; 1 << LENGTH_BITS].into_boxed_slice();
        for token in (0..vocab.len() as u32).filter_map(|id| vocab.bytes(id)) {
            if let Some(ending) = token.last_chunk() {
                lengths[cell(u64::from(u32::from_le_bytes(*ending)), LENGTH_BITS)] |= bit(token.len());
            }
        }
        let pairs = std::iter::repeat_with(|| AtomicU64::new(0));
        Self {
            lengths,
            pairs: pairs.take(1 << PAIR_BITS).collect(),
        }
    }

    /// Lengths of what may be a token at the end of these bytes, the longest first. None is left out, a few are none.
    pub(super) fn lengths(&self, bytes: &[u8], longest: usize) -> impl Iterator<Item = usize> + use<> {
        let most = bytes.len().min(longest);
        let ending = bytes.last_chunk().map(|ending| u64::from(u32::from_le_bytes(*ending)));
        let known = ending.map_or(0, |ending| self.lengths[cell(ending, LENGTH_BITS)]);
        let known = known & (bit(most + 1) - 1) & !(bit(SHORT) - 1);
        let beyond = if most >= LONG && self.has_long(ending) { most } else { 0 };
        (LONG..=beyond)
            .rev()
            .chain(Bits(known))
            .chain((1..=most.min(SHORT - 1)).rev())
    }

    fn has_long(&self, ending: Option<u64>) -> bool {
        ending.is_some_and(|ending| self.lengths[cell(ending, LENGTH_BITS)] & bit(LONG) != 0)
    }

    /// Whether two tokens, or one with [`NOTHING`] before it, are what their bytes are merged to.
    #[inline]
    pub(super) fn valid(&self, vocab: &Vocab, left: u32, right: u32) -> bool {
        let key = (u64::from(left) << ID_BITS) | u64::from(right);
        let pair = &self.pairs[cell(key, PAIR_BITS)];
        // The answer is the lowest bit, and another one tells it from a cell that was never filled.
        let found = pair.load(Ordering::Relaxed);
        if found >> 2 == key && found & 2 != 0 {
            return found & 1 != 0;
        }
        let valid = merged(vocab, left, right);
        pair.store((key << 2) | 2 | u64::from(valid), Ordering::Relaxed);
        valid
    }
}

fn merged(vocab: &Vocab, left: u32, right: u32) -> bool {
    let left = if left == NOTHING {
        &[]
    } else {
        vocab.bytes(left).unwrap_or_default()
    };
    let right = vocab.bytes(right).unwrap_or_default();
    let joined = [left, right].concat();
    let mut first = 0;
    let mut tokens = 0;
    bpe::encode(vocab, &joined, |token| {
        if tokens == 0 {
            first = vocab.len_of(token);
        }
        tokens += 1;
    });
    if left.is_empty() {
        tokens == 1
    } else {
        tokens == 2 && first == left.len()
    }
}

/// Where something is found in a table of so many bits: by the upper bits of a product with an odd constant.
#[inline]
fn cell(key: u64, bits: u32) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - bits)) as usize
}

/// The bit of a length.
fn bit(length: usize) -> u128 {
    1 << length.min(LONG)
}

/// The places of the bits of a number, the highest first.
struct Bits(u128);

impl Iterator for Bits {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        let highest = self.0.checked_ilog2()?;
        self.0 ^= 1 << highest;
        Some(highest as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tokens that merging never leaves would not end any prefix; pieces that are tokens count as one all the same.
    #[test]
    fn merging_reaches_every_token() {
        for vocab in [Vocab::cl100k(), Vocab::o200k()] {
            let reached = |&id: &u32| merged(vocab, NOTHING, id);
            assert_eq!((0..vocab.len() as u32).filter(reached).count(), vocab.len());
        }
    }

    #[test]
    fn no_length_of_a_token_is_left_out() {
        for vocab in [Vocab::cl100k(), Vocab::o200k()] {
            let neighbours = vocab.neighbours();
            for token in (0..vocab.len() as u32).filter_map(|id| vocab.bytes(id)) {
                let bytes = [b"x", token].concat();
                let mut lengths = neighbours.lengths(&bytes, vocab.longest());
                assert!(lengths.any(|length| length == token.len()), "{token:?}");
            }
        }
    }

    #[test]
    fn pairs_are_answered_the_same_again() {
        let vocab = Vocab::o200k();
        let neighbours = Neighbours::of(vocab);
        for left in (0..2000).chain([NOTHING]) {
            for right in [0, 1, 5, 300, 1023, 199_997] {
                let expected = merged(vocab, left, right);
                assert_eq!(neighbours.valid(vocab, left, right), expected);
                assert_eq!(neighbours.valid(vocab, left, right), expected);
            }
        }
    }
}
