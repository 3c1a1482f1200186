//! PIE (proportional integral controller enhanced): drops arriving packets with a probability that
//! controls the queueing delay.
//!
//! Source: R. Pan, P. Natarajan, F. Baker and G. White, RFC 8033, sections 4 and 5.
//!
//! Every `update`, with the queueing delay `d` (waiting bytes over the departure rate), `d_old` the
//! delay at the previous update, and the drop probability `p`:
//! * `p += s (alpha (d - target) + beta (d - d_old))`, with the scale `s` 1/2048 while `p < 1e-6`,
//!   1/512 to 1e-5, 1/128 to 1e-4, 1/32 to 1e-3, 1/8 to 0.01, 1/2 to 0.1, then 1 (section 4.2).
//!   From `p = 0.1` on a step adds at most 0.02 (section 5.5).
//! * `p *= 0.98` where `d` and `d_old` are 0. `p` stays within 0 and 1.
//! * The burst allowance shrinks by `update`; it is restored once `p` is 0 and both delays are
//!   below half the target (section 4.4).
//!
//! An arriving packet is dropped with probability `p`, unless burst allowance is left, or the delay
//! at the last update was below half the target and `p < 0.2`, or at most two mean packets wait
//! (section 4.1). With `ecn` it is marked instead while `p < mark_p` (section 5.1).
//!
//! Departure rate (section 5.2): with at least 2^14 bytes behind a departing packet, a measurement
//! takes the time in which 2^14 bytes depart; the average gives a new measurement the weight 1/4.
//!
//! Parameters: [`PieParameters`].
//!
//! Departures from the RFC: until the first measurement the departure rate is the link's nominal
//! rate, so that PIE works on links whose buffer holds less than 2^14 bytes (the RFC suggests
//! timestamps there). A measurement covers the whole transmission of its first packet. No
//! derandomization (section 5.4, optional); updates continue on an empty queue (section 5.3,
//! optional).

use crate::admission::{Admission, ArrivingPacket, Backlog, Decision, DepartedPacket};
use crate::buffer_limit::{BufferLimit, Limit};

/// Parameters of a PIE queue.
///
/// ```
/// use cwndlab_queues::{Limit, PieParameters};
/// let parameters = PieParameters::new(Limit::Packets(1000), 10e6, 1000);
/// assert_eq!((parameters.target_s, parameters.burst_s), (0.015, 0.15)); // RFC 8033
/// let marking = PieParameters { ecn: true, ..parameters };
/// assert_eq!(marking.mark_p, 0.1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PieParameters {
    /// Buffer limit, without the packet in service (TAIL_DROP).
    pub limit: Limit,
    /// Nominal rate of the link.
    pub rate_bit_s: f64,
    /// Mean packet size (MEAN_PKTSIZE).
    pub mean_packet_bytes: u32,
    /// Target queueing delay, seconds (QDELAY_REF).
    pub target_s: f64,
    /// Update interval, seconds (T_UPDATE).
    pub update_s: f64,
    /// Gain of the deviation from the target, 1/s.
    pub alpha: f64,
    /// Gain of the change in delay, 1/s.
    pub beta: f64,
    /// Burst allowance, seconds (MAX_BURST).
    pub burst_s: f64,
    /// Whether ECT packets are marked instead of dropped.
    pub ecn: bool,
    /// Probability from which ECT packets are dropped too (mark_ecnth).
    pub mark_p: f64,
}

impl PieParameters {
    /// The RFC's values: 15 ms, every 15 ms, 0.125 and 1.25 per second, bursts of 150 ms; dropping.
    pub fn new(limit: Limit, rate_bit_s: f64, mean_packet_bytes: u32) -> Self {
        Self {
            limit,
            rate_bit_s,
            mean_packet_bytes,
            target_s: 0.015,
            update_s: 0.015,
            alpha: 0.125,
            beta: 1.25,
            burst_s: 0.15,
            ecn: false,
            mark_p: 0.1,
        }
    }
}

/// Bytes of a departure rate measurement (DQ_THRESHOLD).
const MEASURED_BYTES: u64 = 1 << 14;

/// Weight of a new measurement: DQ_THRESHOLD / 2^16.
const MEASUREMENT_WEIGHT: f64 = 0.25;

/// Departure rate estimator (RFC 8033, section 5.2).
#[derive(Clone, Debug)]
struct DepartureRate {
    nominal_byte_s: f64,
    /// Average time in which `MEASURED_BYTES` depart, seconds, once measured.
    average_s: Option<f64>,
    /// Start of the current measurement, and the bytes since.
    measurement: Option<(f64, u64)>,
}

impl DepartureRate {
    fn byte_s(&self) -> f64 {
        self.average_s.map_or(self.nominal_byte_s, |average_s| MEASURED_BYTES as f64 / average_s)
    }

    fn on_departure(&mut self, packet: &DepartedPacket, backlog: &Backlog) {
        let is_long = backlog.bytes >= MEASURED_BYTES;
        let (since_s, bytes) = match self.measurement {
            Some(measurement) => measurement,
            None if is_long => (packet.tx_start_s, 0),
            None => return,
        };
        let bytes = bytes + u64::from(packet.size_bytes);
        if bytes < MEASURED_BYTES {
            self.measurement = Some((since_s, bytes));
            return;
        }
        // The last packet may exceed the bytes of a measurement.
        let time_s = (packet.tx_end_s - since_s) * (MEASURED_BYTES as f64 / bytes as f64);
        if time_s > 0.0 {
            self.average_s = Some(match self.average_s {
                Some(average_s) => {
                    (1.0 - MEASUREMENT_WEIGHT) * average_s + MEASUREMENT_WEIGHT * time_s
                }
                None => time_s,
            });
        }
        self.measurement = is_long.then_some((packet.tx_end_s, 0));
    }
}

