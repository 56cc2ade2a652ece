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
