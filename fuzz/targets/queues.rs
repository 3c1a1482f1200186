//! Fuzz target of queue disciplines: the input chooses a discipline, the arrivals and the
//! departures. Packets are conserved, limits hold, flows stay in order, and a link is never idle
//! while a packet waits.

#![no_main]

#[path = "../../crates/queues/tests/support/mod.rs"]
mod support;

use cwndlab_queues::{
    AdaptiveRed, Admission, Cake, CakeParameters, CeThreshold, CoDel, CoDelParameters, Cobalt,
    CobaltParameters, Decision, Discipline, DropTail, Drr, DrrParameters, DualPi2,
    DualPi2Parameters, FqCoDel, FqCoDelParameters, Limit, Pie, PieParameters, Priority, QueueDisc,
    QueueItem, Red, RedParameters, Rio, RioParameters, ScheduledQueue, Sfq, SfqParameters, Step,
    Weight,
};
use libfuzzer_sys::fuzz_target;
use support::Link;

/// Rate of the links: a packet of 1000 bytes takes a millisecond.
const RATE_BIT_S: f64 = 8e6;

/// Reads numbers from the input; zeros after its end.
struct Input<'a>(std::slice::Iter<'a, u8>);

impl Input<'_> {
    fn byte(&mut self) -> u8 {
        self.0.next().copied().unwrap_or(0)
    }

    fn bit(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    fn number(&mut self) -> u64 {
        u64::from(u16::from_be_bytes([self.byte(), self.byte()]))
    }

    fn share(&mut self) -> f64 {
        (f64::from(self.byte()) + 1.0) / 256.0
    }

    /// Times from microseconds to seconds, sometimes far more.
    fn seconds(&mut self) -> f64 {
        [1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 1e6][usize::from(self.byte() % 8)]
            * f64::from(self.byte())
    }

    fn size_bytes(&mut self) -> u32 {
        1 + self.number() as u32 % 1600
    }

    fn flow(&mut self) -> u32 {
        match self.byte() {
            flow @ 0..240 => u32::from(flow % 16),
            flow => u32::MAX - u32::from(flow),
        }
    }

    fn limit(&mut self) -> Limit {
        if self.bit() {
            Limit::Bytes(1 + self.number())
        } else {
            Limit::Packets(1 + self.number() % 100)
        }
    }

    fn threshold(&mut self) -> Option<f64> {
        let tenths = self.byte();
        (tenths > 0).then(|| f64::from(tenths) / 10.0)
    }

    fn weight(&mut self) -> Weight {
        if self.bit() { Weight::Automatic } else { Weight::Fixed(self.share()) }
    }

    fn buckets(&mut self) -> Option<u64> {
        let buckets = self.byte();
        (buckets > 0).then(|| u64::from(buckets))
    }

    fn is_empty(&self) -> bool {
        self.0.len() == 0
    }
}

fn within(limit: Limit, times: u64, packets: u64, bytes: u64) -> bool {
    match limit {
        Limit::Packets(most) => packets <= times * most,
        Limit::Bytes(most) => bytes <= times * most,
    }
}

fuzz_target!(|data: &[u8]| {
    let mut input = Input(data.iter());
    let kind = input.byte() % 14;
    let limit = input.limit();
    match kind {
        0..4 | 10 => at_arrival(discipline(kind, limit, &mut input), limit, input),
        _ => at_departure(scheduler(kind, limit, &mut input), limit, input),
    }
});

