//! The bridge to the readers of traces: options go in as JSON, the event table is a file, the report comes out as JSON.

use std::path::PathBuf;

use iocast_core::error::Error;
use iocast_core::plan::replay_plan::ReplayPlan;
use iocast_core::replay::survey;
use iocast_core::trace::format_list::READERS;
use iocast_core::trace::read_traces::read_to_parquet;
use iocast_core::trace::reader::Options;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::core_error::refused;

/// Reads traces into one Parquet file of events, and one of calls where `calls_to` names it; returns the report (report.rs) as JSON.
#[pyfunction]
#[pyo3(signature = (paths, options_json, to, calls_to = None))]
pub fn read_traces(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    options_json: &str,
    to: PathBuf,
    calls_to: Option<PathBuf>,
) -> PyResult<String> {
    let options: Options = serde_json::from_str(options_json).map_err(|error| {
        let hint = "docs/guide/traces.md lists the options";
        refused(Error::Trace { why: format!("options of a trace: {error}"), hint })
    })?;
    let report =
        py.detach(|| read_to_parquet(&paths, &options, &to, calls_to.as_deref())).map_err(refused)?;
    serde_json::to_string(&report).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// Name and description of every format, in order of sniffing.
#[pyfunction]
pub fn trace_formats() -> Vec<(&'static str, &'static str)> {
    READERS.iter().map(|format| (format.name, format.says)).collect()
}

/// What a replay (a ReplayPlan as JSON) would be, at intervals of so many ns; as JSON (replay/survey.rs).
#[pyfunction]
pub fn replay_survey(py: Python<'_>, plan_json: &str, interval_ns: u64) -> PyResult<String> {
    let plan: ReplayPlan =
        serde_json::from_str(plan_json).map_err(|e| refused(Error::Plan(e.to_string())))?;
    let found = py.detach(|| survey::survey(&plan, interval_ns)).map_err(refused)?;
    serde_json::to_string(&found).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}
