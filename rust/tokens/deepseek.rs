//! The pre-tokeniser of DeepSeek V3: three patterns, each of which divides what the one before has left.
//!
//! Numbers are cut out first, then runs of Chinese and Japanese; what stands between is divided as if it were a text of its
//! own, so that a pattern which looks ahead sees an end there. What no alternative matches is a piece too.

use super::unicode::{Class, class_at, is_sign};

/// As `tokenizer.json` writes them.
pub(super) const PATTERNS: [&str; 3] = [
    r"\p{N}{1,3}",
    "[一-龥\u{3040}-ゟ゠-ヿ]+",
    concat!(
        r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|"##,
        "[^\r\n",
        r"\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+",
        "[\r\n]*",
        r"|\s*",
        "[\r\n]+",
        r"|\s+(?!\S)|\s+",
    ),
];

/// The same with the newlines escaped.
pub(super) const ESCAPED: [&str; 3] = [
    PATTERNS[0],
    PATTERNS[1],
    concat!(
        r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|"##,
        r"[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+",
    ),
];

/// Where the piece that begins at a place ends. The place must lie inside the text.
pub(super) fn scan(text: &[u8], start: usize) -> usize {
    let (class, after) = class_at(text, start);
    if class == Class::Number {
        let number = |at: usize| match (at < text.len()).then(|| class_at(text, at)) {
            Some((Class::Number, after)) => after,
            _ => at,
        };
        return number(number(after));
    }
    let part = Part {
        text,
        cjk: is_cjk(text, start),
    };
    if let Some(end) = part.matched(start) {
        return end;
    }
    // What is left over goes up to the next match.
    let mut at = after;
    while let Some((_, after)) = part.peek(at) {
        if part.matched(at).is_some() {
            break;
        }
        at = after;
    }
    at
}

/// What numbers and the borders of Chinese and Japanese leave whole.
#[derive(Clone, Copy)]
struct Part<'a> {
    text: &'a [u8],
    cjk: bool,
}

/// A character as the third pattern sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// `[\p{L}\p{M}]`.
    Word,
    /// `[\p{P}\p{S}]`.
    Sign,
    /// `\s` without the newlines.
    Space,
    Newline,
    Other,
}

impl Part<'_> {
    /// Where the match of the third pattern at a place ends.
    fn matched(self, start: usize) -> Option<usize> {
        let (kind, after) = self.peek(start)?;
        // [!-/:-~][A-Za-z]+
        if self.text[start].is_ascii_punctuation() {
            let letters = self.text[after..].iter().take_while(|byte| byte.is_ascii_alphabetic());
            let end = after + letters.count();
            if end > after {
                return Some(end);
            }
        }
        // [^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+
        if matches!(kind, Kind::Word | Kind::Space | Kind::Other) {
            let end = self.run(after, Kind::Word);
            if end > after || kind == Kind::Word {
                return Some(end);
            }
        }
        // ` ?[\p{P}\p{S}]+[\r\n]*`
        let first = if self.text[start] == b' ' { after } else { start };
        let end = self.run(first, Kind::Sign);
        if end > first {
            return Some(self.run(end, Kind::Newline));
        }
        matches!(kind, Kind::Space | Kind::Newline).then(|| self.spaces(start))
    }

    /// `\s*[\r\n]+|\s+(?!\S)|\s+`.
    fn spaces(self, start: usize) -> usize {
        let (mut at, mut last, mut newline) = (start, start, None);
        while let Some((kind @ (Kind::Space | Kind::Newline), after)) = self.peek(at) {
            (last, at) = (at, after);
            if kind == Kind::Newline {
                newline = Some(after);
            }
        }
        let at_end = self.peek(at).is_none();
        newline.unwrap_or(if at_end || last == start { at } else { last })
    }

    fn run(self, start: usize, wanted: Kind) -> usize {
        let mut at = start;
        while let Some((kind, after)) = self.peek(at)
            && kind == wanted
        {
            at = after;
        }
        at
    }

    /// The character at a place and where it ends; `None` at the end of the part.
    fn peek(self, at: usize) -> Option<(Kind, usize)> {
        if at == self.text.len() {
            return None;
        }
        let (class, after) = class_at(self.text, at);
        if class == Class::Number || is_cjk(self.text, at) != self.cjk {
            return None;
        }
        let kind = match class {
            Class::Space => Kind::Space,
            Class::Newline => Kind::Newline,
            Class::Other if is_sign(self.text, at) => Kind::Sign,
            Class::Other | Class::Number => Kind::Other,
            Class::Upper | Class::Lower | Class::Caseless | Class::Mark => Kind::Word,
        };
        Some((kind, after))
    }
}

/// `[一-龥぀-ゟ゠-ヿ]`: U+4E00 to U+9FA5, U+3040 to U+30FF. All have three bytes, which are in the order of the points.
fn is_cjk(text: &[u8], at: usize) -> bool {
    let bytes: Option<[u8; 3]> = text[at..].first_chunk().copied();
    bytes.is_some_and(|bytes| {
        (*b"\xe4\xb8\x80"..=*b"\xe9\xbe\xa5").contains(&bytes) || (*b"\xe3\x81\x80"..=*b"\xe3\x83\xbf").contains(&bytes)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::family::Family;
    use crate::tokens::pretokenize::{Pattern, Pieces};

    fn pieces(text: &str) -> Vec<&str> {
        Pieces::new(Pattern::Family(Family::DeepSeek3), text)
            .map(|piece| std::str::from_utf8(piece).unwrap())
            .collect()
    }

    #[test]
    fn the_ends_of_the_ranges_are_inside() {
        for inside in ["一", "龥", "\u{3040}", "ゟ", "゠", "ヿ"] {
            assert!(is_cjk(inside.as_bytes(), 0), "{inside}");
        }
        for outside in ["\u{303f}", "\u{3100}", "\u{4dff}", "\u{9fa6}", "a", "é", "🎉"] {
            assert!(!is_cjk(outside.as_bytes(), 0), "{outside}");
        }
    }

    #[test]
    fn numbers_and_chinese_are_cut_out_first() {
        assert_eq!(pieces("a  1234漢字b"), ["a", "  ", "123", "4", "漢字", "b"]);
        assert_eq!(pieces("ア・イ"), ["ア", "・", "イ"]);
    }

    #[test]
    fn a_sign_goes_with_latin_letters_behind_it() {
        assert_eq!(pieces("foo(bar)é,é"), ["foo", "(bar", ")", "é", ",", "é"]);
    }

    #[test]
    fn what_nothing_matches_is_one_piece_up_to_the_next_match() {
        assert_eq!(pieces("\0\u{1}\u{2}a"), ["\0\u{1}", "\u{2}a"]);
    }
}
