//! Checks of links: rates, loss models, jitter, outages, token buckets.

use super::conditions::{
    Checked, MAX_RATE_CHANGES, at_least, conflict, invalid, low_first, positive, share,
};
use crate::{
    CircuitBreakerSpec, DropSpec, JitterSpec, LossSpec, NetworkGraph, OutageSpec, Routes, Scenario,
    ScenarioError, Waveform,
};
use cwndlab_units::{Bytes, Rate, Time};
use std::collections::BTreeSet;

/// Longest mean, bound or deviation of jitter.
const MAX_JITTER: Time = Time::ns(60_000_000_000);
/// Largest step of the hosts' clocks.
const MAX_CLOCK: Time = Time::ns(10_000_000);
/// Largest mean of jitter on Wi-Fi: every packet is repeated.
const MAX_WIFI: Time = Time::ns(91_000_000);
/// Most bytes that the headers of a tunnel add: a full frame of Ethernet.
const MAX_TUNNEL_OVERHEAD: Bytes = Bytes(1500);
/// Key of the loss models of a dumbbell's reverse link.
const BACK_LOSS: &str = "dumbbell.back_loss";
/// Most packets that a link drops or holds back by number, those of each flow of a group counted.
const MAX_DROPS: u64 = 1_000_000;

impl Scenario {
    pub(super) fn check_host_jitter(&self) -> Checked {
        if self.host_jitter > MAX_JITTER {
            return invalid("host_jitter", self.host_jitter, format!("at most {MAX_JITTER}"));
        }
        if self.host_clock > MAX_CLOCK {
            return invalid("host_clock", self.host_clock, format!("at most {MAX_CLOCK}"));
        }
        Ok(())
    }

    /// Checks the links and returns them as a graph.
    pub(super) fn check_links(&self) -> Result<NetworkGraph, ScenarioError> {
        let graph = NetworkGraph::new(self)?;
        let has_back = graph.links.iter().any(|link| link.loss_key == BACK_LOSS);
        if self.dumbbell.as_ref().is_some_and(|own| !own.back_loss.is_empty() && !has_back) {
            let message = "back_rate = \"unlimited\" has no link that could lose packets";
            return conflict(BACK_LOSS, message);
        }
        for link in &graph.links {
            // The reverse link of a duplex link equals it; the reverse link of a dumbbell has its
            // own queue.
            let key = link.key.as_str();
            check_waveform(&link.rate_key, &link.rate, self.duration)?;
            link.queue.check(&link.queue_key, self.duration)?;
            for (i, loss) in link.loss.iter().enumerate() {
                self.check_loss(&format!("{}[{i}]", link.loss_key), loss)?;
            }
            if let Some(jitter) = &link.jitter {
                check_jitter(&format!("{key}.jitter"), jitter)?;
            }
            check_outages(key, &link.outages)?;
            if let Some(tunnel) = link.tunnel.filter(|it| it.overhead > MAX_TUNNEL_OVERHEAD) {
                let expected = format!("at most {MAX_TUNNEL_OVERHEAD}");
                return invalid(format!("{key}.tunnel.overhead"), tunnel.overhead, expected);
            }
            if let Some(breaker) = &link.circuit_breaker {
                check_breaker(&format!("{key}.circuit_breaker"), breaker, self.duration)?;
            }
            let buckets = [
                ("marker", link.marker.map(|marker| (marker.rate, marker.burst))),
                ("policer", link.policer.map(|policer| (policer.rate, policer.burst))),
                (
                    "policer.peak",
                    link.policer
                        .and_then(|policer| policer.peak)
                        .map(|peak| (peak.rate, peak.burst)),
                ),
                ("shaper", link.shaper.map(|shaper| (shaper.rate, shaper.burst))),
            ];
            for (name, (rate, burst)) in
                buckets.into_iter().filter_map(|(name, bucket)| Some((name, bucket?)))
            {
                check_bucket(&format!("{key}.{name}"), rate, burst)?;
            }
        }
        Ok(graph)
    }

