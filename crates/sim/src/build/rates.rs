//! Rates of links and cross traffic, as far as they are known before a run.

use super::network_plan::NetworkPlan;
use crate::endpoint::source_population::SourcePopulation;
use crate::random::stream::RandomStream;
use crate::rate::outages::Outages;
use crate::rate::piecewise::PiecewiseRate;
use cwndlab_scenario::{CrossSpec, Excess, QueueSpec};
use cwndlab_units::{Rate, RateLimit, Time};

/// Cross traffic whose rate is known ahead.
struct PredictableCross {
    rate: PiecewiseRate,
    /// Number of such sources.
    sources: f64,
    start_s: f64,
    stop_s: f64,
    /// Delay before the link, seconds.
    delay_s: f64,
}

impl<'a> NetworkPlan<'a> {
    /// Rate of a link.
    pub fn link_rate(&self, link: u32) -> PiecewiseRate {
        let plan = &self.links[link as usize];
        let stream = RandomStream::new(self.scenario.seed, &format!("link-rate/{}", plan.name));
        PiecewiseRate::new(&plan.rate, stream, None).with_outages(Outages::new(&plan.outages))
    }

    /// Rate of a link, or that of its shaper or policer where that is smaller in the long run, from
    /// `from_s` to `to_s`.
    pub fn passing_rate(&self, link: u32, from_s: f64, to_s: f64) -> PiecewiseRate {
        let plan = &self.links[link as usize];
        let rate = self.link_rate(link);
        let policer = plan.policer.filter(|policer| policer.excess == Excess::Drop);
        let cake = match plan.queue {
            QueueSpec::Cake { bandwidth: RateLimit::Limited(rate), .. } => Some(rate),
            _ => None,
        };
        let buckets = [plan.shaper.map(|it| it.rate), policer.map(|it| it.rate), cake];
        let least_bps = buckets.into_iter().flatten().map(Rate::bps).min();
        let mean_bps = rate.clone().mean_bps(from_s, to_s);
        match least_bps.filter(|&bps| (bps as f64) < mean_bps) {
            Some(bps) => PiecewiseRate::constant(bps),
            None => rate,
        }
    }

    /// Cross traffic on a link whose rate is known ahead.
    fn predictable_cross(&self, link: u32) -> impl Iterator<Item = PredictableCross> {
        let is_known = move |(index, spec): &(usize, &CrossSpec)| {
            self.cross[*index].contains(&link) && spec.on.is_none() && spec.source_rate.is_none()
        };
        let known = move |(index, spec): (usize, &'a CrossSpec)| {
            let (waveform, link_rate_bps) = self.cross_rate(index, spec);
            // Sources that differ are taken one by one.
            let differ = spec.start.count().is_some() || spec.access_delay.is_some();
            (0..if differ { spec.count } else { 1 }).map(move |number| PredictableCross {
                rate: PiecewiseRate::new(
                    waveform,
                    RandomStream::new(self.scenario.seed, &format!("rate/{}", spec.name)),
                    link_rate_bps,
                ),
                sources: if differ { 1.0 } else { spec.count as f64 },
                start_s: spec.start.of(number).low.seconds(),
                stop_s: spec.stop.map_or(f64::MAX, Time::seconds),
                delay_s: self.source_access(spec, number).map_or(0.0, |own| own.delay_s),
            })
        };
        self.scenario.cross.iter().enumerate().filter(is_known).flat_map(known)
    }

    /// Mean offered rate of this cross traffic over the window.
    pub fn cross_bps(&self, link: u32, from_s: f64, to_s: f64) -> f64 {
        let means = self.predictable_cross(link).map(|known| {
            let begin_s = known.start_s.max(from_s - known.delay_s);
            let end_s = known.stop_s.min(to_s - known.delay_s);
            if begin_s >= end_s {
                return 0.0;
            }
            known.sources * known.rate.mean_bps(begin_s, end_s) * (end_s - begin_s)
                / (to_s - from_s)
        });
        means.fold(0.0, |sum, mean| sum + mean)
    }

