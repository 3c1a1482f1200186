//! Columns of numbers that the page reads: what a run recorded, flow by flow and link by link.

use cwndlab_sim::PacketEvent;
use cwndlab_sim::results::Traces;

/// Values of one type.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// 64-bit floating-point numbers.
    F64(Vec<f64>),
    /// 32-bit numbers.
    U32(Vec<u32>),
}

impl Column {
    /// Address of the first value.
    pub fn start(&self) -> *const u8 {
        match self {
            Self::F64(values) => values.as_ptr().cast(),
            Self::U32(values) => values.as_ptr().cast(),
        }
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::F64(values) => values.len(),
            Self::U32(values) => values.len(),
        }
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Its type, as JavaScript names the array.
    pub fn array_type(&self) -> &'static str {
        match self {
            Self::F64(_) => "Float64Array",
            Self::U32(_) => "Uint32Array",
        }
    }
}

/// The columns of a run. Rows of a table lie flow by flow (link by link for queues), in order of
/// time.
#[derive(Debug)]
pub struct Columns(Vec<(&'static str, Column)>);

impl Default for Columns {
    fn default() -> Self {
        Self::of(None)
    }
}

impl Columns {
    /// A column by number.
    pub fn column(&self, number: usize) -> &Column {
        const NONE: &Column = &Column::U32(Vec::new());
        self.0.get(number).map_or(NONE, |(_, column)| column)
    }

    /// A column by name.
    pub fn named(&self, name: &str) -> Option<&Column> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, column)| column)
    }

    /// Names and types, in order of numbers.
    pub fn names(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.0.iter().map(|(name, column)| (*name, column.array_type()))
    }

    /// The columns of what a run recorded; empty ones without a run.
    pub fn of(traces: Option<&Traces<'_>>) -> Self {
        let recorder = traces.and_then(|traces| traces.recorder);
        let mut windows = recorder.map(|recorder| recorder.windows_in_order()).unwrap_or_default();
        windows.sort_by_key(|row| row.flow);
        let rules = recorder.map(|recorder| {
            let mut order = recorder.rules.in_order();
            order.sort_by_key(|&number| recorder.rules.rows[number].flow);
            order.into_iter().map(|number| recorder.rules.rows[number]).collect::<Vec<_>>()
        });
        let rules = rules.unwrap_or_default();
        let mut losses = recorder.map(|recorder| recorder.losses.clone()).unwrap_or_default();
        losses.sort_by(|a, b| a.flow.cmp(&b.flow).then(a.time_s.total_cmp(&b.time_s)));
        let queues = traces.map(|traces| traces.queues.as_slice()).unwrap_or_default();
        let rates = recorder.map(|recorder| recorder.rates.as_slice()).unwrap_or_default();
        let mut packets = recorder.map(|recorder| recorder.packets.clone()).unwrap_or_default();
        packets.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
        let f64s = |values: Vec<f64>| Column::F64(values);
        let u32s = |values: Vec<u32>| Column::U32(values);
        Self(vec![
            ("windows.flow", u32s(windows.iter().map(|row| row.flow).collect())),
            ("windows.time_s", f64s(windows.iter().map(|row| row.time_s).collect())),
            ("windows.cwnd_packets", f64s(windows.iter().map(|row| row.cwnd).collect())),
            ("windows.ssthresh_packets", f64s(windows.iter().map(|row| row.ssthresh).collect())),
            ("windows.srtt_s", f64s(windows.iter().map(|row| row.srtt_s).collect())),
            (
                "windows.outstanding_packets",
                f64s(windows.iter().map(|row| row.outstanding_packets as f64).collect()),
            ),
            ("phases.flow", u32s(rules.iter().map(|row| row.flow).collect())),
            ("phases.time_s", f64s(rules.iter().map(|row| row.time_s).collect())),
            ("phases.phase", u32s(rules.iter().map(|row| row.phase).collect())),
            ("losses.flow", u32s(losses.iter().map(|row| row.flow).collect())),
            ("losses.time_s", f64s(losses.iter().map(|row| row.time_s).collect())),
            ("losses.is_timeout", u32s(losses.iter().map(|row| row.is_timeout.into()).collect())),
            (
                "queues.length",
                u32s(queues.iter().map(|queue| queue.samples.len() as u32).collect()),
            ),
            ("queues.interval_s", f64s(queues.iter().map(|queue| queue.every_s).collect())),
            (
                "queues.packets",
                u32s(queues.iter().flat_map(|queue| queue.samples.iter().copied()).collect()),
            ),
            ("rates.length", u32s(rates.iter().map(|bins| bins.len() as u32).collect())),
            ("rates.bits", f64s(rates.iter().flatten().map(|&bits| bits as f64).collect())),
            ("packets.time_s", f64s(packets.iter().map(|row| row.time_s).collect())),
            ("packets.event", u32s(packets.iter().map(|row| event_number(row.event)).collect())),
            ("packets.flow", u32s(packets.iter().map(|row| row.flow).collect())),
            // Of data: when it was sent. Of an ACK: when the packet was sent that triggered it.
            ("packets.sent_s", f64s(packets.iter().map(|row| row.echo_s).collect())),
            ("packets.number", f64s(packets.iter().map(|row| row.number as f64).collect())),
            ("packets.cwnd_packets", f64s(packets.iter().map(|row| row.cwnd).collect())),
            (
                "packets.flags",
                u32s(
                    packets
                        .iter()
                        .map(|row| u32::from(row.retransmission) | u32::from(row.marked) << 1)
                        .collect(),
                ),
            ),
        ])
    }
}

/// 0: sent, 1: received, 2: acknowledged, 3: dropped, 4: timeout.
fn event_number(event: PacketEvent) -> u32 {
    event as u32
}
