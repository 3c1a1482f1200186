//! Checks of cross traffic.

use super::conditions::{
    Checked, MAX_RATE_CHANGES, conflict, invalid, later, one_for_each, priority, unique,
};
use super::distributions::check_draw;
use super::links::check_waveform;
use crate::MAX_SOURCES;
use crate::{CrossSpec, NetworkGraph, PerFlow, Routes, Scenario, Shape, Waveform};
use cwndlab_units::{RateLimit, message};
use std::collections::BTreeSet;

/// Largest number of packets on the access links of an entry: each takes memory.
const MAX_PACKETS_ON_ACCESS_LINKS: f64 = 1e7;

impl Scenario {
    pub(super) fn check_cross<'a>(&'a self, names: &mut BTreeSet<&'a str>) -> Checked {
        let mut total = 0u64;
        for (i, cross) in self.cross.iter().enumerate() {
            let key = |name: &str| format!("cross[{i}].{name}");
            unique(key("name"), &cross.name, names, "traffic")?;
            total = total.saturating_add(cross.count);
            if cross.count == 0 || total as f64 > MAX_SOURCES {
                return invalid(
                    key("count"),
                    cross.count,
                    format!("1 to {MAX_SOURCES} sources in all"),
                );
            }
            match (&cross.rate, &cross.available) {
                (Some(rate), None) => check_waveform(&key("rate"), rate, self.duration)?,
                (None, Some(available)) => {
                    check_waveform(&key("available"), available, self.duration)?
                }
                _ => {
                    return conflict(
                        key("rate"),
                        "exactly one of `rate` and `available` must be given",
                    );
                }
            }
            self.check_bursts(cross, &key)?;
            check_available(cross, &key)?;
            later(key("stop"), cross.stop, cross.start.span().high)?;
            check_sources(cross, &key)?;
            check_access_link(cross, &key)?;
            if !(20..=65_535).contains(&cross.packet_size.0) {
                return invalid(key("packet_size"), cross.packet_size, "20B to 65535B");
            }
            priority(key("priority"), cross.priority)?;
        }
        Ok(())
    }

    fn check_bursts(&self, cross: &CrossSpec, key: &dyn Fn(&str) -> String) -> Checked {
        let (on, off) = match (&cross.on, &cross.off) {
            (Some(on), Some(off)) => (on, off),
            (None, None) => return Ok(()),
            (Some(_), None) => return conflict(key("off"), "`off` is required when `on` is given"),
            (None, Some(_)) => return conflict(key("on"), "`on` is required when `off` is given"),
        };
        if cross.available.is_some() {
            return conflict(key("on"), "`on` must not be given when `available` is");
        }
        if cross.rate.as_ref().is_some_and(Waveform::has_opportunities) {
            return conflict(
                key("on"),
                "`on` must not be given when `rate` is a trace, cellular or grants",
            );
        }
        check_draw(&key("on"), on, 1e-6, "at least 1us")?;
        check_draw(&key("off"), off, 0.0, "0 s or more")?;
        let bursts = self.duration.seconds() / (on.mean() + off.mean());
        if bursts > MAX_RATE_CHANGES {
            return invalid(
                key("on"),
                format!("a mean of {} s", on.mean()),
                format!(
                    "at most {MAX_RATE_CHANGES:.0} bursts in a run of {}, not {bursts:.0}",
                    self.duration
                ),
            );
        }
        Ok(())
    }

    /// Checks `available`: the link needs a constant rate, and only one source may shape it. A
    /// population of sources needs flows beside it, and a bounded size.
    pub(super) fn check_left_over(&self, graph: &NetworkGraph, routes: &Routes) -> Checked {
        let mut shaped = BTreeSet::new();
        for (i, (cross, path)) in self.cross.iter().zip(&routes.cross).enumerate() {
            let Some(available) = &cross.available else { continue };
            let key = |name: &str| format!("cross[{i}].{name}");
            let index = path.forward[0];
            let first = &graph.links[index as usize];
            let is_constant = matches!(
                first.rate,
                Waveform::Constant(_) | Waveform::Shape(Shape::Constant { .. })
            );
            if !shaped.insert(index) || !is_constant {
                let message = format!(
                    "`available` needs a constant rate of link \"{}\", and no other source with \
                     `available` there",
                    first.name
                );
                return conflict(key("available"), message);
            }
            if cross.source_rate.is_none() {
                continue;
            }
            let crossing = self
                .flows
                .iter()
                .zip(&routes.flows)
                .filter(|(_, path)| path.forward.contains(&index));
            let beside = cross.beside.unwrap_or_else(|| crossing.map(|(flow, _)| flow.count).sum());
            if beside == 0 {
                return conflict(
                    key("beside"),
                    format!("`beside` is required when no flow crosses \"{}\"", first.name),
                );
            }
            let (link_bps, least_bps) =
                (first.rate.largest().bps() as f64, available.smallest().bps() as f64);
            let most = beside as f64 * (link_bps - least_bps) / least_bps;
            if most > MAX_SOURCES {
                let flows = message::count(beside, "flow");
                let expected = format!(
                    "a rate that takes at most {MAX_SOURCES} sources beside {flows}, not {most:.0}"
                );
                return invalid(key("available"), available.smallest(), expected);
            }
        }
        Ok(())
    }
}

