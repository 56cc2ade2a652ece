//! Byte pair encoding of one piece: the adjacent pair of lowest rank is merged until none is in the vocabulary.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::vocab::Vocab;

/// Pieces above this many bytes are merged with a heap; shorter ones faster without.
const SHORT: usize = 96;

/// The tokens of a piece, in order, given to `emit`; O(n²) with a small constant for short pieces, O(n log n) for others.
pub(super) fn merge(vocab: &Vocab, piece: &[u8], emit: impl FnMut(u32)) {
    if piece.len() <= SHORT {
        merge_short(vocab, piece, emit);
    } else {
        merge_long(vocab, piece, emit);
    }
}

fn merge_short(vocab: &Vocab, piece: &[u8], mut emit: impl FnMut(u32)) {
    const NONE: u32 = u32::MAX;
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
        emit(vocab.token(&piece[usize::from(starts[at])..usize::from(starts[at + 1])]));
    }
}

fn merge_long(vocab: &Vocab, piece: &[u8], mut emit: impl FnMut(u32)) {
    // Parts are a list linked by the places at which they begin; `next` of a place that begins none is `GONE`.
    const GONE: usize = usize::MAX;
    let n = piece.len();
    let mut next: Vec<usize> = (1..=n).collect();
    let mut previous: Vec<usize> = (0..n).map(|at| at.wrapping_sub(1)).collect();
    let mut heap = BinaryHeap::with_capacity(n);
    let pair = |from: usize, to: usize| vocab.rank(&piece[from..to]).map(|rank| Reverse((rank, from, to)));
    heap.extend((0..n - 1).filter_map(|at| pair(at, at + 2)));
    while let Some(Reverse((_, from, to))) = heap.pop() {
        // A pair that was merged with a neighbour meanwhile no longer spans these bytes.
        let middle = next[from];
        if middle == GONE || middle >= n || next[middle] != to {
            continue;
        }
        next[from] = to;
        next[middle] = GONE;
        if to < n {
            previous[to] = from;
            heap.extend(pair(from, next[to]));
        }
        if from > 0 {
            heap.extend(pair(previous[from], to));
        }
    }
    let mut at = 0;
    while at < n {
        emit(vocab.token(&piece[at..next[at]]));
        at = next[at];
    }
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

    fn tokens(run: impl FnOnce(&mut dyn FnMut(u32))) -> Vec<u32> {
        let mut out = Vec::new();
        run(&mut |token| out.push(token));
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
            prop_assert_eq!(tokens(|emit| merge_short(vocab, &piece, emit)), expected.clone());
            prop_assert_eq!(tokens(|emit| merge_long(vocab, &piece, emit)), expected);
        }
    }
}
