//! The pieces of a text that is still being written: which of them are final, and what the open end is for now.
//!
//! [`super::pretokenize`] written as a machine that takes one character after the other, so that a run without end is not
//! scanned again for each word that is added to it. A piece is final when no text behind could change where it ends. What is
//! behind the last final one is one piece for now, or two where a second reading is still possible:
//!
//! - capitals behind letters without case, which are a word of their own unless a small letter follows;
//! - spaces behind a newline, which join it if another newline follows;
//! - an apostrophe behind a word, which may become a contraction.

use std::ops::Range;

use super::pretokenize::Pattern;
use super::unicode::{Class, class_at, is_first};

/// Where a growing text stands. Places are bytes of the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Open {
    pattern: Pattern,
    state: State,
    /// Where the first piece begins that is not final.
    start: usize,
    /// Where the second one would begin: see [`State::Word`] and [`State::Spaces`].
    split: usize,
    /// How much was read.
    at: usize,
    /// How much had been read when `start` became final.
    seen: usize,
}

/// What the open piece is so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Nothing.
    Empty,
    /// One space, which may belong to what follows.
    Space,
    /// One symbol, which a word may follow.
    Symbol,
    /// Symbols, with or without a space before them.
    Symbols,
    /// Newlines, and what else may end symbols.
    Ends,
    /// A word without a small letter. Its last character without case ends at `split`.
    Word,
    /// Letters, none of which a capital may follow where the pattern divides words there.
    Letters,
    /// Up to three digits.
    Numbers(u8),
    /// Whitespace. Its last newline ends at `split`.
    Spaces,
    /// A word, or nothing, and an apostrophe behind it.
    Quote,
    /// The same and the first letter of a contraction of two.
    Quoted,
    /// A stretch of pieces that are not told apart, and the class of its last character.
    Stretch(Class),
    /// All of the text, which nothing is known of.
    Whole,
}

impl Open {
    pub(super) fn new(pattern: Pattern) -> Self {
        Self {
            pattern,
            state: State::Empty,
            start: 0,
            split: 0,
            at: 0,
            seen: 0,
        }
    }

    /// One that tells no pieces apart, but stretches of them: from a blank behind a letter or a number to the next. A text
    /// is divided there by every pattern.
    pub(super) fn stretches(pattern: Pattern) -> Self {
        Self {
            state: State::Stretch(Class::Space),
            ..Self::new(pattern)
        }
    }

    /// One that is never divided.
    pub(super) fn whole(pattern: Pattern) -> Self {
        Self {
            state: State::Whole,
            ..Self::new(pattern)
        }
    }

    /// Where the first piece begins that is not final.
    pub(super) fn start(&self) -> usize {
        self.start
    }

    /// How much of the text had to be read to know that a piece begins there.
    pub(super) fn seen(&self) -> usize {
        self.seen
    }

    /// Where the open end falls into two pieces; where it begins if it is one.
    pub(super) fn middle(&self) -> usize {
        match self.state {
            State::Word => self.split,
            State::Spaces if self.cased() => self.split,
            State::Quote => self.at - 1,
            State::Quoted => self.at - 2,
            _ => self.start,
        }
    }

    /// Forgets the text before the first piece that is not final, and says how much that is.
    pub(super) fn drop_final(&mut self) -> usize {
        let gone = self.start;
        self.start = 0;
        self.split = self.split.saturating_sub(gone);
        self.at -= gone;
        self.seen -= gone;
        gone
    }

    /// Reads on to the end of the text, and gives the pieces that become final.
    #[inline]
    pub(super) fn read(&mut self, text: &[u8], mut done: impl FnMut(Range<usize>)) {
        while self.at < text.len() {
            // Nine of ten characters go on with a word.
            if self.state == State::Letters && text[self.at].is_ascii_lowercase() {
                self.at += 1;
                continue;
            }
            let (class, after) = class_at(text, self.at);
            self.take(text, class, after, &mut done);
            self.at = after;
        }
    }

