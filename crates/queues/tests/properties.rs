//! What holds for every discipline: nothing is invented and nothing disappears, buffers are
//! bounded, a flow's packets stay in order, and the same happens every time.

mod support;

use cwndlab_queues::{
    AdaptiveRed, Cake, CakeParameters, CeThreshold, CoDel, CoDelParameters, Cobalt,
    CobaltParameters, Decision, Discipline, DropTail, Drr, DrrParameters, DualPi2,
    DualPi2Parameters, FlowHosts, FlowIsolation, Fq, FqCoDel, FqCoDelParameters, FqParameters,
    Framing, Limit, Pie, PieParameters, Priority, QueueDisc, QueueItem, Red, RedParameters, Rio,
    RioParameters, ScheduledQueue, Sfq, SfqParameters, Step as StepMarking, Weight,
};
use proptest::collection::vec;
use proptest::prelude::*;
use support::Link;

/// One thing that happens at a queue, after so many microseconds.
#[derive(Clone, Copy, Debug)]
enum Step {
    Arrive { size_bytes: u32, flow: u32, ecn: bool, l4s: bool, priority: u8 },
    Depart,
}

fn steps() -> impl Strategy<Value = Vec<(u32, Step)>> {
    let flow = prop_oneof![0u32..4, (0u32..40).prop_map(|flow| 1 << 31 | flow), any::<u32>()];
    let arrive =
        (40u32..1600, flow, 0u8..3, 0u8..4).prop_map(|(size_bytes, flow, ecn, priority)| {
            Step::Arrive { size_bytes, flow, ecn: ecn > 0, l4s: ecn > 1, priority }
        });
    vec(
        (
            prop_oneof![9 => 0u32..3000, 1 => 0u32..400_000],
            prop_oneof![3 => arrive, 2 => Just(Step::Depart)],
        ),
        1..400,
    )
}

fn limit() -> impl Strategy<Value = Limit> {
    prop_oneof![(1u64..40).prop_map(Limit::Packets), (1600u64..40_000).prop_map(Limit::Bytes)]
}

fn buckets() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![Just(None), (1u64..8).prop_map(Some), any::<u64>().prop_map(Some)]
}

/// A discipline that owns its packets, and how many times its limit it may hold.
fn scheduled_queue() -> impl Strategy<Value = (ScheduledQueue<usize>, Limit, u64)> {
    let drr = (limit(), 1u64..4000, buckets(), proptest::option::of(limit())).prop_map(
        |(limit, quantum_bytes, buckets, flow_limit)| {
            (
                ScheduledQueue::Drr(Drr::new(&DrrParameters {
                    limit,
                    quantum_bytes,
                    buckets,
                    flow_limit,
                })),
                limit,
                1,
            )
        },
    );
    let priority =
        limit().prop_map(|limit| (ScheduledQueue::Priority(Priority::new(limit)), limit, 4));
    let codel = (limit(), any::<bool>(), 0.0005f64..0.02, 0.001f64..0.1).prop_map(
        |(limit, ecn, target_s, interval_s)| {
            (
                ScheduledQueue::CoDel(CoDel::new(&CoDelParameters {
                    limit,
                    target_s,
                    interval_s,
                    ecn,
                    ce_threshold: Some(CeThreshold { sojourn_s: target_s / 2.0, only_l4s: !ecn }),
                })),
                limit,
                1,
            )
        },
    );
    let cobalt =
        (limit(), 0.0005f64..0.02, 0.001f64..0.1).prop_map(|(limit, target_s, interval_s)| {
            let parameters = CobaltParameters { limit, target_s, interval_s };
            (ScheduledQueue::Cobalt(Cobalt::new(&parameters)), limit, 1)
        });
    let fq_codel = (limit(), any::<bool>(), 0.0005f64..0.02, 0.001f64..0.1, 1u64..4000, buckets())
        .prop_map(|(limit, ecn, target_s, interval_s, quantum_bytes, buckets)| {
            let parameters = FqCoDelParameters {
                target_s,
                interval_s,
                buckets,
                ecn,
                ..FqCoDelParameters::new(limit, quantum_bytes)
            };
            (ScheduledQueue::FqCoDel(FqCoDel::new(&parameters)), limit, 1)
        });
    let sfq = (limit(), 1u64..4000, 1u64..8, limit(), any::<bool>(), any::<u64>(), 0.001f64..0.1)
        .prop_map(|(limit, quantum_bytes, buckets, flow_limit, head_drop, key, perturb_s)| {
            let parameters = SfqParameters {
                buckets,
                flow_limit,
                head_drop,
                perturb_s: (key % 3 > 0).then_some(perturb_s),
                key,
                ..SfqParameters::new(limit, quantum_bytes)
            };
            (ScheduledQueue::Sfq(Sfq::new(&parameters)), limit, 1)
        });
    let fq = (limit(), limit(), 1u64..2000, 1u64..9000, proptest::option::of(1e5f64..1e8))
        .prop_map(|(limit, flow_limit, quantum_bytes, initial_quantum_bytes, max_rate_bit_s)| {
            let parameters = FqParameters {
                flow_limit,
                quantum_bytes,
                initial_quantum_bytes,
                max_rate_bit_s,
                ce_threshold: Some(CeThreshold { sojourn_s: 0.001, only_l4s: false }),
                ..FqParameters::new(limit, 1000)
            };
            (ScheduledQueue::Fq(Fq::new(&parameters)), limit, 1)
        });
    let shaper = (proptest::option::of(1e5f64..1e8), -64i64..256, 0u64..256, 0u8..3);
    let cake = (limit(), 0.0005f64..0.02, 1u64..4000, 0u8..4, any::<u64>(), shaper).prop_map(
        |(limit, target_s, quantum_bytes, isolation, key, shaper)| {
            let (bandwidth_bit_s, overhead_bytes, mpu_bytes, framing) = shaper;
            let mut hosts = FlowHosts::default();
            hosts.insert(0..2, [Some(0), None]);
            hosts.insert(2..3, [Some(1), Some(0)]);
            let isolations = [
                FlowIsolation::Flows,
                FlowIsolation::DualSource,
                FlowIsolation::DualDestination,
                FlowIsolation::TripleIsolate,
            ];
            let parameters = CakeParameters {
                target_s,
                isolation: isolations[isolation as usize],
                hosts,
                bandwidth_bit_s,
                overhead_bytes,
                mpu_bytes,
                framing: [Framing::None, Framing::Atm, Framing::Ptm][framing as usize],
                key,
                ..CakeParameters::new(limit, quantum_bytes)
            };
            (ScheduledQueue::Cake(Cake::new(&parameters)), limit, 1)
        },
    );
    let gains = (0.0f64..100.0, 0.0f64..100.0, 1.0f64..4.0, 0.0f64..1.0);
    let dualpi2 = (limit(), 0.0005f64..0.02, 0.001f64..0.1, gains).prop_map(
        |(limit, target_s, update_s, (alpha, beta, coupling, classic_share))| {
            let parameters = DualPi2Parameters {
                target_s,
                update_s,
                alpha,
                beta,
                coupling,
                classic_share,
                ..DualPi2Parameters::new(limit)
            };
            (ScheduledQueue::DualPi2(DualPi2::new(&parameters)), limit, 1)
        },
    );
    prop_oneof![drr, sfq, priority, codel, cobalt, fq_codel, fq, cake, dualpi2]
}

