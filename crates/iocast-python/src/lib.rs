//! The bridge: converts and forwards, no logic. The typed face is `src/iocast/_core.pyi`.

mod blk_watch;
mod capturing;
mod copying;
mod core_error;
mod layer_watching;
mod profiling;
mod statistics;
mod table_batches;
mod traces;
mod trees;

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use iocast_core::engine::sim::world;
use iocast_core::error::Error;
use iocast_core::host::clocks;
use iocast_core::plan::{PhasePlan, ReadBack};
use iocast_core::record::interval_batch::batch;
use iocast_core::record::spool::Spooled;
use iocast_core::run::control::{Answer, Tick};
use iocast_core::run::perform;
use iocast_core::verify::read_back::read_back as core_read_back;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::core_error::{CoreError, refused};

/// The interval series of a phase, as an Arrow C stream: DuckDB scans it as it is.
#[pyclass(frozen, module = "iocast._core")]
struct Intervals {
    /// What was too much for memory, and comes first.
    spooled: Option<Spooled>,
    batch: RecordBatch,
}

#[pymethods]
impl Intervals {
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let spooled = self.spooled.as_ref().map(Spooled::read).transpose().map_err(failed)?;
        let last = std::iter::once(Ok(self.batch.clone()));
        let batches =
            RecordBatchIterator::new(spooled.into_iter().flatten().chain(last), self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows() + self.spooled.as_ref().map_or(0, Spooled::rows)
    }
}

/// The simulated device between the phases of a run; a new one holds a device as it is delivered.
#[pyclass(frozen, module = "iocast._core")]
#[derive(Default)]
struct SimWorld {
    world: world::SimWorld,
}

#[pymethods]
impl SimWorld {
    #[new]
    fn new() -> SimWorld {
        SimWorld::default()
    }

    fn copied(&self) -> SimWorld {
        SimWorld { world: self.world.copied() }
    }
}

/// Runs phases at once. `on_tick(elapsed_ns, ios, bytes, errors, response_ns)`, of all together, is called up to
/// ten times a second; false, or an exception, stops them, "enough" ends them well. Returns each one's result as
/// JSON and its interval series. A simulated device is the one that earlier phases left in `world`. Files that are in
/// `opened` are reached by those descriptors, and not by their paths. Series that are too long for memory wait in a
/// nameless file in the directory `spool`.
#[pyfunction]
#[pyo3(signature = (plans_json, on_tick, world=None, opened=HashMap::new(), spool=None))]
fn run_together(
    py: Python<'_>,
    plans_json: Vec<String>,
    on_tick: Py<PyAny>,
    world: Option<&SimWorld>,
    opened: HashMap<String, i32>,
    spool: Option<PathBuf>,
) -> PyResult<Vec<(String, Intervals)>> {
    let world = world.map(|kept| kept.world.clone()).unwrap_or_default();
    let mut plans: Vec<PhasePlan> = plans_json
        .iter()
        .map(|json| PhasePlan::from_json(json))
        .collect::<Result<_, _>>()
        .map_err(refused)?;
    for region in plans.iter_mut().flat_map(|plan| &mut plan.files) {
        region.opened = opened.get(&region.path).copied();
    }
    for verify in plans.iter_mut().filter_map(|plan| plan.verify.as_mut()) {
        verify.opened = opened.get(&verify.journal).copied();
    }
    plans.iter_mut().for_each(|plan| plan.spool.clone_from(&spool));
    let mut raised: Option<PyErr> = None;
    let tick = |tick: Tick| {
        Python::attach(|py| {
            let done = tick.counts;
            let arguments = (tick.elapsed_ns, done.ios, done.bytes, done.errors, done.response_ns);
            let said = py.check_signals().and_then(|()| on_tick.call1(py, arguments));
            said.and_then(|said| answer(said.bind(py))).unwrap_or_else(|error| {
                raised = Some(error);
                Answer::Stop
            })
        })
    };
    let results = py.detach(|| perform::run_together_in(&plans, &world, tick));
    if let Some(error) = raised {
        return Err(error);
    }
    let finished = plans.iter().zip(results.map_err(refused)?);
    finished
        .map(|(plan, result)| {
            let json = serde_json::to_string(&result).map_err(failed)?;
            let batch = batch(&result.intervals, plan.interval_ns).map_err(failed)?;
            Ok((json, Intervals { spooled: result.spooled, batch }))
        })
        .collect()
}

fn failed(why: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(why.to_string())
}

