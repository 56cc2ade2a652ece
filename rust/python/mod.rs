//! The door to Python: newtypes around the core, `detach` around long work, one crossing for errors. Nobody imports it.

mod buffers;
mod errors;
mod growing;
mod history;
mod numbers;
mod text;
mod tokens;

use pyo3::prelude::*;

/// The native half of muntin. The public faces are the modules of the package `muntin`.
#[pymodule]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::growing::{PyMeasuredText, PyTokenStream};
    #[pymodule_export]
    use super::history::PyHistory;
    #[pymodule_export]
    use super::tokens::PyTokenizer;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
