//! Text as an argument: a string that has no UTF-8 form is the caller's bad input, named with its place.

use pyo3::exceptions::PyUnicodeEncodeError;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::errors::exception;

/// The UTF-8 form of a string.
#[derive(Clone, Copy)]
pub(super) struct Text<'a>(pub(super) &'a str);

impl<'a> FromPyObject<'a, '_> for Text<'a> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, '_, PyAny>) -> PyResult<Self> {
        object.extract().map(Self).map_err(|error| named(object.py(), error))
    }
}

/// The UTF-8 form of a string that is held already.
pub(super) fn utf8<'a>(text: &'a Bound<'_, PyString>) -> PyResult<&'a str> {
    text.to_str().map_err(|error| named(text.py(), error))
}

/// `InvalidText` for what cannot be encoded; other errors as they are.
fn named(py: Python<'_>, error: PyErr) -> PyErr {
    if !error.is_instance_of::<PyUnicodeEncodeError>(py) {
        return error;
    }
    let place = error
        .value(py)
        .getattr("start")
        .and_then(|start| start.extract::<usize>());
    let place = place.map_or_else(|_| "an unknown place".into(), |start| format!("character {start}"));
    let message = format!(
        "a lone surrogate at {place} has no UTF-8 form; mend the text with \
         text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')"
    );
    exception(py, "InvalidText", message)
}
