//! Builds the impairments of links.

use super::info::FlowInfos;
use super::network_plan::NetworkPlan;
use crate::network::impairment::jitter::Jitter;
use crate::network::impairment::listed_packets::{ListedFate, ListedPackets, ListedTransmission};
use crate::network::impairment::loss_model::LossModel;
use crate::network::link::Impairments;
use crate::random::stream::RandomStream;
use crate::rate::outages::Outages;
use cwndlab_scenario::DropSpec;
use std::ops::Range;

impl NetworkPlan<'_> {
    /// Impairments of a link.
    pub fn impairments(&self, link: u32, flows: &FlowInfos) -> Impairments {
        let (plan, seed) = (&self.links[link as usize], self.scenario.seed);
        let outages = Outages::new(&plan.outages);
        let losses = plan
            .loss
            .iter()
            .enumerate()
            .map(|(k, loss)| {
                let flows = loss.flow().as_ref().map(|name| flows_named(name, flows));
                let stream = RandomStream::new(seed, &format!("loss/{}/{k}", plan.name));
                LossModel::new(loss, flows, stream)
            })
            .collect();
        Impairments {
            losses,
            listed: self.listed_packets(link, flows),
            outages: Some(outages).filter(|outages| !outages.is_empty()),
            jitter: plan.jitter.as_ref().map(|jitter| {
                Jitter::new(jitter, RandomStream::new(seed, &format!("jitter/{}", plan.name)))
            }),
            ..Impairments::of_link(&plan.spec)
        }
    }

    /// Packets that a link drops or holds back; none if the data of their flows do not cross it.
    fn listed_packets(&self, link: u32, flows: &FlowInfos) -> Option<ListedPackets> {
        let crosses = |name: &str| {
            let group = self.groups.iter().find(|group| group.spec.matches(name));
            group.is_some_and(|group| group.path.forward.contains(&link))
        };
        let each = |drop: &DropSpec| {
            let &DropSpec { packet, transmission, hold, .. } = drop;
            let fate = hold.map_or(ListedFate::Dropped, |hold| ListedFate::Held(hold.seconds()));
            flows_named(&drop.flow, flows).map(move |flow| ListedTransmission {
                flow,
                number: packet as i64,
                transmission,
                fate,
            })
        };
        let drops = self.links[link as usize].drop.iter().filter(|drop| crosses(&drop.flow));
        let listed: Vec<ListedTransmission> = drops.flat_map(each).collect();
        (!listed.is_empty()).then(|| ListedPackets::new(listed))
    }
}

/// The flows of a group, or the flow of this name.
fn flows_named(name: &str, flows: &FlowInfos) -> Range<u32> {
    let group = flows.range(name);
    if !group.is_empty() {
        return group;
    }
    let flow = flows.named(name).unwrap_or_default();
    flow..flow + 1
}
