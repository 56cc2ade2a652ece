//! The one crossing from errors of the core to exceptions.

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyType;

use crate::Error;

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        let message = error.to_string();
        let name = match error {
            Error::UnitOutOfRange { .. } => return PyIndexError::new_err(message),
            Error::UnknownEncoding { .. }
            | Error::UnknownToken { .. }
            | Error::UnknownPattern { .. }
            | Error::MissingByte { .. }
            | Error::NotMeasurable { .. }
            | Error::BadVocabulary { .. } => "EncodingError",
            Error::InvalidUtf8 { .. } => "InvalidText",
            Error::DuplicateCall { .. } => "DuplicateCall",
            Error::UnknownCall { .. } => "UnknownCall",
            Error::UnfinishedCharacter { .. }
            | Error::InsideCharacter { .. }
            | Error::BeyondText { .. }
            | Error::MarkerTooLong { .. }
            | Error::ReversedRange { .. }
            | Error::UnknownGroup { .. }
            | Error::TooManyGroups { .. }
            | Error::GroupTooLarge { .. }
            | Error::DifferentGroups
            | Error::UnitTooLarge { .. } => "InputError",
        };
        Python::attach(|py| exception(py, name, message))
    }
}

/// An exception of `muntin.exceptions`, by the name of its class.
pub(super) fn exception(py: Python<'_>, name: &str, message: String) -> PyErr {
    let class = py
        .import("muntin.exceptions")
        .and_then(|module| Ok(module.getattr(name)?.cast_into::<PyType>()?));
    class.map_or_else(|error| error, |class| PyErr::from_type(class, message))
}
