//! What a link counts, and when: edges of the measuring window, samples of the queue, moments that its discipline waits for.

use super::{Link, LinkCounts, QueueSampler};
use cwndlab_queues::Admission;

impl Link {
    /// Something is due that is not a packet: an edge of the window, a sample of the queue, or a moment the discipline waits for.
    #[cold]
    #[inline(never)]
    pub(super) fn look(&mut self, now_s: f64) {
        loop {
            let sample_s = self.sampler.as_ref().map_or(f64::INFINITY, QueueSampler::next_s);
            let deadline_s = self.discipline.next_update_s();
            let next_s = self.next_mark_s.min(sample_s).min(deadline_s);
            if next_s > now_s {
                self.next_look_s = next_s;
                return;
            }
            self.depart_until(next_s, f64::INFINITY);
            if next_s == self.next_mark_s {
                self.mark();
            } else if next_s == sample_s {
                let length = self.backlog_packets(next_s) as u32;
                self.sampler.iter_mut().for_each(|sampler| sampler.samples.push(length));
            } else {
                let backlog = self.backlog();
                self.discipline.on_update(next_s, &backlog);
            }
        }
    }

    /// Counts at `now_s`; what departs until then must have been counted.
    pub fn counts(&self, now_s: f64) -> LinkCounts {
        let (lost, departed, departed_bits, waiting_area_s) = match &self.owned {
            Some(owned) => {
                let (packets, bits, still_there) = owned.departed(now_s);
                let lost = self.lost - still_there;
                (lost, packets - lost, bits, owned.waiting_area_s(now_s))
            }
            None => {
                let still_waiting: f64 = self.backlog.iter().map(|packet| (packet.since_s.min(self.window.to_s) - now_s).max(0.0)).sum();
                let departed = self.arrived - self.dropped - self.lost - self.backlog.len() as u64;
                (self.lost, departed, 8 * self.departed_bytes, self.waited_s - still_waiting)
            }
        };
        let (arrived, dropped, marked) = (self.arrived, self.dropped + lost, self.marked);
        LinkCounts { arrived, dropped, marked, departed, departed_bits, waiting_area_s, backlog: self.backlog_packets(now_s) }
    }

    /// An edge of the window was reached.
    fn mark(&mut self) {
        let counts = self.counts(self.next_mark_s);
        if self.next_mark_s == self.window.from_s {
            (self.at_begin, self.measuring, self.next_mark_s) = (counts, true, self.window.to_s);
        } else {
            (self.at_end, self.measuring, self.next_mark_s) = (counts, false, f64::INFINITY);
        }
    }

    /// Brings counts and samples up to the end of the run.
    pub fn finish(&mut self, end_s: f64) {
        self.look(end_s);
        self.depart_until(end_s, f64::INFINITY);
    }

    /// Packets waiting or in service.
    fn backlog_packets(&self, now_s: f64) -> u64 {
        self.owned.as_ref().map_or(self.backlog.len() as u64, |owned| owned.backlog(now_s))
    }
}