/// Checks the values that each source has for itself, and its first packet.
fn check_sources(cross: &CrossSpec, key: &dyn Fn(&str) -> String) -> Checked {
    let delays = cross.access_delay.as_ref().and_then(PerFlow::count);
    for (name, values) in [("start", cross.start.count()), ("access_delay", delays)] {
        if values.is_some() && cross.source_rate.is_some() {
            let message = format!("`{name}` must be one value when `source_rate` is given");
            return conflict(key(name), message);
        }
        one_for_each(key(name), values, cross.count, "sources")?;
    }
    let sends_evenly = cross.rate.as_ref().is_some_and(|rate| !rate.has_opportunities());
    if cross.first_at_start && (cross.on.is_some() || !sends_evenly) {
        return conflict(
            key("first_at_start"),
            "`first_at_start` needs a `rate` that is no trace, cellular or grants, without `on`",
        );
    }
    Ok(())
}

/// Checks the access link of a source, which has no limit: it must be as fast as the source, and
/// hold a bounded number of packets.
fn check_access_link(cross: &CrossSpec, key: &dyn Fn(&str) -> String) -> Checked {
    let Some(most) = cross.rate.as_ref().map(Waveform::largest) else {
        // What a source leaves of a link is said of the link itself.
        let given = [
            ("access_rate", cross.access_rate.is_some()),
            ("access_delay", cross.access_delay.is_some()),
        ];
        return match given.into_iter().find(|(_, is_given)| *is_given) {
            Some((name, _)) => {
                conflict(key(name), format!("`{name}` must not be given when `available` is"))
            }
            None => Ok(()),
        };
    };
    if let Some(RateLimit::Limited(rate)) = cross.access_rate
        && rate < most
    {
        let expected = format!("at least the largest rate of the source, {most}");
        return invalid(key("access_rate"), rate, expected);
    }
    let delay = cross.access_delay.as_ref().map(PerFlow::span).unwrap_or_default().high;
    let packets = most.bps() as f64 * delay.seconds() / (8.0 * cross.packet_size.0 as f64);
    if cross.count as f64 * packets > MAX_PACKETS_ON_ACCESS_LINKS {
        let expected = format!(
            "a delay that {MAX_PACKETS_ON_ACCESS_LINKS:e} packets of all sources fill at most"
        );
        return invalid(key("access_delay"), delay, expected);
    }
    Ok(())
}

/// Checks the keys that require `available`, and those that exclude it.
fn check_available(cross: &CrossSpec, key: &dyn Fn(&str) -> String) -> Checked {
    if cross.available.is_some() {
        return match cross.count {
            1 => Ok(()),
            _ => conflict(key("count"), "`count` must be 1 when `available` is given"),
        };
    }
    match (cross.source_rate, cross.beside) {
        (Some(_), _) => conflict(key("source_rate"), "`source_rate` needs `available`"),
        (None, Some(_)) => conflict(key("beside"), "`beside` needs `available` and `source_rate`"),
        (None, None) => Ok(()),
    }
}
