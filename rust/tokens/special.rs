//! Added tokens: texts that stand for one token wherever they are, before a text is divided.
//!
//! Special ones count where the caller says so, others always. Of several that begin at one place the longest is meant.

use std::borrow::Cow;
use std::ops::Range;

use aho_corasick::{AhoCorasick, MatchKind};
use rustc_hash::FxHashMap;

use super::nfc;

/// A text that is one token.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "they are the switches that a file has")]
pub struct Added {
    /// The text.
    pub text: String,
    /// The token's id.
    pub id: u32,
    /// Whether the text is a token only where special tokens are asked for.
    pub special: bool,
    /// Whether it is looked for in the normalised text, behind those that are looked for in the text as it is.
    pub normalized: bool,
    /// Whether whitespace before it is a part of it.
    pub lstrip: bool,
    /// Whether whitespace behind it is a part of it.
    pub rstrip: bool,
}

/// The added tokens of an encoding.
pub(super) struct Specials {
    tokens: Vec<Added>,
    by_id: FxHashMap<u32, usize>,
    /// Finds those that are looked for in the text as it is.
    plain: Option<Finder>,
    /// Finds those that are looked for in the normalised text.
    normalized: Option<Finder>,
    /// Whether all are special.
    all_special: bool,
    nfc: bool,
}

/// A part of a text.
pub(super) enum Part<'a> {
    /// An added token.
    Token(u32),
    /// What stands between them; a text of its own where it was normalised.
    Text(Cow<'a, str>),
}

struct Finder {
    automaton: AhoCorasick,
    /// Which token each pattern of the automaton is.
    tokens: Vec<usize>,
}

impl Specials {
    pub(super) fn cl100k() -> Self {
        Self::of(&[
            ("<|endoftext|>", 100_257),
            ("<|fim_prefix|>", 100_258),
            ("<|fim_middle|>", 100_259),
            ("<|fim_suffix|>", 100_260),
            ("<|endofprompt|>", 100_276),
        ])
    }

    pub(super) fn o200k() -> Self {
        Self::of(&[("<|endoftext|>", 199_999), ("<|endofprompt|>", 200_018)])
    }

    /// Harmony's control tokens. Id 200018 has two texts, as in tiktoken.
    pub(super) fn harmony() -> Self {
        let named = [
            ("<|startoftext|>", 199_998),
            ("<|endoftext|>", 199_999),
            ("<|return|>", 200_002),
            ("<|constrain|>", 200_003),
            ("<|channel|>", 200_005),
            ("<|start|>", 200_006),
            ("<|end|>", 200_007),
            ("<|message|>", 200_008),
            ("<|call|>", 200_012),
            ("<|endofprompt|>", 200_018),
        ];
        let named = named.map(|(text, id)| special(text, id)).into_iter();
        let reserved = [200_000, 200_001, 200_004, 200_009, 200_010, 200_011];
        let reserved = reserved.into_iter().chain(200_013..201_088);
        let reserved = reserved.map(|id| special(&format!("<|reserved_{id}|>"), id));
        Self::built_in(named.chain(reserved).collect())
    }

    fn of(tokens: &[(&str, u32)]) -> Self {
        Self::built_in(tokens.iter().map(|&(text, id)| special(text, id)).collect())
    }

    fn built_in(tokens: Vec<Added>) -> Self {
        Self::new(tokens, false).unwrap_or_else(|_| unreachable!("a few short texts make an automaton"))
    }

    /// Of two texts with one id the first is what the id stands for. With `nfc` a text is normalised between the tokens that
    /// are looked for in the text as it is.
    ///
    /// The error says why no automaton can be made of so much text.
    pub(super) fn new(tokens: Vec<Added>, nfc: bool) -> Result<Self, String> {
        let mut by_id = FxHashMap::default();
        for (at, token) in tokens.iter().enumerate() {
            by_id.entry(token.id).or_insert(at);
        }
        Ok(Self {
            by_id,
            plain: Finder::new(&tokens, false, false)?,
            normalized: Finder::new(&tokens, true, nfc)?,
            all_special: tokens.iter().all(|token| token.special),
            nfc,
            tokens,
        })
    }

    /// The special ones: text and id, by id.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        let special = self.tokens.iter().filter(|token| token.special);
        let mut tokens: Vec<_> = special.map(|token| (token.text.as_str(), token.id)).collect();
        tokens.sort_unstable_by_key(|&(text, id)| (id, text));
        tokens.into_iter()
    }

    /// One more than the highest id.
    pub(super) fn limit(&self) -> u32 {
        self.by_id.keys().max().map_or(0, |id| id + 1)
    }

    /// What an id stands for. O(1).
    pub(super) fn bytes(&self, id: u32) -> Option<&[u8]> {
        self.by_id.get(&id).map(|&at| self.tokens[at].text.as_bytes())
    }

    /// Whether a text is one part as it is, whatever stands in it.
    #[inline]
    pub(super) fn leave(&self, special: bool) -> bool {
        !self.nfc && self.all_special && (!special || self.tokens.is_empty())
    }

    /// Whether a text that is divided before a blank behind a letter has the same added tokens, wherever special ones are
    /// not asked for.
    pub(super) fn keep_blanks(&self) -> bool {
        let mut always = self.tokens.iter().filter(|token| !token.special);
        !always.any(|token| token.rstrip || token.text.contains(char::is_whitespace))
    }

    /// The parts of a text, in order: added tokens, special ones where they are asked for, and what stands between. O(n).
    pub(super) fn divide<'a>(&self, text: &'a str, special: bool, mut emit: impl FnMut(Part<'a>)) {
        self.each(self.plain.as_ref(), text, special, |part| match part {
            Ok(id) => emit(Part::Token(id)),
            Err(text) => match if self.nfc { nfc::normalized(text) } else { text.into() } {
                Cow::Borrowed(text) => self.each(self.normalized.as_ref(), text, special, |part| {
                    emit(part.map_or_else(|text| Part::Text(text.into()), Part::Token));
                }),
                Cow::Owned(text) => self.each(self.normalized.as_ref(), &text, special, |part| {
                    emit(part.map_or_else(|text| Part::Text(text.to_owned().into()), Part::Token));
                }),
            },
        });
    }

    /// What one finder makes of a text: ids, and the texts between.
    fn each<'t>(
        &self,
        finder: Option<&Finder>,
        text: &'t str,
        special: bool,
        mut emit: impl FnMut(Result<u32, &'t str>),
    ) {
        let mut done = 0;
        for (at, found) in finder.into_iter().flat_map(|finder| finder.find(text)) {
            let token = &self.tokens[at];
            if token.special && !special {
                continue;
            }
            let (mut start, mut end) = (found.start, found.end);
            if token.lstrip {
                start = text[..start].trim_end().len().max(done);
            }
            if token.rstrip {
                end = text.len() - text[end..].trim_start().len();
            }
            if done < start {
                emit(Err(&text[done..start]));
            }
            emit(Ok(token.id));
            done = end;
        }
        if done < text.len() {
            emit(Err(&text[done..]));
        }
    }
}

