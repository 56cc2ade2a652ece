//! Exact counts of a text that is still being written.

use std::sync::Arc;

use super::Tokenizer;
use super::growing::Growing;
use super::open::Open;
use super::unicode::is_first;
use crate::{Error, Held, Result};

/// Bytes of text after which what is final is put aside, so that it can be shared and returned to.
const BLOCK: usize = 4 * 1024;
/// Bytes that are read at once: a long delta must not be moved for each block that it fills.
const STEP: usize = 4 * BLOCK;

/// A text that grows at its end, and its tokens: after each call as many as [`Tokenizer::count`] gives for all of it.
///
/// Appending costs what is appended, amortised, whatever the text is: a word, a blank line or a run of one letter without end.
/// Of tokenizers that are not built in what stands behind the last word is counted again, up to the blank before it.
/// What is kept is the text, 72 bytes for every 4 KiB of it, and for the last piece, where it is longer than 24 bytes, eight to
/// sixteen more for each of its bytes. Texts of special tokens are text like any other.
///
/// ```
/// # use muntin_core::tokens::{Stream, Tokenizer};
/// let mut stream = Stream::new(Tokenizer::builtin("o200k_base")?);
/// assert_eq!(stream.append("hel")?, 1);
/// assert_eq!(stream.append("lo world")?, 2);
/// # Ok::<(), muntin_core::Error>(())
/// ```
#[derive(Clone)]
pub struct Stream {
    tokenizer: Held<Tokenizer>,
    /// Text whose pieces are final; shared with forks.
    blocks: Vec<Arc<Block>>,
    /// The text behind the blocks.
    tail: Vec<u8>,
    /// The pieces of the tail.
    open: Open,
    growing: Growing,
    /// Of all pieces that are final.
    sure: usize,
    tokens: usize,
    chars: usize,
    held: Bytes,
}

/// A stretch of text that ends where a piece does.
struct Block {
    text: Box<[u8]>,
    /// Of the text up to the block's end: bytes, characters, tokens.
    end: usize,
    chars: usize,
    tokens: usize,
    /// How much of the text showed that a piece ends here.
    seen: usize,
}

/// The first bytes of a character whose others are still to come.
#[derive(Debug, Clone, Copy, Default)]
struct Bytes {
    bytes: [u8; 4],
    len: usize,
}

impl Stream {
    /// An empty text.
    #[must_use]
    pub fn new(tokenizer: impl Into<Held<Tokenizer>>) -> Self {
        let tokenizer = tokenizer.into();
        Self {
            open: tokenizer.open(),
            tokenizer,
            blocks: Vec::new(),
            tail: Vec::new(),
            growing: Growing::default(),
            sure: 0,
            tokens: 0,
            chars: 0,
            held: Bytes::default(),
        }
    }

    /// The encoding that is counted in.
    #[must_use]
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// Adds text, and gives the tokens of all text so far. O(delta), amortised.
    ///
    /// # Errors
    ///
    /// [`Error::UnfinishedCharacter`] where [`Stream::append_bytes`] still waits for the rest of one; nothing is changed.
    #[inline]
    pub fn append(&mut self, delta: &str) -> Result<usize> {
        if self.held.len > 0 {
            return Err(Error::UnfinishedCharacter { held: self.held.len });
        }
        self.push(delta);
        Ok(self.tokens)
    }