/// A rule that decides at arrival, and how many times its limit may wait.
fn discipline() -> impl Strategy<Value = (Discipline, Limit, u64)> {
    let drop_tail =
        limit().prop_map(|limit| (Discipline::DropTail(DropTail::new(limit, false)), limit, 1));
    let red = (limit(), 0.5f64..10.0, 1.0f64..4.0, 0.002f64..1.0, any::<[bool; 5]>()).prop_map(
        |(limit, min, times, weight, [gentle, wait, bytes, ecn, adaptive])| {
            let parameters = RedParameters {
                min_packets: Some(min),
                max_packets: Some(min * times),
                weight: Weight::Fixed(weight),
                gentle,
                wait,
                bytes,
                ecn,
                adaptive: adaptive.then(AdaptiveRed::default),
                ..RedParameters::new(limit, 8e6, 1000)
            };
            (Discipline::Red(Red::new(&parameters)), limit, 1)
        },
    );
    let rio = (limit(), 0.5f64..10.0, any::<[bool; 3]>()).prop_map(
        |(limit, min, [gentle, out_drop_tail, ecn])| {
            let parameters = RioParameters {
                min_packets: Some(min),
                weight: Weight::Fixed(0.1),
                gentle,
                out_drop_tail,
                ecn,
                ..RioParameters::new(limit, 8e6, 1000)
            };
            (Discipline::Rio(Rio::new(&parameters)), limit, if out_drop_tail { 2 } else { 1 })
        },
    );
    let pie = (limit(), any::<bool>(), 0.001f64..0.02, 0.0f64..0.1).prop_map(
        |(limit, ecn, target_s, burst_s)| {
            let parameters =
                PieParameters { target_s, burst_s, ecn, ..PieParameters::new(limit, 8e6, 1000) };
            (Discipline::Pie(Pie::new(&parameters)), limit, 1)
        },
    );
    let step = (limit(), limit()).prop_map(|(limit, threshold)| {
        (Discipline::Step(StepMarking::new(limit, threshold)), limit, 1)
    });
    prop_oneof![drop_tail, red, rio, pie, step]
}

fn within(limit: Limit, times: u64, packets: u64, bytes: u64) -> bool {
    match limit {
        Limit::Packets(most) => packets <= times * most,
        Limit::Bytes(most) => bytes <= times * most,
    }
}

/// What came out of a scheduler, in order.
#[derive(Default, PartialEq, Debug)]
struct Outcome {
    arrived: Vec<QueueItem<usize>>,
    sent: Vec<QueueItem<usize>>,
    lost: Vec<QueueItem<usize>>,
}

