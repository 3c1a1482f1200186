//! What a link does beside packets: edges of the measurement window, queue samples, deadlines of
//! its discipline; and its counters.

use super::metrics::{LinkCounts, QueueSampler};
use super::state::Link;
use cwndlab_queues::Admission;

impl Link {
    /// Processes what is due beside packets: edges of the measurement window, queue samples,
    /// deadlines of the discipline.
    #[cold]
    #[inline(never)]
    pub(super) fn run_due_samples(&mut self, now_s: f64) {
        loop {
            let sample_s =
                self.metrics.sampler.as_ref().map_or(f64::INFINITY, QueueSampler::next_time_s);
            let deadline_s = self.discipline.next_update_s();
            let next_time_s = self.metrics.next_window_edge_s.min(sample_s).min(deadline_s);
            if next_time_s > now_s {
                self.next_due_s = next_time_s;
                return;
            }
            if next_time_s == self.metrics.next_window_edge_s {
                self.depart_until(next_time_s, f64::INFINITY);
                self.on_window_edge();
            } else if next_time_s == sample_s {
                // Departures of this very instant stay: an arrival may precede them, and a sample
                // must not change the run.
                self.depart_until(next_time_s, f64::NEG_INFINITY);
                let leaving = self.count_leaving_at(next_time_s);
                let length = (self.backlog_packets(next_time_s) - leaving) as u32;
                let average = self.discipline.average_packets();
                let probability = match &self.scheduled_queue {
                    Some(scheduled_queue) => scheduled_queue.queue.probability(),
                    None => self.discipline.probability(),
                };
                if let Some(sampler) = &mut self.metrics.sampler {
                    sampler.samples.push(length);
                    sampler.averages.extend(average);
                    sampler.probabilities.extend(probability);
                }
            } else {
                self.depart_until(next_time_s, f64::INFINITY);
                let backlog = self.backlog();
                self.discipline.on_update(next_time_s, &backlog);
            }
        }
    }

    /// Counters at `now_s`; departures up to then must have been counted.
    pub fn counts(&self, now_s: f64) -> LinkCounts {
        let (lost, departed, departed_bits, waiting_area_s) = match &self.scheduled_queue {
            Some(scheduled_queue) => {
                let (packets, bits, still_there) = scheduled_queue.departed(now_s);
                let lost = self.lost - still_there;
                (lost, packets - lost, bits, scheduled_queue.waiting_area_s(now_s))
            }
            None => {
                let still_waiting: f64 = self
                    .backlog
                    .iter()
                    .map(|packet| {
                        (packet.tx_start_s.min(self.metrics.window.to_s) - now_s).max(0.0)
                    })
                    .sum();
                let departed = self.arrived - self.dropped - self.lost - self.backlog.len() as u64;
                (
                    self.lost,
                    departed,
                    8 * self.departed_bytes,
                    self.waiting_time_sum_s - still_waiting,
                )
            }
        };
        let (arrived, dropped, marks) = (self.arrived, self.dropped + lost, self.marks);
        LinkCounts {
            arrived,
            dropped,
            marks,
            departed,
            departed_bits,
            waiting_area_s,
            backlog: self.backlog_packets(now_s),
        }
    }

    /// The measurement window starts or ends.
    fn on_window_edge(&mut self) {
        let counts = self.counts(self.metrics.next_window_edge_s);
        if self.metrics.next_window_edge_s == self.metrics.window.from_s {
            (
                self.metrics.counts_at_window_start,
                self.metrics.measuring,
                self.metrics.next_window_edge_s,
            ) = (counts, true, self.metrics.window.to_s);
        } else {
            (
                self.metrics.counts_at_window_end,
                self.metrics.measuring,
                self.metrics.next_window_edge_s,
            ) = (counts, false, f64::INFINITY);
        }
    }

    /// Updates counters and samples up to the end of the run.
    pub fn finish(&mut self, end_s: f64) {
        self.run_due_samples(end_s);
        self.depart_until(end_s, f64::INFINITY);
    }

    /// Packets that wait or are in service.
    fn backlog_packets(&self, now_s: f64) -> u64 {
        self.scheduled_queue
            .as_ref()
            .map_or(self.backlog.len() as u64, |scheduled_queue| scheduled_queue.backlog(now_s))
    }
}
