//! The bridge to tables that anybody may have made: rows go out as an Arrow C stream.

use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::RecordBatchIterator;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use iocast_core::error::Error;
use iocast_core::guarded_tables::open_reel;
use iocast_core::guarded_tables::{self, Batches};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::core_error::refused;

/// Parquet tables of one schema as one Arrow C stream, which may be asked for again.
#[pyclass(frozen, module = "iocast._core")]
pub struct Tables {
    tables: Arc<guarded_tables::Tables>,
}

#[pymethods]
impl Tables {
    #[new]
    #[pyo3(signature = (paths, columns=None, numbers=None))]
    fn new(
        py: Python<'_>,
        paths: Vec<PathBuf>,
        columns: Option<Vec<String>>,
        numbers: Option<Vec<i32>>,
    ) -> PyResult<Tables> {
        let number = |at: usize| numbers.as_ref().and_then(|known| known.get(at).copied());
        let files: Vec<_> = paths.into_iter().enumerate().map(|(at, path)| (number(at), path)).collect();
        let opened = py.detach(|| guarded_tables::Tables::open(&files, columns.as_deref()));
        let why = |error| refused(Error::Table(guarded_tables::reason(&error)));
        opened.map(|tables| Tables { tables: Arc::new(tables) }).map_err(why)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let batches = RecordBatchIterator::new(Batches::new(self.tables.clone()), self.tables.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
    }

    /// Rows, as the footers say: no more are read.
    fn __len__(&self) -> usize {
        isize::try_from(self.tables.rows()).unwrap_or(isize::MAX).unsigned_abs()
    }

    /// Names of the columns that are read.
    fn columns(&self) -> Vec<String> {
        self.tables.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// Keys and values in the footer of the first table.
    fn facts(&self) -> Vec<(String, String)> {
        self.tables.facts()
    }
}

/// The rows of a reel that is no table yet as an Arrow C stream, which may be asked for again.
#[pyclass(frozen, module = "iocast._core")]
pub struct OpenReel {
    reel: open_reel::OpenReel,
}

#[pymethods]
impl OpenReel {
    #[new]
    fn new(py: Python<'_>, path: PathBuf) -> PyResult<OpenReel> {
        let opened = py.detach(|| open_reel::OpenReel::open(&path));
        opened.map(|reel| OpenReel { reel }).map_err(refused)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let rows = RecordBatchIterator::new(self.reel.rows(), self.reel.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(rows)), c"arrow_array_stream")
    }
}
