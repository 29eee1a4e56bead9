//! The bridge to the readers of traces: options go in as JSON, the event table is a file, the report comes out as JSON.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use iocast_core::error::Error;
use iocast_core::plan::replay_plan::ReplayPlan;
use iocast_core::replay::survey;
use iocast_core::trace::format_list::READERS;
use iocast_core::trace::read_traces::read_to_parquet;
use iocast_core::trace::reader::Options;
use iocast_core::trace::readers::programs::fio_log_counts::FioLogCounts;
use iocast_core::trace::readers::programs::strace_calls;
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

/// A whole log of fio as counts (fio_log_counts.rs), fed with its bytes.
#[pyclass(frozen, module = "iocast._core")]
pub struct FioLog {
    counts: Mutex<Option<FioLogCounts>>,
}

#[pymethods]
impl FioLog {
    #[new]
    fn new(kind: &str) -> FioLog {
        FioLog { counts: Some(FioLogCounts::new(kind)).into() }
    }

    /// More of its bytes; false where nothing more is to be read.
    fn feed(&self, py: Python<'_>, data: &[u8]) -> bool {
        py.detach(|| {
            let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
            counts.as_mut().is_some_and(|counts| counts.feed(data))
        })
    }

    /// What is in it, as JSON.
    fn finish(&self) -> PyResult<String> {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner).take();
        let counts = counts.ok_or_else(|| PyRuntimeError::new_err("the log has ended"))?;
        serde_json::to_string(&counts.finish()).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }
}

/// The calls of a trace of strace as they were asked for (strace_calls.rs), fed with its lines.
#[pyclass(frozen, module = "iocast._core")]
#[derive(Default)]
pub struct StraceCalls {
    calls: Mutex<strace_calls::StraceCalls>,
}

#[pymethods]
impl StraceCalls {
    #[new]
    fn new() -> StraceCalls {
        StraceCalls::default()
    }

    /// The calls in more whole lines, as JSON.
    fn feed(&self, py: Python<'_>, lines: &[u8]) -> PyResult<String> {
        let found = py.detach(|| self.calls.lock().unwrap_or_else(PoisonError::into_inner).feed(lines));
        serde_json::to_string(&found).map_err(|error| PyRuntimeError::new_err(error.to_string()))
    }
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
