//! By the definition, whatever the vocabulary.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::super::vocab::Vocab;

/// Pieces above this many bytes are merged with a heap; shorter ones faster without.
///
/// The places in a shorter one fit a byte.
const SHORT: usize = 128;

/// In place of a pair or its rank: merged, these parts are no token. Ranks have at most 24 bits.
const NONE: u32 = u32::MAX;

/// The ranks of the tokens of a piece, in order; O(n²) with a small constant for short pieces, O(n log n) for others.
pub(super) fn encode(vocab: &Vocab, piece: &[u8], mut emit: impl FnMut(u32)) {
    let emit = |token: &[u8]| {
        let rank = vocab.rank(token);
        debug_assert!(rank.is_some(), "merging leaves tokens");
        emit(rank.unwrap_or_default());
    };
    if piece.len() <= SHORT {
        merge_short(vocab, piece, emit);
    } else {
        merge_long(vocab, piece, emit);
    }
}

fn merge_short<'a>(vocab: &Vocab, piece: &'a [u8], mut emit: impl FnMut(&'a [u8])) {
    // By the place at which a part begins: its pair with the next part, where it ends, and where the part before begins.
    // Nothing is moved up when parts are merged, so the lowest pair is a minimum over an array, which is found by vectors.
    let n = piece.len();
    let mut pairs = [NONE; SHORT];
    let mut ends = [0u8; SHORT];
    let mut before = [0u8; SHORT];
    let pair = |start: usize, end: usize| {
        let rank = vocab.rank(&piece[start..end]);
        rank.map_or(NONE, |rank| (rank << 8) | start as u32)
    };
    for at in 0..n {
        ends[at] = at as u8 + 1;
        before[at] = (at as u8).wrapping_sub(1);
        if at + 1 < n {
            pairs[at] = pair(at, at + 2);
        }
    }
    loop {
        let lowest = pairs[..n].iter().fold(NONE, |lowest, &pair| lowest.min(pair));
        if lowest == NONE {
            break;
        }
        let start = (lowest & 0xff) as usize;
        let middle = usize::from(ends[start]);
        let end = usize::from(ends[middle]);
        ends[start] = end as u8;
        pairs[start] = NONE;
        pairs[middle] = NONE;
        if end < n {
            before[end] = start as u8;
            pairs[start] = pair(start, usize::from(ends[end]));
        }
        if start > 0 {
            let before = usize::from(before[start]);
            pairs[before] = pair(before, end);
        }
    }
    let mut at = 0;
    while at < n {
        let end = usize::from(ends[at]);
        emit(&piece[at..end]);
        at = end;
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
        parts.iter().map(|part| vocab.rank(part).unwrap()).collect()
    }

    type Emit<'a, 'e> = &'e mut dyn FnMut(&'a [u8]);

    fn tokens<'a>(vocab: &Vocab, run: impl FnOnce(Emit<'a, '_>)) -> Vec<u32> {
        let mut out = Vec::new();
        run(&mut |token| out.push(vocab.rank(token).unwrap()));
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
