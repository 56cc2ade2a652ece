//! Byte pair encoding of one piece: the adjacent pair of lowest rank is merged until none is in the vocabulary.
//!
//! [`merge`] does so by the definition, and [`small`] for the usual piece of a few bytes. [`walk`] comes to the same tokens
//! faster for others, where the vocabulary allows it. A vocabulary with a list of pairs is merged by that ([`pairs`]).
//!
//! [`pairs`]: super::pairs

mod merge;
mod small;
mod walk;

use super::key::Key;
use super::vocab::Vocab;
use super::window::Kernel;

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

/// How many tokens a piece has, which may be one itself.
#[inline]
pub(super) fn tokens(vocab: &Vocab, piece: &[u8]) -> usize {
    if vocab.rank(piece).is_some() {
        1
    } else {
        count(vocab, piece)
    }
}

/// How many tokens a piece has that is none itself.
#[inline]
pub(super) fn count(vocab: &Vocab, piece: &[u8]) -> usize {
    if piece.len() <= small::MOST && vocab.pairs().is_none() {
        return small::merge(vocab, piece).0;
    }
    let mut tokens = 0;
    encode(vocab, piece, |_| tokens += 1);
    tokens
}

/// How many tokens pieces of up to fifteen bytes have, by their keys; gives the place of each among them and its tokens, in any
/// order.
#[inline(always)]
pub(super) fn count_many<K: Kernel>(
    kernel: K,
    vocab: &Vocab,
    pieces: usize,
    key: impl Fn(usize) -> Key,
    mut done: impl FnMut(usize, usize),
) {
    if vocab.pairs().is_none() {
        return small::count_many(kernel, vocab, pieces, key, done);
    }
    for index in 0..pieces {
        let (bytes, len) = key(index).text();
        done(index, count(vocab, &bytes.to_le_bytes()[..len]));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn every_way_comes_to_the_tokens_of_the_definition(piece in prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..80),
            "[a-e]{0,40}".prop_map(String::into_bytes),
            "[ -~]{0,20}".prop_map(String::into_bytes),
            "[\\p{Han}\\p{Cyrillic}\\p{Thai}]{0,20}".prop_map(String::into_bytes),
            "(a|ab|the|ing|0|--){0,80}".prop_map(String::into_bytes),
        ]) {
            for vocab in [Vocab::cl100k(), Vocab::o200k()] {
                let (mut expected, mut found) = (Vec::new(), Vec::new());
                merge::encode(vocab, &piece, |rank| expected.push(rank));
                encode(vocab, &piece, |rank| found.push(rank));
                prop_assert_eq!(count(vocab, &piece), expected.len());
                prop_assert_eq!(found, expected);
            }
        }
    }
}
