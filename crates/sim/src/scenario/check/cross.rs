//! Checks of cross traffic.

use super::distributions::check_draw;
use super::links::check_waveform;
use super::{Checked, MAX_RATE_CHANGES, priority, refuse};
use crate::scenario::{CrossSpec, NetworkGraph, Routes, Scenario, Shape, Waveform};
use crate::source_population::MAX_SOURCES;
use std::collections::BTreeSet;

impl Scenario {
    pub(super) fn check_cross<'a>(&'a self, names: &mut BTreeSet<&'a str>) -> Checked {
        let mut total = 0u64;
        for (i, cross) in self.cross.iter().enumerate() {
            let key = |name: &str| format!("cross[{i}].{name}");
            if cross.name.is_empty() || !names.insert(cross.name.as_str()) {
                return refuse(
                    key("name"),
                    format!("\"{}\" is empty or taken: every source has its own name", cross.name),
                );
            }
            total = total.saturating_add(cross.count);
            if cross.count == 0 || total as f64 > MAX_SOURCES {
                return refuse(
                    key("count"),
                    format!("{} is out of range: 1 to {MAX_SOURCES} sources in all", cross.count),
                );
            }
            match (&cross.rate, &cross.available) {
                (Some(rate), None) => check_waveform(&key("rate"), rate, self.duration)?,
                (None, Some(available)) => {
                    check_waveform(&key("available"), available, self.duration)?
                }
                _ => return refuse(key("rate"), "write either rate or available"),
            }
            self.check_bursts(cross, &key)?;
            check_available(cross, &key)?;
            if let Some(stop) = cross.stop.filter(|stop| *stop <= cross.start.high) {
                return refuse(
                    key("stop"),
                    format!("{stop} is not after start = {}", cross.start.high),
                );
            }
            if !(20..=65_535).contains(&cross.packet_size.0) {
                return refuse(
                    key("packet_size"),
                    format!("{} is out of range: 20B to 65535B", cross.packet_size),
                );
            }
            priority(key("priority"), cross.priority)?;
        }
        Ok(())
    }

    fn check_bursts(&self, cross: &CrossSpec, key: &dyn Fn(&str) -> String) -> Checked {
        let (on, off) = match (&cross.on, &cross.off) {
            (Some(on), Some(off)) => (on, off),
            (None, None) => return Ok(()),
            (Some(_), None) => return refuse(key("off"), "missing: bursts need both on and off"),
            (None, Some(_)) => return refuse(key("on"), "missing: bursts need both on and off"),
        };
        if cross.available.is_some() {
            return refuse(
                key("on"),
                "bursts have a rate: what is available is left by a source that is always on",
            );
        }
        if matches!(cross.rate, Some(Waveform::Shape(Shape::Trace { .. }))) {
            return refuse(
                key("on"),
                "a recording says by itself when packets are sent: bursts need another rate",
            );
        }
        check_draw(&key("on"), on, 1e-6, "at least 1us")?;
        check_draw(&key("off"), off, 0.0, "0 s or more")?;
        let bursts = self.duration.seconds() / (on.mean() + off.mean());
        if bursts > MAX_RATE_CHANGES {
            return refuse(
                key("on"),
                format!(
                    "about {bursts:.0} bursts in a run of {}: at most {MAX_RATE_CHANGES:.0}",
                    self.duration
                ),
            );
        }
        Ok(())
    }

    /// Checks `available`: the link needs a constant rate, and only one source may shape it. A
    /// population of sources needs flows beside it, and a bounded size.
    pub(super) fn check_left_over(&self, graph: &NetworkGraph<'_>, routes: &Routes) -> Checked {
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
                    "what is left of \"{}\" needs a link of constant rate, and no other source with available on it",
                    first.name
                );
                return refuse(key("available"), message);
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
                return refuse(
                    key("beside"),
                    format!("no flow crosses \"{}\": say beside how many flows", first.name),
                );
            }
            let (link_bps, least_bps) =
                (first.rate.largest().bps() as f64, available.smallest().bps() as f64);
            let most = beside as f64 * (link_bps - least_bps) / least_bps;
            if most > MAX_SOURCES {
                let message = format!(
                    "to leave {} of {} beside {beside} flows takes {most:.0} sources: at most {MAX_SOURCES}",
                    available.smallest(),
                    first.rate.largest()
                );
                return refuse(key("available"), message);
            }
        }
        Ok(())
    }
}

/// Checks the keys that require `available`, and those that exclude it.
fn check_available(cross: &CrossSpec, key: &dyn Fn(&str) -> String) -> Checked {
    if cross.available.is_some() {
        return match cross.count {
            1 => Ok(()),
            count => refuse(
                key("count"),
                format!("{count} is not allowed with available: one source leaves what is wanted"),
            ),
        };
    }
    match (cross.source_rate, cross.beside) {
        (Some(_), _) => refuse(key("source_rate"), "it goes with available"),
        (None, Some(_)) => refuse(key("beside"), "it goes with available and source_rate"),
        (None, None) => Ok(()),
    }
}
