//! Checks of links: rates, loss models, jitter, outages, token buckets.

use super::queues::check_queue;
use super::{Checked, MAX_RATE_CHANGES, refuse, share};
use crate::scenario::{
    JitterSpec, LossSpec, NetworkGraph, OutageSpec, Scenario, ScenarioError, Waveform,
};
use cwndlab_units::Time;

/// Longest mean, bound or deviation of jitter.
const MAX_JITTER: Time = Time::ns(60_000_000_000);

impl Scenario {
    /// Checks the links and returns them as a graph.
    pub(super) fn check_links(&self) -> Result<NetworkGraph<'_>, ScenarioError> {
        let graph = NetworkGraph::new(self)?;
        for link in &graph.links {
            // The reverse link of a duplex link equals it; the reverse link of a dumbbell has its
            // own queue.
            let key = link.key.as_str();
            check_waveform(&format!("{key}.rate"), &link.rate, self.duration)?;
            check_queue(&link.queue_key, &link.queue, self.duration)?;
            for (i, loss) in link.loss.iter().enumerate() {
                self.check_loss(&format!("{key}.loss[{i}]"), loss)?;
            }
            link.jitter.map_or(Ok(()), |jitter| check_jitter(&format!("{key}.jitter"), &jitter))?;
            check_outages(key, link.outages)?;
            if link.marker.is_some_and(|marker| marker.burst.0 == 0) {
                return Err(ScenarioError::at(
                    format!("{key}.marker.burst"),
                    "0B is not allowed: no packet would ever be within the profile",
                ));
            }
        }
        Ok(graph)
    }

    fn check_loss(&self, key: &str, loss: &LossSpec) -> Checked {
        let at = |name: &str| format!("{key}.{name}");
        let below_one = |name: &str, p: f64| match (0.0..1.0).contains(&p) {
            true => Ok(()),
            false => refuse(at(name), format!("{p} is not a loss probability: from 0 to below 1")),
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
                    return refuse(at("packets"), "at most 1e7 packets");
                }
            }
        }
        if let Some(flow) = loss.flow().as_deref().filter(|flow| !self.has_flow(flow)) {
            let names: Vec<&str> = self.flows.iter().map(|flow| flow.name.as_str()).collect();
            return refuse(
                at("flow"),
                format!("there is no flow \"{flow}\": {}", names.join(", ")),
            );
        }
        Ok(())
    }

    /// Whether `name` is a flow or a group of flows.
    fn has_flow(&self, name: &str) -> bool {
        self.flows.iter().any(|flow| flow.matches(name))
    }
}

fn check_jitter(key: &str, jitter: &JitterSpec) -> Checked {
    let times = match *jitter {
        JitterSpec::Uniform { low, high, .. } if low > high => {
            return refuse(format!("{key}.low"), format!("{low} is above high = {high}"));
        }
        JitterSpec::Uniform { low, high, .. } => [("low", low), ("high", high)],
        JitterSpec::Normal { mean, deviation, .. } => [("mean", mean), ("deviation", deviation)],
        JitterSpec::Exponential { mean, .. } => [("mean", mean), ("mean", mean)],
    };
    match times.iter().find(|(_, time)| *time >= MAX_JITTER) {
        Some((name, time)) => {
            refuse(format!("{key}.{name}"), format!("{time} is too long: below {MAX_JITTER}"))
        }
        None => Ok(()),
    }
}

fn check_outages(key: &str, outages: &[OutageSpec]) -> Checked {
    let mut before = Time::default();
    for (i, outage) in outages.iter().enumerate() {
        let OutageSpec { from, to, .. } = outage;
        if from >= to {
            return refuse(
                format!("{key}.outages[{i}].to"),
                format!("{to} is not after from = {from}"),
            );
        }
        if *from < before {
            let message = format!(
                "{from} is before the end of the one before, {before}: in order, without overlap"
            );
            return refuse(format!("{key}.outages[{i}].from"), message);
        }
        before = *to;
    }
    Ok(())
}

/// Checks a waveform in a run of this duration.
pub(super) fn check_waveform(key: &str, waveform: &Waveform, duration: Time) -> Checked {
    if let Some((name, message)) = waveform.problem() {
        return refuse(format!("{key}.{name}"), message);
    }
    match waveform.shortest_piece() {
        Some((name, piece))
            if duration.seconds() / piece.seconds().max(1e-12) > MAX_RATE_CHANGES =>
        {
            let message = format!(
                "a change every {piece} is too often for a run of {duration}: at most {MAX_RATE_CHANGES:.0} changes"
            );
            refuse(format!("{key}.{name}"), message)
        }
        _ => Ok(()),
    }
}
