//! Descriptions of links and flows for results, and the options of a run.

use crate::rate::piecewise::PiecewiseRate;
use cwndlab_scenario::instance;
use std::ops::Range;
use std::sync::Arc;

/// Description of a link for results.
#[derive(Clone, Debug)]
pub struct LinkInfo {
    /// Name.
    pub name: String,
    /// Mean rate over the measurement window, bit/s.
    pub rate_bps: f64,
    /// What it lets pass, where accounts are kept: its rate, or that of its shaper or policer.
    pub rate: Option<PiecewiseRate>,
    /// Propagation delay, seconds.
    pub delay_s: f64,
    /// Buffer size, packets; none if unlimited or in bytes.
    pub limit_packets: Option<u64>,
    /// Mean offered rate of cross traffic over the window, as far as it is known ahead, bit/s.
    pub cross_bps: f64,
    /// Available rate that a varying population of sources aims at, bit/s.
    pub target_available_bps: Option<f64>,
    /// Cross traffic sources that cross it.
    pub cross: Vec<u32>,
    /// Groups of arriving flows that cross it.
    pub arrivals: Vec<u32>,
    /// Name of its queue discipline.
    pub queue: &'static str,
    /// Available rate in each bin of the rate trace, bit/s.
    pub available_bps: Vec<f64>,
}

/// Descriptions of the listed flows. There may be a million: what flows of a group have in common
/// is stored once.
#[derive(Clone, Debug, Default)]
pub struct FlowInfos {
    /// Number of the first flow of each group, and the group.
    groups: Vec<(u32, Arc<GroupInfo>)>,
    /// Round trip propagation delay of every flow, seconds.
    pub base_rtts_s: Vec<f64>,
    /// Propagation delay in the direction of data of every flow, where accounts are kept, seconds.
    pub forward_delays_s: Vec<f64>,
    /// Flows whose endpoints are those of a transport stack.
    pub of_stacks: Vec<StackFlowInfo>,
}

/// A flow whose endpoints are those of a transport stack.
#[derive(Clone, Copy, Debug)]
pub struct StackFlowInfo {
    /// Its number.
    pub flow: u32,
    /// Index of its `[[flows]]` entry.
    pub group: usize,
    /// Start time, seconds; infinite for never.
    pub start_s: f64,
    /// Time at which its application stops, seconds; infinite for never.
    pub stop_s: f64,
}

/// What flows of a group have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupInfo {
    /// Name.
    pub name: String,
    /// Rule.
    pub rule: String,
    /// Loss recovery, as it runs.
    pub recovery: &'static str,
    /// Number of flows.
    pub count: u64,
    /// Numbers of the links that data crosses.
    pub links: Vec<u32>,
    /// Rate of the slower of the links of its hosts, bit/s, if they have any.
    pub access_bps: Option<u64>,
}

impl GroupInfo {
    /// Name of its `number`-th flow.
    pub fn instance(&self, number: u64) -> String {
        instance(&self.name, number, self.count)
    }
}

impl FlowInfos {
    /// Adds a group; its flows come next.
    pub fn group(&mut self, info: GroupInfo) {
        self.groups.push((self.base_rtts_s.len() as u32, Arc::new(info)));
    }

    /// Group of a flow and the number of the flow in it; none for a flow that is not listed.
    pub fn of(&self, flow: u32) -> Option<(&Arc<GroupInfo>, u32)> {
        if flow as usize >= self.base_rtts_s.len() {
            return None;
        }
        let (first, group) = &self.groups[self.groups.partition_point(|group| group.0 <= flow) - 1];
        Some((group, flow - first))
    }

    /// Flow numbers of a group.
    pub fn range(&self, name: &str) -> Range<u32> {
        let Some(index) = self.groups.iter().position(|(_, group)| group.name == name) else {
            return 0..0;
        };
        let first = self.groups[index].0;
        first..first + self.groups[index].1.count as u32
    }

    /// Sum of the base round trips of the flows of some groups, seconds, and their number.
    pub fn base_rtts_of(&self, groups: &[&str]) -> (f64, u64) {
        let chosen = self.groups.iter().filter(|(_, group)| groups.contains(&group.name.as_str()));
        let flows = chosen.flat_map(|(first, group)| {
            &self.base_rtts_s[*first as usize..][..group.count as usize]
        });
        // Starts at -0.0, as `Iterator::sum` does.
        flows.fold((-0.0, 0), |(sum, count), base_rtt_s| (sum + base_rtt_s, count + 1))
    }

    /// The flow of this name.
    pub fn named(&self, name: &str) -> Option<u32> {
        self.groups.iter().find_map(|(first, group)| {
            let number = if group.count == 1 {
                Some(0)
            } else {
                name.strip_prefix(&group.name)?.strip_prefix('-')?.parse().ok()
            };
            number
                .filter(|&number| number < group.count && group.instance(number) == name)
                .map(|number| first + number as u32)
        })
    }
}

/// Options of a run that do not change its results.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Whether stations run up to their horizons. Off: packets wait at every stage and are processed
    /// in the order of all, as a reference for tests and for runs that pause.
    pub look_ahead: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { look_ahead: true }
    }
}
