//! Traces of a run as Arrow tables.

use crate::definitions::{metadata, metadata_of_name};
use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, UInt8Array, UInt32Array,
    UInt64Array,
};
use arrow_schema::{ArrowError, Field, Schema};
use cwndlab_columns::trace_column;
use cwndlab_sim::results::Traces;
use cwndlab_sim::{PacketEvent, PacketRow, TraceRecorder, Transfer};
use std::sync::Arc;

/// A column of a table.
struct Column(ArrayRef);

impl Column {
    /// NaN stands for an unknown value.
    fn f8(values: impl Iterator<Item = f64>) -> Self {
        let values: Vec<f64> = values.collect();
        Self(if values.iter().any(|value| value.is_nan()) {
            let known = values.into_iter().map(|value| (!value.is_nan()).then_some(value));
            Arc::new(Float64Array::from_iter(known))
        } else {
            Arc::new(Float64Array::from(values))
        })
    }
    fn u8(values: impl Iterator<Item = u64>) -> Self {
        Self(Arc::new(UInt64Array::from_iter_values(values)))
    }
    fn i8(values: impl Iterator<Item = i64>) -> Self {
        Self(Arc::new(Int64Array::from_iter_values(values)))
    }
    fn u4(values: impl Iterator<Item = u32>) -> Self {
        Self(Arc::new(UInt32Array::from_iter_values(values)))
    }
    fn u1(values: impl Iterator<Item = u8>) -> Self {
        Self(Arc::new(UInt8Array::from_iter_values(values)))
    }
    fn bool(values: impl Iterator<Item = bool>) -> Self {
        Self(Arc::new(BooleanArray::from_iter(values.map(Some))))
    }
}

/// All recorded tables.
pub fn traces(
    traces: &Traces<'_>,
    packets_wanted: bool,
) -> Result<Vec<(&'static str, RecordBatch)>, ArrowError> {
    let mut tables = Vec::new();
    let mut put = |name: &'static str, columns: Vec<(&str, Column)>| {
        tables.push((name, defined(name, columns)?));
        Ok::<(), ArrowError>(())
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

/// A table whose fields carry the definitions of its columns.
fn defined(table: &str, columns: Vec<(&str, Column)>) -> Result<RecordBatch, ArrowError> {
    let field = |(name, Column(array)): &(&str, Column)| {
        let metadata = match trace_column(table, name) {
            Some(column) => metadata(column),
            None => metadata_of_name(name),
        };
        let has_nulls = array.is_nullable();
        Field::new(*name, array.data_type().clone(), has_nulls).with_metadata(metadata)
    };
    let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
    RecordBatch::try_new(
        Arc::new(schema),
        columns.into_iter().map(|(_, column)| column.0).collect(),
    )
}

fn queue(traces: &Traces<'_>) -> Vec<(&'static str, Column)> {
    let samples = || {
        traces.queues.iter().enumerate().flat_map(|(link, queue)| {
            let at = |values: &[f64], i: usize| values.get(i).copied().unwrap_or(f64::NAN);
            queue.samples.iter().enumerate().map(move |(i, &packets)| {
                let (average, probability) = (at(&queue.averages, i), at(&queue.probabilities, i));
                (i as f64 * queue.every_s, link as u32, packets, average, probability)
            })
        })
    };
    vec![
        ("time_s", Column::f8(samples().map(|row| row.0))),
        ("link", Column::u4(samples().map(|row| row.1))),
        ("queue_packets", Column::u4(samples().map(|row| row.2))),
        ("average_queue_packets", Column::f8(samples().map(|row| row.3))),
        ("drop_probability", Column::f8(samples().map(|row| row.4))),
    ]
}

/// Phase and state of rules, a column for each name that a rule reports; NaN where it does not.
fn rules(recorder: &TraceRecorder) -> Vec<(&str, Column)> {
    let trace = &recorder.rules;
    let order = trace.in_order();
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
    let rows = recorder.windows_in_order();
    let rows = || rows.iter();
    vec![
        ("time_s", Column::f8(rows().map(|row| row.time_s))),
        ("flow", Column::u4(rows().map(|row| row.flow))),
        ("cwnd_packets", Column::f8(rows().map(|row| row.cwnd))),
        ("ssthresh_packets", Column::f8(rows().map(|row| row.ssthresh))),
        ("srtt_s", Column::f8(rows().map(|row| row.srtt_s))),
        ("rttvar_s", Column::f8(rows().map(|row| row.rttvar_s))),
        ("backoff", Column::u4(rows().map(|row| row.backoff))),
        ("duplicate_acks", Column::u4(rows().map(|row| row.duplicate_acks))),
        (
            "acknowledged_packets",
            Column::u8(rows().map(|row| row.acknowledged_packets.max(0) as u64)),
        ),
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
        ("received_fct_s", Column::f8(rows().map(|row| row.received_fct_s))),
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

/// Packet rows in order of time; at one instant by flow, and a timeout before what it sent.
pub fn in_order(recorder: &TraceRecorder) -> Vec<&PacketRow> {
    let mut rows: Vec<&PacketRow> = recorder.packets.iter().collect();
    let follows = |row: &PacketRow| row.event != PacketEvent::Timeout;
    rows.sort_by(|a, b| a.time_s.total_cmp(&b.time_s).then(follows(a).cmp(&follows(b))));
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
        ("retransmission", Column::bool(rows().map(|row| row.retransmission))),
        ("marked", Column::bool(rows().map(|row| row.marked))),
    ]
}
