//! Trees of files: their directories made, looked at, removed.

use std::io;

use iocast_core::error::Error;
use iocast_core::plan::tree_plan::TreePlan;
use iocast_core::tree::{look, make, removal};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::core_error::refused;

/// Makes the missing directories of a tree (a TreePlan as JSON) in the directory of a descriptor; returns how many.
/// `go_on()` is asked now and then; when it says False, InterruptedError is raised.
#[pyfunction]
pub fn make_tree_directories(py: Python<'_>, tree_json: &str, place: i32, go_on: Py<PyAny>) -> PyResult<u64> {
    let tree = read(tree_json)?;
    Ok(py.detach(|| make::make_directories(&tree, place, || asks(&go_on)))?)
}

/// What of a tree is there, as JSON; the sizes of its files too if asked.
#[pyfunction]
pub fn look_at_tree(
    py: Python<'_>,
    tree_json: &str,
    place: i32,
    sizes: bool,
    go_on: Py<PyAny>,
) -> PyResult<String> {
    let tree = read(tree_json)?;
    let found = py.detach(|| look::look(&tree, place, sizes, || asks(&go_on)))?;
    serde_json::to_string(&found).map_err(|why| io::Error::other(why).into())
}

/// Removes all that iocast made in the tree at a descriptor, or only counts it; what it did, as JSON.
#[pyfunction]
pub fn remove_tree(
    py: Python<'_>,
    place: i32,
    threads: usize,
    dry: bool,
    go_on: Py<PyAny>,
) -> PyResult<String> {
    let removed = py.detach(|| removal::remove(place, threads, dry, || asks(&go_on)))?;
    serde_json::to_string(&removed).map_err(|why| io::Error::other(why).into())
}

fn read(tree_json: &str) -> PyResult<TreePlan> {
    serde_json::from_str(tree_json).map_err(|why| refused(Error::Plan(why.to_string())))
}

fn asks(go_on: &Py<PyAny>) -> bool {
    Python::attach(|py| {
        let said = py.check_signals().and_then(|()| go_on.call0(py)).and_then(|said| said.extract(py));
        said.unwrap_or_else(|why: PyErr| {
            if !why.is_instance_of::<PyKeyboardInterrupt>(py) {
                why.write_unraisable(py, None);
            }
            false
        })
    })
}
