//! The one error of the core.

use thiserror::Error as ThisError;

/// What the core refuses, and why.
#[derive(Debug, Clone, PartialEq, Eq, ThisError)]
#[non_exhaustive]
pub enum Error {
    /// No vocabulary of this name is built in.
    #[error("unknown encoding {name:?}; built in are {known}")]
    UnknownEncoding {
        /// The name that was asked for.
        name: String,
        /// The names that exist, joined by commas.
        known: String,
    },
    /// A token id that the vocabulary does not have.
    #[error("token {id} is not in the vocabulary of {encoding}, which has ids below {limit}")]
    UnknownToken {
        /// The id.
        id: u32,
        /// The encoding's name.
        encoding: String,
        /// The first id that cannot exist.
        limit: u32,
    },
    /// A pattern that no scan is written for.
    #[error("the pattern of {encoding} is none that is known: {pattern}")]
    UnknownPattern {
        /// The encoding's name.
        encoding: String,
        /// Its regular expressions, in their order.
        pattern: String,
    },
    /// A vocabulary in which a byte is no token, so that not every text has tokens.
    #[error("the vocabulary of {encoding} has no token for the byte {byte:#04x}; each of the 256 must be one")]
    MissingByte {
        /// The encoding's name.
        encoding: String,
        /// The first byte that is missing.
        byte: u8,
    },
    /// A vocabulary that contradicts itself, or is larger than counting allows.
    #[error("the vocabulary of {encoding} is not usable: {why}")]
    BadVocabulary {
        /// The encoding's name.
        encoding: String,
        /// What is wrong with it.
        why: String,
    },
    /// Bytes that are no UTF-8, whatever follows them.
    #[error(
        "byte {at} of the text is not UTF-8; replace it, or decode the stream with errors=\"replace\" and append text"
    )]
    InvalidUtf8 {
        /// The first byte that no character has, counted from the beginning of the text.
        at: usize,
    },
    /// Text behind bytes of a character that is not complete.
    #[error("{held} bytes of an unfinished character wait for the rest; append that as bytes before any text")]
    UnfinishedCharacter {
        /// How many bytes wait.
        held: usize,
    },
    /// An offset inside a character.
    #[error("byte {offset} lies inside a character; offsets stand between characters")]
    InsideCharacter {
        /// The offset, in bytes.
        offset: usize,
    },
    /// An offset behind the text's end.
    #[error("offset {offset} lies behind the text, which ends at {len}")]
    BeyondText {
        /// The offset that was asked for.
        offset: usize,
        /// How long the text is, in the same unit.
        len: usize,
    },
    /// A tokenizer that does not count a slice of a text as it counts the text.
    #[error(
        "{encoding} takes added tokens out of every text or normalises it, so slices of a text are not measured; count them one by one"
    )]
    NotMeasurable {
        /// The encoding's name.
        encoding: String,
    },
    /// A marker that leaves no room for text.
    #[error("the marker alone has {tokens} tokens, more than the budget of {budget}; shorten it or raise the budget")]
    MarkerTooLong {
        /// Tokens of the marker.
        tokens: usize,
        /// Tokens that the whole may have.
        budget: usize,
    },
    /// A call under an id whose first call still waits for its answer.
    #[error("call {id:?} is open already")]
    DuplicateCall {
        /// The id.
        id: String,
    },
    /// An answer to a call that is not open.
    #[error("call {id:?} is not open")]
    UnknownCall {
        /// The id.
        id: String,
    },
    /// A unit, or a place between units, that the history does not have.
    #[error("{unit} lies beyond the {len} units of the history")]
    UnitOutOfRange {
        /// The unit or place that was asked for.
        unit: usize,
        /// How many units there are.
        len: usize,
    },
    /// A range of units that ends before it begins.
    #[error("the range {start}..{stop} ends before it begins")]
    ReversedRange {
        /// The first unit.
        start: usize,
        /// One more than the last unit.
        stop: usize,
    },
    /// A group that the history was not made with.
    #[error("there is no group {group}; the history has {groups}")]
    UnknownGroup {
        /// The number that was asked for.
        group: usize,
        /// How many groups there are.
        groups: usize,
    },
    /// More groups than a history may have.
    #[error("{groups} groups are more than the {limit} that a history may have")]
    TooManyGroups {
        /// How many groups were given.
        groups: usize,
        /// How many are allowed.
        limit: usize,
    },
    /// The bytes that open or close a group are too many.
    #[error("a group opens or closes with {bytes} bytes; at most {limit} are allowed")]
    GroupTooLarge {
        /// The length of the longer of both.
        bytes: usize,
        /// How many bytes are allowed.
        limit: usize,
    },
    /// Units of one history cannot stand in another that was made with other groups.
    #[error("the two histories have different groups")]
    DifferentGroups,
    /// A unit's wire bytes and call ids are too many.
    #[error("a unit of {bytes} bytes is too large; at most {limit} are allowed")]
    UnitTooLarge {
        /// Bytes of the wire and of the ids.
        bytes: usize,
        /// How many bytes are allowed.
        limit: usize,
    },
}

/// A result of the core.
pub type Result<T> = std::result::Result<T, Error>;