fn discipline(kind: u8, limit: Limit, input: &mut Input<'_>) -> (Discipline, u64) {
    match kind {
        0 => (Discipline::DropTail(DropTail::new(limit, input.bit())), 1),
        1 => {
            let parameters = RedParameters {
                min_packets: input.threshold(),
                max_packets: input.threshold(),
                max_p: input.share(),
                weight: input.weight(),
                gentle: input.bit(),
                wait: input.bit(),
                bytes: input.bit(),
                queue_in_bytes: input.bit(),
                ecn: input.bit(),
                mark_p: input.bit().then(|| input.share()),
                adaptive: input.bit().then(AdaptiveRed::default),
                ..RedParameters::new(limit, RATE_BIT_S, input.size_bytes())
            };
            // With a queue in bytes the limit is in packets of the mean size.
            let times = match limit {
                Limit::Packets(_) if parameters.queue_in_bytes => u64::MAX,
                _ => 1,
            };
            (Discipline::Red(Red::new(&parameters)), times)
        }
        2 => {
            let parameters = RioParameters {
                min_packets: input.threshold(),
                max_packets: input.threshold(),
                max_p: input.share(),
                in_min_packets: input.threshold(),
                in_max_packets: input.threshold(),
                in_max_p: input.share(),
                weight: input.weight(),
                gentle: input.bit(),
                wait: input.bit(),
                out_drop_tail: input.bit(),
                ecn: input.bit(),
                ..RioParameters::new(limit, RATE_BIT_S, input.size_bytes())
            };
            // The limit of packets in profile ignores packets out of profile.
            (Discipline::Rio(Rio::new(&parameters)), if parameters.out_drop_tail { 2 } else { 1 })
        }
        10 => (Discipline::Step(Step::new(limit, input.limit())), 1),
        _ => {
            let parameters = PieParameters {
                target_s: 1e-3 * f64::from(input.byte()),
                // A minimum: every update costs time, also while nothing arrives.
                update_s: 1e-3 * (1.0 + f64::from(input.byte())),
                alpha: f64::from(input.byte()) / 64.0,
                beta: f64::from(input.byte()) / 64.0,
                burst_s: 1e-3 * f64::from(input.byte()),
                ecn: input.bit(),
                mark_p: input.share(),
                ..PieParameters::new(limit, RATE_BIT_S, input.size_bytes())
            };
            (Discipline::Pie(Pie::new(&parameters)), 1)
        }
    }
}

/// Tests a discipline that decides at arrival; `times` its limit may wait.
fn at_arrival((rule, times): (Discipline, u64), limit: Limit, mut input: Input<'_>) {
    let counts_in_service = matches!(rule, Discipline::DropTail(_));
    let mut link = Link::new(rule, RATE_BIT_S);
    let mut random = support::random();
    let (mut now_s, mut accepted, mut largest_bytes) = (0.0, 0, 0);
    while !input.is_empty() {
        let what = input.byte();
        if what & 1 == 1 {
            now_s += input.seconds().min(if matches!(link.rule, Discipline::Pie(_)) {
                1.0
            } else {
                f64::MAX
            });
        }
        link.advance(now_s);
        let (before, size_bytes) = (link.backlog(), input.size_bytes());
        let (ecn, priority) = (what & 2 != 0, what >> 2 & 3);
        largest_bytes = largest_bytes.max(size_bytes);
        let guaranteed = before.packets < link.rule.guaranteed_accept_backlog(largest_bytes);
        let decision = link.arrive(now_s, size_bytes, ecn, priority, &mut random);
        assert!(
            !guaranteed || decision == Decision::Accept,
            "{size_bytes} bytes were guaranteed to be accepted: {:?}",
            link.rule
        );
        assert!(
            decision != Decision::Mark || ecn,
            "a packet without ECT was marked: {:?}",
            link.rule
        );
        let is_too_large = |most| counts_in_service && u64::from(size_bytes) > most;
        let fits = !matches!(limit, Limit::Bytes(most) if is_too_large(most));
        assert!(
            decision != Decision::Drop || before.packets > 0 || !fits,
            "an idle link dropped a packet: {:?}",
            link.rule
        );
        accepted += usize::from(decision != Decision::Drop);
        let after = link.backlog();
        let held =
            within(limit, times.min(1 << 20), after.waiting_packets(), after.waiting_bytes());
        assert!(held || times == u64::MAX, "{after:?}: {:?}", link.rule);
        assert_eq!(accepted, link.departed.len() + link.queue.len());
        check_state(&link.rule);
    }
}

fn check_state(rule: &Discipline) {
    match rule {
        Discipline::Red(red) => {
            assert!(red.average() >= 0.0 && red.max_p() > 0.0 && red.max_p() <= 1.0, "{red:?}")
        }
        Discipline::Rio(rio) => assert!(rio.average() >= 0.0 && rio.in_average() >= 0.0, "{rio:?}"),
        Discipline::Pie(pie) => {
            assert!((0.0..=1.0).contains(&pie.probability()), "{pie:?}");
            assert!(pie.departure_rate_bit_s() > 0.0, "{pie:?}");
        }
        _ => {}
    }
}

