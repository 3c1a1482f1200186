//! Builds the impairments of links.

use super::info::FlowInfos;
use super::network_plan::NetworkPlan;
use crate::network::impairment::jitter::Jitter;
use crate::network::impairment::loss_model::{LossModel, LossProcess};
use crate::network::impairment::marker::TokenBucketMarker;
use crate::network::impairment::policer::Policer;
use crate::network::link::Impairments;
use crate::random::stream::RandomStream;
use crate::rate::outages::Outages;
use cwndlab_scenario::LossSpec;
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
            .map(|(k, loss)| LossModel {
                flows: loss_flows(loss, flows),
                kind: LossProcess::new(
                    loss,
                    RandomStream::new(seed, &format!("loss/{}/{k}", plan.name)),
                ),
            })
            .collect();
        Impairments {
            losses,
            outages: Some(outages).filter(|outages| !outages.is_empty()),
            ecn_mangling: plan.ecn_mangling,
            marker: plan.marker.map(|marker| TokenBucketMarker::new(&marker)),
            policer: plan.policer.map(|policer| Policer::new(&policer)),
            jitter: plan.jitter.as_ref().map(|jitter| {
                Jitter::new(jitter, RandomStream::new(seed, &format!("jitter/{}", plan.name)))
            }),
            last_s: 0.0,
        }
    }
}

/// The flows that a loss model applies to; all if it names none.
fn loss_flows(loss: &LossSpec, flows: &FlowInfos) -> Option<Range<u32>> {
    let name = loss.flow().as_ref()?;
    let group = flows.range(name);
    if !group.is_empty() {
        return Some(group);
    }
    let flow = flows.named(name).unwrap_or_default();
    Some(flow..flow + 1)
}