    /// Adds text as bytes, which may begin and end inside a character, and gives the tokens of all whole characters so far.
    ///
    /// The bytes of a character that is not complete are held back, at most three, and not counted until it is. O(delta),
    /// amortised.
    ///
    /// # Errors
    ///
    /// [`Error::InvalidUtf8`]; nothing is changed, and what was held back still waits.
    pub fn append_bytes(&mut self, delta: &[u8]) -> Result<usize> {
        let mut held = self.held;
        let mut rest = delta;
        let mut done = None;
        // First the character that was begun, byte for byte.
        while held.len > 0 {
            let Some((&byte, behind)) = rest.split_first() else {
                break;
            };
            held.bytes[held.len] = byte;
            held.len += 1;
            rest = behind;
            match std::str::from_utf8(&held.bytes[..held.len]) {
                Ok(_) => done = Some(std::mem::take(&mut held)),
                Err(error) if error.error_len().is_none() => {}
                Err(_) => return Err(self.invalid(0)),
            }
        }
        let valid = match std::str::from_utf8(rest) {
            Ok(_) => rest.len(),
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(error) => {
                let before = self.held.len + delta.len() - rest.len();
                return Err(self.invalid(before + error.valid_up_to()));
            }
        };
        let (text, unfinished) = rest.split_at(valid);
        if !unfinished.is_empty() {
            held.len = unfinished.len();
            held.bytes[..held.len].copy_from_slice(unfinished);
        }
        self.held = held;
        if let Some(done) = done {
            self.push(std::str::from_utf8(&done.bytes[..done.len]).unwrap_or_default());
        }
        self.push(std::str::from_utf8(text).unwrap_or_default());
        Ok(self.tokens)
    }

    fn invalid(&self, at: usize) -> Error {
        Error::InvalidUtf8 { at: self.len() + at }
    }

    /// Tokens of all text so far. O(1).
    #[must_use]
    pub fn tokens(&self) -> usize {
        self.tokens
    }

    /// Bytes of the text so far, without those that are held back. O(1).
    #[must_use]
    pub fn len(&self) -> usize {
        self.sealed() + self.tail.len()
    }

    /// Whether there is no text yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Characters of the text so far. O(1).
    #[must_use]
    pub fn chars(&self) -> usize {
        self.chars
    }

