//! CoDel: the control law on a standing queue, by hand.

mod support;

use cwndlab_queues::{CeThreshold, CoDel, CoDelParameters, Limit, QueueDisc, QueueItem};
use support::item;

/// A queue that is asked for a packet every millisecond and kept full; when it dropped and marked.
struct Standing {
    queue: CoDel<usize>,
    losses_s: Vec<f64>,
    marks_s: Vec<f64>,
}

impl Standing {
    fn new(ecn: bool) -> Self {
        let queue =
            CoDel::new(&CoDelParameters { ecn, ..CoDelParameters::new(Limit::Packets(1000)) });
        Self { queue, losses_s: Vec::new(), marks_s: Vec::new() }
    }

    /// Sends a packet each millisecond of this span. There are always so many, each at least so
    /// old.
    fn run(&mut self, milliseconds: std::ops::Range<u32>, packets: u64, age_s: f64) {
        for now_s in milliseconds.map(|millisecond| f64::from(millisecond) / 1000.0) {
            while self.queue.packets() < packets {
                let packet = QueueItem { ecn: true, ..item(0, 1000, now_s - age_s, 0) };
                self.queue.enqueue(packet, &mut |_| panic!("there is room"));
            }
            let sent = self.queue.dequeue(now_s, &mut |_| self.losses_s.push(now_s));
            if sent.is_some_and(|sent| sent.marked) {
                self.marks_s.push(now_s);
            }
        }
    }

    /// Empties the queue.
    fn rest(&mut self, at_s: f64) {
        while self.queue.dequeue(at_s, &mut |_| ()).is_some() {}
    }
}

fn same(actual: &[f64], expected: &[f64]) {
    assert_eq!(actual.len(), expected.len(), "{actual:?}");
    assert!(actual.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{actual:?}");
}

#[test]
fn drops_follow_the_control_law() {
    // Above target from 0 on, for an interval at 0.1: the first drop. Then after 0.1/sqrt(count),
    // from when the one before was due: 0.1 + 0.1 = 0.2; + 0.1/sqrt 2 = 0.27071; + 0.1/sqrt 3 =
    // 0.32845; + 0.1/2 = 0.37845; + 0.1/sqrt 5 = 0.42317; + 0.1/sqrt 6 = 0.46399; + 0.1/sqrt 7 =
    // 0.50179. Packets leave on the millisecond after.
    let mut standing = Standing::new(false);
    standing.run(0..510, 20, 0.03);
    same(&standing.losses_s, &[0.1, 0.2, 0.271, 0.329, 0.379, 0.424, 0.464, 0.502]);
}

#[test]
fn marks_follow_the_control_law() {
    let mut standing = Standing::new(true);
    standing.run(0..510, 20, 0.03);
    same(&standing.marks_s, &[0.1, 0.2, 0.271, 0.329, 0.379, 0.424, 0.464, 0.502]);
    assert!(standing.losses_s.is_empty());
}

#[test]
fn packets_above_the_ce_threshold_are_marked() {
    // After 2 ms; those of classic flows only if the threshold is for all.
    for (only_l4s, expected) in [(false, [true, true, false]), (true, [true, false, false])] {
        let ce_threshold = Some(CeThreshold { sojourn_s: 0.002, only_l4s });
        let parameters =
            CoDelParameters { ce_threshold, ..CoDelParameters::new(Limit::Packets(1000)) };
        let mut queue = CoDel::new(&parameters);
        for (l4s, ecn) in [(true, true), (false, true), (false, false), (true, true)] {
            queue.enqueue(QueueItem { ecn, l4s, ..item(0, 1000, 0.0, 0) }, &mut |_| ());
        }
        let mut marked = |now_s| queue.dequeue(now_s, &mut |_| ()).unwrap().marked;
        assert_eq!([marked(0.003), marked(0.003), marked(0.003)], expected);
        assert!(!marked(0.002));
    }
}

#[test]
fn one_sojourn_below_target_ends_dropping_and_the_rate_is_resumed() {
    let mut standing = Standing::new(false);
    standing.run(0..400, 20, 0.03);
    // Dropped at 0.1, 0.2, 0.271, 0.329, 0.379: count is 5, the next is due at 0.42317.
    assert_eq!(standing.losses_s.len(), 5);
    standing.rest(0.4);
    standing.losses_s.clear();
    // Again from 0.5: after an interval, at 0.6, within 16 intervals: count resumes at 5 - 1 = 4,
    // so the next is due 0.1/2 later, then 0.1/sqrt 5 = 0.04472, 0.1/sqrt 6 = 0.04082.
    standing.run(500..740, 20, 0.03);
    same(&standing.losses_s, &[0.6, 0.65, 0.695, 0.736]);
    // Long after, at 3 s: it starts from 1.
    standing.rest(0.74);
    standing.losses_s.clear();
    standing.run(3000..3290, 20, 0.03);
    same(&standing.losses_s, &[3.1, 3.2, 3.271]);
}

#[test]
fn good_queues_are_left_alone() {
    // Below target: 1 ms and three packets to wait for. Or bad, but interrupted within each
    // interval.
    let mut standing = Standing::new(false);
    standing.run(0..1000, 4, 0.001);
    standing.rest(1.0);
    for start in [1000, 1095, 1190, 1285] {
        standing.run(start..start + 90, 20, 0.03);
        standing.rest(f64::from(start + 90) / 1000.0);
    }
    assert!(standing.losses_s.is_empty());
}

#[test]
fn one_waiting_packet_never_starts_dropping() {
    // A slow link: each packet waits a second, but behind it there is at most one of the largest
    // size.
    let mut queue = CoDel::new(&CoDelParameters::new(Limit::Packets(100)));
    let mut lost = 0;
    for number in 0..50 {
        let now_s = f64::from(number);
        queue.enqueue(item(0, 1500, now_s, 0), &mut |_| lost += 1);
        if number > 0 {
            assert!(queue.dequeue(now_s, &mut |_| lost += 1).is_some());
        }
    }
    assert_eq!((lost, queue.packets()), (0, 1));
}

#[test]
fn a_full_buffer_drops_arrivals() {
    let mut queue = CoDel::new(&CoDelParameters::new(Limit::Packets(3)));
    let mut losses = Vec::new();
    for number in 0..5 {
        queue.enqueue(item(0, 1000, 0.0, number), &mut |lost| losses.push(lost.packet));
    }
    assert_eq!(losses, [3, 4]);
}
