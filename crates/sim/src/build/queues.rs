//! Builds queue disciplines: converts buffers and thresholds to packets or bytes, and fills in
//! defaults.

use super::info::FlowInfos;
use super::network_plan::{FlowGroup, NetworkPlan};
use crate::id::FlowId;
use crate::packet::RoutedPacket;
use cwndlab_queues::{
    AdaptiveRed, Cake, CakeParameters, CeThreshold, CoDel, CoDelParameters, Cobalt,
    CobaltParameters, Discipline, DropTail, Drr, DrrParameters, DualPi2, DualPi2Parameters,
    FlowHosts, FlowIsolation, Fq, FqCoDel, FqCoDelParameters, FqParameters, Framing, Limit, Pie,
    PieParameters, Priority, Red, RedParameters, Rio, RioParameters, ScheduledQueue, Sfq,
    SfqParameters, Step, Weight,
};
use cwndlab_scenario::QueueSpec;
use cwndlab_units::{Buffer, Bytes, RateLimit, Time};
use std::collections::BTreeSet;

/// A queue discipline, by when it decides.
pub enum BuiltQueue {
    /// Decides at arrival.
    Admission(Discipline),
    /// Decides at departure.
    Scheduling(ScheduledQueue<RoutedPacket>),
}

/// Limits above this number of packets count as unlimited.
pub const UNLIMITED: u64 = u64::MAX / 4;

