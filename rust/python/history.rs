//! `History` for Python.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 extracts arguments by value")]

use std::sync::{PoisonError, RwLock};

use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;

use super::buffers::{LONG, buffer, copy};
use super::numbers::{Index, Number};
use crate::boundary;
use crate::history::{Call, Grade, Group, History, Unit};

/// The units of a conversation in append-only shared chunks: wire bytes, tokens, digests, pairing.
#[pyclass(frozen, name = "History", module = "muntin._core")]
pub(super) struct PyHistory(RwLock<History>);

// No Python object is made or dropped while the lock is held, exceptions included: that could start a collection, run
// any code, and wait for a thread that waits for the lock. So all access goes through two functions that know no
// Python.
//
// A panic under the lock would be a bug, but it could not make later calls unsound: the core has no unsafe code. So a
// poisoned lock is used like any other.
impl PyHistory {
    fn look<T>(&self, ask: impl FnOnce(&History) -> T) -> T {
        ask(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn change<T>(&self, change: impl FnOnce(&mut History) -> T) -> T {
        change(&mut self.0.write().unwrap_or_else(PoisonError::into_inner))
    }
}

impl From<History> for PyHistory {
    fn from(history: History) -> Self {
        Self(RwLock::new(history))
    }
}

/// A place as Python gives it: the end by default.
fn place(history: &History, at: Option<Index>) -> usize {
    at.map_or_else(|| history.len(), |at| at.0)
}

#[pymethods]
impl PyHistory {
    #[new]
    fn new(groups: Vec<(PyBackedBytes, PyBackedBytes, Number<u32>)>) -> PyResult<Self> {
        let groups = groups
            .iter()
            .map(|(open, close, tokens)| Group::new(open, close, tokens.0));
        Ok(History::new(groups.collect::<crate::Result<_>>()?)?.into())
    }

    #[pyo3(signature = (group, wire, tokens, entry, kind = Number(0), opens = Vec::new(), closes = Vec::new()))]
    #[pyo3(text_signature = "($self, group, wire, tokens, entry, kind=0, opens=(), closes=())")]
    #[allow(clippy::too_many_arguments, reason = "the columns of a unit")]
    fn append(
        &self,
        py: Python<'_>,
        group: Number<usize>,
        wire: &[u8],
        tokens: Number<u32>,
        entry: Number<u32>,
        kind: Number<u8>,
        opens: Vec<String>,
        closes: Vec<String>,
    ) -> PyResult<usize> {
        let made = opens.iter().map(|id| Call::Made(id));
        let calls: Vec<Call<'_>> = made.chain(closes.iter().map(|id| Call::Answered(id))).collect();
        let unit = Unit {
            group: group.0,
            wire,
            tokens: tokens.0,
            entry: entry.0,
            kind: kind.0,
            calls: &calls,
        };
        let append = || self.change(|history| history.append(&unit));
        Ok(if wire.len() < LONG { append() } else { py.detach(append) }?)
    }

    fn extend(&self, py: Python<'_>, other: &Bound<'_, Self>, start: Index, stop: Index) -> PyResult<()> {
        let other = other.get();
        let extended = py.detach(|| {
            // A fork, so that never two locks are held: `other` may be this history, or be extended by it just now.
            let other = other.look(History::clone);
            self.change(|history| history.extend(&other, start.0..stop.0))
        });
        Ok(extended?)
    }

    #[pyo3(signature = (at = None))]
    fn fork(&self, at: Option<Index>) -> PyResult<Self> {
        let fork = self.look(|history| history.fork(place(history, at)));
        Ok(fork?.into())
    }

    fn __len__(&self) -> usize {
        self.look(History::len)
    }

    #[pyo3(signature = (start = Index(0), stop = None), text_signature = "($self, start=0, stop=None)")]
    fn total(&self, start: Index, stop: Option<Index>) -> PyResult<u64> {
        Ok(self.look(|history| history.total(start.0..place(history, stop)))?)
    }

    #[pyo3(signature = (start = Index(0), stop = None), text_signature = "($self, start=0, stop=None)")]
    fn byte_len(&self, start: Index, stop: Option<Index>) -> PyResult<u64> {
        Ok(self.look(|history| history.byte_len(start.0..place(history, stop)))?)
    }

    fn digest<'py>(&self, py: Python<'py>, unit: Index) -> PyResult<Bound<'py, PyBytes>> {
        let digest = self.look(|history| history.digest(unit.0))?;
        Ok(PyBytes::new(py, &digest.to_be_bytes()))
    }

