//! Vocabularies: the tokens of an encoding in the order of their ranks.
//!
//! The files in `data` are made by `scripts/make_vocabularies.py`: each token as one byte of length and its bytes.

use std::sync::{LazyLock, OnceLock};

use super::neighbours::Neighbours;

/// The tokens of an encoding, from bytes to rank and back. Their bytes stay where the program's file is mapped.
///
/// From bytes to rank leads an open table with linear probing, at most half full. Nearly all lookups are of a few bytes, and
/// those are in the slot itself: a lookup touches one line of memory, where a map of slices would touch three. Merging looks up
/// mostly pairs that are no token: nine of ten end at the filter, which stays in the cache where the table does not. What a
/// text holds is looked up and never put in, so no text can make the probes longer.
pub(super) struct Vocab {
    data: &'static [u8],
    /// Where in `data` the length of each token stands.
    starts: Vec<u32>,
    slots: Box<[Slot]>,
    /// A bit for each token: where a word's bit is not set, no token has the word.
    filter: Box<[u64]>,
    /// Bytes of the longest token.
    longest: usize,
    neighbours: OnceLock<Neighbours>,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    /// The token's bytes, or a hash of them where they are more than eight.
    word: u64,
    /// How many bytes; 0 where the slot is empty.
    len: u32,
    rank: u32,
}

/// A quarter of a megabyte, in which one bit of ten is set.
const FILTER_BITS: u32 = 21;

const EMPTY: Slot = Slot {
    word: 0,
    len: 0,
    rank: 0,
};

impl Vocab {
    /// Of `o200k_base` and `o200k_harmony`. Read on first use, once a process.
    pub(super) fn o200k() -> &'static Self {
        static VOCAB: LazyLock<Vocab> = LazyLock::new(|| Vocab::read(include_bytes!("data/o200k_base.bin")));
        &VOCAB
    }

    /// Of `cl100k_base`. Read on first use, once a process.
    pub(super) fn cl100k() -> &'static Self {
        static VOCAB: LazyLock<Vocab> = LazyLock::new(|| Vocab::read(include_bytes!("data/cl100k_base.bin")));
        &VOCAB
    }

    fn read(data: &'static [u8]) -> Self {
        let mut starts = Vec::with_capacity(200_000);
        let mut at = 0;
        while let Some(&length) = data.get(at) {
            starts.push(at as u32);
            at += 1 + usize::from(length);
        }
        let slots = vec![EMPTY; (starts.len() * 2).next_power_of_two()].into_boxed_slice();
        let mut vocab = Self {
            data,
            starts,
            slots,
            filter: vec![0; 1 << (FILTER_BITS - 6)].into_boxed_slice(),
            longest: 0,
            neighbours: OnceLock::new(),
        };
        vocab.fill();
        vocab
    }

    fn fill(&mut self) {
        let mask = self.slots.len() - 1;
        for rank in 0..self.starts.len() as u32 {
            let token = self.bytes(rank).unwrap_or_default();
            let word = word(token);
            let (cell, bit) = filtered(word);
            self.filter[cell] |= bit;
            let mut at = mix(word) as usize & mask;
            while self.slots[at].len != 0 {
                at = (at + 1) & mask;
            }
            self.slots[at] = Slot {
                word,
                len: token.len() as u32,
                rank,
            };
            self.longest = self.longest.max(token.len());
        }
    }

    /// Which tokens can stand side by side; made on first use.
    pub(super) fn neighbours(&self) -> &Neighbours {
        self.neighbours.get_or_init(|| Neighbours::of(self))
    }

    /// Bytes of the longest token.
    pub(super) fn longest(&self) -> usize {
        self.longest
    }

    /// How many tokens there are.
    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// The rank of a token, which is its id; `None` where the bytes are no token. O(1).
    #[inline]
    pub(super) fn rank(&self, bytes: &[u8]) -> Option<u32> {
        if bytes.is_empty() || bytes.len() > self.longest {
            return None;
        }
        let (word, len) = (word(bytes), bytes.len() as u32);
        let mask = self.slots.len() - 1;
        let (cell, bit) = filtered(word);
        if self.filter[cell] & bit == 0 {
            return None;
        }
        let mut at = mix(word) as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot.word == word && slot.len == len && (len <= 8 || self.bytes(slot.rank) == Some(bytes)) {
                return Some(slot.rank);
            }
            if slot.len == 0 {
                return None;
            }
            at = (at + 1) & mask;
        }
    }

    /// The id of bytes that merging has left, which are a token since every single byte is one.
    #[inline]
    pub(super) fn token(&self, bytes: &[u8]) -> u32 {
        let rank = self.rank(bytes);
        debug_assert!(rank.is_some(), "merging leaves tokens");
        rank.unwrap_or_default()
    }

    /// The bytes of a token. O(1).
    #[inline]
    pub(super) fn bytes(&self, id: u32) -> Option<&'static [u8]> {
        let rest = self.data.get(*self.starts.get(id as usize)? as usize..)?;
        let (&length, rest) = rest.split_first()?;
        rest.get(..usize::from(length))
    }
}

