//! Hosts at the ends of flows, for disciplines that are fair to hosts.

use std::ops::Range;

/// A host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Host {
    /// One that several flows may share, by number.
    Shared(u32),
    /// The own one of a flow.
    OfFlow(u32),
}

/// The hosts between which flows send.
///
/// ```
/// use cwndlab_queues::FlowHosts;
/// let mut hosts = FlowHosts::default();
/// hosts.insert(0..8, [Some(0), None]); // eight flows from one source, each to a host of its own
/// assert_ne!(hosts, FlowHosts::default());
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowHosts {
    /// Ranges of flow numbers with the numbers of their source and destination.
    shared: Vec<(Range<u32>, [Option<u32>; 2])>,
}

impl FlowHosts {
    /// Flows of these numbers share a source, a destination, or both. Other flows, and ends without
    /// a number, have a host of their own. Of two ranges with one flow the first counts.
    pub fn insert(&mut self, flows: Range<u32>, [source, destination]: [Option<u32>; 2]) {
        self.shared.push((flows, [source, destination]));
    }

    /// Source and destination of a flow.
    pub(crate) fn of(&self, flow: u32) -> [Host; 2] {
        let found = self.shared.iter().find(|(flows, _)| flows.contains(&flow));
        found
            .map_or([None, None], |(_, ends)| *ends)
            .map(|end| end.map_or(Host::OfFlow(flow), Host::Shared))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flows_share_what_was_said_and_nothing_else() {
        let mut hosts = FlowHosts::default();
        hosts.insert(2..4, [Some(7), None]);
        assert_eq!(hosts.of(1), [Host::OfFlow(1), Host::OfFlow(1)]);
        assert_eq!(hosts.of(3), [Host::Shared(7), Host::OfFlow(3)]);
        assert_eq!(hosts.of(4), [Host::OfFlow(4), Host::OfFlow(4)]);
    }
}