    fn chain<'py>(&self, py: Python<'py>, n: Index) -> PyResult<Bound<'py, PyBytes>> {
        let chain = self.look(|history| history.chain(n.0))?;
        Ok(PyBytes::new(py, &chain.to_be_bytes()))
    }

    fn common_prefix(&self, other: &Bound<'_, Self>) -> usize {
        let other = other.get().look(History::clone);
        self.look(|history| history.common_prefix(&other))
    }

    fn entry(&self, unit: Index) -> PyResult<u32> {
        Ok(self.look(|history| history.entry(unit.0))?)
    }

    fn kind(&self, unit: Index) -> PyResult<u8> {
        Ok(self.look(|history| history.kind(unit.0))?)
    }

    fn group(&self, unit: Index) -> PyResult<usize> {
        Ok(self.look(|history| history.group(unit.0))?)
    }

    fn wire<'py>(&self, py: Python<'py>, unit: Index) -> PyResult<Bound<'py, PyBytes>> {
        let wire = self.look(|history| history.wire(unit.0))?;
        copy(py, wire.as_ref())
    }

    fn kinds<'py>(&self, py: Python<'py>, start: Index, stop: Index) -> PyResult<Bound<'py, PyBytes>> {
        let kinds = self.look(|history| history.kinds(start.0..stop.0))?;
        copy(py, &kinds)
    }

    fn entries(&self, start: Index, stop: Index) -> PyResult<Vec<u32>> {
        Ok(self.look(|history| history.entries(start.0..stop.0))?)
    }

    fn slices<'py>(&self, py: Python<'py>, start: Index, stop: Index) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let pieces = self.look(|history| history.pieces(start.0..stop.0))?;
        pieces.into_iter().map(|piece| buffer(py, piece)).collect()
    }

    #[pyo3(signature = (group, at = None))]
    fn lead<'py>(&self, py: Python<'py>, group: Number<usize>, at: Option<Index>) -> PyResult<Bound<'py, PyBytes>> {
        let lead = self.look(|history| history.lead(group.0, place(history, at)))?;
        Ok(PyBytes::new(py, &lead))
    }

    #[pyo3(signature = (at = None))]
    fn close<'py>(&self, py: Python<'py>, at: Option<Index>) -> PyResult<Bound<'py, PyBytes>> {
        let close = self.look(|history| history.close(place(history, at)).map(<[u8]>::to_vec))?;
        Ok(PyBytes::new(py, &close))
    }

    fn open_calls(&self) -> Vec<String> {
        self.look(|history| history.open_calls().into_iter().map(str::to_owned).collect())
    }

    fn is_legal(&self, cut: Index) -> PyResult<bool> {
        Ok(self.look(|history| history.cut(cut.0))?.is_some())
    }

    fn grade(&self, cut: Index) -> PyResult<u8> {
        let grade = self.look(|history| history.cut(cut.0))?;
        Ok(grade.unwrap_or(Grade::Plain) as u8)
    }

    fn of_kind(&self, start: Index, stop: Index, bits: Number<u8>) -> PyResult<Vec<usize>> {
        Ok(self.look(|history| history.of_kind(start.0..stop.0, bits.0))?)
    }

    fn answers(&self, start: Index, stop: Index) -> PyResult<Vec<usize>> {
        Ok(self.look(|history| history.answer_units(start.0..stop.0))?)
    }

    fn clearable(&self, start: Index, stop: Index, keep: Number<u64>) -> PyResult<Option<(usize, usize, usize, u64)>> {
        let found = self.look(|history| boundary::clearable(history, start.0, stop.0, keep.0))?;
        Ok(found.map(|(end, first, answers)| (end, first, answers.units, answers.tokens)))
    }

    fn search(
        &self,
        start: Index,
        stop: Index,
        keep: Number<u64>,
        tolerance: Number<u64>,
    ) -> PyResult<Option<(usize, u8)>> {
        let found = self.look(|history| boundary::search(history, start.0, stop.0, keep.0, tolerance.0))?;
        Ok(found.map(|(cut, grade)| (cut, grade as u8)))
    }
}