    fn take(&mut self, text: &[u8], class: Class, after: usize, done: &mut impl FnMut(Range<usize>)) {
        let at = self.at;
        loop {
            self.state = match (self.state, class) {
                (State::Whole, _) => State::Whole,
                (State::Stretch(last), _) => {
                    if is_divided(last, class) {
                        self.end(at, after, done);
                    }
                    State::Stretch(class)
                }
                (State::Empty, _) => self.begin(text[at], class, after),
                (State::Space | State::Symbol, _) if self.is_word(class) => self.word(class, after),
                (State::Space, Class::Space | Class::Newline) => {
                    self.split = self.start;
                    self.spaces(class, after)
                }
                (State::Space, Class::Other | Class::Mark) if text[self.start] == b' ' => State::Symbols,
                (State::Symbol | State::Symbols, Class::Other | Class::Mark) => State::Symbols,
                (State::Symbol | State::Symbols | State::Ends, Class::Newline) => State::Ends,
                (State::Ends, _) if text[at] == b'/' && self.cased() => State::Ends,
                (State::Word, Class::Upper | Class::Lower | Class::Caseless | Class::Mark) => self.word(class, after),
                (State::Letters, _) if self.goes_on(class) => State::Letters,
                (State::Numbers(digits @ 1..3), Class::Number) => State::Numbers(digits + 1),
                (State::Spaces, Class::Space | Class::Newline) => self.spaces(class, after),
                (State::Spaces, _) => {
                    self.end_spaces(text, after, done);
                    continue;
                }
                (State::Word | State::Letters, _) if self.cased() => {
                    if self.state == State::Word && self.split < at {
                        self.end(self.split, after, done);
                    }
                    if text[at] == b'\'' {
                        State::Quote
                    } else {
                        self.end(at, after, done);
                        continue;
                    }
                }
                (State::Quote, _) => match text[at].to_ascii_lowercase() {
                    b's' | b't' | b'm' | b'd' => return self.end(after, after, done),
                    // The long s is an s too.
                    0xc5 if text[at + 1] == 0xbf => return self.end(after, after, done),
                    b'r' | b'v' | b'l' => State::Quoted,
                    _ => {
                        self.end(at - 1, after, done);
                        self.state = State::Symbol;
                        continue;
                    }
                },
                (State::Quoted, _) => {
                    let letter = text[at - 1].to_ascii_lowercase();
                    let wanted = if letter == b'l' { b'l' } else { b'e' };
                    if text[at].to_ascii_lowercase() == wanted {
                        return self.end(after, after, done);
                    }
                    self.end(at - 2, after, done);
                    let (class, _) = class_at(text, at - 1);
                    self.state = self.word(class, at);
                    continue;
                }
                _ => {
                    self.end(at, after, done);
                    continue;
                }
            };
            return;
        }
    }

    /// What a piece is that begins with a character.
    fn begin(&mut self, byte: u8, class: Class, after: usize) -> State {
        self.split = self.start;
        match class {
            Class::Other if byte == b'\'' && !self.cased() => State::Quote,
            Class::Space => State::Space,
            Class::Newline => self.spaces(class, after),
            Class::Number => State::Numbers(1),
            Class::Other => State::Symbol,
            _ if self.is_word(class) => self.word(class, after),
            _ => State::Symbol,
        }
    }

    /// Whether words are divided by case; then contractions end them instead of standing alone, slashes end symbols, and
    /// newlines come before the text's end.
    fn cased(&self) -> bool {
        self.pattern == Pattern::O200k
    }

    /// Whether a character can begin a word, or stand behind the one character before it.
    fn is_word(&self, class: Class) -> bool {
        class.is_letter() || (class == Class::Mark && self.cased())
    }

    fn goes_on(&self, class: Class) -> bool {
        if self.cased() {
            matches!(class, Class::Lower | Class::Caseless | Class::Mark)
        } else {
            class.is_letter()
        }
    }

    /// A word with one more character.
    fn word(&mut self, class: Class, after: usize) -> State {
        match class {
            _ if !self.cased() => State::Letters,
            Class::Lower => State::Letters,
            Class::Upper => State::Word,
            _ => {
                self.split = after;
                State::Word
            }
        }
    }

    fn spaces(&mut self, class: Class, after: usize) -> State {
        if class == Class::Newline {
            self.split = after;
        }
        State::Spaces
    }

    /// Whitespace ends before a character: it is one piece up to its last newline, and one up to its last character, which
    /// may belong to what follows.
    fn end_spaces(&mut self, text: &[u8], after: usize, done: &mut impl FnMut(Range<usize>)) {
        self.end(self.split, after, done);
        if self.start < self.at {
            let last = (self.start..self.at).rfind(|&at| is_first(text[at]));
            self.end(last.unwrap_or(self.start), after, done);
            self.state = State::Space;
        }
    }

    /// A piece ends, if there is one, and the next begins.
    fn end(&mut self, end: usize, seen: usize, done: &mut impl FnMut(Range<usize>)) {
        if self.start < end {
            done(self.start..end);
            self.start = end;
            self.seen = seen;
        }
        self.split = end;
        self.state = State::Empty;
    }
}

/// Whether every pattern divides a text between two characters of these classes, whatever stands around them.
pub(super) fn is_divided(left: Class, right: Class) -> bool {
    (left.is_letter() || left == Class::Number) && right == Class::Space
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tokens::pretokenize::Pieces;

    /// Every prefix of a text, cut by the machine that only reads on.
    fn check(text: &str) -> Result<(), TestCaseError> {
        for pattern in [Pattern::Cl100k, Pattern::O200k] {
            let mut open = Open::new(pattern);
            let mut ends = vec![0];
            for (at, char) in text.char_indices() {
                let text = &text[..at + char.len_utf8()];
                open.read(text.as_bytes(), |piece| ends.push(piece.end));
                let mut all = ends.clone();
                all.extend([open.middle(), text.len()]);
                all.dedup();
                let lengths: Vec<usize> = all.windows(2).map(|pair| pair[1] - pair[0]).collect();
                let expected: Vec<usize> = Pieces::new(pattern, text).map(<[u8]>::len).collect();
                prop_assert_eq!(lengths, expected, "{:?} {:?}", pattern, text);
            }
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn every_prefix_is_divided_as_by_the_scan(
            text in "([aAérvlsdſ'’ \t\u{a0}\u{3000}\n\r/!_.1٣語ǅʰ\u{301}🎉]|'s|'re|'LL|  |\r\n){0,24}",
        ) {
            check(&text)?;
        }

        #[test]
        fn every_prefix_of_any_text_is_divided_as_by_the_scan(text in any::<String>()) {
            check(&text)?;
        }
    }
}
