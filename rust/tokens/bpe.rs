//! Byte pair encoding of one piece: the adjacent pair of lowest rank is merged until none is in the vocabulary.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::vocab::Vocab;

/// Pieces above this many bytes are merged with a heap; shorter ones faster without.
const SHORT: usize = 96;

/// In place of a rank: merged, these parts are no token.
const NONE: u32 = u32::MAX;

/// The tokens of a piece as bytes, in order, given to `emit`; O(n²) with a small constant for short pieces, O(n log n) for
/// others.
pub(super) fn merge<'a>(vocab: &Vocab, piece: &'a [u8], emit: impl FnMut(&'a [u8])) {
    if piece.len() <= SHORT {
        merge_short(vocab, piece, emit);
    } else {
        merge_long(vocab, piece, emit);
    }
}

fn merge_short<'a>(vocab: &Vocab, piece: &'a [u8], mut emit: impl FnMut(&'a [u8])) {
    // Where each part begins, and the rank of it merged with the next one.
    let mut starts = [0u8; SHORT + 1];
    let mut ranks = [NONE; SHORT + 1];
    let mut parts = piece.len();
    for (at, start) in starts.iter_mut().enumerate().take(parts + 1) {
        *start = at as u8;
    }
    let rank_of = |from: u8, to: u8| vocab.rank(&piece[usize::from(from)..usize::from(to)]).unwrap_or(NONE);
    for at in 0..parts.saturating_sub(1) {
        ranks[at] = rank_of(starts[at], starts[at + 2]);
    }
    while parts > 1 {
        let mut best = 0;
        for at in 1..parts - 1 {
            if ranks[at] < ranks[best] {
                best = at;
            }
        }
        if ranks[best] == NONE {
            break;
        }
        starts.copy_within(best + 2..=parts, best + 1);
        ranks.copy_within(best + 1..parts, best);
        parts -= 1;
        ranks[parts - 1] = NONE;
        if best + 1 < parts {
            ranks[best] = rank_of(starts[best], starts[best + 2]);
        }
        if best > 0 {
            ranks[best - 1] = rank_of(starts[best - 1], starts[best + 1]);
        }
    }
    for at in 0..parts {
        emit(&piece[usize::from(starts[at])..usize::from(starts[at + 1])]);
    }
}

fn merge_long<'a>(vocab: &Vocab, piece: &'a [u8], mut emit: impl FnMut(&'a [u8])) {
    // Of each part its length, where it begins and where it ends; and where it begins the rank of it merged with the next
    // one. A long piece is an attack more often than a text, so memory counts: 14 bytes for each of the piece's.
    let n = piece.len();
    let mut from = vec![1u8; n];
    let mut to = vec![1u8; n];
    let mut ranks = vec![NONE; n];
    let mut heap = Vec::with_capacity(n);
    for (at, pair) in piece.windows(2).enumerate() {
        if let Some(rank) = vocab.rank(pair) {
            ranks[at] = rank;
            heap.push(Reverse(entry(rank, at)));
        }
    }
    let mut heap = BinaryHeap::from(heap);
    while let Some(Reverse(lowest)) = heap.pop() {
        let (rank, start) = (lowest >> PLACE_BITS, (lowest & PLACE) as usize);
        // Either part was merged with another neighbour meanwhile.
        if u64::from(ranks[start]) != rank {
            continue;
        }
        let middle = start + usize::from(from[start]);
        let end = middle + usize::from(from[middle]);
        // A token's length is one byte in the vocabulary too.
        let length = (end - start) as u8;
        from[start] = length;
        to[end - 1] = length;
        ranks[start] = NONE;
        ranks[middle] = NONE;
        let right = (end < n).then(|| (start, end + usize::from(from[end])));
        let left = (start > 0).then(|| (start - usize::from(to[start - 1]), end));
        for (start, end) in right.into_iter().chain(left) {
            let rank = vocab.rank(&piece[start..end]);
            ranks[start] = rank.unwrap_or(NONE);
            heap.extend(rank.map(|rank| Reverse(entry(rank, start))));
        }
    }
    let mut at = 0;
    while at < n {
        let end = at + usize::from(from[at]);
        emit(&piece[at..end]);
        at = end;
    }
}

/// Bits of a place in a heap's entry: pieces of up to a terabyte, ranks of up to 24 bits.
const PLACE_BITS: u32 = 40;
const PLACE: u64 = (1 << PLACE_BITS) - 1;

/// A pair in the heap: by rank first, then by place, as the definition takes them.
fn entry(rank: u32, place: usize) -> u64 {
    (u64::from(rank) << PLACE_BITS) | place as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tokens::vocab::Vocab;

    /// The definition: look at all pairs, merge the first of lowest rank, again.
    fn naive(vocab: &Vocab, piece: &[u8]) -> Vec<u32> {
        let mut parts: Vec<Vec<u8>> = piece.iter().map(|&byte| vec![byte]).collect();
        loop {
            let ranks = parts.windows(2).map(|pair| vocab.rank(&pair.concat()));
            let best = ranks
                .enumerate()
                .filter_map(|(at, rank)| rank.map(|rank| (rank, at)))
                .min();
            let Some((_, at)) = best else { break };
            let right = parts.remove(at + 1);
            parts[at].extend(right);
        }
        parts.iter().map(|part| vocab.token(part)).collect()
    }

    type Emit<'a, 'e> = &'e mut dyn FnMut(&'a [u8]);

    fn tokens<'a>(vocab: &Vocab, run: impl FnOnce(Emit<'a, '_>)) -> Vec<u32> {
        let mut out = Vec::new();
        run(&mut |token| out.push(vocab.token(token)));
        out
    }

    proptest! {
        #[test]
        fn both_ways_of_merging_equal_the_definition(piece in prop_oneof![
            proptest::collection::vec(any::<u8>(), 1..=SHORT),
            "[a-e]{1,90}".prop_map(String::into_bytes),
            "[ -~]{1,90}".prop_map(String::into_bytes),
        ]) {
            let vocab = Vocab::cl100k();
            let expected = naive(vocab, &piece);
            prop_assert_eq!(tokens(vocab, |emit| merge_short(vocab, &piece, emit)), expected.clone());
            prop_assert_eq!(tokens(vocab, |emit| merge_long(vocab, &piece, emit)), expected);
        }
    }
}
