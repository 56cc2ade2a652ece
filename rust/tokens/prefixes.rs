//! How many tokens every prefix of one piece has, so that a piece may grow for ever at the cost of what is new.

use super::neighbours::{ID_BITS, NOTHING};
use super::vocab::Vocab;

/// The prefixes of a piece, by the last token of each. Eight bytes for each of the piece's.
///
/// Of the tokens that a prefix ends with, one can stand behind what the prefix without it ends with
/// ([`super::neighbours`]), and that is the last one that merging leaves.
#[derive(Debug, Clone, Default)]
pub(super) struct Prefixes {
    lasts: Vec<Last>,
}

/// The last token of a prefix, and how many there are.
#[derive(Debug, Clone, Copy)]
struct Last {
    /// Its id, and above that its length.
    token: u32,
    count: u32,
}

impl Last {
    fn new(token: u32, length: usize, count: u32) -> Self {
        let token = token | (length as u32) << ID_BITS;
        Self { token, count }
    }

    fn token(self) -> u32 {
        self.token & NOTHING
    }

    fn len(self) -> usize {
        (self.token >> ID_BITS) as usize
    }
}

impl Prefixes {
    pub(super) fn is_empty(&self) -> bool {
        self.lasts.is_empty()
    }

    /// Begins another piece.
    pub(super) fn clear(&mut self) {
        self.lasts.clear();
    }

    /// How many tokens the piece is merged to, which may have grown since the last call or be shorter again. O(1) for
    /// each byte that was not seen before.
    pub(super) fn count(&mut self, vocab: &Vocab, piece: &[u8]) -> usize {
        let neighbours = vocab.neighbours();
        for end in self.lasts.len() + 1..=piece.len() {
            let prefix = &piece[..end];
            // In a run of one character the last token grows with it; otherwise the longest one is the best guess.
            let grown = self.lasts.last().map(|last| last.len() + 1);
            let lengths = grown.into_iter().filter(|&len| len <= end);
            let lengths = lengths.chain(neighbours.lengths(prefix, vocab.longest()));
            let last = lengths.into_iter().find_map(|length| {
                let start = end - length;
                let token = vocab.rank(&prefix[start..])?;
                let before = start.checked_sub(1).map_or(FIRST, |last| self.lasts[last]);
                let count = before.count + 1;
                let last = Last::new(token, length, count);
                neighbours.valid(vocab, before.token(), token).then_some(last)
            });
            debug_assert!(last.is_some(), "merging leaves a last token");
            self.lasts.extend(last);
        }
        piece
            .len()
            .checked_sub(1)
            .map_or(0, |last| self.lasts[last].count as usize)
    }
}

/// Before all tokens.
const FIRST: Last = Last {
    token: NOTHING,
    count: 0,
};

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tokens::bpe;

    fn merged(vocab: &Vocab, piece: &[u8]) -> usize {
        let mut tokens = 0;
        bpe::encode(vocab, piece, |_| tokens += 1);
        tokens
    }

    proptest! {
        #[test]
        fn every_prefix_counts_as_merged_by_itself(piece in prop_oneof![
            proptest::collection::vec(any::<u8>(), 1..120),
            "[a-e]{1,90}".prop_map(String::into_bytes),
            "[ -~]{1,90}".prop_map(String::into_bytes),
            "[\\p{L}]{1,40}".prop_map(String::into_bytes),
            "( |\n|--|==|aa){1,90}".prop_map(String::into_bytes),
        ]) {
            for vocab in [Vocab::cl100k(), Vocab::o200k()] {
                let mut prefixes = Prefixes::default();
                for end in 1..=piece.len() {
                    prop_assert_eq!(prefixes.count(vocab, &piece[..end]), merged(vocab, &piece[..end]));
                }
            }
        }
    }

    #[test]
    fn a_run_longer_than_every_token_counts() {
        for vocab in [Vocab::cl100k(), Vocab::o200k()] {
            for run in [" ", "-", "a", "語", "\n\t", "=*"] {
                let piece = run.repeat(600);
                let mut prefixes = Prefixes::default();
                for end in (1..=piece.len()).step_by(7) {
                    let piece = &piece.as_bytes()[..end];
                    assert_eq!(prefixes.count(vocab, piece), merged(vocab, piece), "{run:?} {end}");
                }
            }
        }
    }
}
