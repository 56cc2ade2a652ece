//! The classes of the bytes of a window, as masks.

use super::super::unicode::{Class, class_of};
use super::WIDTH;

/// A bit for each byte. A character of several bytes has the class of the character in all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Signs {
    pub(crate) upper: u64,
    pub(crate) lower: u64,
    pub(crate) caseless: u64,
    pub(crate) number: u64,
    /// Whitespace without newlines.
    pub(crate) space: u64,
    pub(crate) newline: u64,
    /// The one space that goes with symbols: U+0020.
    pub(crate) blank: u64,
    pub(crate) quote: u64,
    pub(crate) slash: u64,
    /// Bytes of characters that have several.
    pub(crate) wide: u64,
    /// Those of them that do not begin one.
    pub(crate) inner: u64,
}

impl Signs {
    #[inline(always)]
    pub(super) fn white(&self) -> u64 {
        self.space | self.newline
    }

    /// Adds the classes of the characters of several bytes.
    ///
    /// Gives the places of those that the masks' rules do not cover, where the text must be scanned character by character:
    /// wide whitespace and numbers, and marks. And how many bytes are left where the window ends inside a character.
    #[inline(never)]
    pub(super) fn widen(&mut self, bytes: &[u8; WIDTH], mut len: usize) -> (u64, usize) {
        let valid = u64::MAX >> (WIDTH - len.max(1));
        let mut firsts = self.wide & !self.inner & valid;
        let last = firsts.checked_ilog2().unwrap_or(0) as usize;
        if last + size(bytes[last]) > len {
            len = last;
            firsts &= !(1 << last);
        }
        // By class; what is of none of them is of no mask.
        let mut masks = [0u64; 8];
        while firsts != 0 {
            let at = firsts.trailing_zeros() as usize;
            firsts &= firsts - 1;
            let own = ((1u64 << size(bytes[at])) - 1) << at;
            masks[class_of(bytes, at) as usize] |= own;
        }
        self.upper |= masks[Class::Upper as usize];
        self.lower |= masks[Class::Lower as usize];
        self.caseless |= masks[Class::Caseless as usize];
        self.space |= masks[Class::Space as usize];
        let rare = masks[Class::Mark as usize] | masks[Class::Number as usize] | masks[Class::Space as usize];
        (rare, len)
    }
}

/// How many bytes the character has that begins with this one.
#[inline(always)]
fn size(first: u8) -> usize {
    match first {
        0xf0.. => 4,
        0xe0.. => 3,
        0xc0.. => 2,
        _ => 1,
    }
}