/// A PIE queue.
///
/// ```
/// use cwndlab_queues::{Admission, Limit, Pie, PieParameters};
/// # use cwndlab_queues::Backlog;
/// # let waiting = |packets: u64| Backlog { packets: packets + 1, bytes: 1000 * (packets + 1),
/// #     in_service_bytes: 1000, ..Backlog::default() };
/// let parameters = PieParameters::new(Limit::Packets(1000), 8e6, 1000);
/// let mut pie = Pie::new(&PieParameters { burst_s: 0.0, ..parameters });
/// // 40 packets of a millisecond each: (0.125 (0.04 - 0.015) + 1.25 (0.04 - 0)) / 2048.
/// pie.on_update(0.015, &waiting(40));
/// assert!((pie.probability() - 0.053125 / 2048.0).abs() < 1e-12);
/// assert_eq!(pie.next_update_s(), 0.03);
/// ```
#[derive(Clone, Debug)]
pub struct Pie {
    parameters: PieParameters,
    buffer_limit: BufferLimit,
    rate: DepartureRate,
    probability: f64,
    /// Queueing delay at the last update, seconds.
    delay_s: f64,
    /// Updates until the burst allowance ends: an integer, because seconds would not reach 0
    /// exactly.
    burst_updates_left: u64,
    burst_updates: u64,
    /// Updates so far.
    updates: u64,
}

impl Pie {
    /// A queue that is empty from time 0; its first update is at `update_s`.
    pub fn new(parameters: &PieParameters) -> Self {
        let burst_updates =
            (parameters.burst_s / parameters.update_s - 1e-9).ceil().max(0.0) as u64;
        Self {
            parameters: *parameters,
            buffer_limit: BufferLimit::new(parameters.limit, None),
            rate: DepartureRate {
                nominal_byte_s: parameters.rate_bit_s / 8.0,
                average_s: None,
                measurement: None,
            },
            probability: 0.0,
            delay_s: 0.0,
            burst_updates_left: burst_updates,
            burst_updates,
            updates: 0,
        }
    }

    /// Drop probability.
    pub fn probability(&self) -> f64 {
        self.probability
    }

    /// Departure rate: measured, or nominal before the first measurement.
    pub fn departure_rate_bit_s(&self) -> f64 {
        8.0 * self.rate.byte_s()
    }

    fn drops_early(&self, backlog: &Backlog, random: &mut impl FnMut() -> f64) -> bool {
        let is_quiet = self.delay_s < 0.5 * self.parameters.target_s && self.probability < 0.2;
        let is_short = backlog.waiting_bytes() <= 2 * u64::from(self.parameters.mean_packet_bytes);
        self.burst_updates_left == 0 && !is_quiet && !is_short && random() < self.probability
    }

    /// Scale of a step: small probabilities change in small steps (RFC 8033, section 4.2).
    fn scale(&self) -> f64 {
        match self.probability {
            p if p < 0.000_001 => 1.0 / 2048.0,
            p if p < 0.000_01 => 1.0 / 512.0,
            p if p < 0.000_1 => 1.0 / 128.0,
            p if p < 0.001 => 1.0 / 32.0,
            p if p < 0.01 => 1.0 / 8.0,
            p if p < 0.1 => 1.0 / 2.0,
            _ => 1.0,
        }
    }
}

impl Admission for Pie {
    #[inline]
    fn admit(
        &mut self,
        packet: &ArrivingPacket,
        backlog: &Backlog,
        random: &mut impl FnMut() -> f64,
    ) -> Decision {
        if self.buffer_limit.is_full(packet.size_bytes, backlog) {
            return Decision::Drop;
        }
        if !self.drops_early(backlog, random) {
            return Decision::Accept;
        }
        if self.parameters.ecn && packet.ecn && self.probability < self.parameters.mark_p {
            Decision::Mark
        } else {
            Decision::Drop
        }
    }

    #[inline]
    fn on_departure(&mut self, packet: &DepartedPacket, backlog: &Backlog) {
        self.rate.on_departure(packet, backlog);
    }

    #[inline]
    fn next_update_s(&self) -> f64 {
        (self.updates + 1) as f64 * self.parameters.update_s
    }

    fn on_update(&mut self, _now_s: f64, backlog: &Backlog) {
        self.updates += 1;
        let PieParameters { target_s, alpha, beta, .. } = self.parameters;
        let delay_s = backlog.waiting_bytes() as f64 / self.rate.byte_s();
        let mut step =
            self.scale() * (alpha * (delay_s - target_s) + beta * (delay_s - self.delay_s));
        if self.probability >= 0.1 {
            step = step.min(0.02);
        }
        self.probability += step;
        if delay_s == 0.0 && self.delay_s == 0.0 {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.burst_updates_left = self.burst_updates_left.saturating_sub(1);
        if self.probability == 0.0 && delay_s < 0.5 * target_s && self.delay_s < 0.5 * target_s {
            self.burst_updates_left = self.burst_updates;
        }
        self.delay_s = delay_s;
    }

    #[inline]
    fn needs_departures(&self) -> bool {
        true
    }
}
