//! A text measured once: the tokens of any slice of it, without counting the slice again.

use std::ops::Range;

use super::index::Index;
use super::open::is_divided;
use super::pretokenize::Pieces;
use super::unicode::{Class, class_at, is_first};
use super::{Tokenizer, bpe, count};
use crate::{Error, Held, Result};

/// A text with the places where its pieces begin.
///
/// A slice has the pieces of the whole text but for those at its edges. No pattern looks back, so pieces that are scanned
/// from a slice's start agree with those of the text from the first place on where both begin one; and no pattern looks
/// further ahead than [`OPEN`] pieces, so that before its end they agree but for the last few.
///
/// Beside the text its index takes 0.29 bytes for each byte of it, and eight more for every 64 characters unless all are ASCII.
///
/// ```
/// # use muntin_core::tokens::{Measured, Tokenizer};
/// let text = Measured::new(Tokenizer::builtin("o200k_base")?, "hello world")?;
/// assert_eq!((text.tokens(), text.count(3, 11)?), (2, 2));
/// # Ok::<(), muntin_core::Error>(())
/// ```
pub struct Measured {
    pub(super) tokenizer: Held<Tokenizer>,
    pub(super) text: Box<str>,
    pub(super) index: Index,
    tokens: usize,
    chars: Chars,
}

/// So many of the last pieces before a place can depend on what stands behind it: a word that an apostrophe follows,
/// capitals behind letters without case, and the two or three that whitespace falls into.
const OPEN: usize = 4;

impl Measured {
    /// Measures a text, which is kept. O(n), as counting it.
    ///
    /// # Errors
    ///
    /// [`Error::NotMeasurable`] where the tokenizer takes added tokens out of every text or normalises it.
    pub fn new(tokenizer: impl Into<Held<Tokenizer>>, text: impl Into<Box<str>>) -> Result<Self> {
        let tokenizer = tokenizer.into();
        if !tokenizer.specials.leave(false) {
            let encoding = tokenizer.name().into();
            return Err(Error::NotMeasurable { encoding });
        }
        let text = text.into();
        let mut index = Index::new(text.len());
        let tokens = count::count_each(&tokenizer.vocab, tokenizer.pattern, &text, |at, tokens| {
            index.add(at, tokens);
        });
        index.add(text.len(), 0);
        index.finish();
        Ok(Self {
            tokenizer,
            chars: Chars::of(&text),
            text,
            index,
            tokens,
        })
    }

    /// The encoding that is counted in.
    #[must_use]
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Tokens of the whole text. O(1).
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// Characters of the whole text. O(1).
    #[must_use]
    pub fn chars(&self) -> usize {
        self.chars.len
    }

    /// Bytes that the index takes, the text not included.
    #[must_use]
    pub fn index_size(&self) -> usize {
        self.index.size() + size_of_val(&*self.chars.samples)
    }

    /// Tokens of the bytes `start..stop` of the text, counted as a text of their own; 0 where the range is empty or reversed.
    /// O(the pieces at both edges), and O(slice) where both divide it differently throughout, as long numbers can be.
    ///
    /// # Errors
    ///
    /// [`Error::BeyondText`], [`Error::InsideCharacter`].
    pub fn count(&self, start: usize, stop: usize) -> Result<usize> {
        for offset in [start, stop] {
            if offset > self.text.len() {
                let len = self.text.len();
                return Err(Error::BeyondText { offset, len });
            }
            if !self.text.is_char_boundary(offset) {
                return Err(Error::InsideCharacter { offset });
            }
        }
        Ok(self.between(start..stop))
    }

    /// The same for characters, as far as there are any. O(1) more.
    #[must_use]
    pub fn count_chars(&self, start: usize, stop: usize) -> usize {
        if start >= stop {
            return 0;
        }
        self.between(self.chars.place(&self.text, start)..self.chars.place(&self.text, stop))
    }

    /// Tokens of a range that lies in the text, between characters.
    #[inline]
    pub(super) fn between(&self, range: Range<usize>) -> usize {
        let Range { start, end } = range;
        if start >= end {
            return 0;
        }
        let Tokenizer { pattern, vocab, .. } = &*self.tokenizer;
        let sure = self.sure_before(end);
        let mut pieces = Pieces::new(*pattern, &self.text[start..end]);
        let mut at = start;
        let mut tokens = 0;
        loop {
            if at < sure && self.index.is_start(at) {
                tokens += self.index.tokens_before(sure) - self.index.tokens_before(at);
                at = sure;
                pieces = Pieces::new(*pattern, &self.text[sure..end]);
            }
            let Some(piece) = pieces.next() else { return tokens };
            tokens += bpe::tokens(vocab, piece);
            at += piece.len();
        }
    }

    /// A place where a piece begins and before which all pieces are as they are whatever stands from `end` on.
    #[inline]
    pub(super) fn sure_before(&self, end: usize) -> usize {
        if end == self.text.len() {
            return end;
        }
        let mut at = end;
        let open = if self.tokenizer.tells_pieces() {
            OPEN
        } else {
            usize::MAX
        };
        for _ in 0..open {
            match self.index.last_start_before(at) {
                Some(start) => at = start,
                None => return 0,
            }
            if self.is_firm(at) {
                break;
            }
        }
        at
    }

    /// Whether every text that holds the two characters around a place is divided there, and the pieces before it depend on
    /// nothing behind them.
    pub(super) fn is_firm(&self, at: usize) -> bool {
        let text = self.text.as_bytes();
        if at == 0 || at == text.len() {
            return true;
        }
        let begins = (0..at).rfind(|&at| is_first(text[at])).unwrap_or(0);
        let (left, right) = (class_at(text, begins).0, class_at(text, at).0);
        if !self.tokenizer.tells_pieces() {
            return is_divided(left, right);
        }
        match (left, right) {
            (Class::Space | Class::Newline, _) => false,
            (Class::Number, _) => right != Class::Number,
            (_, Class::Space | Class::Number) => true,
            (_, Class::Newline) => left.is_letter(),
            (_, Class::Other) => left.is_letter() && text[at] != b'\'',
            _ => false,
        }
    }
}

/// Where characters begin.
struct Chars {
    len: usize,
    /// Where every 64th one begins; empty where all are one byte.
    samples: Box<[u64]>,
}

const SAMPLE: usize = 64;

impl Chars {
    fn of(text: &str) -> Self {
        if text.is_ascii() {
            let samples = Box::default();
            return Self {
                len: text.len(),
                samples,
            };
        }
        let mut len = 0;
        let mut samples = Vec::new();
        for (at, _) in text.char_indices() {
            if len % SAMPLE == 0 {
                samples.push(at as u64);
            }
            len += 1;
        }
        let samples = samples.into();
        Self { len, samples }
    }

    /// Where a character begins; the text's end for those behind it.
    #[inline]
    fn place(&self, text: &str, char: usize) -> usize {
        if char >= self.len {
            return text.len();
        }
        let Some(&sample) = self.samples.get(char / SAMPLE) else {
            return char;
        };
        let mut at = sample as usize;
        for _ in 0..char % SAMPLE {
            at += match text.as_bytes()[at] {
                0xf0.. => 4,
                0xe0.. => 3,
                0xc0.. => 2,
                _ => 1,
            };
        }
        at
    }
}
