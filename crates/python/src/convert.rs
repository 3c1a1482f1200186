//! Conversion of results to JSON and of traces to columns of little-endian bytes.

use crate::errors::ScenarioError;
use cwndlab_sim::results::RunResult;
use cwndlab_sim::{PacketRow, TraceRecorder, Traces, Transfer};
use cwndlab_tcp::{Knobs, Profile, for_each_knob};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use serde_json::{Map, Value, json};

/// A result as JSON, with wall-clock figures added.
pub fn result_json(result: &RunResult, wall_s: f64) -> PyResult<String> {
    let mut value =
        serde_json::to_value(result).map_err(|error| ScenarioError::new_err(error.to_string()))?;
    value["wall_s"] = wall_s.into();
    value["packets_per_wall_s"] = (result.delivered_packets as f64 / wall_s.max(1e-9)).into();
    Ok(value.to_string())
}

/// A column: numpy dtype and values.
struct Column(&'static str, Vec<u8>);

impl Column {
    fn f8(values: impl Iterator<Item = f64>) -> Self {
        Self("f8", values.flat_map(f64::to_le_bytes).collect())
    }
    fn u8(values: impl Iterator<Item = u64>) -> Self {
        Self("u8", values.flat_map(u64::to_le_bytes).collect())
    }
    fn i8(values: impl Iterator<Item = i64>) -> Self {
        Self("i8", values.flat_map(i64::to_le_bytes).collect())
    }
    fn u4(values: impl Iterator<Item = u32>) -> Self {
        Self("u4", values.flat_map(u32::to_le_bytes).collect())
    }
    fn u1(values: impl Iterator<Item = u8>) -> Self {
        Self("u1", values.collect())
    }
}

/// All recorded tables.
pub fn traces<'py>(
    py: Python<'py>,
    traces: &Traces<'_>,
    packets_wanted: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let tables = PyDict::new(py);
    let put = |name: &str, columns: Vec<(&str, Column)>| {
        let table = PyDict::new(py);
        for (name, Column(dtype, bytes)) in columns {
            table.set_item(name, (dtype, PyBytes::new(py, &bytes)))?;
        }
        tables.set_item(name, table)
    };
    if !traces.queues.is_empty() {
        put("queue", queue(traces))?;
    }
    if let Some((transfers, _)) = traces.transfers {
        put("transfers", self::transfers(transfers))?;
    }
    if let Some(recorder) = traces.recorder {
        if !recorder.windows.is_empty() {
            put("cwnd", windows(recorder))?;
        }
        if recorder.records_rules() {
            put("rule", rules(recorder))?;
            tables.set_item("phases", &recorder.rules.phases)?;
        }
        if let Some(bin_s) = recorder.rate_bin_s() {
            put("rate", rates(recorder, bin_s, traces.end_s))?;
            put("available", available(traces, bin_s))?;
            if !recorder.carried.is_empty() {
                put("cross", carried(recorder, bin_s, traces.end_s))?;
            }
        }
        if packets_wanted {
            put("packets", packets(recorder))?;
        }
    }
    Ok(tables)
}

fn queue(traces: &Traces<'_>) -> Vec<(&'static str, Column)> {
    let samples = || {
        traces.queues.iter().enumerate().flat_map(|(link, &(every_s, samples))| {
            samples
                .iter()
                .enumerate()
                .map(move |(i, &packets)| (i as f64 * every_s, link as u32, packets))
        })
    };
    vec![
        ("time_s", Column::f8(samples().map(|row| row.0))),
        ("link", Column::u4(samples().map(|row| row.1))),
        ("queue_packets", Column::u4(samples().map(|row| row.2))),
    ]
}

/// Phase and state of rules, a column for each name that a rule reports; NaN where it does not.
fn rules(recorder: &TraceRecorder) -> Vec<(&str, Column)> {
    let trace = &recorder.rules;
    let mut order: Vec<usize> = (0..trace.rows.len()).collect();
    order.sort_by(|&a, &b| trace.rows[a].time_s.total_cmp(&trace.rows[b].time_s));
    let rows = || order.iter().map(|&index| &trace.rows[index]);
    let mut columns = vec![
        ("time_s", Column::f8(rows().map(|row| row.time_s))),
        ("flow", Column::u4(rows().map(|row| row.flow))),
        ("phase", Column::u4(rows().map(|row| row.phase))),
    ];
    columns.extend(trace.columns.iter().enumerate().map(|(number, name)| {
        let value = |&index: &usize| {
            let found = trace.values_of(index).iter().find(|&&(column, _)| column == number as u32);
            found.map_or(f64::NAN, |&(_, value)| value)
        };
        (name.as_str(), Column::f8(order.iter().map(value)))
    }));
    columns
}

fn windows(recorder: &TraceRecorder) -> Vec<(&'static str, Column)> {
    // Senders run ahead of each other, so the rows are not in order of time.
    let mut rows: Vec<_> = recorder.windows.iter().collect();
    rows.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
    let rows = || rows.iter();
    vec![
        ("time_s", Column::f8(rows().map(|row| row.time_s))),
        ("flow", Column::u4(rows().map(|row| row.flow))),
        ("cwnd_packets", Column::f8(rows().map(|row| row.cwnd))),
        ("ssthresh_packets", Column::f8(rows().map(|row| row.ssthresh))),
        ("srtt_s", Column::f8(rows().map(|row| row.srtt_s))),
    ]
}

