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
}

/// A result of the core.
pub type Result<T> = std::result::Result<T, Error>;
