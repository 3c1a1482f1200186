//! Tables of a run, as any library that reads Arrow takes them over.

use crate::errors::RunError;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{RecordBatch, RecordBatchIterator};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

/// A table in one batch. The Arrow PyCapsule interface is all that readers need of it, and the
/// crates that have more take as long to compile as the simulator.
#[pyclass(name = "Table", module = "cwndlab._core", frozen)]
pub struct PyTable(pub RecordBatch);

#[pymethods]
impl PyTable {
    /// The columns without a copy, as a stream of the Arrow C interface.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Another schema is a wish, which a producer may ignore.
        drop(requested_schema);
        let batches = [Ok(self.0.clone())];
        let reader = RecordBatchIterator::new(batches, self.0.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(reader));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
            .map_err(|error| RunError::new_err(error.to_string()))
    }
}
