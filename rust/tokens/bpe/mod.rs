//! Byte pair encoding of one piece: the adjacent pair of lowest rank is merged until none is in the vocabulary.
//!
//! [`merge`] does so by the definition, and [`small`] for the usual piece of a few bytes. [`walk`] comes to the same tokens
//! faster for others, where the vocabulary allows it. A vocabulary with a list of pairs is merged by that ([`pairs`]).
//!
//! [`pairs`]: super::pairs

mod merge;
mod small;
mod walk;

use super::vocab::Vocab;

/// The ranks of the tokens of a piece, in order, given to `emit`. O(n); with an improper vocabulary O(n log n).
#[inline]
pub(super) fn encode(vocab: &Vocab, piece: &[u8], mut emit: impl FnMut(u32)) {
    if let Some(pairs) = vocab.pairs() {
        pairs.merge(piece, emit);
    } else if piece.len() <= small::MOST {
        let (_, ends) = small::merge(vocab, piece);
        let mut start = 0;
        for end in ends {
            emit(vocab.rank(&piece[start..end]).unwrap_or_default());
            start = end;
        }
    } else if vocab.is_proper() {
        walk::encode(vocab, piece, emit);
    } else {
        merge::encode(vocab, piece, emit);
    }
}

/// How many tokens a piece has.
#[inline]
pub(super) fn count(vocab: &Vocab, piece: &[u8]) -> usize {
    if piece.len() <= small::MOST && vocab.pairs().is_none() {
        return small::merge(vocab, piece).0;
    }
    let mut tokens = 0;
    encode(vocab, piece, |_| tokens += 1);
    tokens
}
