//! The bridge to the readers of traces: options go in as JSON, the event table is a file, the report comes out as JSON.

use std::path::PathBuf;

use iocast_core::error::Error;
use iocast_core::trace::format_list::READERS;
use iocast_core::trace::read_traces::read_to_parquet;
use iocast_core::trace::reader::Options;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::core_error::refused;

/// Reads traces into one Parquet file of events; returns the report (report.rs) as JSON.
#[pyfunction]
pub fn read_traces(py: Python<'_>, paths: Vec<PathBuf>, options_json: &str, to: PathBuf) -> PyResult<String> {
    let options: Options = serde_json::from_str(options_json).map_err(|error| {
        let hint = "docs/guide/traces.md lists the options";
        refused(Error::Trace { why: format!("options of a trace: {error}"), hint })
    })?;
    let report = py.detach(|| read_to_parquet(&paths, &options, &to)).map_err(refused)?;
    serde_json::to_string(&report).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// Name and description of every format, in order of sniffing.
#[pyfunction]
pub fn trace_formats() -> Vec<(&'static str, &'static str)> {
    READERS.iter().map(|format| (format.name, format.says)).collect()
}
