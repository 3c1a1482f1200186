//! One side of a comparison: a flow or several, of which the mean counts.

use super::accounts::{Account, CwndChangeRow, PhaseRow};

/// A name, and accounts of flows. The capacity of a link has none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side<'a> {
    pub(super) name: &'a str,
    pub(super) accounts: &'a [&'a Account],
}

/// Packets outstanding in a phase.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outstanding {
    /// How many on average.
    pub(super) packets: f64,
    /// For how long each is, seconds; infinite where none was acknowledged.
    pub(super) wait_s: f64,
}

/// Reductions of cwnd of a mean flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cuts {
    /// How many, less undone ones.
    pub(super) times: f64,
    /// Mean share by which each cuts.
    pub(super) share: f64,
}

impl Cuts {
    /// Sum of the shares.
    pub(super) fn sum(self) -> f64 {
        self.times * self.share
    }
}

impl<'a> Side<'a> {
    /// Whether it is the capacity of a link.
    pub(super) fn is_capacity(self) -> bool {
        self.accounts.is_empty()
    }

    /// Number of its flows.
    pub(super) fn flows(self) -> f64 {
        self.accounts.len() as f64
    }

    /// Its name in a sentence: of several flows, one.
    pub(super) fn called(self) -> String {
        let name = self.name;
        if self.accounts.len() < 2 { name.into() } else { format!("a flow of {name}") }
    }

    /// Its name where a sentence begins, which says that the mean of several flows counts.
    pub(super) fn counted(self) -> String {
        let flows = self.accounts.len();
        let called = self.called();
        if flows < 2 { called } else { format!("{called} (mean of {flows})") }
    }

    /// Mean over its flows.
    pub(super) fn mean(self, value: impl Fn(&Account) -> f64) -> f64 {
        self.accounts.iter().map(|account| value(account)).sum::<f64>() / self.flows()
    }

    /// Time for which a mean flow is there, seconds.
    pub(super) fn present_s(self) -> f64 {
        self.mean(|account| {
            account.window_s - account.phases.last().map_or(0.0, |absent| absent.did.seconds)
        })
    }

    /// Payload of a full packet, bytes.
    pub(super) fn packet_bytes(self) -> f64 {
        self.mean(|account| account.packet_bits / 8.0)
    }

    /// What its flows did in a phase, with the account of each.
    pub(super) fn rows(self, phase: &str) -> impl Iterator<Item = (&'a Account, &'a PhaseRow)> {
        let rows = |&account: &&'a Account| account.phases.iter().map(move |row| (account, row));
        self.accounts.iter().flat_map(rows).filter(move |(_, row)| row.phase == phase)
    }

    /// Packets outstanding in a phase.
    pub(super) fn outstanding(self, phase: &str) -> Outstanding {
        let (mut area_packet_s, mut seconds, mut packets) = (0.0, 0.0, 0.0);
        for (_, row) in self.rows(phase) {
            area_packet_s += row.did.outstanding_packet_s;
            seconds += row.did.seconds;
            packets += row.did.delivered_packets;
        }
        Outstanding {
            packets: if seconds != 0.0 { area_packet_s / seconds } else { 0.0 },
            // A timeout forgets what SACK blocks reported: the sum may be negative.
            wait_s: if packets > 0.0 { area_packet_s / packets } else { f64::INFINITY },
        }
    }

    fn changes(self, cause: &str) -> impl Iterator<Item = &'a CwndChangeRow> {
        let rows = self.accounts.iter().flat_map(|account| &account.cwnd_changes);
        rows.filter(move |row| row.cause == cause)
    }

    /// How often a cause changes cwnd of all of its flows.
    pub(super) fn times(self, cause: &str) -> u64 {
        self.changes(cause).map(|row| row.changes.times).sum()
    }

    /// By how much a cause changes cwnd of a mean flow, packets.
    pub(super) fn packets(self, cause: &str) -> f64 {
        self.changes(cause).map(|row| row.changes.packets).sum::<f64>() / self.flows()
    }

    /// By how much cwnd grows after slow start, packets per second of that phase.
    pub(super) fn growth_per_s(self) -> f64 {
        let packets: f64 = self.changes("growth").map(|row| row.changes.packets).sum();
        let seconds: f64 = self.rows("growth").map(|(_, row)| row.did.seconds).sum();
        if seconds != 0.0 { packets / seconds } else { 0.0 }
    }

    /// How often and by which share causes cut cwnd.
    pub(super) fn cuts(self, causes: &[&str]) -> Cuts {
        let (mut times, mut packets, mut of_packets) = (0.0, 0.0, 0.0);
        let rows = self.accounts.iter().flat_map(|account| &account.cwnd_changes);
        for row in rows.filter(|row| causes.contains(&row.cause.as_str())) {
            let sign = if row.cause == "undo" { -1.0 } else { 1.0 };
            times += sign * row.changes.times as f64;
            packets -= row.changes.packets;
            of_packets += sign * row.changes.of_packets;
        }
        let share = if of_packets > 0.0 { packets / of_packets } else { 0.0 };
        Cuts { times: times / self.flows(), share: share.clamp(0.0, 1.0) }
    }
}