impl Finder {
    fn new(tokens: &[Added], normalized: bool, nfc: bool) -> Result<Option<Self>, String> {
        let tokens = tokens.iter().enumerate();
        let mine = tokens.filter(|(_, token)| token.normalized == normalized && !token.text.is_empty());
        let (places, texts): (Vec<usize>, Vec<Cow<'_, str>>) = mine
            .map(|(at, token)| {
                (
                    at,
                    if nfc {
                        nfc::normalized(&token.text)
                    } else {
                        token.text.as_str().into()
                    },
                )
            })
            .unzip();
        if places.is_empty() {
            return Ok(None);
        }
        let automaton = AhoCorasick::builder()
            .match_kind(MatchKind::LeftmostLongest)
            .build(texts.iter().map(|text| text.as_bytes()))
            .map_err(|error| error.to_string())?;
        Ok(Some(Self {
            automaton,
            tokens: places,
        }))
    }

    /// The tokens of a text that do not overlap: their number, and where they are.
    fn find(&self, text: &str) -> impl Iterator<Item = (usize, Range<usize>)> {
        let found = self.automaton.find_iter(text);
        found.map(|found| (self.tokens[found.pattern().as_usize()], found.range()))
    }
}

fn special(text: &str, id: u32) -> Added {
    Added {
        text: text.into(),
        id,
        special: true,
        ..Added::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(specials: &Specials, text: &str, special: bool) -> Vec<String> {
        let mut parts = Vec::new();
        specials.divide(text, special, |part| {
            parts.push(match part {
                Part::Token(id) => id.to_string(),
                Part::Text(text) => text.into_owned(),
            });
        });
        parts
    }

    fn added(text: &str, id: u32) -> Added {
        Added {
            text: text.into(),
            id,
            ..Added::default()
        }
    }

    #[test]
    fn a_special_token_is_found_behind_what_only_looks_like_one() {
        let specials = Specials::harmony();
        assert_eq!(
            parts(&specials, "a<|<|ende|><|<|end|>", true),
            ["a<|<|ende|><|", "200007"]
        );
        for text in ["<|end", "<|", "<|>", "<|é|><|", "<|no such token, and a long one|>"] {
            assert_eq!(parts(&specials, text, true), [text]);
        }
    }

    #[test]
    fn an_id_with_two_texts_stands_for_its_name() {
        assert_eq!(Specials::harmony().bytes(200_018), Some("<|endofprompt|>".as_bytes()));
    }

    #[test]
    fn of_several_at_one_place_the_longest_is_meant() {
        let specials = Specials::new(vec![added("<a", 1), added("<a>b", 2), added("<a>", 3)], false).unwrap();
        assert_eq!(parts(&specials, "<a<a><a>b", false), ["1", "3", "2"]);
    }

    #[test]
    fn special_ones_are_found_where_asked_for_and_others_always() {
        let specials = Specials::new(vec![special("<s>", 1), added("<t>", 2)], false).unwrap();
        assert_eq!(parts(&specials, "<s><t>", false), ["<s>", "2"]);
        assert_eq!(parts(&specials, "<s><t>", true), ["1", "2"]);
        assert_eq!(specials.iter().collect::<Vec<_>>(), [("<s>", 1)]);
    }

    #[test]
    fn whitespace_is_a_part_of_those_that_take_it() {
        let left = Added {
            lstrip: true,
            ..added("<l>", 1)
        };
        let right = Added {
            rstrip: true,
            ..added("<r>", 2)
        };
        let specials = Specials::new(vec![left, right], false).unwrap();
        assert_eq!(
            parts(&specials, "a <l> b \u{3000}<r> \n c", false),
            ["a", "1", " b \u{3000}", "2", "c"]
        );
        assert_eq!(parts(&specials, "<r> <l>", false), ["2", "1"]);
    }

    #[test]
    fn normalised_text_is_looked_through_for_those_that_want_it() {
        let normalized = Added {
            normalized: true,
            ..added("e\u{301}", 2)
        };
        let specials = Specials::new(vec![added("u\u{308}", 1), normalized], true).unwrap();
        assert_eq!(
            parts(&specials, "u\u{308}e\u{301}o\u{308}é", false),
            ["1", "2", "ö", "2"]
        );
    }
}