/// A discipline that decides at departure, and how many times its limit it may hold.
fn scheduler(kind: u8, limit: Limit, input: &mut Input<'_>) -> (ScheduledQueue<usize>, u64) {
    match kind {
        4 => {
            let flow_limit = input.bit().then(|| input.limit());
            let (quantum_bytes, buckets) = (input.number() % 4000, input.buckets());
            (
                ScheduledQueue::Drr(Drr::new(&DrrParameters {
                    limit,
                    quantum_bytes,
                    buckets,
                    flow_limit,
                })),
                1,
            )
        }
        5 => (ScheduledQueue::Priority(Priority::new(limit)), 4),
        6 => {
            let (target_s, interval_s, ecn) =
                (1e-3 * f64::from(input.byte()), 1e-3 * f64::from(input.byte()), input.bit());
            (
                ScheduledQueue::CoDel(CoDel::new(&CoDelParameters {
                    limit,
                    target_s,
                    interval_s,
                    ecn,
                    ce_threshold: input.bit().then(|| CeThreshold {
                        sojourn_s: 1e-3 * f64::from(input.byte()),
                        only_l4s: input.bit(),
                    }),
                })),
                1,
            )
        }
        7 => {
            let parameters = DualPi2Parameters {
                target_s: 1e-3 * f64::from(input.byte()),
                update_s: 1e-3 * (1.0 + f64::from(input.byte())),
                alpha: f64::from(input.byte()),
                beta: f64::from(input.byte()),
                coupling: 1.0 + f64::from(input.byte()),
                threshold_s: 1e-3 * f64::from(input.byte()),
                range_s: 1e-3 * f64::from(input.byte()),
                classic_share: f64::from(input.byte()) / 255.0,
                limit,
            };
            (ScheduledQueue::DualPi2(DualPi2::new(&parameters)), 1)
        }
        8 => {
            let parameters = CobaltParameters {
                limit,
                target_s: 1e-3 * f64::from(input.byte()),
                interval_s: 1e-3 * f64::from(input.byte()),
            };
            (ScheduledQueue::Cobalt(Cobalt::new(&parameters)), 1)
        }
        11 => {
            let parameters = SfqParameters {
                quantum_bytes: input.number() % 4000,
                buckets: u64::from(input.byte()),
                flow_limit: input.limit(),
                head_drop: input.bit(),
                perturb_s: input.bit().then(|| 1e-3 * (1.0 + f64::from(input.byte()))),
                key: input.number(),
                limit,
            };
            (ScheduledQueue::Sfq(Sfq::new(&parameters)), 1)
        }
        12 => {
            let parameters = FqParameters {
                limit,
                flow_limit: input.limit(),
                quantum_bytes: input.number() % 4000,
                initial_quantum_bytes: input.number(),
                max_rate_bit_s: input.bit().then(|| 1e3 * (1.0 + f64::from(input.byte()))),
                ce_threshold: input.bit().then(|| CeThreshold {
                    sojourn_s: 1e-3 * f64::from(input.byte()),
                    only_l4s: input.bit(),
                }),
            };
            (ScheduledQueue::Fq(Fq::new(&parameters)), 1)
        }
        13 => {
            let mut hosts = FlowHosts::default();
            hosts.insert(0..4, [Some(0), input.bit().then_some(0)]);
            let parameters = CakeParameters {
                target_s: 1e-3 * f64::from(input.byte()),
                interval_s: 1e-3 * f64::from(input.byte()),
                isolation: match input.byte() % 4 {
                    0 => FlowIsolation::Flows,
                    1 => FlowIsolation::DualSource,
                    2 => FlowIsolation::DualDestination,
                    _ => FlowIsolation::TripleIsolate,
                },
                hosts,
                bandwidth_bit_s: input.bit().then(|| 1e3 * (1.0 + f64::from(input.byte()))),
                overhead_bytes: i64::from(input.byte()) - 64,
                mpu_bytes: u64::from(input.byte()),
                framing: if input.bit() { Framing::Atm } else { Framing::Ptm },
                key: input.number(),
                ..CakeParameters::new(limit, input.number() % 4000)
            };
            (ScheduledQueue::Cake(Cake::new(&parameters)), 1)
        }
        _ => {
            let (target_s, interval_s, ecn) =
                (1e-3 * f64::from(input.byte()), 1e-3 * f64::from(input.byte()), input.bit());
            let (quantum_bytes, buckets) = (input.number() % 4000, input.buckets());
            let parameters = FqCoDelParameters {
                target_s,
                interval_s,
                buckets,
                ecn,
                ..FqCoDelParameters::new(limit, quantum_bytes)
            };
            (ScheduledQueue::FqCoDel(FqCoDel::new(&parameters)), 1)
        }
    }
}

