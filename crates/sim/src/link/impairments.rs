//! What befalls a packet on a link beside its queue: losses, marks, outages, a changed priority, a delay that varies.

use super::LOST;
use crate::jitter::Jitter;
use crate::loss_model::{LossModel, LossOutcome};
use crate::outages::Outages;
use crate::packet::Flags;
use crate::token_bucket::TokenBucketMarker;

/// All that a link does to packets beside queueing and serialising them.
#[derive(Clone, Debug, Default)]
pub struct Impairments {
    /// Losses and marks.
    pub losses: Vec<LossModel>,
    /// Times when the link is down.
    pub outages: Option<Outages>,
    /// Sets priorities.
    pub marker: Option<TokenBucketMarker>,
    /// Varies the delay.
    pub jitter: Option<Jitter>,
    /// When the last packet reaches the other end, where none may overtake it.
    pub last_s: f64,
}

impl Impairments {
    /// Whether it does nothing.
    pub fn is_empty(&self) -> bool {
        self.losses.is_empty()
            && self.outages.is_none()
            && self.marker.is_none()
            && self.jitter.is_none()
    }

    /// A packet arrives: whether it is lost before the queue, and its flags.
    pub fn before_queue(
        &mut self,
        now_s: f64,
        size_bytes: u32,
        flow: u32,
        mut flags: Flags,
    ) -> (bool, Flags) {
        if let Some(marker) = &mut self.marker {
            flags = flags.with_priority(marker.priority(now_s, size_bytes));
        }
        let mut lost = self.outages.as_ref().is_some_and(|outages| outages.drops_arrivals(now_s));
        for loss in &mut self.losses {
            match loss.judge(flow, false) {
                LossOutcome::Pass => {}
                LossOutcome::Drop => lost = true,
                LossOutcome::Mark => flags = flags.with(Flags::CE, flags.has(Flags::ECT)),
            }
        }
        (lost, flags)
    }

    /// A packet is transmitted: when it reaches the other end if it would be there at `at_s` otherwise, [`LOST`] if it does not.
    pub fn after_transmission(&mut self, at_s: f64, flow: u32) -> f64 {
        // Every loss counts the packet, also behind one that strikes.
        let lost = self
            .losses
            .iter_mut()
            .fold(false, |lost, loss| (loss.judge(flow, true) == LossOutcome::Drop) | lost);
        if lost { LOST } else { self.delay(at_s) }
    }

    fn delay(&mut self, at_s: f64) -> f64 {
        let Some(jitter) = &mut self.jitter else { return at_s };
        let late_s = at_s + jitter.next();
        if jitter.reorders() {
            return late_s;
        }
        self.last_s = self.last_s.max(late_s);
        self.last_s
    }
}