fn run(
    queue: &mut ScheduledQueue<usize>,
    limit: Limit,
    times: u64,
    steps: &[(u32, Step)],
) -> Result<Outcome, TestCaseError> {
    let mut outcome = Outcome::default();
    let mut now_us = 0u64;
    for &(wait_us, step) in steps {
        now_us += u64::from(wait_us);
        let now_s = now_us as f64 / 1e6;
        match step {
            Step::Arrive { size_bytes, flow, ecn, l4s, priority } => {
                let packet = outcome.arrived.len();
                let item = QueueItem {
                    size_bytes,
                    flow,
                    ecn,
                    l4s,
                    marked: false,
                    priority,
                    enqueued_s: now_s,
                    packet,
                };
                outcome.arrived.push(item);
                queue.enqueue(item, &mut |lost| outcome.lost.push(lost));
            }
            Step::Depart => {
                let may_send = queue.packets() > 0 && queue.ready_s() <= now_s;
                let sent = queue.dequeue(now_s, &mut |lost| outcome.lost.push(lost));
                prop_assert!(sent.is_none() || may_send, "nothing leaves before its time");
                let must_wait = queue.packets() == 0 || queue.ready_s() > now_s;
                prop_assert!(
                    sent.is_some() || must_wait,
                    "a link is never idle while a packet waits that is not held back"
                );
                outcome.sent.extend(sent);
            }
        }
        prop_assert!(
            within(limit, times, queue.packets(), queue.bytes()),
            "{} packets, {} bytes",
            queue.packets(),
            queue.bytes()
        );
        prop_assert_eq!(
            outcome.arrived.len(),
            outcome.sent.len() + outcome.lost.len() + queue.packets() as usize
        );
    }
    // What is still there comes out too, in its time.
    while queue.packets() > 0 {
        let now_s = queue.ready_s().max(now_us as f64 / 1e6);
        outcome.sent.extend(queue.dequeue(now_s, &mut |lost| outcome.lost.push(lost)));
    }
    prop_assert_eq!((queue.packets(), queue.bytes()), (0, 0));
    Ok(outcome)
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(1),
        cases: 1000,
        ..ProptestConfig::default()
    })]

    #[test]
    fn packets_are_conserved_and_a_flow_stays_in_order(
        (queue, limit, times) in scheduled_queue(),
        steps in steps(),
    ) {
        let outcome = run(&mut queue.clone(), limit, times, &steps)?;
        // Each packet came out once, as it went in but for a mark that it allows.
        let mut out: Vec<&QueueItem<usize>> = outcome.sent.iter().chain(&outcome.lost).collect();
        out.sort_by_key(|item| item.packet);
        prop_assert_eq!(out.len(), outcome.arrived.len());
        for (&item, arrived) in out.iter().zip(&outcome.arrived) {
            prop_assert!(!item.marked || item.ecn);
            prop_assert_eq!(QueueItem { marked: false, ..*item }, *arrived);
        }
        // Strict priority keeps the order within a class, DualPI2 within a flow and queue, the
        // others within a flow.
        let group = |item: &QueueItem<usize>| match queue {
            ScheduledQueue::Priority(_) => (u32::from(item.priority), false),
            ScheduledQueue::DualPi2(_) => (item.flow, item.l4s),
            _ => (item.flow, false),
        };
        let mut sent: Vec<&QueueItem<usize>> = outcome.sent.iter().collect();
        sent.sort_by_key(|item| group(item));
        let in_order = |pair: &[&QueueItem<usize>]| {
            group(pair[0]) != group(pair[1]) || pair[0].packet < pair[1].packet
        };
        prop_assert!(sent.windows(2).all(in_order));
        // And again.
        prop_assert_eq!(run(&mut queue.clone(), limit, times, &steps)?, outcome);
    }

    #[test]
    fn rules_hold_their_limit_and_repeat((rule, limit, times) in discipline(), steps in steps()) {
        let once = || {
            let mut random = support::random();
            let mut link = Link::new(rule.clone(), 8e6);
            let mut now_us = 0u64;
            let mut decisions = Vec::new();
            let mut accepted = 0;
            for &(wait_us, step) in &steps {
                now_us += u64::from(wait_us);
                let now_s = now_us as f64 / 1e6;
                let Step::Arrive { size_bytes, ecn, priority, .. } = step else {
                    link.advance(now_s);
                    continue;
                };
                link.advance(now_s);
                let was_idle = link.queue.is_empty();
                let decision = link.arrive(now_s, size_bytes, ecn, priority, &mut random);
                prop_assert!(decision != Decision::Mark || ecn);
                let is_accepted = decision != Decision::Drop;
                prop_assert!(is_accepted || !was_idle, "an idle link takes any packet");
                accepted += usize::from(decision != Decision::Drop);
                decisions.push(decision);
                let backlog = link.backlog();
                let (packets, bytes) = (backlog.waiting_packets(), backlog.waiting_bytes());
                prop_assert!(within(limit, times, packets, bytes), "{:?}", backlog);
            }
            prop_assert_eq!(accepted, link.departed.len() + link.queue.len());
            Ok(decisions)
        };
        prop_assert_eq!(once()?, once()?);
    }
}
