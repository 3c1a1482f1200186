//! The application that reads what a flow brings, and the buffer before it.

use crate::check::conditions::{Checked, conflict, inside, invalid};
use cwndlab_units::{Rate, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Largest buffer, packets.
const MOST_PACKETS: u64 = 1_000_000;

/// How the application at the receiver reads. ACKs offer what is free of the buffer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reader {
    /// Buffer of the receiver, packets; never above `tcp.window`.
    pub buffer: u64,
    /// Rate at which the application reads, payload only; it reads at once when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Changes, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ReaderChange>,
}

/// A change of a receiver's buffer, or of how the application reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReaderChange {
    /// Time.
    pub at: Time,
    /// Buffer from then on, packets; 0 shuts the window once the data that it allowed have arrived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub buffer: Option<u64>,
    /// Rate from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
    /// Whether the application reads from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reads: Option<bool>,
}

impl Reader {
    /// The buffer from each change on: seconds, packets.
    pub fn buffers(&self) -> Vec<(f64, u64)> {
        let change = |change: &ReaderChange| Some((change.at.seconds(), change.buffer?));
        std::iter::once((0.0, self.buffer)).chain(self.changes.iter().filter_map(change)).collect()
    }

    /// The rate from each change on: seconds, bit/s, infinite while the application reads at once,
    /// 0 while it does not. Empty if it always reads at once.
    pub fn rates(&self) -> Vec<(f64, f64)> {
        let bit_s = |rate: Option<Rate>| rate.map_or(f64::INFINITY, |rate| rate.bps() as f64);
        let (mut rate, mut reads) = (self.rate, true);
        let mut rates = vec![(0.0, bit_s(rate))];
        for change in &self.changes {
            (rate, reads) = (change.rate.or(rate), change.reads.unwrap_or(reads));
            rates.push((change.at.seconds(), if reads { bit_s(rate) } else { 0.0 }));
        }
        rates.dedup_by_key(|&mut (_, rate)| rate);
        if rates[..] == [(0.0, f64::INFINITY)] { Vec::new() } else { rates }
    }

    /// Checks the values; `key`: of the table.
    pub(crate) fn check(&self, key: &str) -> Checked {
        inside(format!("{key}.buffer"), self.buffer, 0, MOST_PACKETS)?;
        let mut before = Time::default();
        for (i, change) in self.changes.iter().enumerate() {
            let key = format!("{key}.changes[{i}]");
            if change.at <= before {
                let expected = format!("later than {before}");
                return invalid(format!("{key}.at"), change.at, expected);
            }
            before = change.at;
            if change.buffer.is_none() && change.rate.is_none() && change.reads.is_none() {
                return conflict(key, "at least one of `buffer`, `rate` and `reads` must be given");
            }
            if let Some(buffer) = change.buffer {
                inside(format!("{key}.buffer"), buffer, 0, MOST_PACKETS)?;
            }
        }
        Ok(())
    }
}
