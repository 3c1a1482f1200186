//! What results say beside sums, and how a run is made.

use crate::scenario::instance;
use cwndlab_tcp::Recovery;
use std::ops::Range;
use std::sync::Arc;

/// What results say about a link beside its sums.
#[derive(Clone, Debug)]
pub struct LinkInfo {
    /// Name.
    pub name: String,
    /// Mean rate over the window, bits per second.
    pub rate_bps: f64,
    /// Propagation delay, seconds.
    pub delay_s: f64,
    /// Buffer, packets; none without limit or in bytes.
    pub limit_packets: Option<u64>,
    /// Mean rate of cross traffic offered to it over the window, bits per second, as far as it is known ahead.
    pub cross_bps: f64,
    /// What is to be left of it, where sources come and go for that, bits per second.
    pub target_available_bps: Option<f64>,
    /// Numbers of the cross sources that cross it.
    pub cross: Vec<u32>,
    /// Groups of flows that arrive and cross it, by their number.
    pub arrivals: Vec<u32>,
    /// Its queue's name.
    pub queue: &'static str,
    /// What cross traffic leaves of it in each bin of the rate trace, bits per second.
    pub available_bps: Vec<f64>,
}

/// What results say about the listed flows beside their sums. There may be a million: what flows of a group have in common is there once.
#[derive(Clone, Debug, Default)]
pub struct FlowInfos {
    /// The groups, and the number of the first flow of each.
    groups: Vec<(u32, Arc<GroupInfo>)>,
    /// Round trip of propagation delays of every flow, seconds.
    pub base_rtts_s: Vec<f64>,
}

/// What flows of a group have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupInfo {
    /// Name.
    pub name: String,
    /// Rule.
    pub rule: String,
    /// Recovery.
    pub recovery: Recovery,
    /// How many flows it has.
    pub count: u64,
}

impl GroupInfo {
    /// Name of its `number`-th flow.
    pub fn instance(&self, number: u64) -> String {
        instance(&self.name, number, self.count)
    }
}

impl FlowInfos {
    /// A group whose flows come next.
    pub fn group(&mut self, info: GroupInfo) {
        self.groups.push((self.base_rtts_s.len() as u32, Arc::new(info)));
    }

    /// The group of a flow, and the flow's number in it; none for what is not listed.
    pub fn of(&self, flow: u32) -> Option<(&Arc<GroupInfo>, u32)> {
        if flow as usize >= self.base_rtts_s.len() {
            return None;
        }
        let (first, group) = &self.groups[self.groups.partition_point(|group| group.0 <= flow) - 1];
        Some((group, flow - first))
    }

    /// The flows of a group.
    pub fn range(&self, name: &str) -> Range<u32> {
        let Some(index) = self.groups.iter().position(|(_, group)| group.name == name) else {
            return 0..0;
        };
        let first = self.groups[index].0;
        first..first + self.groups[index].1.count as u32
    }

    /// Sum of the base round trips of the flows of some groups, seconds, and how many there are.
    pub fn base_rtts_of(&self, groups: &[&str]) -> (f64, u64) {
        let chosen = self.groups.iter().filter(|(_, group)| groups.contains(&group.name.as_str()));
        let flows = chosen.flat_map(|(first, group)| {
            &self.base_rtts_s[*first as usize..][..group.count as usize]
        });
        // From -0.0 on, as `Iterator::sum` does.
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

/// How a run is made.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Compute private stages as soon as their inputs are known. Off: an event for every stage, for tests.
    pub look_ahead: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { look_ahead: true }
    }
}
