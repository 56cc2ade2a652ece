//! The core of muntin: what must be fast about a model's context window.
//!
//! - [`tokens`]: exact token counts.
//! - [`prefix`]: digests that say how much of two requests is the same.
//! - [`history`]: the units of a conversation, with their wire bytes, tokens and pairing, in shared chunks.
//! - [`boundary`]: where old history may be cut, and which cut is best.
//!
//! Nothing here knows Python; the `python` module, behind the feature of that name, is the only door.

mod error;
mod held;

pub mod boundary;
pub mod history;
pub mod prefix;
pub mod tokens;

pub use error::{Error, Result};
pub use held::Held;

#[cfg(feature = "python")]
mod python;
