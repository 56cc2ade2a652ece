//! Exact token counts, equal to those of tiktoken, and of `tokenizers` for what its files hold.
//!
//! A text is divided into pieces by the encoding's pattern ([`pretokenize`], [`family`]), and each piece into tokens by
//! merging byte pairs: by the rank of what comes out ([`bpe`]), or by a list of pairs ([`pairs`]). A piece that is a token
//! itself, as most are, is looked up and not merged.

mod batch;
mod bpe;
mod chunks;
mod count;
mod custom;
mod cut;
mod deepseek;
mod divide;
mod family;
mod growing;
mod index;
mod key;
mod layout;
mod learned;
mod many;
mod measure;
mod neighbours;
mod nfc;
mod open;
mod pairs;
mod prefixes;
mod pretokenize;
mod special;
mod stream;
mod unicode;
mod vocab;
mod window;
mod zeroed;

use std::borrow::Cow;
use std::sync::LazyLock;

pub use custom::Parts;
pub use many::count_many;
pub use measure::Measured;
pub use pairs::Merge;
pub use special::Added;
pub use stream::Stream;

use crate::{Error, Held, Result};
use custom::Ids;
use divide::each_piece;
use open::Open;
use pretokenize::Pattern;
use special::{Part, Specials};
use vocab::Vocab;

/// A vocabulary with its pre-tokeniser and its special tokens.
///
/// ```
/// let tokenizer = muntin_core::tokens::Tokenizer::builtin("o200k_base")?;
/// assert_eq!(tokenizer.count("hello world", false), 2);
/// # Ok::<(), muntin_core::Error>(())
/// ```
pub struct Tokenizer {
    name: Cow<'static, str>,
    pattern: Pattern,
    vocab: Held<Vocab>,
    specials: Specials,
    /// The ids of tokens, where they are not their ranks.
    ids: Option<Ids>,
    n_vocab: u32,
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
        static CL100K: LazyLock<Tokenizer> =
            LazyLock::new(|| Tokenizer::of("cl100k_base", Pattern::Cl100k, Vocab::cl100k(), Specials::cl100k()));
        static O200K: LazyLock<Tokenizer> =
            LazyLock::new(|| Tokenizer::of("o200k_base", Pattern::O200k, Vocab::o200k(), Specials::o200k()));
        static HARMONY: LazyLock<Tokenizer> =
            LazyLock::new(|| Tokenizer::of("o200k_harmony", Pattern::O200k, Vocab::o200k(), Specials::harmony()));
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

    fn of(name: &'static str, pattern: Pattern, vocab: &'static Vocab, specials: Specials) -> Self {
        Self {
            name: Cow::Borrowed(name),
            pattern,
            vocab: Held::Static(vocab),
            n_vocab: specials.limit(),
            specials,
            ids: None,
        }
    }

    /// The encoding's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// One more than the highest token id, special tokens included.
    #[must_use]
    pub fn n_vocab(&self) -> u32 {
        self.n_vocab
    }

    /// The special tokens: text and id, by id.
    pub fn special_tokens(&self) -> impl Iterator<Item = (&str, u32)> {
        self.specials.iter()
    }

    /// How many tokens a text has. O(n); O(n log n) in the length of a piece without end.
    ///
    /// With `special`, texts of special tokens are those tokens; without, they are text like any other. Added tokens that
    /// are not special are tokens in either case.
    #[must_use]
    #[inline]
    pub fn count(&self, text: &str, special: bool) -> usize {
        if self.specials.leave(special) {
            return count::count(&self.vocab, self.pattern, text);
        }
        let mut tokens = 0;
        self.specials.divide(text, special, |part| {
            tokens += match part {
                Part::Token(_) => 1,
                Part::Text(text) => count::count(&self.vocab, self.pattern, &text),
            }
        });
        tokens
    }

    /// The tokens of a text.
    #[must_use]
    pub fn encode(&self, text: &str, special: bool) -> Vec<u32> {
        let mut tokens = Vec::with_capacity(text.len() / 3 + 1);
        if self.specials.leave(special) {
            self.encode_ordinary(text, &mut tokens);
        } else {
            self.specials.divide(text, special, |part| match part {
                Part::Token(id) => tokens.push(id),
                Part::Text(text) => self.encode_ordinary(&text, &mut tokens),
            });
        }
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
            let token = match &self.ids {
                None => self.vocab.bytes(id),
                Some(ids) => ids.bytes(&self.vocab, id),
            };
            let token = token.or_else(|| self.specials.bytes(id));
            bytes.extend(token.ok_or_else(|| Error::UnknownToken {
                id,
                encoding: self.name().into(),
                limit: self.n_vocab(),
            })?);
        }
        Ok(bytes)
    }

    /// Whether a text can be counted piece by piece while it is still being written.
    #[inline]
    fn tells_pieces(&self) -> bool {
        matches!(self.pattern, Pattern::Cl100k | Pattern::O200k) && self.vocab.is_proper() && self.specials.leave(false)
    }

    /// The open end of an empty text.
    fn open(&self) -> Open {
        if self.tells_pieces() {
            Open::new(self.pattern)
        } else if self.specials.keep_blanks() {
            Open::stretches(self.pattern)
        } else {
            Open::whole(self.pattern)
        }
    }

    fn encode_ordinary(&self, text: &str, tokens: &mut Vec<u32>) {
        let vocab: &Vocab = &self.vocab;
        let start = tokens.len();
        each_piece(self.pattern, text, |piece| match vocab.rank(piece) {
            Some(rank) => tokens.push(rank),
            None => bpe::encode(vocab, piece, |rank| tokens.push(rank)),
        });
        if let Some(ids) = &self.ids {
            tokens[start..].iter_mut().for_each(|token| *token = ids.of(*token));
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
