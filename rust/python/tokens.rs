//! `Tokenizer` for Python.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 extracts arguments by value")]

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString};

use super::growing::{PyMeasuredText, PyTokenStream};
use super::numbers::Number;
use super::text::{Text, utf8};
use crate::Held;
use crate::tokens::{Added, Measured, Merge, Parts, Tokenizer, count_many};

/// Bytes of text from which on other threads may run meanwhile; below, letting go of them costs more than counting.
pub(super) const LONG: usize = 16 * 1024;

/// A vocabulary with its pre-tokeniser.
#[pyclass(frozen, name = "Tokenizer", module = "muntin._core")]
pub(super) struct PyTokenizer(Held<Tokenizer>);

/// An added token: text, id, special, normalized, lstrip, rstrip.
type AddedToken = (String, u32, bool, bool, bool, bool);

#[pymethods]
impl PyTokenizer {
    #[staticmethod]
    fn builtin(py: Python<'_>, encoding: Text<'_>) -> PyResult<Self> {
        // Reading a vocabulary takes milliseconds, and another thread may be reading the same one.
        Ok(Self(Held::Static(py.detach(|| Tokenizer::builtin(encoding.0))?)))
    }

    #[staticmethod]
    #[pyo3(signature = (name, patterns, tokens, *, merges = None, ignore_merges = false, added = vec![], others = vec![], nfc = false))]
    #[pyo3(
        text_signature = "(name, patterns, tokens, *, merges=None, ignore_merges=False, added=(), others=(), nfc=False)"
    )]
    #[allow(clippy::too_many_arguments, reason = "they are keywords")]
    fn custom(
        py: Python<'_>,
        name: String,
        patterns: Vec<String>,
        tokens: Vec<(Vec<u8>, u32)>,
        merges: Option<Vec<Merge>>,
        ignore_merges: bool,
        added: Vec<AddedToken>,
        others: Vec<(Vec<u8>, u32)>,
        nfc: bool,
    ) -> PyResult<Self> {
        let turned = |tokens: Vec<(Vec<u8>, u32)>| tokens.into_iter().map(|(token, id)| (id, token)).collect();
        let added = added
            .into_iter()
            .map(|(text, id, special, normalized, lstrip, rstrip)| Added {
                text,
                id,
                special,
                normalized,
                lstrip,
                rstrip,
            });
        let parts = Parts {
            name,
            patterns,
            tokens: turned(tokens),
            merges,
            ignore_merges,
            added: added.collect(),
            others: turned(others),
            nfc,
        };
        Ok(Self(Held::Shared(py.detach(|| Tokenizer::custom(parts))?.into())))
    }

    #[staticmethod]
    fn knows(patterns: Vec<String>) -> bool {
        Tokenizer::knows(&patterns)
    }

    #[getter]
    fn name(&self) -> &str {
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
        let counts = py.detach(|| native(&count_many(&self.0, &texts, threads)));
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
        PyTokenStream::new(self.0.clone())
    }

    fn measure(&self, py: Python<'_>, text: Text<'_>) -> PyResult<PyMeasuredText> {
        let measure = || Measured::new(self.0.clone(), text.0);
        let measured = if text.0.len() < LONG {
            measure()
        } else {
            py.detach(measure)
        };
        Ok(measured?.into())
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
