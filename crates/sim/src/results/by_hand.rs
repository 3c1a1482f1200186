//! Accounts made by hand, for tests: packets of 1000 bytes over 100 s, on a path of 100 ms.

use super::accounts::{Account, CwndChangeRow, PhaseRow};
use crate::measure::account::{CwndChanges, PhaseAccount};

const PHASES: [&str; 7] =
    ["timeout", "recovery", "application", "receiver", "slow_start", "growth", "absent"];
const CAUSES: [&str; 8] =
    ["slow_start", "growth", "loss", "ecn", "timeout", "undo", "idle", "rule"];
const WINDOW_S: f64 = 100.0;
const PACKET_BITS: f64 = 8000.0;

/// A flow that was in these phases for so many seconds, with so many packets outstanding, each for
/// so many seconds.
pub(super) fn account(phases: &[(&str, f64, f64, f64)]) -> Account {
    let rows = PHASES.map(|name| {
        let found = phases.iter().find(|(phase, ..)| *phase == name);
        let &(_, seconds, packets, wait_s) = found.unwrap_or(&(name, 0.0, 0.0, 1.0));
        let outstanding_packet_s = seconds * packets;
        let delivered_packets = outstanding_packet_s / wait_s;
        let did = PhaseAccount {
            seconds,
            delivered_packets,
            outstanding_packet_s,
            ..PhaseAccount::default()
        };
        PhaseRow { phase: name.into(), capacity_bits: 2e6 * seconds, did }
    });
    let packets: f64 = rows.iter().map(|row| row.did.delivered_packets).sum();
    let causes =
        CAUSES.map(|cause| CwndChangeRow { cause: cause.into(), changes: CwndChanges::default() });
    Account {
        flow: "flow".into(),
        group: "flow".into(),
        rule: "NewReno".into(),
        from_s: 0.0,
        window_s: WINDOW_S,
        goodput_bps: packets * PACKET_BITS / WINDOW_S,
        capacity_bps: 2e6,
        packet_bits: PACKET_BITS,
        edge_bits: 0.0,
        phases: rows.into(),
        packets_per_growth: 1,
        cwnd_changes: causes.into(),
        first_cwnd: Some(10.0),
        last_cwnd: 10.0,
        base_rtt_s: 0.1,
        mean_rtt_s: Some(0.1),
        forward_delay_s: 0.05,
        mean_one_way_s: Some(0.05),
        queued_packets: 0.0,
        sent_packets: packets as u64,
        dropped_packets: 0,
        dropped_by_link: Vec::new(),
        bins_s: Vec::new(),
    }
}

impl Account {
    /// The same whose cwnd a cause changed so often by so many packets in sum, each time of a
    /// window of so many.
    pub(super) fn changed(mut self, cause: &str, times: u64, packets: f64, window: f64) -> Self {
        let of_packets = times as f64 * window;
        for row in self.cwnd_changes.iter_mut().filter(|row| row.cause == cause) {
            row.changes = CwndChanges { times, packets, of_packets };
        }
        self
    }
}
