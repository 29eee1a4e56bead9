//! `CoreError`: an error of the core as Python's exception.

use iocast_core::error::Error;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;

create_exception!(
    _core,
    CoreError,
    PyException,
    "The core refused a plan or could not start: (message, hint, errno or None)."
);

/// What Python is told of it.
pub fn refused(error: Error) -> PyErr {
    CoreError::new_err((error.to_string(), error.hint(), error.errno()))
}
