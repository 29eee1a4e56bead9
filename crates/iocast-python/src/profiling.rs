//! The bridge to the profile of an event table: options go in as JSON, characteristics come out as JSON.

use std::path::PathBuf;

use iocast_core::error::Error;
use iocast_core::profile::characterise::{CharacteriseOptions, characterise, in_order};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::core_error::refused;

/// What a table of events, in the order of time, is like; returns characteristics (characterise.rs) as JSON.
#[pyfunction]
pub fn characterise_events(py: Python<'_>, path: PathBuf, options_json: &str) -> PyResult<String> {
    let options: CharacteriseOptions = serde_json::from_str(options_json).map_err(|error| {
        refused(Error::Trace {
            why: format!("options of a profile: {error}"),
            hint: "this is a fault of iocast",
        })
    })?;
    let found = py.detach(|| characterise(&path, &options)).map_err(refused)?;
    serde_json::to_string(&found).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// Whether the events of a table are in the order of time.
#[pyfunction]
pub fn events_in_order(py: Python<'_>, path: PathBuf) -> PyResult<bool> {
    py.detach(|| in_order(&path)).map_err(refused)
}
