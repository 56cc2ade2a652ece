//! Vocabularies: the tokens of an encoding in the order of their ranks.
//!
//! The files in `data` are made by `scripts/make_vocabularies.py`: each token as one byte of length and its bytes.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

/// The tokens of an encoding, from bytes to rank and back. Their bytes stay where the program's file is mapped.
pub(super) struct Vocab {
    ranks: FxHashMap<&'static [u8], u32>,
    tokens: Vec<&'static [u8]>,
}

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

    fn read(mut data: &'static [u8]) -> Self {
        let mut tokens = Vec::with_capacity(200_000);
        while let Some((&length, rest)) = data.split_first() {
            let (token, rest) = rest.split_at(usize::from(length));
            tokens.push(token);
            data = rest;
        }
        let ranks = tokens.iter().zip(0..).map(|(&token, rank)| (token, rank)).collect();
        Self { ranks, tokens }
    }

    /// The rank of a token, which is its id; `None` where the bytes are no token. O(length).
    #[inline]
    pub(super) fn rank(&self, bytes: &[u8]) -> Option<u32> {
        self.ranks.get(bytes).copied()
    }

    /// The id of bytes that merging has left, which are a token since every single byte is one.
    #[inline]
    pub(super) fn token(&self, bytes: &[u8]) -> u32 {
        self.rank(bytes).unwrap_or_default()
    }

    /// The bytes of a token.
    pub(super) fn bytes(&self, id: u32) -> Option<&'static [u8]> {
        self.tokens.get(id as usize).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_a_token_and_no_token_is_there_twice() {
        for (vocab, len) in [(Vocab::o200k(), 199_998), (Vocab::cl100k(), 100_256)] {
            assert!((0..=255).all(|byte| vocab.rank(&[byte]).is_some()));
            assert_eq!((vocab.tokens.len(), vocab.ranks.len()), (len, len));
        }
    }
}
