//! Checks of listed flows and arriving flows.

use super::conditions::{
    Checked, MAX_FLOWS, MAX_RATE_CHANGES, at_least, conflict, inside, invalid, later, one_for_each,
    positive, priority, share, unique,
};
use super::distributions::check_draw;
use super::knobs::check_knobs;
use super::repeated_transfers::check_repeated_transfers;
use crate::{ArrivalSpec, FlowSpec, KnobOverrides, Leave, PerFlow, Reader, Scenario};
use cwndlab_units::Time;
use std::collections::BTreeSet;

/// Largest expected number of arrivals of one process.
const MAX_ARRIVALS: f64 = 1e7;
/// Largest mean number of responses of an arriving flow: all are drawn when it arrives.
const MAX_EXCHANGES: f64 = 1e4;
/// Largest payload of a data packet, bytes, as of the knob `packet_size`.
const MAX_PACKET_SIZE: u64 = 65_000;
/// Shortest mean time between arrivals.
const MIN_GAP: Time = Time::ns(1_000);

impl Scenario {
    pub(super) fn check_flows<'a>(&'a self, names: &mut BTreeSet<&'a str>) -> Checked {
        if self.flows.is_empty() && self.cross.is_empty() && self.arrivals.is_empty() {
            return invalid("flows", "[]", "at least one of [[flows]], [[arrivals]] and [[cross]]");
        }
        let mut total = 0u64;
        for (i, flow) in self.flows.iter().enumerate() {
            let key = |name: &str| self.flow_key(i, name);
            unique(key("name"), &flow.name, names, "traffic")?;
            total = total.saturating_add(flow.count);
            if flow.count == 0 || total > MAX_FLOWS {
                return invalid(key("count"), flow.count, format!("1 to {MAX_FLOWS} flows in all"));
            }
            if flow.packets == Some(0) || flow.packets.is_some_and(|packets| packets > 1 << 60) {
                return invalid(
                    key("packets"),
                    flow.packets.unwrap_or_default(),
                    "1 to 1e18 packets",
                );
            }
            if flow.bytes.is_some() && (flow.packets.is_some() || flow.has_transfers()) {
                return conflict(
                    key("bytes"),
                    "`bytes` must not be given when `packets`, `responses`, `frames`, `page` or \
                     `video` is",
                );
            }
            if let Some(bytes) = flow.bytes.filter(|bytes| !(1..=1 << 60).contains(&bytes.0)) {
                return invalid(key("bytes"), bytes, "1B to 1e18B");
            }
            later(key("stop"), flow.stop, flow.start.span().high)?;
            for (name, values) in flow.per_flow() {
                one_for_each(key(name), values, flow.count, "flows")?;
            }
            check_join_and_leave(flow, &key)?;
            check_repeated_transfers(flow, &key)?;
            if let Some(reader) = &flow.reader {
                self.check_reader(flow, reader, &key("reader"))?;
            }
            if flow.place.is_some() && self.tcp_config(&flow.tcp).misbehaves() {
                return conflict(
                    key("subflows"),
                    "must not be given with tcp.ack_division or tcp.optimistic_acks: such ACKs are \
                     not of data that the connection has",
                );
            }
            priority(key("priority"), flow.priority)?;
            check_knobs(&flow.tcp, &key("tcp"))?;
            self.check_slow_start(&flow.rule, &flow.tcp, key("tcp"))?;
        }
        one_for_all("tcp", &self.tcp)?;
        check_knobs(&self.tcp, "tcp")
    }

    fn check_reader(&self, flow: &FlowSpec, reader: &Reader, key: &str) -> Checked {
        reader.check(key)?;
        let config = self.tcp_config(&flow.tcp);
        if config.receiver.receive_buffer > 0 {
            return conflict(
                key,
                "must not be given with tcp.receive_buffer, whose application reads at once",
            );
        }
        if config.misbehaves() {
            return conflict(
                key,
                "must not be given with tcp.ack_division or tcp.optimistic_acks: a receiver that \
                 misbehaves offers one window",
            );
        }
        Ok(())
    }

    pub(super) fn check_arrivals<'a>(&'a self, names: &mut BTreeSet<&'a str>) -> Checked {
        for (i, arrivals) in self.arrivals.iter().enumerate() {
            let key = |name: &str| format!("arrivals[{i}].{name}");
            unique(key("name"), &arrivals.name, names, "traffic")?;
            later(key("stop"), arrivals.stop, arrivals.start)?;
            self.check_gaps(arrivals, &key)?;
            check_connections(arrivals, &key)?;
            check_packet_sizes(arrivals, &key)?;
            priority(key("priority"), arrivals.priority)?;
            one_for_all(&key("tcp"), &arrivals.tcp)?;
            check_knobs(&arrivals.tcp, &key("tcp"))?;
            self.check_slow_start(&arrivals.rule, &arrivals.tcp, key("tcp"))?;
        }
        Ok(())
    }

    /// Checks that there is either one gap or phases, and a bounded number of arrivals.
    fn check_gaps(&self, arrivals: &ArrivalSpec, key: &dyn Fn(&str) -> String) -> Checked {
        if arrivals.vectors.is_some() {
            return Ok(());
        }
        if arrivals.gap.is_some() != arrivals.phases.is_empty() {
            return conflict(key("gap"), "exactly one of `gap` and `phases` must be given");
        }
        let process = arrivals.gap.iter().map(|gap| (key("gap"), *gap));
        let phases = arrivals.phases.iter().enumerate();
        for (key, gap) in process
            .chain(phases.clone().map(|(i, phase)| (key(&format!("phases[{i}].gap")), phase.gap)))
        {
            at_least(key, gap, MIN_GAP)?;
        }
        for (i, phase) in phases {
            let key = key(&format!("phases[{i}].length"));
            at_least(&key, phase.length, MIN_GAP)?;
            if self.duration.seconds() / phase.length.seconds() > MAX_RATE_CHANGES {
                let expected =
                    format!("at most {MAX_RATE_CHANGES:.0} phases in a run of {}", self.duration);
                return invalid(key, phase.length, expected);
            }
        }
        let expected = self.expected_arrivals(arrivals);
        if expected > MAX_ARRIVALS {
            let name = if arrivals.gap.is_some() { "gap" } else { "phases" };
            return invalid(
                key(name),
                format!("a mean of {expected:.0} arrivals"),
                format!("at most {MAX_ARRIVALS:.0} in a run"),
            );
        }
        Ok(())
    }

    /// Expected number of arrivals in the run; with phases by their mean rate.
    fn expected_arrivals(&self, arrivals: &ArrivalSpec) -> f64 {
        let end_s = arrivals.stop.map_or(f64::INFINITY, Time::seconds).min(self.duration.seconds());
        let (mut round_s, mut in_round) = (0.0, 0.0);
        for phase in &arrivals.phases {
            round_s += phase.length.seconds();
            in_round += phase.length.seconds() / phase.gap.seconds();
        }
        let rate = arrivals.gap.map_or(in_round / round_s, |gap| 1.0 / gap.seconds());
        (end_s - arrivals.start.seconds()).max(0.0) * rate
    }
}

