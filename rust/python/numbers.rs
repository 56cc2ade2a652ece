//! Integers as arguments: one that does not fit is the caller's bad input, not an `OverflowError`.

use pyo3::exceptions::{PyIndexError, PyOverflowError};
use pyo3::prelude::*;

use super::errors::exception;

/// A unit, or a place between units. One that no history can have raises `IndexError`.
#[derive(Clone, Copy)]
pub(super) struct Index(pub(super) usize);

impl<'py> FromPyObject<'_, 'py> for Index {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let refused = |_| PyIndexError::new_err("no history has such a unit");
        fitting(object, refused).map(Self)
    }
}

/// A number of the type `T`. One that does not fit raises `InputError`.
#[derive(Clone, Copy)]
pub(super) struct Number<T>(pub(super) T);

impl<'py, T> FromPyObject<'_, 'py> for Number<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let bits = 8 * size_of::<T>();
        let refused = |py| exception(py, "InputError", format!("a number is not in 0 <= n < 2**{bits}"));
        fitting(object, refused).map(Self)
    }
}

/// A place in a text as slices take it: from the end where it is negative, and the end where it lies beyond.
#[derive(Clone, Copy)]
pub(super) struct Offset(isize);

impl Offset {
    /// The place in a text of so many characters.
    pub(super) fn within(self, len: usize) -> usize {
        let back = self.0.unsigned_abs();
        if self.0 < 0 {
            len.saturating_sub(back)
        } else {
            back.min(len)
        }
    }
}

impl FromPyObject<'_, '_> for Offset {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        match object.extract::<isize>() {
            Err(error) if error.is_instance_of::<PyOverflowError>(object.py()) => {
                let end = if object.lt(0)? { isize::MIN } else { isize::MAX };
                Ok(Self(end))
            }
            place => place.map(Self),
        }
    }
}

fn fitting<'py, T>(object: Borrowed<'_, 'py, PyAny>, refused: impl FnOnce(Python<'py>) -> PyErr) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py, Error = PyErr>,
{
    let py = object.py();
    let named = |error: PyErr| {
        if error.is_instance_of::<PyOverflowError>(py) {
            refused(py)
        } else {
            error
        }
    };
    object.extract().map_err(named)
}
