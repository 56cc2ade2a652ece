//! The pre-tokenisers: where a text is divided before byte pairs are merged.
//!
//! Each is its encoding's pattern written out as one forward scan. The patterns are alternatives that are tried in their
//! order, each matching as much as it can and giving back what it must; the comments tell which alternative a branch
//! stands for. No branch looks back further than the run that it is in, so a text is scanned in linear time.

use super::family::Family;
use super::unicode::{Class, class_at};

/// How an encoding divides text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pattern {
    /// Of `cl100k_base`.
    Cl100k,
    /// Of `o200k_base` and `o200k_harmony`.
    O200k,
    /// Of another family of models.
    Family(Family),
}

/// The pieces of a text, one after the other; joined they are the text.
pub(super) struct Pieces<'a> {
    pattern: Pattern,
    text: &'a [u8],
    at: usize,
}

impl<'a> Pieces<'a> {
    pub(super) fn new(pattern: Pattern, text: &'a str) -> Self {
        Self {
            pattern,
            text: text.as_bytes(),
            at: 0,
        }
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        if self.at == self.text.len() {
            return None;
        }
        let start = self.at;
        self.at = Scan::new(self.text).next(self.pattern, start);
        Some(&self.text[start..self.at])
    }
}

/// Scans from one place; every method gives the place at which its match ends.
#[derive(Clone, Copy)]
pub(super) struct Scan<'a> {
    pub(super) text: &'a [u8],
}

impl<'a> Scan<'a> {
    /// Of a text that is UTF-8.
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { text }
    }

    /// Where the piece ends that begins at a place.
    #[inline]
    pub(super) fn next(self, pattern: Pattern, start: usize) -> usize {
        match pattern {
            Pattern::Cl100k => self.cl100k(start),
            Pattern::O200k => self.o200k(start),
            Pattern::Family(family) => family.scan(self.text, start),
        }
    }

    fn o200k(self, start: usize) -> usize {
        let (class, after) = class_at(self.text, start);
        match class {
            // [^\r\n\p{L}\p{N}]? and a word behind it
            Class::Space | Class::Other | Class::Mark => {
                if let Some((next, _)) = self.peek(after)
                    && (next.is_letter() || next == Class::Mark)
                {
                    return match self.word(after) {
                        // The mark itself is the lower-case end of a word before capitals alone are one.
                        Word::Capitals(_) if class == Class::Mark => self.contraction(after),
                        Word::Cased(end) | Word::Capitals(end) => self.contraction(end),
                    };
                }
                if class == Class::Mark {
                    return self.contraction(after);
                }
            }
            Class::Upper | Class::Lower | Class::Caseless => {
                let (Word::Cased(end) | Word::Capitals(end)) = self.word(start);
                return self.contraction(end);
            }
            Class::Number => return self.numbers(start),
            Class::Newline => {}
        }
        // ` ?[^\s\p{L}\p{N}]+[\r\n/]*`
        if let Some(end) = self.symbols(start, class, after) {
            return self.run(end, |class, byte| class == Class::Newline || byte == b'/');
        }
        self.spaces(start, After::Newlines)
    }

    fn cl100k(self, start: usize) -> usize {
        // '(?i:[sdmt]|ll|ve|re)
        if self.text[start] == b'\'' {
            let end = self.contraction(start);
            if end > start {
                return end;
            }
        }
        let (class, after) = class_at(self.text, start);
        match class {
            // [^\r\n\p{L}\p{N}]?+\p{L}++
            Class::Space | Class::Other | Class::Mark => {
                let end = self.run(after, |class, _| class.is_letter());
                if end > after {
                    return end;
                }
            }
            Class::Upper | Class::Lower | Class::Caseless => return self.run(after, |class, _| class.is_letter()),
            Class::Number => return self.numbers(start),
            Class::Newline => {}
        }
        // ` ?[^\s\p{L}\p{N}]++[\r\n]*+`
        if let Some(end) = self.symbols(start, class, after) {
            return self.run(end, |class, _| class == Class::Newline);
        }
        self.spaces(start, After::End)
    }

    /// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+`, or else the same with `+` and `*` exchanged.
    ///
    /// There must be a letter or a mark at the place.
    #[inline]
    fn word(self, start: usize) -> Word {
        let mut at = start;
        // Where the last character of the first part that could be of the second one ends.
        let mut uncased = None;
        while let Some((class, after)) = self.peek(at) {
            match class {
                Class::Upper => {}
                Class::Caseless | Class::Mark => uncased = Some(after),
                Class::Lower => {
                    let end = self.run(after, |class, _| {
                        matches!(class, Class::Lower | Class::Caseless | Class::Mark)
                    });
                    return Word::Cased(end);
                }
                _ => break,
            }
            at = after;
        }
        uncased.map_or(Word::Capitals(at), Word::Cased)
    }

    /// `(?i:'s|'t|'re|'ve|'m|'ll|'d)?`; the long s is an s too.
    #[inline]
    pub(super) fn contraction(self, at: usize) -> usize {
        if self.text.get(at) != Some(&b'\'') {
            return at;
        }
        let byte = |i: usize| self.text.get(at + i).map_or(0, u8::to_ascii_lowercase);
        match (byte(1), byte(2)) {
            (b's' | b't' | b'm' | b'd', _) => at + 2,
            (b'r' | b'v', b'e') | (b'l', b'l') | (0xc5, 0xbf) => at + 3,
            _ => at,
        }
    }

    /// `\p{N}{1,3}`.
    #[inline]
    fn numbers(self, start: usize) -> usize {
        let mut at = start;
        for _ in 0..3 {
            match self.peek(at) {
                Some((Class::Number, after)) => at = after,
                _ => break,
            }
        }
        at
    }

    /// ` ?[^\s\p{L}\p{N}]+`.
    #[inline]
    fn symbols(self, start: usize, class: Class, after: usize) -> Option<usize> {
        let first = if self.text[start] == b' ' {
            let (class, after) = self.peek(after)?;
            class.is_symbol().then_some(after)
        } else {
            class.is_symbol().then_some(after)
        }?;
        Some(self.run(first, |class, _| class.is_symbol()))
    }

    /// What whitespace comes to: up to its last newline, all of it at the text's end, all but its last character, or that.
    #[inline]
    pub(super) fn spaces(self, start: usize, order: After) -> usize {
        let mut at = start;
        let mut last = start;
        let mut newline = None;
        while let Some((class, after)) = self.peek(at) {
            if !class.is_space() {
                break;
            }
            if class == Class::Newline {
                newline = Some(after);
            }
            last = at;
            at = after;
        }
        let at_end = at == self.text.len();
        match (order, newline) {
            (After::End, _) if at_end => at,
            (After::Newlines | After::End, Some(newline)) => newline,
            _ if at_end || last == start => at,
            _ => last,
        }
    }

    /// As far as the characters are of a kind.
    #[inline]
    pub(super) fn run(self, start: usize, is: impl Fn(Class, u8) -> bool) -> usize {
        let mut at = start;
        while let Some((class, after)) = self.peek(at) {
            if !is(class, self.text[at]) {
                break;
            }
            at = after;
        }
        at
    }

    #[inline]
    pub(super) fn peek(self, at: usize) -> Option<(Class, usize)> {
        (at < self.text.len()).then(|| class_at(self.text, at))
    }
}