    /// Bytes of an unfinished character that are held back: 0 to 3.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.len
    }

    /// All text so far. O(n).
    #[must_use]
    pub fn text(&self) -> String {
        let parts = self.blocks.iter().map(|block| &*block.text).chain([&*self.tail]);
        let bytes = parts.collect::<Vec<_>>().concat();
        String::from_utf8(bytes).unwrap_or_default()
    }

    /// A stream that goes on by itself from here. Copies what is behind the last 4 KiB that are final, and a pointer for each
    /// 4 KiB before.
    #[must_use]
    pub fn fork(&self) -> Self {
        self.clone()
    }

    /// Takes text away until so many bytes are left, and bytes that are held back; gives the tokens that are left. Nothing is
    /// taken from a shorter text. Reads at most 4 KiB again and the piece at the new end.
    ///
    /// # Errors
    ///
    /// [`Error::InsideCharacter`], [`Error::BeyondText`]; nothing is changed.
    pub fn truncate(&mut self, len: usize) -> Result<usize> {
        if len > self.len() {
            return Err(Error::BeyondText {
                offset: len,
                len: self.len(),
            });
        }
        // A block of which more was read than will be left might end otherwise.
        let kept = self.blocks.partition_point(|block| block.seen <= len);
        let start = self.blocks[..kept].last().map_or(0, |block| block.end);
        let parts = self.blocks[kept..].iter().map(|block| &*block.text);
        let text = parts.chain([&*self.tail]).collect::<Vec<_>>().concat();
        let Ok(text) = str::from_utf8(&text[..len - start]) else {
            return Err(Error::InsideCharacter { offset: len });
        };
        self.blocks.truncate(kept);
        (self.sure, self.chars) = self.blocks.last().map_or((0, 0), |block| (block.tokens, block.chars));
        self.tokens = self.sure;
        self.tail.clear();
        self.open = self.tokenizer.open();
        self.growing = Growing::default();
        self.held = Bytes::default();
        self.push(text);
        Ok(self.tokens)
    }

    /// The same by characters.
    ///
    /// # Errors
    ///
    /// [`Error::BeyondText`]; nothing is changed.
    pub fn truncate_chars(&mut self, chars: usize) -> Result<usize> {
        if chars > self.chars {
            return Err(Error::BeyondText {
                offset: chars,
                len: self.chars,
            });
        }
        let before = self.blocks.partition_point(|block| block.chars <= chars);
        let (start, skipped) = self.blocks[..before]
            .last()
            .map_or((0, 0), |block| (block.end, block.chars));
        let text = self.blocks.get(before).map_or(&*self.tail, |block| &*block.text);
        let mut begins = (0..text.len()).filter(|&at| is_first(text[at]));
        let inside = begins.nth(chars - skipped).unwrap_or(text.len());
        self.truncate(start + inside)
    }

    /// Bytes of the blocks.
    fn sealed(&self) -> usize {
        self.blocks.last().map_or(0, |block| block.end)
    }

    #[inline]
    fn push(&mut self, delta: &str) {
        let mut rest = delta;
        while rest.len() > STEP {
            let step = (0..=STEP).rfind(|&at| rest.is_char_boundary(at)).unwrap_or(STEP);
            let (step, behind) = rest.split_at(step);
            self.read(step);
            rest = behind;
        }
        self.read(rest);
        let tokenizer = &self.tokenizer;
        let (start, middle) = (self.open.start(), self.open.middle());
        let end = self.tail.len();
        self.tokens = self.sure;
        if start < middle && middle < end {
            self.tokens += self.growing.first(tokenizer, &self.tail, start..middle);
            self.tokens += self.growing.second(&tokenizer.vocab, &self.tail, middle..end);
        } else if start < end {
            self.tokens += self.growing.first(tokenizer, &self.tail, start..end);
        }
    }

    #[inline]
    fn read(&mut self, text: &str) {
        self.tail.extend_from_slice(text.as_bytes());
        self.chars += if text.is_ascii() {
            text.len()
        } else {
            text.chars().count()
        };
        let Self {
            tokenizer,
            tail,
            growing,
            sure,
            ..
        } = self;
        self.open.read(tail, |piece| {
            let end = piece.end;
            *sure += growing.first(tokenizer, tail, piece);
            growing.shift(end);
        });
        if self.open.start() >= BLOCK {
            self.seal();
        }
    }

    /// Puts the text aside whose pieces are final.
    fn seal(&mut self) {
        let sealed = self.sealed();
        let seen = sealed + self.open.seen();
        let size = self.open.drop_final();
        self.growing.drop_before(size);
        let text: Box<[u8]> = self.tail[..size].into();
        self.tail.drain(..size);
        let behind = self.tail.iter().filter(|&&byte| is_first(byte)).count();
        self.blocks.push(Arc::new(Block {
            text,
            end: sealed + size,
            chars: self.chars - behind,
            tokens: self.sure,
            seen,
        }));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tokens::family;

    fn tokenizers() -> impl Iterator<Item = Held<Tokenizer>> {
        ["o200k_base", "cl100k_base"]
            .map(|name| Tokenizer::builtin(name).unwrap().into())
            .into_iter()
    }

    /// Texts of few kinds of characters, so that runs and the edges between them are common.
    fn text() -> impl Strategy<Value = String> {
        prop_oneof![
            "([aAérvlsd'’ \t\u{a0}\n\r/!_1語\u{301}🎉]|'re|  |\r\n| the|tion){0,60}",
            "[aA語']{0,60}",
            "[ \n\r\t]{0,60}",
            "(a{40}|A{40}| {40}|\n{30}|-{50}|語{20}|b|B| |\n){0,8}",
            any::<String>(),
        ]
    }

    proptest! {
        #[test]
        fn every_total_equals_a_count_of_all_text(deltas in proptest::collection::vec(text(), 0..6)) {
            for tokenizer in tokenizers() {
                let mut stream = Stream::new(tokenizer.clone());
                let mut all = String::new();
                for delta in &deltas {
                    all += delta;
                    prop_assert_eq!(stream.append(delta).unwrap(), tokenizer.count(&all, false));
                }
                prop_assert_eq!(stream.text(), all);
            }
        }

        #[test]
        fn characters_may_come_byte_for_byte(text in text(), sizes in proptest::collection::vec(1usize..5, 1..9)) {
            for tokenizer in tokenizers() {
                let mut stream = Stream::new(tokenizer.clone());
                let mut rest = text.as_bytes();
                for &size in sizes.iter().cycle() {
                    if rest.is_empty() { break }
                    let (delta, behind) = rest.split_at(size.min(rest.len()));
                    let tokens = stream.append_bytes(delta).unwrap();
                    prop_assert_eq!(tokens, tokenizer.count(&stream.text(), false));
                    prop_assert_eq!(stream.len() + stream.held() + behind.len(), text.len());
                    rest = behind;
                }
                prop_assert_eq!(stream.text(), &*text);
            }
        }

        #[test]
        fn bytes_are_refused_as_std_refuses_them(parts in proptest::collection::vec(
            proptest::collection::vec(prop_oneof![any::<u8>(), 0x80u8..0xc4, Just(b'a')], 0..5), 0..5,
        )) {
            let mut stream = Stream::new(Tokenizer::builtin("o200k_base").unwrap());
            let mut all = Vec::new();
            for part in parts {
                let before = all.clone();
                all.extend(&part);
                let at = std::str::from_utf8(&all).err().filter(|error| error.error_len().is_some());
                match at {
                    None => prop_assert!(stream.append_bytes(&part).is_ok()),
                    Some(error) => {
                        let refused = Err(Error::InvalidUtf8 { at: error.valid_up_to() });
                        prop_assert_eq!(stream.append_bytes(&part), refused);
                        all = before;
                    }
                }
                prop_assert_eq!(stream.len() + stream.held(), all.len());
            }
        }

    }

    proptest! {
        #[test]
        fn every_family_is_counted_as_it_grows(
            deltas in proptest::collection::vec(text(), 0..6), which: prop::sample::Index,
        ) {
            let tokenizers = family::tokenizers();
            for tokenizer in [&tokenizers[which.index(tokenizers.len())]] {
                let mut stream = Stream::new(tokenizer.clone());
                let mut all = String::new();
                for delta in &deltas {
                    all += delta;
                    prop_assert_eq!(stream.append(delta).unwrap(), tokenizer.count(&all, false), "{}", tokenizer.name());
                }
                let half = all.floor_char_boundary(all.len() / 2);
                prop_assert_eq!(stream.truncate(half).unwrap(), tokenizer.count(&all[..half], false));
            }
        }
    }

    proptest! {
        // Each case fills several blocks.
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn what_is_cut_off_leaves_what_was(
            parts in proptest::collection::vec((text(), 1usize..200), 1..4),
            cuts in proptest::collection::vec(any::<prop::sample::Index>(), 1..4),
        ) {
            for tokenizer in tokenizers() {
                let mut stream = Stream::new(tokenizer.clone());
                let mut all = String::new();
                for (part, times) in &parts {
                    let part = part.repeat(*times);
                    stream.append(&part).unwrap();
                    all += &part;
                }
                for cut in &cuts {
                    let cut = all.floor_char_boundary(cut.index(all.len() + 1));
                    let mut fork = stream.fork();
                    all.truncate(cut);
                    prop_assert_eq!(stream.truncate(cut).unwrap(), tokenizer.count(&all, false));
                    prop_assert_eq!(fork.truncate_chars(all.chars().count()).unwrap(), stream.tokens());
                    prop_assert_eq!(stream.chars(), all.chars().count());
                    for end in ["t", "'re\n A", "語"] {
                        all += end;
                        prop_assert_eq!(stream.append(end).unwrap(), tokenizer.count(&all, false));
                    }
                    prop_assert_eq!(stream.text(), &*all);
                }
            }
        }
    }

    #[test]
    fn text_behind_half_a_character_is_refused() {
        let mut stream = Stream::new(Tokenizer::builtin("o200k_base").unwrap());
        assert_eq!(stream.append_bytes("aé".as_bytes().split_at(2).0), Ok(1));
        assert_eq!(stream.append("x"), Err(Error::UnfinishedCharacter { held: 1 }));
        assert_eq!(stream.append_bytes(b"x"), Err(Error::InvalidUtf8 { at: 1 }));
        assert_eq!(stream.append_bytes(&"é".as_bytes()[1..]), Ok(2));
        assert_eq!(stream.truncate(2), Err(Error::InsideCharacter { offset: 2 }));
        assert_eq!(stream.truncate(4), Err(Error::BeyondText { offset: 4, len: 3 }));
        assert_eq!(stream.append("x"), Ok(stream.tokenizer().count("aéx", false)));
    }
}
