//! Classes of characters, as tiktoken 0.14 sees them.
//!
//! The table is made by `scripts/make_unicode_classes.py`, which asks tiktoken for every code point. A newer Unicode
//! version would know code points that tiktoken takes for unassigned, and so miscount the text around them.

/// What a pre-tokeniser must know of a character. The classes exclude each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Class {
    /// Punctuation, symbols, controls, unassigned: all that is in no other class.
    Other = 0,
    /// `\p{Lu}`, `\p{Lt}`.
    Upper = 1,
    /// `\p{Ll}`.
    Lower = 2,
    /// `\p{Lm}`, `\p{Lo}`: letters without case.
    Caseless = 3,
    /// `\p{M}`: no letter, but part of words.
    Mark = 4,
    /// `\p{N}`.
    Number = 5,
    /// `\s` without the newlines.
    Space = 6,
    /// `\r`, `\n`.
    Newline = 7,
}

impl Class {
    /// `\p{L}`.
    pub(super) fn is_letter(self) -> bool {
        matches!(self, Class::Upper | Class::Lower | Class::Caseless)
    }

    /// `\s`.
    pub(super) fn is_space(self) -> bool {
        matches!(self, Class::Space | Class::Newline)
    }

    /// `[^\s\p{L}\p{N}]`.
    pub(super) fn is_symbol(self) -> bool {
        matches!(self, Class::Other | Class::Mark)
    }
}

static TABLE: &[u8; 40_192] = include_bytes!("data/classes.bin");
const BLOCKS: usize = 0x11_0000 / 256;

/// `[\p{P}\p{S}]`: a bit for each code point, in tables as those of the classes.
static SIGNS: &[u8; 7_840] = include_bytes!("data/signs.bin");

/// The beginning of the first block.
const ASCII: [Class; 128] = {
    let mut classes = [Class::Other; 128];
    let mut point = 0;
    while point < classes.len() {
        classes[point] = of(TABLE[BLOCKS + point]);
        point += 1;
    }
    classes
};

/// Whether a character begins with this byte of a UTF-8 text.
#[inline]
pub(super) fn is_first(byte: u8) -> bool {
    byte & 0xc0 != 0x80
}

/// The class of the character that begins at a place of a UTF-8 text, and where it ends. O(1).
///
/// The place must lie inside the text and at the beginning of a character.
#[inline]
pub(super) fn class_at(text: &[u8], at: usize) -> (Class, usize) {
    match ASCII.get(usize::from(text[at])) {
        Some(&class) => (class, at + 1),
        None => wide(text, at),
    }
}

/// The same for a character of several bytes; apart, so that the short case can be inlined.
#[inline(never)]
fn wide(text: &[u8], at: usize) -> (Class, usize) {
    let (point, end) = point(text, at);
    (class(point), end)
}

/// The class of the character of several bytes that begins at a place, which must be whole. O(1).
#[inline(always)]
pub(super) fn class_of(text: &[u8], at: usize) -> Class {
    class(point(text, at).0)
}

#[inline(always)]
fn class(point: usize) -> Class {
    let block = usize::from(TABLE[point >> 8]);
    of(TABLE[BLOCKS + block * 256 + (point & 0xff)])
}

/// Whether the character at a place is punctuation or a symbol. O(1).
pub(super) fn is_sign(text: &[u8], at: usize) -> bool {
    let (point, _) = match text[at] {
        byte @ ..0x80 => (usize::from(byte), at + 1),
        _ => point(text, at),
    };
    let block = usize::from(SIGNS[point >> 8]);
    SIGNS[BLOCKS + block * 32 + (point & 0xff) / 8] & (1 << (point % 8)) != 0
}

/// The code point of a character of several bytes, and where it ends.
#[inline(always)]
fn point(text: &[u8], at: usize) -> (usize, usize) {
    let lead = text[at];
    let low = |i: usize| usize::from(text[at + i] & 0x3f);
    match lead {
        0xf0.. => (
            (usize::from(lead & 0x07) << 18) | (low(1) << 12) | (low(2) << 6) | low(3),
            at + 4,
        ),
        0xe0.. => ((usize::from(lead & 0x0f) << 12) | (low(1) << 6) | low(2), at + 3),
        _ => ((usize::from(lead & 0x1f) << 6) | low(1), at + 2),
    }
}

#[inline]
const fn of(number: u8) -> Class {
    const CLASSES: [Class; 8] = [
        Class::Other,
        Class::Upper,
        Class::Lower,
        Class::Caseless,
        Class::Mark,
        Class::Number,
        Class::Space,
        Class::Newline,
    ];
    CLASSES[number as usize & 7]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_table_is_that_of_ascii() {
        assert_eq!(TABLE[0], 0);
    }

    #[test]
    fn every_character_has_a_class_and_its_own_length() {
        for char in (0..=0x10_ffff).filter_map(char::from_u32) {
            let mut buffer = [0; 4];
            let text = char.encode_utf8(&mut buffer).as_bytes();
            assert_eq!(class_at(text, 0).1, text.len());
        }
    }

    #[test]
    fn classes_of_well_known_characters() {
        let class = |text: &str| class_at(text.as_bytes(), 0).0;
        assert_eq!(class("a"), Class::Lower);
        assert_eq!(class("É"), Class::Upper);
        assert_eq!(class("語"), Class::Caseless);
        assert_eq!(class("\u{301}"), Class::Mark);
        assert_eq!(class("٣"), Class::Number);
        assert_eq!(class("\u{a0}"), Class::Space);
        assert_eq!(class("\n"), Class::Newline);
        assert_eq!(class("🎉"), Class::Other);
    }
}