/// The expected contents of a scheduled queue.
#[derive(Default)]
struct Expected {
    /// Packets by number of arrival; none after departure.
    queued: Vec<Option<QueueItem<usize>>>,
    packets: u64,
    bytes: u64,
}

impl Expected {
    fn enter(&mut self, item: QueueItem<usize>) {
        self.queued.push(Some(item));
        self.packets += 1;
        self.bytes += u64::from(item.size_bytes);
    }

    fn leave(&mut self, item: &QueueItem<usize>) {
        let entered =
            self.queued[item.packet].take().unwrap_or_else(|| panic!("{item:?} left twice"));
        assert_eq!(QueueItem { marked: false, ..*item }, entered, "a packet changed in the queue");
        assert!(!item.marked || item.ecn, "a packet without ECT was marked: {item:?}");
        self.packets -= 1;
        self.bytes -= u64::from(item.size_bytes);
    }
}

fn at_departure(
    (mut queue, times): (ScheduledQueue<usize>, u64),
    limit: Limit,
    mut input: Input<'_>,
) {
    let mut expected = Expected::default();
    let mut last_sent: Vec<((u32, bool), usize)> = Vec::new();
    let mut now_s = 0.0;
    loop {
        let what = input.byte();
        if what & 1 == 1 {
            now_s += input.seconds();
        }
        if what & 2 != 0 && !input.is_empty() {
            let (size_bytes, flow, packet) =
                (input.size_bytes(), input.flow(), expected.queued.len());
            let (ecn, priority) = (what & 4 != 0, what >> 3 & 7);
            let item = QueueItem {
                size_bytes,
                flow,
                ecn,
                l4s: ecn && what & 128 != 0,
                marked: false,
                priority,
                enqueued_s: now_s,
                packet,
            };
            expected.enter(item);
            queue.enqueue(item, &mut |lost| {
                assert!(!lost.marked, "{lost:?} was marked and dropped");
                expected.leave(&lost);
            });
        } else {
            // At the end what is held back comes out too.
            if input.is_empty() && queue.packets() > 0 {
                now_s = queue.ready_s().max(now_s);
            }
            let may_send = queue.packets() > 0 && queue.ready_s() <= now_s;
            let sent = queue.dequeue(now_s, &mut |lost| expected.leave(&lost));
            assert!(sent.is_none() || may_send, "a packet left before its time: {queue:?}");
            assert!(
                sent.is_some() || queue.packets() == 0 || queue.ready_s() > now_s,
                "a link must be idle exactly if no packet waits that is not held back: {queue:?}"
            );
            if let Some(item) = sent {
                expected.leave(&item);
                // Strict priority keeps the order of a class, DualPI2 that of a flow in each queue,
                // the others that of a flow.
                let group = match queue {
                    ScheduledQueue::Priority(_) => (u32::from(item.priority.min(3)), false),
                    ScheduledQueue::DualPi2(_) => (item.flow, item.l4s),
                    _ => (item.flow, false),
                };
                match last_sent.iter_mut().find(|last| last.0 == group) {
                    Some(last) => {
                        assert!(last.1 < item.packet, "{item:?} was overtaken by {}", last.1);
                        last.1 = item.packet;
                    }
                    None => last_sent.push((group, item.packet)),
                }
            } else if input.is_empty() && queue.packets() == 0 {
                return;
            }
        }
        assert_eq!(
            (queue.packets(), queue.bytes()),
            (expected.packets, expected.bytes),
            "{queue:?}"
        );
        assert!(
            within(limit, times, expected.packets, expected.bytes),
            "{} packets, {} bytes: {queue:?}",
            expected.packets,
            expected.bytes
        );
    }
}
