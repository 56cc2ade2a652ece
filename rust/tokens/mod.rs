//! Exact token counts, equal to those of tiktoken.
//!
//! A text is divided into pieces by the encoding's pattern ([`pretokenize`]), and each piece into tokens by merging byte
//! pairs ([`bpe`]). A piece that is a token itself, as most are, is looked up and not merged.

mod bpe;
mod chunks;
mod count;
mod key;
mod layout;
mod learned;
mod many;
mod pretokenize;
mod special;
mod unicode;
mod vocab;
mod window;

use std::sync::LazyLock;

pub use many::count_many;

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
    #[inline]
    pub fn count(&self, text: &str, special: bool) -> usize {
        let mut tokens = 0;
        let mut rest = text;
        while special && let Some((start, end, _)) = self.specials.find(rest) {
            tokens += 1 + count::count(self.vocab, self.pattern, &rest[..start]);
            rest = &rest[end..];
        }
        tokens + count::count(self.vocab, self.pattern, rest)
    }

    /// The tokens of a text.
    #[must_use]
    pub fn encode(&self, text: &str, special: bool) -> Vec<u32> {
        let mut tokens = Vec::with_capacity(text.len() / 3 + 1);
        let mut rest = text;
        while special && let Some((start, end, id)) = self.specials.find(rest) {
            self.encode_ordinary(&rest[..start], &mut tokens);
            tokens.push(id);
            rest = &rest[end..];
        }
        self.encode_ordinary(rest, &mut tokens);
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

    fn encode_ordinary(&self, text: &str, tokens: &mut Vec<u32>) {
        for piece in Pieces::new(self.pattern, text) {
            match self.vocab.rank(piece) {
                Some(id) => tokens.push(id),
                None => bpe::encode(self.vocab, piece, |id| tokens.push(id)),
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

#[cfg(test)]
mod lab {
    use super::*;
    #[test]
    #[ignore = "lab"]
    fn speed() {
        let enc = std::env::var("ENC").unwrap_or("o200k_base".into());
        let t = Tokenizer::builtin(&enc).unwrap();
        for c in std::env::var("C").unwrap_or("english code json multi".into()).split(' ') {
            let text = std::fs::read_to_string(format!("/tmp/corp/{c}.txt")).unwrap();
            let mut all = vec![];
            let mut m = 0;
            for _ in 0..40 {
                let cpu = || std::fs::read_to_string("/proc/thread-self/schedstat").unwrap().split(' ').next().unwrap().parse::<f64>().unwrap();
                let s = cpu();
                m = t.count(&text, false);
                all.push(text.len() as f64 / (cpu() - s) * 1e3);
            }
            eprintln!("{enc} {c} {m} first {:.0} best {:.0} MB/s", all[0], all.iter().cloned().fold(0.0, f64::max));
        }
    }
    #[test]
    #[ignore = "lab"]
    fn walks() {
        let t = Tokenizer::builtin("o200k_base").unwrap();
        for c in ["english", "json", "multi"] {
            let text = std::fs::read_to_string(format!("/tmp/corp/{c}.txt")).unwrap();
            let mut u = std::collections::HashMap::new();
            for p in Pieces::new(t.pattern, &text) {
                if t.vocab.rank(p).is_none() && p.len() <= 15 { *u.entry(p).or_insert(0) += 1; }
            }
            let u: Vec<&[u8]> = u.into_keys().collect();
            let bytes: usize = u.iter().map(|p| p.len()).sum();
            let cpu = || std::fs::read_to_string("/proc/thread-self/schedstat").unwrap().split(' ').next().unwrap().parse::<f64>().unwrap();
            for round in 0..3 {
                let s = cpu();
                let n: usize = u.iter().map(|p| bpe::count(t.vocab, p)).sum();
                let e = cpu();
                let m: usize = u.iter().map(|p| bpe::merge_count(t.vocab, p)).sum();
                let f = cpu();
                eprintln!("k_base {c} {round}: {} pieces of {:.1} bytes {:.2} tokens: walk {:.0} ns, merge {:.0} ns", u.len(), bytes as f64 / u.len() as f64, n as f64 / u.len() as f64, (e - s) / u.len() as f64, (f - e) / u.len() as f64);
                assert_eq!(n, m);
            }
        }
    }
    #[test]
    #[ignore = "lab"]
    fn misses() {
        let t = Tokenizer::builtin("o200k_base").unwrap();
        for c in ["english", "code", "json", "multi"] {
        let text = std::fs::read_to_string(format!("/tmp/corp/{c}.txt")).unwrap();
        for bits in [13, 14, 15, 16, 17] {
            let mut seen = vec![0u128; 1 << bits];
            let mut merged = vec![[0u128; 4]; 1 << 14];
            for round in 0..2 {
                let (mut n, mut miss, mut tok, mut inmerged, mut walk) = (0, 0, 0, 0, 0);
                for p in Pieces::new(t.pattern, &text) {
                    n += 1;
                    if p.len() > 15 { continue; }
                    let k = key::Key::short(p);
                    let h = k.hash();
                    let e = (k.high as u128) << 64 | k.low as u128;
                    let s = &mut seen[h as usize & ((1 << bits) - 1)];
                    if *s == e { continue; }
                    *s = e;
                    miss += 1;
                    if t.vocab.words().slot(k, h).is_some() { tok += 1; continue; }
                    let m = &mut merged[(h >> 16) as usize & ((1 << 14) - 1)];
                    if m.contains(&e) { inmerged += 1; continue; }
                    m.copy_within(..3, 1); m[0] = e;
                    walk += 1;
                }
                if round == 1 { eprintln!("k_base {c} {bits}: {n} miss {:.1}% tok {:.1}% merged {:.1}% walk {:.2}%", 100. * miss as f64 / n as f64, 100. * tok as f64 / n as f64, 100. * inmerged as f64 / n as f64, 100. * walk as f64 / n as f64); }
            }
        }
        }
    }
    #[test]
    #[ignore = "lab"]
    fn same() {
        for enc in ["o200k_base", "cl100k_base"] {
            let t = Tokenizer::builtin(enc).unwrap();
            for c in ["english", "code", "json", "multi"] {
                let text = std::fs::read_to_string(format!("/tmp/corp/{c}.txt")).unwrap();
                let mut shown = 0;
                for line in text.split_inclusive("\n\n") {
                    let n = t.encode(line, false).len();
                    let m = t.count(line, false);
                    if n != m && shown < 5 { shown += 1; eprintln!("{enc} {c} {n} {m} {line:?}"); }
                }
            }
        }
    }
}
