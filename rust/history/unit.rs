//! What a unit is, how it stands in its group, and what a cut before it is worth.

use crate::{Error, Result};

/// The most groups that a history may have.
pub const MAX_GROUPS: usize = 16;

/// The most bytes that may open or close a group.
pub const MAX_BRACKET: usize = u16::MAX as usize;

/// The most bytes of a unit, its call ids included. With its lead it stays below 4 GiB, the reach of a chunk's offsets.
pub const MAX_UNIT: usize = 1 << 31;

/// Bits that say what a unit is, as far as cuts depend on it. The other bits are the caller's.
pub mod kind {
    /// The unit begins a run.
    pub const RUN: u8 = 1;
    /// The unit begins a user's turn.
    pub const TURN: u8 = 2;
    /// The unit is a response of the model.
    pub const RESPONSE: u8 = 4;
}

/// One step in the life of a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call<'a> {
    /// The call of this id is made.
    Made(&'a str),
    /// The call of this id is answered.
    Answered(&'a str),
}

impl<'a> Call<'a> {
    /// The id of the call.
    #[must_use]
    pub fn id(self) -> &'a str {
        match self {
            Call::Made(id) | Call::Answered(id) => id,
        }
    }
}

/// What an adapter rendered of one entry.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unit<'a> {
    /// Number of the group that the unit belongs to.
    pub group: usize,
    /// JSON without the group's own brackets.
    pub wire: &'a [u8],
    /// Raw tokens, the group's opening not included.
    pub tokens: u32,
    /// The id of the entry that the unit renders.
    pub entry: u32,
    /// Bits of [`kind`].
    pub kind: u8,
    /// Calls that the unit makes and answers, in that order in time.
    pub calls: &'a [Call<'a>],
}

impl Unit<'_> {
    /// Bytes of the wire and of the ids of calls.
    ///
    /// # Errors
    ///
    /// [`Error::UnitTooLarge`] beyond [`MAX_UNIT`].
    pub(super) fn size(&self) -> Result<usize> {
        let ids: usize = self.calls.iter().map(|call| call.id().len()).sum();
        let bytes = self.wire.len().saturating_add(ids);
        if bytes > MAX_UNIT {
            Err(Error::UnitTooLarge { bytes, limit: MAX_UNIT })
        } else {
            Ok(bytes)
        }
    }
}

/// How a run of units of one group becomes JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    pub(super) open: Box<[u8]>,
    pub(super) close: Box<[u8]>,
    pub(super) tokens: u32,
}

impl Group {
    /// A group of the bytes that open a run of its units, those that close it, and the raw tokens that opening one
    /// costs.
    ///
    /// # Errors
    ///
    /// [`Error::GroupTooLarge`] where either has more than [`MAX_BRACKET`] bytes.
    pub fn new(open: &[u8], close: &[u8], tokens: u32) -> Result<Self> {
        let bytes = open.len().max(close.len());
        if bytes > MAX_BRACKET {
            return Err(Error::GroupTooLarge {
                bytes,
                limit: MAX_BRACKET,
            });
        }
        Ok(Self {
            open: open.into(),
            close: close.into(),
            tokens,
        })
    }
}

/// What a legal cut is worth: the larger the thing that ends there, the better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Grade {
    /// Nothing in particular ends.
    Plain = 0,
    /// A tool exchange ends: the model responds anew.
    Exchange = 1,
    /// A user's turn ends.
    Turn = 2,
    /// A run ends.
    Run = 3,
}

impl Grade {
    /// The grade of a cut before a unit with these bits of [`kind`].
    #[must_use]
    pub fn before(kind: u8) -> Self {
        if kind & kind::RUN != 0 {
            Self::Run
        } else if kind & kind::TURN != 0 {
            Self::Turn
        } else if kind & kind::RESPONSE != 0 {
            Self::Exchange
        } else {
            Self::Plain
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_thing_that_begins_names_the_grade() {
        assert_eq!(Grade::before(kind::RUN | kind::TURN | kind::RESPONSE), Grade::Run);
        assert_eq!(Grade::before(kind::TURN | kind::RESPONSE), Grade::Turn);
        assert_eq!(Grade::before(kind::RESPONSE | 8), Grade::Exchange);
        assert_eq!(Grade::before(16 | 32), Grade::Plain);
    }

    #[test]
    fn a_bracket_has_a_limit() {
        let long = vec![b'['; MAX_BRACKET + 1];
        assert!(Group::new(&long[1..], b"]", 0).is_ok());
        let refused = Error::GroupTooLarge {
            bytes: MAX_BRACKET + 1,
            limit: MAX_BRACKET,
        };
        assert_eq!(Group::new(b"[", &long, 0), Err(refused));
    }
}
