//! Special tokens: texts that stand for one token where the caller says so.

/// The special tokens of an encoding, by text.
pub(super) struct Specials {
    tokens: Vec<(String, u32)>,
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
        let mut specials = Self::of(&[
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
        ]);
        let reserved = [200_000, 200_001, 200_004, 200_009, 200_010, 200_011];
        let reserved = reserved.into_iter().chain(200_013..201_088);
        specials
            .tokens
            .extend(reserved.map(|id| (format!("<|reserved_{id}|>"), id)));
        specials
    }

    fn of(tokens: &[(&str, u32)]) -> Self {
        Self {
            tokens: tokens.iter().map(|&(text, id)| (text.into(), id)).collect(),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        self.tokens.iter().map(|(text, id)| (text.as_str(), *id))
    }

    /// One more than the highest id.
    pub(super) fn limit(&self) -> u32 {
        self.tokens.iter().map(|(_, id)| id + 1).max().unwrap_or(0)
    }

    pub(super) fn bytes(&self, id: u32) -> Option<&[u8]> {
        let found = self.tokens.iter().find(|(_, token)| *token == id);
        found.map(|(text, _)| text.as_bytes())
    }

    /// The first special token in a text: where it begins and ends, and its id. O(n) in the way to it.
    pub(super) fn find(&self, text: &str) -> Option<(usize, usize, u32)> {
        let mut from = 0;
        while let Some(offset) = text[from..].find("<|") {
            let start = from + offset;
            let found = self
                .tokens
                .iter()
                .find(|(token, _)| text[start..].starts_with(token.as_str()));
            if let Some((token, id)) = found {
                return Some((start, start + token.len(), *id));
            }
            from = start + 2;
        }
        None
    }
}
