//! The bridge to captures: options go in as JSON, the event table is a file, progress and report come out as JSON.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use iocast_core::capture::recorder;
use iocast_core::error::Error;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::core_error::refused;

/// A capture, from its making until `finish` or `stop`.
#[pyclass(frozen, module = "iocast._core")]
pub struct Capture {
    capture: Mutex<Option<recorder::Capture>>,
}

fn over() -> PyErr {
    PyRuntimeError::new_err("the capture has ended")
}

fn unsaid(error: &serde_json::Error) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

#[pymethods]
impl Capture {
    #[new]
    fn new(py: Python<'_>, options_json: &str, to: PathBuf) -> PyResult<Capture> {
        let options: recorder::Options =
            serde_json::from_str(options_json).map_err(|e| refused(Error::Plan(e.to_string())))?;
        let capture = py.detach(|| recorder::Capture::start(&options, to)).map_err(refused)?;
        Ok(Capture { capture: Some(capture).into() })
    }

    /// What somebody should know of how it was set up.
    fn notes(&self) -> Vec<String> {
        let capture = self.capture.lock().unwrap_or_else(PoisonError::into_inner);
        capture.as_ref().map(|capture| capture.notes().to_vec()).unwrap_or_default()
    }

    /// Events and lost records so far, as JSON.
    fn progress(&self, py: Python<'_>) -> PyResult<String> {
        let progress = py.detach(|| {
            let capture = self.capture.lock().unwrap_or_else(PoisonError::into_inner);
            capture.as_ref().map(recorder::Capture::progress)
        });
        let progress = progress.ok_or_else(over)?.map_err(refused)?;
        serde_json::to_string(&progress).map_err(|error| unsaid(&error))
    }

    /// Ends it and writes the table; the report of a trace, as JSON.
    fn finish(&self, py: Python<'_>) -> PyResult<String> {
        let report = py.detach(|| {
            let capture = self.capture.lock().unwrap_or_else(PoisonError::into_inner).take();
            capture.map(recorder::Capture::finish)
        });
        let report = report.ok_or_else(over)?.map_err(refused)?;
        serde_json::to_string(&report).map_err(|error| unsaid(&error))
    }

    /// Ends it without a table; harmless when it is over.
    fn stop(&self, py: Python<'_>) {
        py.detach(|| drop(self.capture.lock().unwrap_or_else(PoisonError::into_inner).take()));
    }
}
