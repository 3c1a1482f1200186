//! A finished run: its result as JSON and as Arrow tables, and its traces.

use crate::definitions::field;
use crate::errors::RunError;
use crate::table::PyTable;
use crate::traces::traces;
use arrow_array::RecordBatch;
use arrow_schema::FieldRef;
use cwndlab_columns::columns;
use cwndlab_sim::Simulation;
use cwndlab_sim::results::RunResult;
use pyo3::prelude::*;
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt::Display;
use std::sync::Arc;

/// A table by its name.
type Tables = HashMap<&'static str, PyTable>;

/// A finished run.
#[pyclass(name = "Run", module = "cwndlab._core", frozen)]
pub struct PyRun {
    result: RunResult,
    wall_s: f64,
    traces: Vec<(&'static str, RecordBatch)>,
    /// Names of the phases of rules, by the numbers in the trace `rule`.
    phases: Vec<&'static str>,
}

#[pymethods]
impl PyRun {
    /// The whole result as one line of JSON, without traces.
    fn to_json(&self) -> PyResult<String> {
        let mut value = serde_json::to_value(&self.result).map_err(failed)?;
        self.add_wall_clock(&mut value);
        Ok(value.to_string())
    }

    /// The fields of the run itself as one line of JSON, without its tables.
    fn fields(&self) -> PyResult<String> {
        let RunResult {
            flows: _,
            links: _,
            cross: _,
            arrivals: _,
            connections: _,
            subflows: _,
            ref name,
            ref trace_hash,
            ref accounts,
            ..
        } = self.result;
        let bare = RunResult {
            name: name.clone(),
            trace_hash: trace_hash.clone(),
            accounts: accounts.clone(),
            flows: Vec::new(),
            links: Vec::new(),
            cross: Vec::new(),
            arrivals: Vec::new(),
            connections: Vec::new(),
            subflows: Vec::new(),
            ..self.result
        };
        let mut value = serde_json::to_value(&bare).map_err(failed)?;
        if let Some(fields) = value.as_object_mut() {
            fields.retain(|name, _| columns().tables.iter().all(|table| table.name != *name));
        }
        self.add_wall_clock(&mut value);
        Ok(value.to_string())
    }

    /// The tables of the result.
    fn tables(&self, py: Python<'_>) -> PyResult<Tables> {
        let RunResult { flows, links, cross, arrivals, connections, subflows, .. } = &self.result;
        let batches = py.detach(|| {
            let tables = columns().tables.iter();
            tables
                .map(|table| {
                    let fields: Vec<FieldRef> =
                        table.columns.iter().map(|column| Arc::new(field(column))).collect();
                    let name = table.name.as_str();
                    let batch = match name {
                        "flows" => rows(&fields, flows),
                        "links" => rows(&fields, links),
                        "cross" => rows(&fields, cross),
                        "connections" => rows(&fields, connections),
                        "subflows" => rows(&fields, subflows),
                        _ => rows(&fields, arrivals),
                    };
                    Ok((name, batch.map_err(failed)?))
                })
                .collect::<PyResult<Vec<_>>>()
        })?;
        Ok(batches.into_iter().map(|(name, batch)| (name, PyTable(batch))).collect())
    }

    /// The traces.
    fn traces(&self) -> Tables {
        self.traces.iter().map(|(name, batch)| (*name, PyTable(batch.clone()))).collect()
    }

    #[getter]
    fn has_traces(&self) -> bool {
        !self.traces.is_empty()
    }

    #[getter]
    fn phases(&self) -> Vec<&'static str> {
        self.phases.clone()
    }
}

impl PyRun {
    /// The result of a simulation that is done, and its traces; `packets`: also that of packets.
    pub fn new(
        py: Python<'_>,
        simulation: &Simulation<'_>,
        wall_s: f64,
        packets: bool,
    ) -> PyResult<Self> {
        let result = py.detach(|| simulation.result());
        let recording = simulation.traces();
        let phases =
            recording.recorder.map(|recorder| recorder.rules.phases.clone()).unwrap_or_default();
        let traces = py.detach(|| traces(&recording, packets)).map_err(failed)?;
        Ok(Self { result, wall_s, traces, phases })
    }

    fn add_wall_clock(&self, value: &mut Value) {
        let packets = self.result.delivered_packets as f64;
        value["wall_s"] = json!(self.wall_s);
        value["packets_per_wall_s"] = json!(packets / self.wall_s.max(1e-9));
    }
}

fn rows<T: Serialize>(fields: &[FieldRef], rows: &[T]) -> serde_arrow::Result<RecordBatch> {
    serde_arrow::to_record_batch(fields, &rows)
}

fn failed(error: impl Display) -> PyErr {
    RunError::new_err(error.to_string())
}
