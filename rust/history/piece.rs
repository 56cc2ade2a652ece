//! Stored bytes that outlive a look at the history.

use std::ops::Range;
use std::sync::Arc;

use super::chunk::Chunk;

/// Immutable bytes of a history: shared with a sealed chunk, or a copy where the chunk still grows.
#[derive(Debug, Clone)]
pub enum Piece {
    /// A range of the bytes of a sealed chunk.
    Shared {
        /// The chunk, which keeps the bytes alive and in their place.
        chunk: Arc<Chunk>,
        /// The range, within the chunk's bytes.
        range: Range<usize>,
    },
    /// At most 64 KiB.
    Copied(Vec<u8>),
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Shared { chunk, range } => &chunk.bytes()[range.clone()],
            Self::Copied(bytes) => bytes,
        }
    }
}
