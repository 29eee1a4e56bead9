//! The bridge to the watch on the layers: options go in as JSON, snapshots come out as JSON.

use std::sync::{Mutex, PoisonError};

use iocast_core::error::Error;
use iocast_core::layers::layer_watch::{self, Options};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::core_error::refused;

/// A watch on the layers, from its making until `stop`.
#[pyclass(frozen, module = "iocast._core")]
pub struct LayerWatch {
    watch: Mutex<Option<layer_watch::LayerWatch>>,
}

#[pymethods]
impl LayerWatch {
    #[new]
    fn new(py: Python<'_>, options_json: &str) -> PyResult<LayerWatch> {
        let options: Options =
            serde_json::from_str(options_json).map_err(|e| refused(Error::Plan(e.to_string())))?;
        let watch = py.detach(|| layer_watch::LayerWatch::start(&options)).map_err(refused)?;
        Ok(LayerWatch { watch: Some(watch).into() })
    }

    /// What somebody should know of how it was set up.
    fn notes(&self) -> Vec<String> {
        let watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        watch.as_ref().map(|watch| watch.notes().to_vec()).unwrap_or_default()
    }

    /// What was counted since the beginning, as JSON.
    fn snapshot(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| {
            let watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
            let watch = watch.as_ref().ok_or_else(|| PyRuntimeError::new_err("the watch has ended"))?;
            let seen = watch.snapshot().map_err(refused)?;
            serde_json::to_string(&seen).map_err(|e| PyRuntimeError::new_err(e.to_string()))
        })
    }

    /// Ends it; harmless when it is over.
    fn stop(&self, py: Python<'_>) {
        py.detach(|| drop(self.watch.lock().unwrap_or_else(PoisonError::into_inner).take()));
    }
}
