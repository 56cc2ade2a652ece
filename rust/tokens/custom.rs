//! Tokenizers that are not built in: made of the parts that a file or an object of another library holds.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::pairs::{Merge, Pairs};
use super::special::{Added, Specials};
use super::vocab::Vocab;
use super::{Tokenizer, family};
use crate::held::Held;
use crate::{Error, Result};

/// Bytes that a token may have: merging keeps lengths in one byte.
const LONGEST: usize = u8::MAX as usize;
/// Tokens that a vocabulary may have: its tables keep ranks in 21 bits.
const MOST: usize = 1 << 21;

/// What a tokenizer is made of.
#[derive(Debug, Clone, Default)]
pub struct Parts {
    /// The encoding's name, for messages.
    pub name: String,
    /// The regular expressions that divide a text one after the other, as they are written.
    pub patterns: Vec<String>,
    /// The tokens that pieces are made of. Without `merges` an id is its token's rank.
    pub tokens: Vec<(u32, Vec<u8>)>,
    /// The pairs that are merged, in their order; `None` where any two parts are merged that make a token.
    pub merges: Option<Vec<Merge>>,
    /// Whether a piece that is a token is that token even if merging would not make it.
    pub ignore_merges: bool,
    /// Texts that are tokens before a text is divided.
    pub added: Vec<Added>,
    /// Tokens that no piece is ever made of; they can be decoded.
    pub others: Vec<(u32, Vec<u8>)>,
    /// Whether a text is brought into Unicode's form NFC first.
    pub nfc: bool,
}

impl Tokenizer {
    /// Whether a scan is written for these patterns, which divide a text one after the other.
    #[must_use]
    pub fn knows(patterns: &[String]) -> bool {
        let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
        family::known(&patterns).is_some()
    }

    /// A tokenizer of one's own. O(bytes of the tokens), and as much again for merging each.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownPattern`], [`Error::MissingByte`] and [`Error::BadVocabulary`].
    pub fn custom(parts: Parts) -> Result<Self> {
        let name = parts.name;
        let bad = |why: String| Error::BadVocabulary {
            encoding: name.clone(),
            why,
        };
        let patterns: Vec<&str> = parts.patterns.iter().map(String::as_str).collect();
        let pattern = family::known(&patterns).ok_or_else(|| Error::UnknownPattern {
            encoding: name.clone(),
            pattern: patterns.join(", then "),
        })?;
        let bytes = single_bytes(&parts.tokens).map_err(|byte| Error::MissingByte {
            encoding: name.clone(),
            byte,
        })?;
        let mut tokens = parts.tokens;
        tokens.sort_unstable();
        check(&tokens, parts.merges.is_some()).map_err(bad)?;
        // A piece that is a token is looked up and not merged, so it must be what merging would make of it. What is not comes
        // behind the others, where it has a number but is not found.
        let mut apart = Vec::new();
        if let Some(merges) = &parts.merges {
            let pairs = Pairs::new(&bytes, merges);
            for (id, token) in std::mem::take(&mut tokens) {
                let (merged, short) = (makes(&pairs, &token, id), token.len() <= LONGEST);
                if short && (merged || parts.ignore_merges) {
                    tokens.push((id, token));
                } else if merged || !parts.ignore_merges {
                    apart.push((id, token));
                } else {
                    return Err(bad(too_long(id, &token)));
                }
            }
        }
        let whole: Vec<&[u8]> = tokens.iter().map(|(_, token)| token.as_slice()).collect();
        let mut vocab = Vocab::new(&whole).ok_or_else(|| bad("two tokens are the same".into()))?;
        let ids = Ids::new(&tokens, apart, parts.others);
        if let Some(merges) = parts.merges {
            let numbered = ids.numbered(&bytes, &merges).map_err(bad)?;
            vocab = vocab.with_pairs(numbered);
        }
        let specials = Specials::new(parts.added, parts.nfc).map_err(bad)?;
        Ok(Self {
            n_vocab: ids.limit().max(specials.limit()),
            ids: Some(ids),
            vocab: Held::Shared(vocab.into()),
            name: Cow::Owned(name),
            pattern,
            specials,
        })
    }
}

/// Which ids the tokens of a vocabulary have that is numbered by rank.
pub(super) struct Ids {
    /// By rank: first those of the vocabulary, which rise, then those that no piece is.
    by_rank: Vec<u32>,
    /// How many the vocabulary has.
    whole: usize,
    /// The bytes of those that it has not.
    others: FxHashMap<u32, Vec<u8>>,
}

impl Ids {
    fn new(tokens: &[(u32, Vec<u8>)], apart: Vec<(u32, Vec<u8>)>, others: Vec<(u32, Vec<u8>)>) -> Self {
        let by_rank = tokens.iter().chain(&apart).map(|&(id, _)| id).collect();
        Self {
            by_rank,
            whole: tokens.len(),
            others: apart.into_iter().chain(others).collect(),
        }
    }

    /// The id of a rank.
    #[inline]
    pub(super) fn of(&self, rank: u32) -> u32 {
        self.by_rank[rank as usize]
    }

    /// What an id stands for. O(log n).
    pub(super) fn bytes<'a>(&'a self, vocab: &'a Vocab, id: u32) -> Option<&'a [u8]> {
        match self.by_rank[..self.whole].binary_search(&id) {
            Ok(rank) => vocab.bytes(rank as u32),
            Err(_) => self.others.get(&id).map(Vec::as_slice),
        }
    }