impl NetworkPlan<'_> {
    /// Builds the queue discipline of a link.
    pub fn queue(&self, link: u32, flows: &FlowInfos) -> BuiltQueue {
        let plan = &self.links[link as usize];
        let rate_bit_s = plan.rate.first().bps() as f64;
        let size_bytes = self.packet_bytes(link);
        let limit = self.limit(plan.queue.limit(), link, flows);
        // Disciplines count packets, so a threshold in other units is converted at the packet size
        // of the flows.
        let threshold =
            |buffer: Option<Buffer>| buffer.map(|buffer| self.packets(buffer, link, flows));
        let mean = |bytes: Option<Bytes>| bytes.map_or(size_bytes, |bytes| bytes.0 as u32);
        let weight = |weight: Option<f64>| weight.map_or(Weight::Automatic, Weight::Fixed);
        let quantum = |bytes: Option<Bytes>| bytes.map_or(u64::from(size_bytes), |bytes| bytes.0);
        let ce_threshold = |sojourn: Option<Time>, only_l4s: Option<bool>| {
            sojourn.map(|sojourn| CeThreshold {
                sojourn_s: sojourn.seconds(),
                only_l4s: only_l4s.unwrap_or(false),
            })
        };
        let bit_s = |rate: RateLimit| match rate {
            RateLimit::Limited(rate) => Some(rate.bps() as f64),
            RateLimit::Unlimited => None,
        };
        match plan.queue {
            QueueSpec::DropTail { count_in_service, .. } => {
                BuiltQueue::Admission(Discipline::DropTail(DropTail::new(limit, count_in_service)))
            }
            QueueSpec::Red {
                min,
                max,
                max_p,
                weight: w,
                gentle,
                wait,
                bytes,
                queue_in_bytes,
                mean_packet,
                ecn,
                mark_p,
                adaptive,
                target_delay,
                ..
            } => BuiltQueue::Admission(Discipline::Red(Red::new(&RedParameters {
                min_packets: threshold(min),
                max_packets: threshold(max),
                max_p,
                weight: weight(w),
                gentle: gentle.unwrap_or(true),
                wait,
                bytes: bytes.unwrap_or(false),
                queue_in_bytes: queue_in_bytes.unwrap_or(false),
                ecn,
                mark_p,
                adaptive: adaptive.then(AdaptiveRed::default),
                target_delay_s: target_delay.seconds(),
                ..RedParameters::new(limit, rate_bit_s, mean(mean_packet))
            }))),
            QueueSpec::Rio {
                min,
                max,
                max_p,
                in_min,
                in_max,
                in_max_p,
                weight: w,
                gentle,
                wait,
                out_drop_tail,
                mean_packet,
                ecn,
                target_delay,
                ..
            } => BuiltQueue::Admission(Discipline::Rio(Rio::new(&RioParameters {
                min_packets: threshold(min),
                max_packets: threshold(max),
                max_p,
                in_min_packets: threshold(in_min),
                in_max_packets: threshold(in_max),
                in_max_p,
                weight: weight(w),
                gentle,
                wait,
                out_drop_tail,
                ecn,
                target_delay_s: target_delay.seconds(),
                ..RioParameters::new(limit, rate_bit_s, mean(mean_packet))
            }))),
            QueueSpec::Pie { target, update, alpha, beta, burst, ecn, mark_p, .. } => {
                BuiltQueue::Admission(Discipline::Pie(Pie::new(&PieParameters {
                    target_s: target.seconds(),
                    update_s: update.seconds(),
                    alpha,
                    beta,
                    burst_s: burst.seconds(),
                    ecn,
                    mark_p,
                    ..PieParameters::new(limit, rate_bit_s, size_bytes)
                })))
            }
            QueueSpec::Step { threshold, .. } => {
                let threshold = self.step_threshold(threshold, link, flows);
                BuiltQueue::Admission(Discipline::Step(Step::new(limit, threshold)))
            }
            QueueSpec::DualPi2 {
                target,
                update,
                alpha,
                beta,
                coupling,
                threshold,
                range,
                classic_share,
                ..
            } => {
                let own = DualPi2Parameters::new(limit);
                let seconds = |time: Option<Time>, own_s| time.map_or(own_s, Time::seconds);
                BuiltQueue::Scheduling(ScheduledQueue::DualPi2(DualPi2::new(&DualPi2Parameters {
                    target_s: target.seconds(),
                    update_s: seconds(update, own.update_s),
                    alpha: alpha.unwrap_or(own.alpha),
                    beta: beta.unwrap_or(own.beta),
                    coupling,
                    threshold_s: seconds(threshold, own.threshold_s),
                    range_s: seconds(range, own.range_s),
                    classic_share: classic_share.unwrap_or(own.classic_share),
                    ..own
                })))
            }
            QueueSpec::Drr { quantum: q, buckets, flow_limit, .. } => {
                BuiltQueue::Scheduling(ScheduledQueue::Drr(Drr::new(&DrrParameters {
                    buckets,
                    flow_limit: flow_limit.map(|buffer| self.limit(buffer, link, flows)),
                    ..DrrParameters::new(limit, quantum(q))
                })))
            }
            QueueSpec::Sfq { quantum: q, buckets, flow_limit, head_drop, perturb, .. } => {
                BuiltQueue::Scheduling(ScheduledQueue::Sfq(Sfq::new(&SfqParameters {
                    buckets,
                    flow_limit: self.limit(flow_limit, link, flows),
                    head_drop,
                    perturb_s: perturb.map(Time::seconds),
                    key: self.hash_key(link),
                    ..SfqParameters::new(limit, quantum(q))
                })))
            }
            QueueSpec::Priority { .. } => {
                BuiltQueue::Scheduling(ScheduledQueue::Priority(Priority::new(limit)))
            }
            QueueSpec::Cobalt { target, interval, .. } => {
                BuiltQueue::Scheduling(ScheduledQueue::Cobalt(Cobalt::new(&CobaltParameters {
                    target_s: target.seconds(),
                    interval_s: interval.seconds(),
                    ..CobaltParameters::new(limit)
                })))
            }
            QueueSpec::CoDel {
                target,
                interval,
                ecn,
                ce_threshold: ce,
                ce_threshold_l4s: l4s,
                ..
            } => BuiltQueue::Scheduling(ScheduledQueue::CoDel(CoDel::new(&CoDelParameters {
                target_s: target.seconds(),
                interval_s: interval.seconds(),
                ecn,
                ce_threshold: ce_threshold(ce, l4s),
                ..CoDelParameters::new(limit)
            }))),
            QueueSpec::FqCoDel {
                target,
                interval,
                quantum: q,
                buckets,
                ecn,
                ce_threshold: ce,
                ce_threshold_l4s: l4s,
                ..
            } => {
                BuiltQueue::Scheduling(ScheduledQueue::FqCoDel(FqCoDel::new(&FqCoDelParameters {
                    target_s: target.seconds(),
                    interval_s: interval.seconds(),
                    ecn,
                    buckets,
                    ce_threshold: ce_threshold(ce, l4s),
                    ..FqCoDelParameters::new(limit, quantum(q))
                })))
            }
            QueueSpec::Fq {
                flow_limit,
                quantum,
                initial_quantum,
                max_rate,
                ce_threshold: ce,
                ce_threshold_l4s: l4s,
                ..
            } => {
                let linux = FqParameters::new(limit, u64::from(size_bytes));
                let or = |bytes: Option<Bytes>, own| bytes.map_or(own, |bytes| bytes.0);
                BuiltQueue::Scheduling(ScheduledQueue::Fq(Fq::new(&FqParameters {
                    flow_limit: self.limit(flow_limit, link, flows),
                    quantum_bytes: or(quantum, linux.quantum_bytes),
                    initial_quantum_bytes: or(initial_quantum, linux.initial_quantum_bytes),
                    max_rate_bit_s: bit_s(max_rate),
                    ce_threshold: ce_threshold(ce, l4s),
                    ..linux
                })))
            }
            QueueSpec::Cake {
                target,
                interval,
                quantum: q,
                flow_isolation,
                bandwidth,
                overhead,
                mpu,
                framing,
                ..
            } => BuiltQueue::Scheduling(ScheduledQueue::Cake(Cake::new(&CakeParameters {
                target_s: target.seconds(),
                interval_s: interval.seconds(),
                isolation: match flow_isolation {
                    cwndlab_scenario::FlowIsolation::Flows => FlowIsolation::Flows,
                    cwndlab_scenario::FlowIsolation::DualSrchost => FlowIsolation::DualSource,
                    cwndlab_scenario::FlowIsolation::DualDsthost => FlowIsolation::DualDestination,
                    cwndlab_scenario::FlowIsolation::TripleIsolate => FlowIsolation::TripleIsolate,
                },
                hosts: self.flow_hosts(link, flows),
                bandwidth_bit_s: bit_s(bandwidth),
                overhead_bytes: overhead,
                mpu_bytes: mpu.map_or(0, |mpu| mpu.0),
                framing: match framing {
                    cwndlab_scenario::Framing::None => Framing::None,
                    cwndlab_scenario::Framing::Atm => Framing::Atm,
                    cwndlab_scenario::Framing::Ptm => Framing::Ptm,
                },
                key: self.hash_key(link),
                ..CakeParameters::new(limit, quantum(q))
            }))),
        }
    }

    /// Key of the hash by which flows find their queue at a link.
    fn hash_key(&self, link: u32) -> u64 {
        self.stream("flow-hash", &self.links[link as usize].name).uniform().to_bits()
    }

    /// Hosts of the flows at a link: the nodes between which they send, if they name them. Where
    /// their ACKs cross the link, the sink is the source.
    fn flow_hosts(&self, link: u32, flows: &FlowInfos) -> FlowHosts {
        let ends = self.links.iter().flat_map(|link| [&link.from, &link.to]);
        let nodes: BTreeSet<&str> = ends.flatten().map(String::as_str).collect();
        let number = |name: &Option<String>| {
            let name = name.as_deref()?;
            nodes.iter().position(|&node| node == name).map(|index| index as u32)
        };
        let mut hosts = FlowHosts::default();
        let listed_flows = self.groups.iter().take(self.scenario.flows.len());
        for FlowGroup { spec, path, .. } in listed_flows {
            let ends = [number(&spec.from), number(&spec.to)];
            let is_data = path.forward.contains(&link);
            let ends = if is_data { ends } else { [ends[1], ends[0]] };
            hosts.insert(flows.range(&spec.name), ends);
        }
        let mut first = 0;
        for (index, spec) in self.scenario.cross.iter().enumerate() {
            let (begin, end) = (first, first + self.sources(index, spec) as u32);
            let numbers = FlowId::cross(begin).number()..FlowId::cross(end).number();
            hosts.insert(numbers, [number(&spec.from), number(&spec.to)]);
            first = end;
        }
        hosts
    }

    /// Groups whose packets cross a link, in either direction.
    fn groups_crossing(&self, link: u32) -> impl Iterator<Item = &FlowGroup> {
        self.groups.iter().filter(move |group| {
            group.path.forward.contains(&link) || group.path.back.contains(&link)
        })
    }

    /// Size on a link of a data packet of the first flow that crosses it.
    pub fn packet_bytes(&self, link: u32) -> u32 {
        let tunnel = self.links[link as usize].tunnel;
        self.groups_crossing(link)
            .next()
            .map_or(1000, |group| self.tcp_config(&group.spec).wire_size(1))
            + tunnel.map_or(0, |tunnel| tunnel.overhead.0 as u32)
    }

    /// A buffer size in packets or bytes. Packets are data packets of the first flow that crosses
    /// the link.
    pub fn limit(&self, buffer: Buffer, link: u32, flows: &FlowInfos) -> Limit {
        match buffer {
            Buffer::Packets(packets) => Limit::Packets(packets.round() as u64),
            Buffer::Bytes(bytes) => Limit::Bytes(bytes),
            Buffer::Unlimited => Limit::Packets(u64::MAX / 2),
            Buffer::Time(_) | Buffer::Bdp(_) => {
                Limit::Packets(self.packets(buffer, link, flows).round().clamp(1.0, 1e8) as u64)
            }
        }
    }

    /// Threshold of step marking. Its default is the least that keeps a link of DCTCP flows busy (C
    /// x RTT / 7; Alizadeh et al. 2010, equation 13).
    pub fn step_threshold(&self, given: Option<Buffer>, link: u32, flows: &FlowInfos) -> Limit {
        self.limit(given.unwrap_or(Buffer::Bdp(1.0 / 7.0)), link, flows)
    }

    /// A buffer size in packets, not always an integer.
    pub fn packets(&self, buffer: Buffer, link: u32, flows: &FlowInfos) -> f64 {
        let plan = &self.links[link as usize];
        let packets = |bits: f64| bits / 8.0 / f64::from(self.packet_bytes(link));
        match buffer {
            Buffer::Packets(packets) => packets,
            Buffer::Unlimited => u64::MAX as f64 / 2.0,
            Buffer::Bytes(bytes) => packets(8.0 * bytes as f64),
            Buffer::Time(time) => packets(plan.rate.first().bps() as f64 * time.seconds()),
            Buffer::Bdp(multiple) => match self.scenario.bdp {
                Some(bdp) => packets(multiple * bdp.rate.bps() as f64 * bdp.rtt.seconds()),
                None => {
                    let groups: Vec<&str> =
                        self.groups_crossing(link).map(|group| group.spec.name.as_str()).collect();
                    let (sum_s, count) = flows.base_rtts_of(&groups);
                    let mean =
                        if count == 0 { 2.0 * plan.delay.seconds() } else { sum_s / count as f64 };
                    packets(multiple * plan.rate.first().bps() as f64 * mean)
                }
            },
        }
    }
}