/// What a word ends with: something of lower or no case, or capitals alone.
enum Word {
    Cased(usize),
    Capitals(usize),
}

/// Which alternative for whitespace comes first: `\s*[\r\n]+`, `\s++$`, or none that knows newlines.
#[derive(Clone, Copy)]
pub(super) enum After {
    Newlines,
    End,
    Nothing,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pieces(pattern: Pattern, text: &str) -> Vec<&str> {
        Pieces::new(pattern, text)
            .map(|piece| std::str::from_utf8(piece).unwrap())
            .collect()
    }

    #[test]
    fn words_take_one_character_before_them() {
        for pattern in [Pattern::Cl100k, Pattern::O200k] {
            assert_eq!(pieces(pattern, "a  b\tc(d"), ["a", " ", " b", "\tc", "(d"]);
        }
    }

    #[test]
    fn capitals_begin_words_in_o200k_only() {
        assert_eq!(pieces(Pattern::O200k, "HTMLParser"), ["HTMLParser"]);
        assert_eq!(pieces(Pattern::O200k, "parserHTML"), ["parser", "HTML"]);
        assert_eq!(pieces(Pattern::Cl100k, "parserHTML"), ["parserHTML"]);
        assert_eq!(pieces(Pattern::O200k, "語A"), ["語", "A"]);
    }

    #[test]
    fn contractions_end_words_in_any_case() {
        assert_eq!(pieces(Pattern::O200k, "I'Ll DON'T it'ſ"), ["I'Ll", " DON'T", " it'ſ"]);
        assert_eq!(pieces(Pattern::Cl100k, "I'Ll x'y"), ["I", "'Ll", " x", "'y"]);
    }

    #[test]
    fn numbers_come_in_threes() {
        assert_eq!(pieces(Pattern::O200k, "12345 6"), ["123", "45", " ", "6"]);
    }

    #[test]
    fn whitespace_gives_its_last_character_to_what_follows() {
        assert_eq!(pieces(Pattern::O200k, "a \n\n  b   "), ["a", " \n\n", " ", " b", "   "]);
        assert_eq!(pieces(Pattern::Cl100k, "a \n  "), ["a", " \n  "]);
        assert_eq!(pieces(Pattern::O200k, "a \n  "), ["a", " \n", "  "]);
    }

    #[test]
    fn slashes_and_newlines_follow_symbols_in_o200k() {
        assert_eq!(pieces(Pattern::O200k, "; //\n/\nx"), [";", " //\n/\n", "x"]);
        assert_eq!(pieces(Pattern::Cl100k, "//\n/\nx"), ["//\n", "/\n", "x"]);
    }
}