/// Goodput in bins; the last bin may be shorter than the others.
fn rates(recorder: &TraceRecorder, bin_s: f64, end_s: f64) -> Vec<(&'static str, Column)> {
    let bins = || {
        recorder.rates.iter().enumerate().flat_map(|(flow, bins)| {
            bins.iter().enumerate().map(move |(i, &bits)| (i, flow as u32, bits))
        })
    };
    vec![
        ("time_s", Column::f8(bins().map(|(i, _, _)| i as f64 * bin_s))),
        ("flow", Column::u4(bins().map(|(_, flow, _)| flow))),
        (
            "goodput_bps",
            Column::f8(
                bins().map(|(i, _, bits)| bits as f64 / bin_s.min(end_s - i as f64 * bin_s)),
            ),
        ),
    ]
}

/// Rate of cross traffic and arrivals in bins; sources are numbered from the entries of cross
/// traffic to the groups of arrivals.
fn carried(recorder: &TraceRecorder, bin_s: f64, end_s: f64) -> Vec<(&'static str, Column)> {
    let bins = || {
        recorder.carried.iter().enumerate().flat_map(|(source, bins)| {
            bins.iter().enumerate().map(move |(i, &bits)| (i, source as u32, bits))
        })
    };
    vec![
        ("time_s", Column::f8(bins().map(|(i, _, _)| i as f64 * bin_s))),
        ("source", Column::u4(bins().map(|(_, source, _)| source))),
        (
            "carried_bps",
            Column::f8(
                bins().map(|(i, _, bits)| bits as f64 / bin_s.min(end_s - i as f64 * bin_s)),
            ),
        ),
    ]
}

/// Transfers in order of their start.
fn transfers(transfers: &[Transfer]) -> Vec<(&'static str, Column)> {
    let mut rows: Vec<&Transfer> = transfers.iter().collect();
    rows.sort_by(|a, b| {
        a.start_s
            .total_cmp(&b.start_s)
            .then(a.group.cmp(&b.group))
            .then(a.fct_s.total_cmp(&b.fct_s))
    });
    let rows = || rows.iter();
    vec![
        ("start_s", Column::f8(rows().map(|row| row.start_s))),
        ("group", Column::u4(rows().map(|row| row.group))),
        ("packets", Column::u8(rows().map(|row| row.packets))),
        ("fct_s", Column::f8(rows().map(|row| row.fct_s))),
        ("slowdown", Column::f8(rows().map(|row| row.slowdown))),
    ]
}

fn available(traces: &Traces<'_>, bin_s: f64) -> Vec<(&'static str, Column)> {
    let bins = || {
        traces.available.iter().enumerate().flat_map(|(link, bins)| {
            bins.iter().enumerate().map(move |(i, &bps)| (i, link as u32, bps))
        })
    };
    vec![
        ("time_s", Column::f8(bins().map(|(i, _, _)| i as f64 * bin_s))),
        ("link", Column::u4(bins().map(|(_, link, _)| link))),
        ("available_bps", Column::f8(bins().map(|(_, _, bps)| bps))),
    ]
}

/// Packet rows in order of time; simultaneous rows stay in the order of events.
pub fn in_order(recorder: &TraceRecorder) -> Vec<&PacketRow> {
    let mut rows: Vec<&PacketRow> = recorder.packets.iter().collect();
    rows.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
    rows
}

fn packets(recorder: &TraceRecorder) -> Vec<(&'static str, Column)> {
    let rows = in_order(recorder);
    let rows = || rows.iter();
    vec![
        ("time_ns", Column::u8(rows().map(|row| (row.time_s * 1e9).round() as u64))),
        ("time_s", Column::f8(rows().map(|row| row.time_s))),
        ("event", Column::u1(rows().map(|row| row.event as u8))),
        ("flow", Column::u4(rows().map(|row| row.flow))),
        ("seq", Column::i8(rows().map(|row| row.number))),
        ("size_bytes", Column::u4(rows().map(|row| row.size_bytes))),
        ("cwnd_packets", Column::f8(rows().map(|row| row.cwnd))),
        ("ssthresh_packets", Column::f8(rows().map(|row| row.ssthresh))),
        ("retransmission", Column::u1(rows().map(|row| u8::from(row.retransmission)))),
        ("marked", Column::u1(rows().map(|row| u8::from(row.marked)))),
    ]
}

/// Endpoint knobs: name, meaning, and value in each profile.
pub fn knobs() -> serde_json::Value {
    let profiles = Profile::ALL.map(|profile| (profile.name(), Knobs::profile(profile)));
    macro_rules! rows {
        ($($name:ident: $type:ty = [$($default:expr),*], $meaning:literal;)*) => {
            vec![$({
                let values: Map<String, Value> = profiles.iter()
                    .map(|(profile, knobs)| {
                        let value = serde_json::to_value(knobs.$name).unwrap_or_default();
                        (profile.to_string(), value)
                    })
                    .collect();
                json!({ "name": stringify!($name), "meaning": $meaning, "values": values })
            }),*]
        };
    }
    for_each_knob!(rows).into()
}
