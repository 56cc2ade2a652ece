//! Special tokens: texts that stand for one token where the caller says so.

use rustc_hash::FxHashMap;

const OPEN: &str = "<|";
const CLOSE: &str = "|>";

/// The special tokens of an encoding. Each is `<|…|>` with neither sign inside, so no two overlap, and the end of one that
/// may begin at a place says which one it is.
pub(super) struct Specials {
    ids: FxHashMap<String, u32>,
    texts: FxHashMap<u32, String>,
    /// Bytes of the longest text.
    longest: usize,
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
        let named = named.map(|(text, id)| (text.into(), id)).into_iter();
        let reserved = [200_000, 200_001, 200_004, 200_009, 200_010, 200_011];
        let reserved = reserved.into_iter().chain(200_013..201_088);
        Self::new(named.chain(reserved.map(|id| (format!("<|reserved_{id}|>"), id))))
    }

    fn of(tokens: &[(&str, u32)]) -> Self {
        Self::new(tokens.iter().map(|&(text, id)| (text.into(), id)))
    }

    /// Of two texts with one id the first is what the id stands for.
    fn new(tokens: impl Iterator<Item = (String, u32)>) -> Self {
        let (mut ids, mut texts) = (FxHashMap::default(), FxHashMap::default());
        for (text, id) in tokens {
            texts.entry(id).or_insert_with(|| text.clone());
            ids.insert(text, id);
        }
        let longest = ids.keys().map(String::len).max().unwrap_or(0);
        Self { ids, texts, longest }
    }

    /// The texts and their ids, by id.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        let mut tokens: Vec<_> = self.ids.iter().map(|(text, id)| (text.as_str(), *id)).collect();
        tokens.sort_unstable_by_key(|&(text, id)| (id, text));
        tokens.into_iter()
    }

    /// One more than the highest id.
    pub(super) fn limit(&self) -> u32 {
        self.texts.keys().max().map_or(0, |id| id + 1)
    }

    /// What an id stands for. O(1).
    pub(super) fn bytes(&self, id: u32) -> Option<&[u8]> {
        self.texts.get(&id).map(String::as_bytes)
    }

    /// The first special token in a text: where it begins and ends, and its id. O(n) in the way to it, however many tokens
    /// there are and however often a text only looks like one.
    pub(super) fn find(&self, text: &str) -> Option<(usize, usize, u32)> {
        text.match_indices(OPEN).find_map(|(start, _)| {
            let inside = &text.as_bytes()[start + OPEN.len()..];
            let inside = &inside[..inside.len().min(self.longest)];
            let close = inside.windows(CLOSE.len()).position(|two| two == CLOSE.as_bytes())?;
            let end = start + OPEN.len() + close + CLOSE.len();
            self.ids.get(&text[start..end]).map(|&id| (start, end, id))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_special_token_is_found_behind_what_only_looks_like_one() {
        let specials = Specials::harmony();
        assert_eq!(specials.find("a<|<|ende|><|<|end|>"), Some((13, 20, 200_007)));
        for text in ["<|end", "<|", "<|>", "<|é|><|", "<|no such token, and a long one|>"] {
            assert_eq!(specials.find(text), None, "{text:?}");
        }
    }

    #[test]
    fn an_id_with_two_texts_stands_for_its_name() {
        assert_eq!(Specials::harmony().bytes(200_018), Some("<|endofprompt|>".as_bytes()));
    }

    #[test]
    fn every_special_token_is_found_and_nothing_stands_inside_its_signs() {
        for specials in [Specials::cl100k(), Specials::o200k(), Specials::harmony()] {
            for (text, id) in specials.iter() {
                assert_eq!(specials.find(text), Some((0, text.len(), id)));
            }
        }
    }
}