/// Checks that knobs of no particular `[[flows]]` entry have one value for all flows.
fn one_for_all(key: &str, knobs: &KnobOverrides) -> Checked {
    match knobs.timer_phase {
        Some(PerFlow::Each(_)) => conflict(
            format!("{key}.timer_phase"),
            "must be one value: only an entry of [[flows]] has one for each flow",
        ),
        _ => Ok(()),
    }
}

/// Checks what arriving flows send: recorded connections, or drawn ones.
fn check_connections(arrivals: &ArrivalSpec, key: &dyn Fn(&str) -> String) -> Checked {
    let ArrivalSpec { gap, phases, regular, size, exchanges, think, .. } = arrivals;
    if arrivals.vectors.is_some() {
        let drawn = [
            ("gap", gap.is_some()),
            ("phases", !phases.is_empty()),
            ("regular", *regular),
            ("size", size.is_some()),
            ("exchanges", exchanges.is_some()),
            ("think", think.is_some()),
        ];
        return match drawn.iter().find(|(_, is_given)| *is_given) {
            Some((name, _)) => conflict(
                key(name),
                format!("`{name}` must not be given when `vectors` is: the file says it"),
            ),
            None => Ok(()),
        };
    }
    let Some(size) = size else {
        return conflict(key("size"), "one of `size` and `vectors` must be given");
    };
    check_draw(&key("size"), size, 1.0, "at least 1 packet")?;
    match (exchanges, think) {
        (Some(exchanges), Some(think)) => {
            check_draw(&key("exchanges"), exchanges, 1.0, "at least 1 response")?;
            if exchanges.mean() > MAX_EXCHANGES {
                return invalid(
                    key("exchanges"),
                    format!("a mean of {}", exchanges.mean()),
                    format!("at most {MAX_EXCHANGES} responses"),
                );
            }
            check_draw(&key("think"), think, 0.0, "0 s or more")
        }
        (None, None) => Ok(()),
        _ => conflict(key("exchanges"), "`exchanges` and `think` must be given together"),
    }
}

fn check_packet_sizes(arrivals: &ArrivalSpec, key: &dyn Fn(&str) -> String) -> Checked {
    if arrivals.packet_sizes.is_empty() {
        return Ok(());
    }
    if arrivals.tcp.packet_size.is_some() {
        return conflict(
            key("packet_sizes"),
            "`packet_sizes` must not be given when `tcp.packet_size` is",
        );
    }
    for (i, packets) in arrivals.packet_sizes.iter().enumerate() {
        let key = |name: &str| key(&format!("packet_sizes[{i}].{name}"));
        if !(1..=MAX_PACKET_SIZE).contains(&packets.size.0) {
            return invalid(key("size"), packets.size, format!("1B to {MAX_PACKET_SIZE}B"));
        }
        share(key("share"), packets.share)?;
    }
    let sum: f64 = arrivals.packet_sizes.iter().map(|packets| packets.share).sum();
    if (sum - 1.0).abs() > 1e-9 {
        let found = format!("a sum of shares of {sum}");
        return invalid(key("packet_sizes"), found, "shares that add up to 1");
    }
    Ok(())
}

fn check_join_and_leave(flow: &FlowSpec, key: &dyn Fn(&str) -> String) -> Checked {
    if let Some(join) = &flow.join {
        inside(key("join.batch"), join.batch, 1, MAX_FLOWS)?;
        positive(key("join.every"), join.every)?;
    }
    match flow.leave {
        None => Ok(()),
        Some(
            Leave { share: Some(_), batch: Some(_), .. } | Leave { share: None, batch: None, .. },
        ) => conflict(key("leave"), "exactly one of `share` and `batch` must be given"),
        Some(Leave { share, batch, every }) => {
            share.map_or(Ok(()), |part| super::conditions::share(key("leave.share"), part))?;
            batch.map_or(Ok(()), |batch| inside(key("leave.batch"), batch, 1, MAX_FLOWS))?;
            positive(key("leave.every"), every)
        }
    }
}
