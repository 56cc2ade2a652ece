//! `Tokenizer` for Python.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 extracts arguments by value")]

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use super::growing::{PyMeasuredText, PyTokenStream};
use super::numbers::Number;
use super::text::{Text, utf8};
use crate::tokens::{Measured, Tokenizer, count_many};

/// Bytes of text from which on other threads may run meanwhile; below, letting go of them costs more than counting.
pub(super) const LONG: usize = 16 * 1024;

/// A vocabulary with its pre-tokeniser.
#[pyclass(frozen, name = "Tokenizer", module = "muntin._core")]
pub(super) struct PyTokenizer(&'static Tokenizer);

#[pymethods]
impl PyTokenizer {
    #[staticmethod]
    fn builtin(py: Python<'_>, encoding: Text<'_>) -> PyResult<Self> {
        // Reading a vocabulary takes milliseconds, and another thread may be reading the same one.
        Ok(Self(py.detach(|| Tokenizer::builtin(encoding.0))?))
    }

    #[getter]
    fn name(&self) -> &'static str {
        self.0.name()
    }

    #[getter]
    fn n_vocab(&self) -> u32 {
        self.0.n_vocab()
    }

    #[getter]
    fn special_tokens<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let tokens = PyDict::new(py);
        for (text, id) in self.0.special_tokens() {
            tokens.set_item(text, id)?;
        }
        Ok(tokens)
    }

    #[pyo3(signature = (text, special = false))]
    fn count(&self, py: Python<'_>, text: Text<'_>, special: bool) -> usize {
        let count = || self.0.count(text.0, special);
        if text.0.len() < LONG { count() } else { py.detach(count) }
    }

    #[pyo3(signature = (texts, threads = Number(1)))]
    #[pyo3(text_signature = "($self, texts, threads=1)")]
    fn count_many<'py>(
        &self,
        py: Python<'py>,
        texts: Vec<Bound<'py, PyString>>,
        threads: Number<u32>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let texts = texts.iter().map(utf8).collect::<PyResult<Vec<&str>>>()?;
        let threads = match threads.0 {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads as usize,
        };
        let counts = py.detach(|| native(&count_many(self.0, &texts, threads)));
        Ok(PyBytes::new(py, &counts))
    }

    #[pyo3(signature = (text, special = false))]
    fn encode(&self, py: Python<'_>, text: Text<'_>, special: bool) -> Vec<u32> {
        let encode = || self.0.encode(text.0, special);
        if text.0.len() < LONG {
            encode()
        } else {
            py.detach(encode)
        }
    }

    #[pyo3(signature = (text, special = false))]
    fn encode_bytes<'py>(&self, py: Python<'py>, text: Text<'_>, special: bool) -> Bound<'py, PyBytes> {
        let encode = || native(&self.0.encode(text.0, special));
        let tokens = if text.0.len() < LONG {
            encode()
        } else {
            py.detach(encode)
        };
        PyBytes::new(py, &tokens)
    }

    fn stream(&self) -> PyTokenStream {
        PyTokenStream::new(self.0)
    }

    fn measure(&self, py: Python<'_>, text: Text<'_>) -> PyMeasuredText {
        let measure = || Measured::new(self.0, text.0);
        let measured = if text.0.len() < LONG {
            measure()
        } else {
            py.detach(measure)
        };
        measured.into()
    }

    fn decode_bytes<'py>(&self, py: Python<'py>, tokens: Vec<Number<u32>>) -> PyResult<Bound<'py, PyBytes>> {
        let tokens: Vec<u32> = tokens.iter().map(|token| token.0).collect();
        Ok(PyBytes::new(py, &py.detach(|| self.0.decode(&tokens))?))
    }
}

/// Numbers as the machine holds them, for arrays that read them in place.
fn native(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_ne_bytes()).collect()
}
