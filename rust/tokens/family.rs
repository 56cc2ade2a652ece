//! The pre-tokenisers of other families of models: GPT-2, Llama 3, Qwen and DeepSeek, and which pattern is whose.
//!
//! A pattern is known by its text alone, as tiktoken and `tokenizers` write it, so that no file counts otherwise than its
//! pattern says. The classes are the same for both: `tokenizers` 0.23 and tiktoken 0.14 agree about every code point.

use super::deepseek;
use super::pretokenize::{After, Pattern, Scan};
use super::unicode::Class;

/// Whose pattern it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// Of `gpt2`, `r50k_base`, `p50k_base`, and of `ByteLevel` in `tokenizer.json`.
    Gpt2,
    /// Of Llama 3, and of `cl100k_base` as others write it.
    Llama3,
    /// Of Qwen 2, 2.5 and 3.
    Qwen2,
    /// Of Qwen 3.5: marks are parts of words.
    Qwen35,
    /// Of DeepSeek V3 and R1: three patterns, one after the other.
    DeepSeek3,
}

/// Which families are written how: each by the patterns that divide a text one after the other.
const KNOWN: [(&[&str], Pattern); 10] = [
    (
        &[r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"],
        Pattern::Family(Family::Gpt2),
    ),
    (
        &[r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"],
        Pattern::Family(Family::Gpt2),
    ),
    (
        &[r"'s|'t|'re|'ve|'m|'ll|'d| ?[\p{L}]+| ?[\p{N}]+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"],
        Pattern::Family(Family::Gpt2),
    ),
    (
        &[
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s",
        ],
        Pattern::Cl100k,
    ),
    (
        &[
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        ],
        Pattern::Family(Family::Llama3),
    ),
    (
        &[
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        ],
        Pattern::Family(Family::Qwen2),
    ),
    (
        &[
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        ],
        Pattern::Family(Family::Qwen35),
    ),
    (
        &[concat!(
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
            r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|",
            r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+",
        )],
        Pattern::O200k,
    ),
    (&deepseek::PATTERNS, Pattern::Family(Family::DeepSeek3)),
    (&deepseek::ESCAPED, Pattern::Family(Family::DeepSeek3)),
];

/// The scan that divides text as these patterns do one after the other; `None` where they are nobody's that is known.
pub(super) fn known(patterns: &[&str]) -> Option<Pattern> {
    KNOWN
        .iter()
        .find(|(texts, _)| *texts == patterns)
        .map(|&(_, pattern)| pattern)
}

impl Family {
    /// Where the piece that begins at a place ends. The place must lie inside the text.
    pub(super) fn scan(self, text: &[u8], start: usize) -> usize {
        let scan = Scan::new(text);
        match self {
            Self::Gpt2 => gpt2(scan, start),
            Self::Llama3 => words(scan, start, 3, false),
            Self::Qwen2 => words(scan, start, 1, false),
            Self::Qwen35 => words(scan, start, 1, true),
            Self::DeepSeek3 => deepseek::scan(text, start),
        }
    }
}

fn gpt2(scan: Scan<'_>, start: usize) -> usize {
    // 's|'t|'re|'ve|'m|'ll|'d
    let rest = &scan.text[start..];
    if let [b'\'', rest @ ..] = rest {
        match rest {
            [b's' | b't' | b'm' | b'd', ..] => return start + 2,
            [b'r' | b'v', b'e', ..] | [b'l', b'l', ..] => return start + 3,
            _ => {}
        }
    }
    // ` ?\p{L}+`, ` ?\p{N}+`, ` ?[^\s\p{L}\p{N}]+`
    let first = start + usize::from(rest.first() == Some(&b' '));
    match scan.peek(first) {
        Some((class, after)) if class.is_letter() => scan.run(after, |class, _| class.is_letter()),
        Some((Class::Number, after)) => scan.run(after, |class, _| class == Class::Number),
        Some((class, after)) if class.is_symbol() => scan.run(after, |class, _| class.is_symbol()),
        _ => scan.spaces(start, After::Nothing),
    }
}

/// The form of Llama 3's pattern, with digits in groups of up to `digits`, and marks in words or among the symbols.
fn words(scan: Scan<'_>, start: usize, digits: usize, marks: bool) -> usize {
    let in_word = |class: Class| class.is_letter() || (marks && class == Class::Mark);
    let is_symbol = |class: Class| class == Class::Other || (!marks && class == Class::Mark);
    // (?i:'s|'t|'re|'ve|'m|'ll|'d)
    let end = scan.contraction(start);
    if end > start {
        return end;
    }
    let Some((class, after)) = scan.peek(start) else {
        return start;
    };
    // [^\r\n\p{L}\p{N}]? and a word behind it
    if !matches!(class, Class::Newline | Class::Number) {
        let end = scan.run(after, |class, _| in_word(class));
        if end > after || in_word(class) {
            return end;
        }
    }
    if class == Class::Number {
        return (1..digits).fold(after, |at, _| match scan.peek(at) {
            Some((Class::Number, after)) => after,
            _ => at,
        });
    }
    // ` ?[^\s\p{L}\p{N}]+[\r\n]*`
    let first = if scan.text[start] == b' ' { after } else { start };
    if let Some((class, after)) = scan.peek(first)
        && is_symbol(class)
    {
        let end = scan.run(after, |class, _| is_symbol(class));
        return scan.run(end, |class, _| class == Class::Newline);
    }
    scan.spaces(start, After::Newlines)
}

/// For tests: a tokenizer for each pattern, with few tokens, and ones with added tokens and a normalised text.
#[cfg(test)]
pub(super) fn tokenizers() -> Vec<crate::Held<super::Tokenizer>> {
    static MADE: std::sync::LazyLock<Vec<crate::Held<super::Tokenizer>>> = std::sync::LazyLock::new(make);
    MADE.clone()
}

#[cfg(test)]
fn make() -> Vec<crate::Held<super::Tokenizer>> {
    use super::{Added, Parts, Tokenizer};
    let words = [" a", "  ", "\n\n", "'s", "aa", " a_", "1a", "語", "12", ".\n", "語語"];
    let tokens = (0..=255)
        .map(|byte| vec![byte])
        .chain(words.map(|word| word.as_bytes().to_vec()));
    let made = |patterns: &[&str], added: Vec<Added>, nfc: bool| {
        let parts = Parts {
            name: patterns[0].into(),
            patterns: patterns.iter().map(|&pattern| pattern.into()).collect(),
            tokens: (0..).zip(tokens.clone()).collect(),
            added,
            nfc,
            ..Parts::default()
        };
        Tokenizer::custom(parts).map(crate::Held::from)
    };
    let added = |text: &str, lstrip, rstrip| Added {
        text: text.into(),
        id: 400,
        lstrip,
        rstrip,
        ..Added::default()
    };
    let plain = KNOWN.iter().map(|(patterns, _)| made(patterns, vec![], false));
    let others = [
        made(KNOWN[5].0, vec![added("'r", true, false)], false),
        made(KNOWN[5].0, vec![added("'r", false, true)], false),
        made(KNOWN[7].0, vec![added("a a", false, false)], false),
        made(KNOWN[8].0, vec![], true),
    ];
    plain.chain(others).map(|made| made.expect("it is usable")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::pretokenize::Pieces;

    fn pieces(family: Family, text: &str) -> Vec<&str> {
        Pieces::new(Pattern::Family(family), text)
            .map(|piece| std::str::from_utf8(piece).unwrap())
            .collect()
    }

    #[test]
    fn a_pattern_is_known_by_its_whole_text() {
        assert_eq!(known(&[r"\s+"]), None);
        assert_eq!(known(&[]), None);
        for (texts, pattern) in KNOWN {
            assert_eq!(known(texts), Some(pattern));
        }
    }

    #[test]
    fn gpt2_takes_a_blank_before_anything_and_small_contractions_only() {
        assert_eq!(
            pieces(Family::Gpt2, "I'll DON'T  be 12345 (é\n\n x "),
            [
                "I", "'ll", " DON", "'", "T", " ", " be", " 12345", " (", "é", "\n\n", " x", " "
            ]
        );
    }

    #[test]
    fn digits_come_in_threes_or_alone() {
        assert_eq!(pieces(Family::Llama3, "a 1234"), ["a", " ", "123", "4"]);
        assert_eq!(pieces(Family::Qwen2, "a 12"), ["a", " ", "1", "2"]);
    }

    #[test]
    fn newlines_end_whitespace_also_at_the_end_of_a_text() {
        assert_eq!(pieces(Family::Llama3, "a \n  "), ["a", " \n", "  "]);
    }

    #[test]
    fn marks_are_parts_of_words_in_the_newest_qwen_only() {
        assert_eq!(pieces(Family::Qwen35, "e\u{301}a"), ["e\u{301}a"]);
        assert_eq!(pieces(Family::Qwen2, "e\u{301}a"), ["e", "\u{301}a"]);
    }
}
