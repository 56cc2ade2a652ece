//! Byte pair encoding by a list of pairs, as `tokenizer.json` has it: only pairs of the list are merged, in its order.
//!
//! Merging by the rank of what comes out ([`bpe`](super::bpe)) gives the same for most vocabularies, but not for all: there two
//! tokens may be merged that are no pair of the list, and a token that is reached on two ways has one rank only.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rustc_hash::FxHashMap;

/// Pieces of up to so many bytes are merged without a heap.
const SHORT: usize = 48;

/// A merge of a list: two tokens and what they become, by id.
pub type Merge = (u32, u32, u32);

/// A list of merges.
#[derive(Debug)]
pub(super) struct Pairs {
    /// The token of every single byte.
    bytes: [u32; 256],
    /// By both tokens: the place in the list, and the token that they become.
    merges: FxHashMap<u64, (u32, u32)>,
}

impl Pairs {
    /// Of two merges of one pair the later counts. Tokens may have any numbers here.
    pub(super) fn new(bytes: &[u32; 256], merges: &[Merge]) -> Self {
        let merges = merges.iter().zip(0..);
        let merges = merges.map(|(&(left, right, merged), rank)| (key(left, right), (rank, merged)));
        Self {
            bytes: *bytes,
            merges: merges.collect(),
        }
    }

    /// The tokens of a piece, in order; O(n²) with a small constant for short pieces, O(n log n) for others.
    pub(super) fn merge(&self, piece: &[u8], emit: impl FnMut(u32)) {
        if piece.len() <= SHORT {
            self.merge_short(piece, emit);
        } else {
            self.merge_long(piece, emit);
        }
    }

    fn merge_short(&self, piece: &[u8], emit: impl FnMut(u32)) {
        // The parts that are left, moved up when two are merged, and for each what it and the next one become.
        let mut len = piece.len();
        let mut parts = [0; SHORT];
        let mut pairs = [NONE; SHORT];
        for (part, &byte) in parts.iter_mut().zip(piece) {
            *part = self.bytes[usize::from(byte)];
        }
        for at in 1..len {
            pairs[at - 1] = self.pair(parts[at - 1], parts[at]);
        }
        loop {
            let lowest = pairs[..len].iter().enumerate().min_by_key(|(_, pair)| pair.0);
            let Some((at, &(rank, merged))) = lowest else { break };
            if rank == NONE.0 {
                break;
            }
            parts[at] = merged;
            parts.copy_within(at + 2..len, at + 1);
            pairs.copy_within(at + 1..len, at);
            len -= 1;
            pairs[len] = NONE;
            if at + 1 < len {
                pairs[at] = self.pair(merged, parts[at + 1]);
            }
            if at > 0 {
                pairs[at - 1] = self.pair(parts[at - 1], merged);
            }
        }
        parts[..len].iter().copied().for_each(emit);
    }

    fn merge_long(&self, piece: &[u8], mut emit: impl FnMut(u32)) {
        // By the place at which a part begins: its token, and where its neighbours begin; `n` is the place behind the last.
        let n = piece.len();
        let mut parts: Vec<u32> = piece.iter().map(|&byte| self.bytes[usize::from(byte)]).collect();
        let mut next: Vec<usize> = (1..=n).collect();
        let mut before: Vec<usize> = (0..n).map(|at| at.wrapping_sub(1)).collect();
        let mut heap = BinaryHeap::with_capacity(n);
        for at in 1..n {
            let pair = self.pair(parts[at - 1], parts[at]);
            heap.extend((pair != NONE).then_some(Reverse((pair.0, at - 1, pair.1))));
        }
        while let Some(Reverse((rank, start, merged))) = heap.pop() {
            // Either part was merged with another neighbour meanwhile, or is gone.
            let right = next[start];
            if right >= n || self.pair(parts[start], parts[right]) != (rank, merged) {
                continue;
            }
            let end = next[right];
            parts[start] = merged;
            next[start] = end;
            next[right] = GONE;
            if end < n {
                before[end] = start;
                let pair = self.pair(merged, parts[end]);
                heap.extend((pair != NONE).then_some(Reverse((pair.0, start, pair.1))));
            }
            if start > 0 {
                let left = before[start];
                let pair = self.pair(parts[left], merged);
                heap.extend((pair != NONE).then_some(Reverse((pair.0, left, pair.1))));
            }
        }
        let mut at = 0;
        while at < n {
            emit(parts[at]);
            at = next[at];
        }
    }

    #[inline]
    fn pair(&self, left: u32, right: u32) -> (u32, u32) {
        self.merges.get(&key(left, right)).copied().unwrap_or(NONE)
    }
}

/// In place of a rank and a token: these two are not merged.
const NONE: (u32, u32) = (u32::MAX, 0);
/// In place of the next part: this one is a part of another.
const GONE: usize = usize::MAX;

fn key(left: u32, right: u32) -> u64 {
    (u64::from(left) << 32) | u64::from(right)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The definition: look at all pairs, merge the first of lowest rank, again.
    fn naive(pairs: &Pairs, piece: &[u8]) -> Vec<u32> {
        let mut parts: Vec<u32> = piece.iter().map(|&byte| pairs.bytes[usize::from(byte)]).collect();
        loop {
            let all = parts.windows(2).map(|two| pairs.pair(two[0], two[1])).enumerate();
            let Some((at, (rank, merged))) = all.min_by_key(|&(at, (rank, _))| (rank, at)) else {
                break;
            };
            if rank == NONE.0 {
                break;
            }
            parts.splice(at..at + 2, [merged]);
        }
        parts
    }

    prop_compose! {
        /// Merges of tokens that exist when their turn comes; some make a token that is there already.
        fn lists()(picks in proptest::collection::vec((0u32..40, 0u32..40, any::<bool>()), 0..40)) -> Pairs {
            let mut bytes = [0; 256];
            bytes.iter_mut().zip(0..).for_each(|(token, byte)| *token = byte);
            let mut ids: FxHashMap<Vec<u8>, u32> = FxHashMap::default();
            let mut texts: Vec<Vec<u8>> = vec![b"a".into(), b"b".into(), b"c".into()];
            for text in &texts {
                ids.insert(text.clone(), u32::from(text[0]));
            }
            let mut merges = Vec::new();
            for (left, right, _) in picks {
                let text = |at: u32| texts[at as usize % texts.len()].clone();
                let (left, right) = (text(left), text(right));
                let merged = [left.clone(), right.clone()].concat();
                let fresh = 1_000 + ids.len() as u32;
                let id = *ids.entry(merged.clone()).or_insert(fresh);
                merges.push((ids[&left], ids[&right], id));
                texts.push(merged);
            }
            Pairs::new(&bytes, &merges)
        }
    }

    proptest! {
        #[test]
        fn both_ways_of_merging_equal_the_definition(pairs in lists(), piece in "[abc]{1,48}") {
            let expected = naive(&pairs, piece.as_bytes());
            let (mut short, mut long) = (Vec::new(), Vec::new());
            pairs.merge_short(piece.as_bytes(), |token| short.push(token));
            pairs.merge_long(piece.as_bytes(), |token| long.push(token));
            prop_assert_eq!(short, expected.clone());
            prop_assert_eq!(long, expected);
        }
    }
}