    /// One more than the highest id.
    fn limit(&self) -> u32 {
        let highest = self.by_rank.iter().chain(self.others.keys()).max();
        highest.map_or(0, |id| id.saturating_add(1))
    }

    /// Merges by rank instead of by id.
    fn numbered(&self, bytes: &[u32; 256], merges: &[Merge]) -> std::result::Result<Pairs, String> {
        let ranks: FxHashMap<u32, u32> = self.by_rank.iter().copied().zip(0..).collect();
        let rank = |id: u32| {
            ranks
                .get(&id)
                .copied()
                .ok_or_else(|| format!("a merge has {id}, which is no token"))
        };
        let merges: std::result::Result<Vec<Merge>, String> = merges
            .iter()
            .map(|&(left, right, merged)| Ok((rank(left)?, rank(right)?, rank(merged)?)))
            .collect();
        let mut numbered = [0; 256];
        for (number, &id) in numbered.iter_mut().zip(bytes) {
            *number = rank(id)?;
        }
        Ok(Pairs::new(&numbered, &merges?))
    }
}

/// Whether tokens, by id, can be counted with; otherwise why not. Those that are merged by pairs may be long.
fn check(tokens: &[(u32, Vec<u8>)], pairs: bool) -> std::result::Result<(), String> {
    if tokens.len() > MOST {
        return Err(format!("it has {} tokens; at most {MOST} are allowed", tokens.len()));
    }
    if let Some(two) = tokens.windows(2).find(|two| two[0].0 == two[1].0) {
        return Err(format!("the id {} has two tokens", two[0].0));
    }
    let wrong = |(_, token): &&(u32, Vec<u8>)| token.is_empty() || (!pairs && token.len() > LONGEST);
    tokens
        .iter()
        .find(wrong)
        .map_or(Ok(()), |(id, token)| Err(too_long(*id, token)))
}

fn too_long(id: u32, token: &[u8]) -> String {
    format!("token {id} has {} bytes; from 1 to {LONGEST} are allowed", token.len())
}

/// The token of each byte, or the first byte that is none.
fn single_bytes(tokens: &[(u32, Vec<u8>)]) -> std::result::Result<[u32; 256], u8> {
    let mut found = [None; 256];
    for (id, token) in tokens {
        if let [byte] = token[..] {
            found[usize::from(byte)] = Some(*id);
        }
    }
    let mut bytes = [0; 256];
    for (byte, id) in (0..=255).zip(found) {
        bytes[usize::from(byte)] = id.ok_or(byte)?;
    }
    Ok(bytes)
}

/// Whether merging a token's bytes makes the token.
fn makes(pairs: &Pairs, token: &[u8], id: u32) -> bool {
    let (mut count, mut last) = (0, None);
    pairs.merge(token, |token| {
        count += 1;
        last = Some(token);
    });
    count == 1 && last == Some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes() -> Vec<(u32, Vec<u8>)> {
        (0..=255).map(|byte| (u32::from(byte), vec![byte])).collect()
    }

    fn parts() -> Parts {
        Parts {
            name: "mine".into(),
            patterns: vec![r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+".into()],
            tokens: bytes(),
            ..Parts::default()
        }
    }

    #[test]
    fn ids_may_have_gaps() {
        let mut parts = parts();
        parts.tokens.extend([(300, b"ab".into()), (290, b"abc".into())]);
        let tokenizer = Tokenizer::custom(parts).unwrap();
        assert_eq!(tokenizer.encode("ab abc", false), [300, 32, 290]);
        assert_eq!(tokenizer.decode(&[290, 300]).unwrap(), b"abcab");
        assert_eq!(tokenizer.n_vocab(), 301);
        assert!(tokenizer.decode(&[299]).is_err());
    }

    #[test]
    fn a_token_that_no_merge_makes_is_not_found_unless_merges_are_ignored() {
        let mut parts = parts();
        parts
            .tokens
            .extend([(256, b"ab".into()), (257, b"bc".into()), (258, b"abc".into())]);
        parts.merges = Some(vec![(97, 98, 256), (98, 99, 257), (97, 257, 258)]);
        let tokenizer = Tokenizer::custom(parts.clone()).unwrap();
        assert_eq!(tokenizer.encode("abc", false), [256, 99]);
        assert_eq!(tokenizer.decode(&[258]).unwrap(), b"abc");
        parts.ignore_merges = true;
        assert_eq!(Tokenizer::custom(parts).unwrap().encode("abc", false), [258]);
    }

    #[test]
    fn what_would_count_wrongly_is_refused() {
        let unknown = Parts {
            patterns: vec![r"\w+".into()],
            ..parts()
        };
        assert!(matches!(Tokenizer::custom(unknown), Err(Error::UnknownPattern { .. })));
        let missing = Parts {
            tokens: bytes().split_off(1),
            ..parts()
        };
        assert!(matches!(
            Tokenizer::custom(missing),
            Err(Error::MissingByte { byte: 0, .. })
        ));
        for token in [
            (300, vec![b'a'; 256]),
            (300, vec![]),
            (7, b"ab".into()),
            (300, b"a".into()),
        ] {
            let mut parts = parts();
            parts.tokens.push(token);
            assert!(matches!(Tokenizer::custom(parts), Err(Error::BadVocabulary { .. })));
        }
    }
}