    fn check_loss(&self, key: &str, loss: &LossSpec) -> Checked {
        let at = |name: &str| format!("{key}.{name}");
        let below_one = |name: &str, p: f64| match (0.0..1.0).contains(&p) {
            true => Ok(()),
            false => invalid(at(name), p, "a probability of at least 0, below 1"),
        };
        match loss {
            LossSpec::Bernoulli { p, .. } => below_one("p", *p)?,
            LossSpec::GilbertElliott { to_bad, to_good, bad_loss, good_loss, .. } => {
                share(at("to_bad"), *to_bad)?;
                share(at("to_good"), *to_good)?;
                share(at("bad_loss"), *bad_loss)?;
                below_one("good_loss", *good_loss)?;
            }
            LossSpec::List { packets, .. } | LossSpec::Marks { packets, .. } => {
                if packets.len() > 10_000_000 {
                    return invalid(
                        at("packets"),
                        format!("a list of {}", packets.len()),
                        "at most 1e7 packets",
                    );
                }
            }
        }
        let (from, to) = loss.interval();
        if let Some(to) = to.filter(|&to| to <= from) {
            return invalid(at("to"), to, format!("later than from = {from}"));
        }
        loss.flow().as_deref().map_or(Ok(()), |flow| self.flow_group(at("flow"), flow).map(|_| ()))
    }

    /// Checks the packets that links drop or hold back by number.
    pub(super) fn check_drops(&self, graph: &NetworkGraph, routes: &Routes) -> Checked {
        let drops = |link: &u32| &graph.links[*link as usize].drop;
        for link in 0..graph.links.len() as u32 {
            let key = &graph.links[link as usize].key;
            // Both directions of a duplex link have its drops.
            let is_twin =
                |other: &u32| graph.links[*other as usize].key == *key && !drops(other).is_empty();
            let (mut listed, mut count) = (BTreeSet::new(), 0);
            for (i, spec) in drops(&link).iter().enumerate() {
                let at = |name: &str| format!("{key}.drop[{i}].{name}");
                let group = self.flow_group(at("flow"), &spec.flow)?;
                let DropSpec { flow, packet, transmission, .. } = spec;
                check_drop(spec, at)?;
                let path = &routes.flows[group];
                if !path.forward.iter().any(is_twin) {
                    let message = format!("the data of flow \"{flow}\" do not cross this link");
                    return conflict(at("flow"), message);
                }
                if path.forward.contains(&link) && path.back.contains(&link) {
                    let message = format!("the ACKs of flow \"{flow}\" cross this link, too");
                    return conflict(at("flow"), message);
                }
                if !listed.insert((flow, packet, transmission)) {
                    let expected = "a transmission of the packet that no entry before has";
                    return invalid(at("transmission"), transmission, expected);
                }
                let is_group = *flow == self.flows[group].name;
                count += if is_group { self.flows[group].count } else { 1 };
            }
            if count > MAX_DROPS {
                let expected = format!("at most {MAX_DROPS} packets of all flows");
                return invalid(format!("{key}.drop"), format!("a list of {count}"), expected);
            }
        }
        Ok(())
    }

    /// The entry in `flows` of a flow or a group of flows.
    fn flow_group(&self, key: String, name: &str) -> Result<usize, ScenarioError> {
        self.flows.iter().position(|flow| flow.matches(name)).ok_or_else(|| {
            let names: Vec<&str> = self.flows.iter().map(|flow| flow.name.as_str()).collect();
            ScenarioError::unknown(key, name, &names)
        })
    }
}

fn check_drop(spec: &DropSpec, at: impl Fn(&str) -> String) -> Checked {
    if spec.packet > 1 << 60 {
        return invalid(at("packet"), spec.packet, "at most 1e18");
    }
    at_least(at("transmission"), spec.transmission, 1)?;
    let Some(hold) = spec.hold else { return Ok(()) };
    positive(at("hold"), hold)?;
    if hold >= MAX_JITTER {
        return invalid(at("hold"), hold, format!("below {MAX_JITTER}"));
    }
    Ok(())
}