    /// Available rate over the window that a varying population of sources aims at.
    pub fn target_available_bps(&self, link: u32, from_s: f64, to_s: f64) -> Option<f64> {
        let mut cross = self.scenario.cross.iter().enumerate();
        let (_, spec) = cross
            .find(|(index, spec)| spec.source_rate.is_some() && self.cross[*index][0] == link)?;
        Some(self.available_rate(spec)?.mean_bps(from_s, to_s))
    }

    fn available_rate(&self, spec: &CrossSpec) -> Option<PiecewiseRate> {
        let stream = RandomStream::new(self.scenario.seed, &format!("rate/{}", spec.name));
        Some(PiecewiseRate::new(spec.available.as_ref()?, stream, None))
    }

    /// Available rate of a link in bins of `bin_s` over the whole run, as far as it is known ahead.
    pub fn available_bps(&self, link: u32, bin_s: f64) -> Vec<f64> {
        let count = (self.scenario.duration.seconds() / bin_s).ceil() as usize;
        let mut cross = self.scenario.cross.iter().enumerate();
        if let Some((_, spec)) =
            cross.find(|(index, spec)| spec.source_rate.is_some() && self.cross[*index][0] == link)
        {
            return self
                .available_rate(spec)
                .map(|rate| rate.bins(bin_s, count, [0.0, f64::MAX], 0.0))
                .unwrap_or_default();
        }
        let mut available = self.link_rate(link).bins(bin_s, count, [0.0, f64::MAX], 0.0);
        for known in self.predictable_cross(link) {
            let PredictableCross { start_s, stop_s, delay_s, .. } = known;
            let offered = known.rate.bins(bin_s, count, [start_s, stop_s], delay_s);
            available
                .iter_mut()
                .zip(offered)
                .for_each(|(available, offered)| *available -= known.sources * offered);
        }
        available
    }

    /// The population of sources that leaves the available rate on its first link.
    pub fn population(&self, index: usize, spec: &CrossSpec) -> SourcePopulation {
        let link = self.cross[index][0];
        let available = self
            .available_rate(spec)
            .expect("checked: sources of a rate come with what they leave");
        SourcePopulation::new(
            available,
            self.links[link as usize].rate.largest().bps(),
            self.beside(link, spec),
            self.scenario.duration.seconds(),
        )
    }

    /// Rate cap of source `number` of a population: four times the fair share that holds when this
    /// source is on, bit/s.
    pub fn source_rate_cap_bps(&self, index: usize, spec: &CrossSpec, number: u64) -> u64 {
        let link = self.cross[index][0];
        (4 * self.links[link as usize].rate.largest().bps()
            / (self.beside(link, spec) + number + 1))
            .max(1)
    }

    /// Number of listed flows whose data crosses a link.
    fn beside(&self, link: u32, spec: &CrossSpec) -> u64 {
        let listed_flows = self.scenario.flows.iter().zip(&self.groups);
        spec.beside.unwrap_or_else(|| {
            listed_flows
                .filter(|(_, group)| group.path.forward.contains(&link))
                .map(|(flow, _)| flow.count)
                .sum()
        })
    }

    /// Number of sources of a `[[cross]]` entry; of a varying population the largest.
    pub fn sources(&self, index: usize, spec: &CrossSpec) -> u64 {
        if spec.source_rate.is_some() { self.population(index, spec).most() } else { spec.count }
    }

    /// Sources that cross a link.
    pub fn sources_on(&self, link: u32) -> Vec<u32> {
        let mut first = 0;
        let mut numbers = Vec::new();
        for (index, spec) in self.scenario.cross.iter().enumerate() {
            let count = self.sources(index, spec) as u32;
            if self.cross[index].contains(&link) {
                numbers.extend(first..first + count);
            }
            first += count;
        }
        numbers
    }

    /// Groups of arriving flows whose data crosses a link.
    pub fn arrivals_on(&self, link: u32) -> Vec<u32> {
        let listed_flows = self.scenario.flows.len();
        (0..self.scenario.arrivals.len() as u32)
            .filter(|&i| self.groups[listed_flows + i as usize].path.forward.contains(&link))
            .collect()
    }
}
