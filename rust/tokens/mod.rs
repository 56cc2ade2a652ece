//! Exact token counts, equal to those of tiktoken.
//!
//! A text is divided into pieces by the encoding's pattern ([`pretokenize`]), and each piece into tokens by merging byte
//! pairs ([`bpe`]). A piece that is a token itself, as most are, is looked up and not merged.

mod bpe;
mod cut;
mod growing;
mod index;
mod many;
mod measure;
mod neighbours;
mod open;
mod prefixes;
mod pretokenize;
mod special;
mod stream;
mod unicode;
mod vocab;

use std::sync::LazyLock;

pub use many::count_many;
pub use measure::Measured;
pub use stream::Stream;

use crate::{Error, Result};
use pretokenize::{Pattern, Pieces};
use special::Specials;
use vocab::Vocab;

/// A vocabulary with its pre-tokeniser and its special tokens.
///
/// ```
/// let tokenizer = muntin_core::tokens::Tokenizer::builtin("o200k_base")?;
/// assert_eq!(tokenizer.count("hello world", false), 2);
/// # Ok::<(), muntin_core::Error>(())
/// ```
pub struct Tokenizer {
    name: &'static str,
    pattern: Pattern,
    vocab: &'static Vocab,
    specials: Specials,
}

/// A token as it is found. Who only counts need not look up the ids of what merging has left.
enum Token<'a> {
    Id(u32),
    Bytes(&'a [u8]),
}

impl Tokenizer {
    /// The names of the encodings that are built in.
    pub const BUILTIN: [&'static str; 3] = ["cl100k_base", "o200k_base", "o200k_harmony"];

    /// A built-in encoding; read on first use, once a process.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownEncoding`].
    pub fn builtin(name: &str) -> Result<&'static Self> {
        static CL100K: LazyLock<Tokenizer> = LazyLock::new(|| Tokenizer {
            name: "cl100k_base",
            pattern: Pattern::Cl100k,
            vocab: Vocab::cl100k(),
            specials: Specials::cl100k(),
        });
        static O200K: LazyLock<Tokenizer> = LazyLock::new(|| Tokenizer {
            name: "o200k_base",
            pattern: Pattern::O200k,
            vocab: Vocab::o200k(),
            specials: Specials::o200k(),
        });
        static HARMONY: LazyLock<Tokenizer> = LazyLock::new(|| Tokenizer {
            name: "o200k_harmony",
            pattern: Pattern::O200k,
            vocab: Vocab::o200k(),
            specials: Specials::harmony(),
        });
        match name {
            "cl100k_base" => Ok(&CL100K),
            "o200k_base" => Ok(&O200K),
            "o200k_harmony" => Ok(&HARMONY),
            _ => Err(Error::UnknownEncoding {
                name: name.into(),
                known: Self::BUILTIN.join(", "),
            }),
        }
    }

    /// The encoding's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// One more than the highest token id, special tokens included.
    #[must_use]
    pub fn n_vocab(&self) -> u32 {
        self.specials.limit()
    }

    /// The special tokens: text and id, by id.
    pub fn special_tokens(&self) -> impl Iterator<Item = (&str, u32)> {
        self.specials.iter()
    }

    /// How many tokens a text has. O(n); O(n log n) in the length of a piece without end.
    ///
    /// With `special`, texts of special tokens are those tokens; without, they are text like any other.
    #[must_use]
    pub fn count(&self, text: &str, special: bool) -> usize {
        let mut tokens = 0;
        self.each(text, special, |_| tokens += 1);
        tokens
    }

    /// The tokens of a text. As fast as [`Tokenizer::count`], but for the memory.
    #[must_use]
    pub fn encode(&self, text: &str, special: bool) -> Vec<u32> {
        let mut tokens = Vec::with_capacity(text.len() / 3 + 1);
        self.each(text, special, |token| {
            tokens.push(match token {
                Token::Id(id) => id,
                Token::Bytes(bytes) => self.vocab.token(bytes),
            });
        });
        tokens
    }

    /// The bytes that tokens stand for; not always UTF-8, since a token may hold a part of a character.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownToken`].
    pub fn decode(&self, tokens: &[u32]) -> Result<Vec<u8>> {
        let mut bytes = Vec::with_capacity(tokens.len() * 4);
        for &id in tokens {
            let token = self.vocab.bytes(id).or_else(|| self.specials.bytes(id));
            bytes.extend(token.ok_or_else(|| Error::UnknownToken {
                id,
                encoding: self.name.into(),
                limit: self.n_vocab(),
            })?);
        }
        Ok(bytes)
    }

    #[inline]
    fn each<'a>(&self, text: &'a str, special: bool, mut emit: impl FnMut(Token<'a>)) {
        let mut rest = text;
        while special && let Some((start, end, id)) = self.specials.find(rest) {
            self.each_ordinary(&rest[..start], &mut emit);
            emit(Token::Id(id));
            rest = &rest[end..];
        }
        self.each_ordinary(rest, &mut emit);
    }

    #[inline]
    fn each_ordinary<'a>(&self, text: &'a str, mut emit: impl FnMut(Token<'a>)) {
        for piece in Pieces::new(self.pattern, text) {
            match self.vocab.rank(piece) {
                Some(id) => emit(Token::Id(id)),
                None => bpe::merge(self.vocab, piece, |bytes| emit(Token::Bytes(bytes))),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn special_tokens_are_text_unless_asked_for() {
        let tokenizer = Tokenizer::builtin("o200k_base").unwrap();
        assert_eq!(tokenizer.encode("a<|endoftext|>b", true), [64, 199_999, 65]);
        assert!(!tokenizer.encode("a<|endoftext|>b", false).contains(&199_999));
    }

    #[test]
    fn unknown_names_and_tokens_are_refused() {
        assert!(matches!(Tokenizer::builtin("nope"), Err(Error::UnknownEncoding { .. })));
        let tokenizer = Tokenizer::builtin("cl100k_base").unwrap();
        assert!(matches!(
            tokenizer.decode(&[100_256]),
            Err(Error::UnknownToken { id: 100_256, .. })
        ));
    }

    proptest! {
        #[test]
        fn decoding_gives_the_text_back_and_counting_its_length(text in any::<String>(), special: bool) {
            for name in Tokenizer::BUILTIN {
                let tokenizer = Tokenizer::builtin(name).unwrap();
                let tokens = tokenizer.encode(&text, special);
                prop_assert_eq!(tokenizer.count(&text, special), tokens.len());
                prop_assert_eq!(tokenizer.decode(&tokens).unwrap(), text.as_bytes());
            }
        }
    }
}
