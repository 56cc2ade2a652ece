//! `TokenStream` and `MeasuredText` for Python. Both are public as they are: a call costs less than a wrapper around it would.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 extracts arguments by value")]

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;

use super::numbers::{Number, Offset};
use super::text::Text;
use super::tokens::LONG;
use crate::Held;
use crate::tokens::{Measured, Stream, Tokenizer};

/// A text that is still being written, and its exact tokens. `Tokenizer.stream` makes one.
#[pyclass(frozen, name = "TokenStream", module = "muntin")]
pub(super) struct PyTokenStream(Mutex<Stream>);

// As for the history: nothing of Python is touched under the lock, and a poisoned one is used like any other.
impl PyTokenStream {
    pub(super) fn new(tokenizer: Held<Tokenizer>) -> Self {
        Self(Mutex::new(Stream::new(tokenizer)))
    }

    fn with<T>(&self, act: impl FnOnce(&mut Stream) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[pymethods]
impl PyTokenStream {
    /// Add text and return the tokens of all text so far.
    fn append(&self, py: Python<'_>, delta: Text<'_>) -> PyResult<usize> {
        let append = || self.with(|stream| stream.append(delta.0));
        Ok(if delta.0.len() < LONG {
            append()
        } else {
            py.detach(append)
        }?)
    }

    /// Add UTF-8 that may begin and end inside a character, and return the tokens of all whole characters so far.
    fn append_bytes(&self, py: Python<'_>, delta: &[u8]) -> PyResult<usize> {
        let append = || self.with(|stream| stream.append_bytes(delta));
        Ok(if delta.len() < LONG {
            append()
        } else {
            py.detach(append)
        }?)
    }

    /// Keep so many characters and return their tokens.
    fn truncate(&self, length: Number<usize>) -> PyResult<usize> {
        Ok(self.with(|stream| stream.truncate_chars(length.0))?)
    }

    /// A stream that goes on by itself from here.
    fn fork(&self) -> Self {
        Self(Mutex::new(self.with(|stream| stream.fork())))
    }

    /// Tokens of all text so far.
    #[getter]
    fn tokens(&self) -> usize {
        self.with(|stream| stream.tokens())
    }

    /// All text so far.
    #[getter]
    fn text(&self) -> String {
        self.with(|stream| stream.text())
    }

    /// Bytes of an unfinished character that wait for the others: 0 to 3.
    #[getter]
    fn held(&self) -> usize {
        self.with(|stream| stream.held())
    }

    /// The encoding's name.
    #[getter]
    fn encoding(&self) -> String {
        self.with(|stream| stream.tokenizer().name().to_owned())
    }

    fn __len__(&self) -> usize {
        self.with(|stream| stream.chars())
    }

    /// True, though it may be empty: `if stream` asks whether there is one.
    #[allow(clippy::unused_self, reason = "Python passes it")]
    fn __bool__(&self) -> bool {
        true
    }

    fn __repr__(&self) -> String {
        self.with(|stream| {
            let (name, chars, tokens) = (stream.tokenizer().name(), stream.chars(), stream.tokens());
            format!("<TokenStream {name}: {tokens} tokens, {chars} characters>")
        })
    }
}

/// A text measured once: the exact tokens of any slice, and cuts that fit a budget. `Tokenizer.measure` makes one.
#[pyclass(frozen, name = "MeasuredText", module = "muntin")]
pub(super) struct PyMeasuredText(Measured);

impl From<Measured> for PyMeasuredText {
    fn from(measured: Measured) -> Self {
        Self(measured)
    }
}

#[pymethods]
impl PyMeasuredText {
    /// Tokens of `text[start:stop]`.
    #[pyo3(signature = (start = None, stop = None))]
    fn count(&self, start: Option<Offset>, stop: Option<Offset>) -> usize {
        let len = self.0.chars();
        let start = start.map_or(0, |start| start.within(len));
        let stop = stop.map_or(len, |stop| stop.within(len));
        self.0.count_chars(start, stop)
    }

    /// Tokens of the UTF-8 bytes `start` to `stop`.
    fn count_bytes(&self, start: Number<usize>, stop: Number<usize>) -> PyResult<usize> {
        Ok(self.0.count(start.0, stop.0)?)
    }

    /// The longest beginning that has at most `budget` tokens.
    fn head(&self, py: Python<'_>, budget: Number<usize>) -> &str {
        py.detach(|| self.0.head(budget.0))
    }

    /// The longest end that has at most `budget` tokens.
    fn tail(&self, py: Python<'_>, budget: Number<usize>) -> &str {
        py.detach(|| self.0.tail(budget.0))
    }

    /// Both ends with a marker between them, in all at most `budget` tokens; the whole text where it fits.
    #[pyo3(signature = (budget, marker = Text("… {omitted} tokens left out …")))]
    #[pyo3(text_signature = "($self, budget, marker='… {omitted} tokens left out …')")]
    fn middle(&self, py: Python<'_>, budget: Number<usize>, marker: Text<'_>) -> PyResult<String> {
        Ok(py.detach(|| self.0.middle(budget.0, marker.0))?)
    }

    /// Tokens of the whole text.
    #[getter]
    fn tokens(&self) -> usize {
        self.0.tokens()
    }

    /// The whole text.
    #[getter]
    fn text(&self) -> &str {
        self.0.text()
    }

    /// The encoding's name.
    #[getter]
    fn encoding(&self) -> &str {
        self.0.tokenizer().name()
    }

    fn __len__(&self) -> usize {
        self.0.chars()
    }

    fn __repr__(&self) -> String {
        let (name, chars, tokens) = (self.0.tokenizer().name(), self.0.chars(), self.0.tokens());
        format!("<MeasuredText {name}: {tokens} tokens, {chars} characters>")
    }
}
