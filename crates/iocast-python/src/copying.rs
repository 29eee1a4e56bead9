//! The bridge to copies of files: descriptors and an order as JSON go in, figures come out as JSON.

use std::os::fd::BorrowedFd;

use iocast_core::copy;
use iocast_core::error::Error;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;

use crate::core_error::refused;

/// Copies one descriptor to another in one way (an Order as JSON); returns a Copied as JSON. `on_tick(bytes)` is called
/// about ten times a second; false, or an exception, stops it.
#[pyfunction]
pub fn copy_file(
    py: Python<'_>,
    from_descriptor: i32,
    to_descriptor: i32,
    order_json: &str,
    on_tick: Py<PyAny>,
) -> PyResult<String> {
    let order: copy::Order =
        serde_json::from_str(order_json).map_err(|e| refused(Error::Plan(e.to_string())))?;
    let (from, to) = (held(from_descriptor)?, held(to_descriptor)?);
    json(serde_json::to_string(&ticking(py, &on_tick, |tick| copy::copy_file(from, to, &order, tick))?))
}

/// Digest and length of an open file, a Content as JSON; ticks as above.
#[pyfunction]
pub fn file_content(py: Python<'_>, descriptor: i32, on_tick: Py<PyAny>) -> PyResult<String> {
    let file = held(descriptor)?;
    json(serde_json::to_string(&ticking(py, &on_tick, |tick| copy::content_of(file, tick))?))
}

/// A descriptor that Python holds open during the call.
fn held(descriptor: i32) -> PyResult<BorrowedFd<'static>> {
    if descriptor < 0 {
        return Err(PyValueError::new_err("a descriptor is needed"));
    }
    // SAFETY: it is no -1, and the caller keeps it open, as the typed face says.
    Ok(unsafe { BorrowedFd::borrow_raw(descriptor) })
}

/// Does some work without Python's lock; what its ticks raise is raised at its end.
fn ticking<T: Send>(
    py: Python<'_>,
    on_tick: &Py<PyAny>,
    work: impl FnOnce(&mut dyn FnMut(u64) -> bool) -> iocast_core::error::Result<T> + Send,
) -> PyResult<T> {
    let mut raised: Option<PyErr> = None;
    let mut tick = |bytes: u64| {
        Python::attach(|py| {
            let said = py.check_signals().and_then(|()| on_tick.call1(py, (bytes,))?.extract::<bool>(py));
            said.unwrap_or_else(|error| {
                raised = Some(error);
                false
            })
        })
    };
    let made = py.detach(|| work(&mut tick));
    if let Some(error) = raised {
        return Err(error);
    }
    made.map_err(refused)
}

fn json(made: serde_json::Result<String>) -> PyResult<String> {
    made.map_err(|error| PyRuntimeError::new_err(error.to_string()))
}