/// Up to eight bytes as a number, which with their length tells them from all others; of more, a hash.
#[inline]
fn word(bytes: &[u8]) -> u64 {
    let n = bytes.len();
    if n > 8 {
        return hash(bytes);
    }
    // Both halves are read whole; where they overlap they agree.
    if let (Some(&head), Some(&tail)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        return u64::from(u32::from_le_bytes(head)) | (u64::from(u32::from_le_bytes(tail)) << (8 * (n - 4)));
    }
    match *bytes {
        [a] => u64::from(a),
        [a, b] => u64::from(u16::from_le_bytes([a, b])),
        [a, b, c] => u64::from(u32::from_le_bytes([a, b, c, 0])),
        _ => 0,
    }
}

fn hash(bytes: &[u8]) -> u64 {
    let (words, _) = bytes.as_chunks::<8>();
    let last = bytes.last_chunk::<8>();
    let words = words.iter().chain(last).map(|&word| u64::from_le_bytes(word));
    words.fold(bytes.len() as u64, |hash, word| mix(hash ^ word))
}

/// The cell and the bit of a word in the filter. By the upper bits, so that it says more than the place in the table.
#[inline]
fn filtered(word: u64) -> (usize, u64) {
    let at = mix(word) >> (u64::BITS - FILTER_BITS);
    ((at >> 6) as usize, 1 << (at & 63))
}

/// Both halves of a product with an odd constant: every bit of the number moves every bit of the result.
#[inline]
fn mix(number: u64) -> u64 {
    let product = u128::from(number) * 0x9e37_79b9_7f4a_7c15;
    (product >> 64) as u64 ^ product as u64
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
            for id in 0..len as u32 {
                assert_eq!(vocab.rank(vocab.bytes(id).unwrap()), Some(id));
            }
            assert_eq!(vocab.bytes(len as u32), None);
        }
    }

    #[test]
    fn every_byte_is_a_token() {
        for (vocab, _) in sizes() {
            assert!((0..=255).all(|byte| vocab.rank(&[byte]).is_some()));
        }
    }

    #[test]
    fn probes_stay_short() {
        for (vocab, len) in sizes() {
            let mask = vocab.slots.len() - 1;
            let far = |(at, slot): (usize, &Slot)| at.wrapping_sub(mix(slot.word) as usize) & mask;
            let taken = vocab.slots.iter().enumerate().filter(|(_, slot)| slot.len != 0);
            let (sum, longest) = taken.map(far).fold((0, 0), |(sum, max), far| (sum + far, max.max(far)));
            assert!(sum < len, "{sum} steps for {len} tokens");
            assert!(longest < 64, "{longest} steps for one token");
        }
    }

    #[test]
    fn zero_bytes_count() {
        for (vocab, _) in sizes() {
            assert_ne!(vocab.rank(b"a"), vocab.rank(b"a\0"));
            assert_eq!(vocab.rank(b""), None);
        }
    }

    proptest! {
        #[test]
        fn words_of_up_to_eight_bytes_are_their_bytes(bytes in proptest::collection::vec(any::<u8>(), 1..=8)) {
            let mut padded = [0; 8];
            padded[..bytes.len()].copy_from_slice(&bytes);
            prop_assert_eq!(word(&bytes), u64::from_le_bytes(padded));
        }

        #[test]
        fn what_is_found_has_the_bytes_that_were_asked_for(bytes in proptest::collection::vec(97u8..100, 0..24)) {
            for (vocab, _) in sizes() {
                if let Some(rank) = vocab.rank(&bytes) {
                    prop_assert_eq!(vocab.bytes(rank), Some(&bytes[..]));
                }
            }
        }
    }
}
