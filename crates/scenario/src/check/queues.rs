//! Checks of queue disciplines: probabilities, order of thresholds, buffers that hold a packet.

use super::conditions::{Checked, conflict, inside, invalid, positive, share};
use crate::{NetworkGraph, QueueSpec, Routes, Scenario};
use cwndlab_units::{Buffer, Bytes, Time};

/// Largest number of hash buckets.
const MAX_BUCKETS: u64 = 1_000_000;
/// Largest quantum and mean packet size: the largest packet.
const MAX_PACKET_BYTES: u64 = 65_535;
/// Largest gain of PIE.
const MAX_GAIN: f64 = 1e3;

/// Checks a queue by itself, in a run of this duration.
pub(super) fn check_queue(key: &str, queue: &QueueSpec, duration: Time) -> Checked {
    let at = |name: &str| format!("{key}.{name}");
    holds_a_packet(&at("limit"), queue.limit())?;
    match queue {
        QueueSpec::DropTail { .. } | QueueSpec::Priority { .. } => Ok(()),
        QueueSpec::Red { min, max, max_p, weight, mean_packet, mark_p, target_delay, .. } => {
            thresholds(key, ("min", *min), ("max", *max))?;
            share(at("max_p"), *max_p)?;
            weight.map_or(Ok(()), |weight| share(at("weight"), weight))?;
            mean_packet.map_or(Ok(()), |size| bytes(at("mean_packet"), size))?;
            mark_p.map_or(Ok(()), |p| share(at("mark_p"), p))?;
            positive(at("target_delay"), *target_delay)
        }
        QueueSpec::Rio {
            min,
            max,
            max_p,
            in_min,
            in_max,
            in_max_p,
            weight,
            mean_packet,
            target_delay,
            ..
        } => {
            thresholds(key, ("min", *min), ("max", *max))?;
            share(at("max_p"), *max_p)?;
            thresholds(key, ("in_min", *in_min), ("in_max", *in_max))?;
            share(at("in_max_p"), *in_max_p)?;
            weight.map_or(Ok(()), |weight| share(at("weight"), weight))?;
            mean_packet.map_or(Ok(()), |size| bytes(at("mean_packet"), size))?;
            positive(at("target_delay"), *target_delay)
        }
        QueueSpec::Drr { quantum, buckets, flow_limit, .. } => {
            quantum.map_or(Ok(()), |quantum| bytes(at("quantum"), quantum))?;
            buckets.map_or(Ok(()), |buckets| inside(at("buckets"), buckets, 1, MAX_BUCKETS))?;
            flow_limit.map_or(Ok(()), |limit| holds_a_packet(&at("flow_limit"), limit))
        }
        QueueSpec::CoDel { target, interval, .. } => {
            target_within_interval(key, *target, *interval)
        }
        QueueSpec::FqCoDel { target, interval, quantum, buckets, .. } => {
            target_within_interval(key, *target, *interval)?;
            quantum.map_or(Ok(()), |quantum| bytes(at("quantum"), quantum))?;
            buckets.map_or(Ok(()), |buckets| inside(at("buckets"), buckets, 1, MAX_BUCKETS))
        }
        QueueSpec::Pie { target, update, alpha, beta, mark_p, .. } => {
            positive(at("target"), *target)?;
            if *update < Time::ns(1_000)
                || duration.seconds() / update.seconds() > super::conditions::MAX_RATE_CHANGES
            {
                let most = super::conditions::MAX_RATE_CHANGES;
                return invalid(
                    at("update"),
                    update,
                    format!("at least 1us, and at most {most:.0} updates in a run of {duration}"),
                );
            }
            inside(at("alpha"), *alpha, 0.0, MAX_GAIN)?;
            inside(at("beta"), *beta, 0.0, MAX_GAIN)?;
            share(at("mark_p"), *mark_p)
        }
    }
}

fn holds_a_packet(key: &str, limit: Buffer) -> Checked {
    match limit {
        Buffer::Packets(0) | Buffer::Bytes(0) => invalid(key, limit, "at least one packet"),
        _ => Ok(()),
    }
}

fn bytes(key: String, size: Bytes) -> Checked {
    match (1..=MAX_PACKET_BYTES).contains(&size.0) {
        true => Ok(()),
        false => invalid(key, size, format!("1B to {MAX_PACKET_BYTES}B")),
    }
}

fn target_within_interval(key: &str, target: Time, interval: Time) -> Checked {
    positive(format!("{key}.target"), target)?;
    match target <= interval {
        true => Ok(()),
        false => invalid(format!("{key}.target"), target, format!("at most interval = {interval}")),
    }
}

/// Checks that a lower threshold is below the upper one. Both must have one unit, since conversions
/// depend on the run.
fn thresholds(
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
    let in_order = match (low, high) {
        (Buffer::Packets(low), Buffer::Packets(high))
        | (Buffer::Bytes(low), Buffer::Bytes(high)) => low < high,
        (Buffer::Time(low), Buffer::Time(high)) => low < high,
        (Buffer::Bdp(low), Buffer::Bdp(high)) => low < high,
        _ => {
            return conflict(
                format!("{key}.{low_name}"),
                format!("{low_name} = {low} and {high_name} = {high} must be in one unit"),
            );
        }
    };
    match in_order {
        true => Ok(()),
        false => invalid(format!("{key}.{low_name}"), low, format!("below {high_name} = {high}")),
    }
}

impl Scenario {
    /// Checks that a buffer in bytes holds each packet that crosses it on its way to a sink.
    pub(super) fn check_buffers(&self, graph: &NetworkGraph<'_>, routes: &Routes) -> Checked {
        let mut largest = vec![0; graph.links.len()];
        let flows = self
            .flows
            .iter()
            .zip(&routes.flows)
            .map(|(flow, path)| (path, u64::from(self.knobs(&flow.tcp).wire_size(1))));
        let arrivals = self
            .arrivals
            .iter()
            .zip(&routes.arrivals)
            .map(|(spec, path)| (path, u64::from(self.knobs(&spec.tcp).wire_size(1))));
        let cross =
            self.cross.iter().zip(&routes.cross).map(|(cross, path)| (path, cross.packet_size.0));
        for (path, size) in flows.chain(arrivals).chain(cross) {
            for &link in &path.forward {
                largest[link as usize] = size.max(largest[link as usize]);
            }
        }
        for (link, largest) in graph.links.iter().zip(largest) {
            let own =
                if let QueueSpec::Drr { flow_limit, .. } = link.queue { flow_limit } else { None };
            for (name, limit) in [("limit", Some(link.queue.limit())), ("flow_limit", own)] {
                if let Some(Buffer::Bytes(bytes)) = limit
                    && bytes < largest
                {
                    let expected = format!("at least a packet, {largest}B");
                    return invalid(
                        format!("{}.{name}", link.queue_key),
                        format!("{bytes}B"),
                        expected,
                    );
                }
            }
        }
        Ok(())
    }
}
