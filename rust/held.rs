//! What is either built in or somebody's own.

use std::ops::Deref;
use std::sync::Arc;

/// Something that lives as long as the process, or as long as it is held. A copy shares it.
pub enum Held<T: 'static> {
    /// One for the whole process.
    Static(&'static T),
    /// One that goes with its last holder.
    Shared(Arc<T>),
}

impl<T> Deref for Held<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        match self {
            Self::Static(it) => it,
            Self::Shared(it) => it,
        }
    }
}

impl<T> Clone for Held<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Static(it) => Self::Static(it),
            Self::Shared(it) => Self::Shared(Arc::clone(it)),
        }
    }
}

impl<T> From<&'static T> for Held<T> {
    fn from(it: &'static T) -> Self {
        Self::Static(it)
    }
}

impl<T> From<T> for Held<T> {
    fn from(it: T) -> Self {
        Self::Shared(Arc::new(it))
    }
}