fn check_jitter(key: &str, jitter: &JitterSpec) -> Checked {
    let times = match *jitter {
        JitterSpec::Uniform { low, high, .. } => {
            low_first(format!("{key}.low"), low, high)?;
            [("low", low), ("high", high)]
        }
        JitterSpec::Normal { mean, deviation, .. } => [("mean", mean), ("deviation", deviation)],
        JitterSpec::Exponential { mean, .. } => [("mean", mean), ("mean", mean)],
        JitterSpec::Bernoulli { p, by, .. } => {
            if !(0.0..=1.0).contains(&p) {
                return invalid(format!("{key}.p"), p, "0 to 1");
            }
            [("by", by), ("by", by)]
        }
        JitterSpec::WiFi { mean, ref changes, .. } => {
            check_points(&format!("{key}.changes"), changes, MAX_WIFI)?;
            if mean > MAX_WIFI {
                return invalid(format!("{key}.mean"), mean, format!("at most {MAX_WIFI}"));
            }
            [("mean", mean), ("mean", mean)]
        }
        JitterSpec::Steps { ref points, .. } => {
            if points.is_empty() {
                return invalid(format!("{key}.points"), "[]", "one pair of times or more");
            }
            return check_points(&format!("{key}.points"), points, MAX_JITTER);
        }
    };
    match times.iter().find(|(_, time)| *time >= MAX_JITTER) {
        Some((name, time)) => invalid(format!("{key}.{name}"), time, format!("below {MAX_JITTER}")),
        None => Ok(()),
    }
}

/// Checks pairs of a time and a value: times increase, values are at most `most`.
fn check_points(key: &str, points: &[(Time, Time)], most: Time) -> Checked {
    if points.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
        return conflict(key, "times must increase");
    }
    match points.iter().position(|(_, value)| *value > most) {
        Some(at) => invalid(format!("{key}[{at}]"), points[at].1, format!("at most {most}")),
        None => Ok(()),
    }
}

fn check_bucket(key: &str, rate: Rate, burst: Bytes) -> Checked {
    if burst.0 == 0 {
        return invalid(format!("{key}.burst"), burst, "at least 1B");
    }
    if rate.bps() == 0 {
        return invalid(format!("{key}.rate"), rate, "a rate above 0");
    }
    Ok(())
}

fn check_breaker(key: &str, breaker: &CircuitBreakerSpec, duration: Time) -> Checked {
    let CircuitBreakerSpec { loss, every, count, pause } = *breaker;
    if !(0.0..1.0).contains(&loss) {
        return invalid(format!("{key}.loss"), loss, "a share of at least 0, below 1");
    }
    positive(format!("{key}.every"), every)?;
    if duration.seconds() / every.seconds() > MAX_RATE_CHANGES {
        let expected = format!("at most {MAX_RATE_CHANGES:.0} intervals in a run of {duration}");
        return invalid(format!("{key}.every"), every, expected);
    }
    at_least(format!("{key}.count"), count, 1)?;
    pause.map_or(Ok(()), |pause| positive(format!("{key}.pause"), pause))
}

fn check_outages(key: &str, outages: &[OutageSpec]) -> Checked {
    let mut before = Time::default();
    for (i, outage) in outages.iter().enumerate() {
        let OutageSpec { from, to, .. } = outage;
        if from >= to {
            return invalid(
                format!("{key}.outages[{i}].to"),
                to,
                format!("later than from = {from}"),
            );
        }
        if *from < before {
            let expected = format!("no earlier than the end of the outage before, {before}");
            return invalid(format!("{key}.outages[{i}].from"), from, expected);
        }
        before = *to;
    }
    Ok(())
}

/// Checks a waveform in a run of this duration.
pub(super) fn check_waveform(key: &str, waveform: &Waveform, duration: Time) -> Checked {
    waveform.check(key)?;
    match waveform.shortest_piece() {
        Some((name, piece))
            if duration.seconds() / piece.seconds().max(1e-12) > MAX_RATE_CHANGES =>
        {
            let expected = format!("at most {MAX_RATE_CHANGES:.0} changes in a run of {duration}");
            invalid(format!("{key}.{name}"), format!("a change every {piece}"), expected)
        }
        _ => Ok(()),
    }
}
