//! Conditions on the parameters of queue disciplines: order of thresholds, buffers that hold a
//! packet, sizes.

use super::conditions::{Checked, MAX_RATE_CHANGES, conflict, inside, invalid, positive};
use cwndlab_units::{Buffer, Bytes, Time};

/// Largest number of hash buckets.
const MAX_BUCKETS: u64 = 1_000_000;
/// Largest quantum and mean packet size: the largest packet.
const MAX_PACKET_BYTES: u64 = 65_535;

/// Checks that a buffer has room for a packet, as far as its own unit tells.
pub fn holds_a_packet(key: &str, limit: Buffer) -> Checked {
    match limit {
        Buffer::Bytes(0) => invalid(key, limit, "at least one packet"),
        _ => Ok(()),
    }
}

/// Checks a size in bytes of at most the largest packet: a quantum, a mean packet.
pub fn packet_bytes(key: String, size: Bytes) -> Checked {
    match (1..=MAX_PACKET_BYTES).contains(&size.0) {
        true => Ok(()),
        false => invalid(key, size, format!("1B to {MAX_PACKET_BYTES}B")),
    }
}

/// Checks a number of queues that flows share by number.
pub fn bucket_count(key: String, count: u64) -> Checked {
    inside(key, count, 1, MAX_BUCKETS)
}

/// Checks the interval of periodic updates in a run of this duration.
pub fn updates(key: String, update: Time, duration: Time) -> Checked {
    match update >= Time::ns(1_000) && duration.seconds() / update.seconds() <= MAX_RATE_CHANGES {
        true => Ok(()),
        false => {
            let most = format!("at most {MAX_RATE_CHANGES:.0} updates in a run of {duration}");
            invalid(key, update, format!("at least 1us, and {most}"))
        }
    }
}

/// Checks CoDel's times.
pub fn target_within_interval(key: &str, target: Time, interval: Time) -> Checked {
    positive(format!("{key}.target"), target)?;
    match target <= interval {
        true => Ok(()),
        false => invalid(format!("{key}.target"), target, format!("at most interval = {interval}")),
    }
}

/// Checks that a selector of packets comes with the threshold that it selects for.
pub fn threshold_of_selector(
    key: &str,
    threshold: Option<Time>,
    selector: Option<bool>,
) -> Checked {
    match (threshold, selector) {
        (None, Some(_)) => conflict(
            format!("{key}.ce_threshold_l4s"),
            "ce_threshold_l4s needs ce_threshold, such as \"1ms\"",
        ),
        _ => Ok(()),
    }
}

/// Checks the threshold of step marking: from its buffer's limit on it would never mark. Units that
/// differ are not compared, since conversions depend on the run.
pub fn step_threshold(key: &str, threshold: Buffer, limit: Buffer) -> Checked {
    if threshold == Buffer::Unlimited {
        return invalid(key, "\"unlimited\"", "a threshold such as \"65pkt\"");
    }
    match is_below(threshold, limit) {
        Some(false) => invalid(key, threshold, format!("below limit = {limit}")),
        _ => Ok(()),
    }
}

/// Whether one size of a buffer is below another; none if they differ in unit.
fn is_below(low: Buffer, high: Buffer) -> Option<bool> {
    match (low, high) {
        (Buffer::Packets(low), Buffer::Packets(high)) | (Buffer::Bdp(low), Buffer::Bdp(high)) => {
            Some(low < high)
        }
        (Buffer::Bytes(low), Buffer::Bytes(high)) => Some(low < high),
        (Buffer::Time(low), Buffer::Time(high)) => Some(low < high),
        _ => None,
    }
}

/// Checks that a lower threshold is below the upper one. Both must have one unit, since conversions
/// depend on the run.
pub fn thresholds(
    key: &str,
    (low_name, low): (&str, Option<Buffer>),
    (high_name, high): (&str, Option<Buffer>),
) -> Checked {
    for (name, threshold) in [(low_name, low), (high_name, high)] {
        if threshold == Some(Buffer::Unlimited) {
            return invalid(
                format!("{key}.{name}"),
                "\"unlimited\"",
                "a threshold such as \"5pkt\"",
            );
        }
    }
    let (Some(low), Some(high)) = (low, high) else { return Ok(()) };
    match is_below(low, high) {
        Some(true) => Ok(()),
        Some(false) => {
            let hint = if low == high { " (kind = \"step\" marks at one threshold)" } else { "" };
            let expected = format!("below {high_name} = {high}{hint}");
            invalid(format!("{key}.{low_name}"), low, expected)
        }
        None => conflict(
            format!("{key}.{low_name}"),
            format!("{low_name} = {low} and {high_name} = {high} must be in one unit"),
        ),
    }
}
