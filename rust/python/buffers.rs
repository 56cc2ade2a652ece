//! Bytes of the core as Python objects: views where the bytes can never change, copies elsewhere.

use std::ffi::c_int;
use std::ops::Range;
use std::sync::Arc;

use pyo3::exceptions::PyOverflowError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView};

use crate::history::{Chunk, Piece};

/// From so many bytes on a copy is worth letting other threads run.
pub(super) const LONG: usize = 64 * 1024;

/// A part of a sealed chunk, which lives as long as any view of it.
#[pyclass(frozen, module = "muntin._core")]
pub(super) struct Slice {
    chunk: Arc<Chunk>,
    range: Range<usize>,
}

// The buffer protocol hands out a pointer, so it cannot be had without `unsafe`. It is sound because
// - the bytes never change: the chunk is behind an `Arc`, has no interior mutability, and the class is frozen;
// - they never move or go: `PyBuffer_FillInfo` stores a reference to this object in the view, this object keeps the
//   `Arc` for as long as it lives, and the bytes of a chunk are reallocated by nothing but a change;
// - nobody writes: the buffer is declared read-only, and a request for a writable one is refused with `BufferError`.
#[allow(
    unsafe_code,
    clippy::needless_pass_by_value,
    reason = "see above, and PyO3 passes the object by value"
)]
#[pymethods]
impl Slice {
    /// # Safety
    ///
    /// `view` is what the interpreter passes: null, which is refused, or a buffer to be filled.
    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let this = slf.get();
        let bytes = &this.chunk.bytes()[this.range.clone()];
        let len =
            ffi::Py_ssize_t::try_from(bytes.len()).map_err(|error| PyOverflowError::new_err(error.to_string()))?;
        let start = bytes.as_ptr().cast_mut().cast();
        // SAFETY: `start` and `len` are those of a live slice that outlasts the view, see above.
        let filled = unsafe { ffi::PyBuffer_FillInfo(view, slf.as_ptr(), start, len, 1, flags) };
        if filled == 0 {
            Ok(())
        } else {
            Err(PyErr::fetch(slf.py()))
        }
    }
}

/// A read-only buffer of a piece: a view of a sealed chunk, `bytes` elsewhere.
pub(super) fn buffer(py: Python<'_>, piece: Piece) -> PyResult<Bound<'_, PyAny>> {
    match piece {
        Piece::Shared { chunk, range } => {
            let slice = Bound::new(py, Slice { chunk, range })?;
            Ok(PyMemoryView::from(slice.as_any())?.into_any())
        }
        Piece::Copied(bytes) => Ok(PyBytes::new(py, &bytes).into_any()),
    }
}

/// A copy as `bytes`. Long ones are made while other threads run.
pub(super) fn copy<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    if bytes.len() < LONG {
        return Ok(PyBytes::new(py, bytes));
    }
    PyBytes::new_with(py, bytes.len(), |target| {
        py.detach(|| target.copy_from_slice(bytes));
        Ok(())
    })
}