fn answer(said: &Bound<'_, PyAny>) -> PyResult<Answer> {
    match said.extract::<bool>() {
        Ok(go_on) => Ok(go_on.into()),
        Err(_) if said.extract::<&str>().is_ok_and(|word| word == "enough") => Ok(Answer::Enough),
        Err(_) => Err(PyValueError::new_err("a tick is answered with True, False or \"enough\"")),
    }
}

/// Reads back what a journal knows of (a ReadBack as JSON); returns what was found as JSON. `on_tick(elapsed_ns,
/// blocks)` is called about ten times a second; false, or an exception, stops it.
#[pyfunction]
fn read_back(py: Python<'_>, plan_json: &str, on_tick: Py<PyAny>) -> PyResult<String> {
    let plan: ReadBack = serde_json::from_str(plan_json).map_err(|e| refused(Error::Plan(e.to_string())))?;
    let mut raised: Option<PyErr> = None;
    let tick = |elapsed_ns: u64, blocks: u64| {
        Python::attach(|py| {
            let answer = py
                .check_signals()
                .and_then(|()| on_tick.call1(py, (elapsed_ns, blocks))?.extract::<bool>(py));
            answer.unwrap_or_else(|error| {
                raised = Some(error);
                false
            })
        })
    };
    let found = py.detach(|| core_read_back(&plan, tick));
    if let Some(error) = raised {
        return Err(error);
    }
    serde_json::to_string(&found.map_err(refused)?).map_err(|e| PyRuntimeError::new_err(e.to_string()))
}

/// Bytes a second that one core copies in memory, measured for about `budget_s`.
#[pyfunction]
fn memory_copy_bytes_per_s(py: Python<'_>, budget_s: f64) -> f64 {
    py.detach(|| {
        iocast_core::copy::copy_speed::copy_bytes_per_s(Duration::from_secs_f64(budget_s.clamp(0.0, 10.0)))
    })
}

/// Wall time in ns that no setting of the clock moves, until `follow_wall_clock`.
#[pyfunction]
fn unix_ns() -> i64 {
    clocks::unix_ns()
}

/// Reads the clock of the machine anew.
#[pyfunction]
fn follow_wall_clock() {
    clocks::follow_wall_clock();
}

/// How far the clock of the machine was set forward since it was last read.
#[pyfunction]
fn clock_set_by_ns() -> i64 {
    clocks::clock_set_by_ns()
}

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("CoreError", module.py().get_type::<CoreError>())?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<blk_watch::BlkWatch>()?;
    module.add_class::<capturing::Capture>()?;
    module.add_class::<layer_watching::LayerWatch>()?;
    module.add_class::<traces::FioLog>()?;
    module.add_class::<Intervals>()?;
    module.add_class::<SimWorld>()?;
    module.add_class::<traces::StraceCalls>()?;
    module.add_class::<table_batches::OpenReel>()?;
    module.add_class::<table_batches::Tables>()?;
    module.add_function(wrap_pyfunction!(statistics::student_t_quantile, module)?)?;
    module.add_function(wrap_pyfunction!(statistics::student_t_cdf, module)?)?;
    module.add_function(wrap_pyfunction!(statistics::f_survival, module)?)?;
    module.add_function(wrap_pyfunction!(statistics::chi_square_quantile, module)?)?;
    module.add_function(wrap_pyfunction!(run_together, module)?)?;
    module.add_function(wrap_pyfunction!(read_back, module)?)?;
    module.add_function(wrap_pyfunction!(profiling::characterise_events, module)?)?;
    module.add_function(wrap_pyfunction!(profiling::events_in_order, module)?)?;
    module.add_function(wrap_pyfunction!(traces::read_traces, module)?)?;
    module.add_function(wrap_pyfunction!(traces::trace_formats, module)?)?;
    module.add_function(wrap_pyfunction!(trees::look_at_tree, module)?)?;
    module.add_function(wrap_pyfunction!(trees::make_tree_directories, module)?)?;
    module.add_function(wrap_pyfunction!(trees::remove_tree, module)?)?;
    module.add_function(wrap_pyfunction!(traces::replay_survey, module)?)?;
    module.add_function(wrap_pyfunction!(copying::copy_file, module)?)?;
    module.add_function(wrap_pyfunction!(copying::file_content, module)?)?;
    module.add_function(wrap_pyfunction!(memory_copy_bytes_per_s, module)?)?;
    module.add_function(wrap_pyfunction!(unix_ns, module)?)?;
    module.add_function(wrap_pyfunction!(follow_wall_clock, module)?)?;
    module.add_function(wrap_pyfunction!(clock_set_by_ns, module)?)
}
