//! Limited slow start (RFC 3742): beyond 100 packets cwnd grows by half of that per round trip.

use super::decision::{Decision, SlowStartAck};

/// max_ssthresh, packets (section 2).
const MAX_SSTHRESH: f64 = 100.0;

/// Growth of 1/K packets, K = int(cwnd / (0.5 max_ssthresh)) beyond max_ssthresh (section 2).
pub(crate) fn on_ack(ack: SlowStartAck) -> Decision {
    if ack.cwnd <= MAX_SSTHRESH {
        return Decision::STANDARD;
    }
    let k = (ack.cwnd / (0.5 * MAX_SSTHRESH)).floor();
    Decision::Grow { share: 1.0 / k, most_packets: u64::MAX }
}
