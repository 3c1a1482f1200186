//! Random scenarios for property tests.
//!
//! Half of them live on a *grid*: packet sizes, rates and delays are powers of two (in bits and
//! seconds), so that every time is an exact double and packets of different flows, timers and
//! departures coincide all the time. An engine that orders simultaneous events by anything but the
//! documented rule fails there first. The other half has the ordinary numbers that people write.

mod optional_features;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Numbers from which a scenario is made.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    grid: bool,
    /// One rate, and delays of 0, 1 and 5 ms: flows that cross links out and back meet their own
    /// packets.
    alike: bool,
}

fn pick(values: &'static [f64]) -> impl Strategy<Value = f64> {
    proptest::sample::select(values)
}

fn pick_text(values: &'static [&'static str]) -> impl Strategy<Value = &'static str> {
    proptest::sample::select(values)
}

impl Numbers {
    /// A one-way delay, seconds: multiples of 2^-8 s, or of a millisecond.
    fn delay(self) -> BoxedStrategy<f64> {
        if self.alike {
            return pick(&[0.0, 0.001, 0.005]).boxed();
        }
        let unit = if self.grid { 1.0 / 256.0 } else { 0.001 };
        prop_oneof![
            1 => Just(0.0),
            6 => (0u32..12).prop_map(move |n| f64::from(n) * unit),
            1 => (0.0..0.03f64).prop_map(|s| (s * 1e6).round() / 1e6),
        ]
        .boxed()
    }

    /// A rate in bit/s; on the grid a 1024-byte packet takes a power of two of a second.
    fn rate(self) -> BoxedStrategy<f64> {
        if self.alike {
            return Just(2e6).boxed();
        }
        if self.grid {
            pick(&[1_048_576.0, 2_097_152.0, 4_194_304.0, 8_388_608.0]).boxed()
        } else {
            pick(&[1e6, 1.5e6, 2e6, 3.3e6, 5e6, 8e6]).boxed()
        }
    }

    /// A moment or a length of time, seconds.
    fn time(self, from: f64, to: f64) -> BoxedStrategy<f64> {
        let unit = if self.grid { 1.0 / 64.0 } else { 0.01 };
        (((from / unit) as u32)..=((to / unit) as u32))
            .prop_map(move |n| f64::from(n) * unit)
            .boxed()
    }

    fn waveform(self) -> BoxedStrategy<Value> {
        let every = self.time(0.05, 0.8);
        let pair = (self.rate(), self.rate(), every.clone());
        prop_oneof![
            4 => self.rate().prop_map(|rate| json!(rate)),
            1 => pair.clone().prop_map(|(high, low, every)| {
                json!({ "kind": "square", "high": high, "low": low, "every": every })
            }),
            1 => pair.clone().prop_map(|(a, b, every)| {
                json!({ "kind": "uniform", "low": a.min(b), "high": a.max(b), "every": every })
            }),
            1 => pair.clone().prop_map(|(a, b, period)| {
                json!({ "kind": "saw-tooth", "low": a.min(b), "high": a.max(b), "period": period })
            }),
            1 => pair.prop_map(|(a, b, every)| {
                json!({
                    "kind": "walk",
                    "start": a,
                    "spread": b / 4.0,
                    "every": every,
                    "min": a / 2.0,
                    "max": a + b,
                })
            }),
            1 => (self.rate(), self.rate(), every, option::of(Just(2.0))).prop_map(
                |(a, b, at, repeat)| {
                    object(
                        json!({ "kind": "points", "points": [[0.0, a], [at, b]] }),
                        vec![("repeat", repeat.map(|r| json!(r)))],
                    )
                },
            ),
        ]
        .boxed()
    }

    /// Of a link: a rate, or opportunities to send.
    fn link_waveform(self) -> BoxedStrategy<Value> {
        prop_oneof![
            6 => self.waveform(),
            1 => (self.rate(), self.time(0.0, 0.05)).prop_map(|(rate, every)| {
                json!({ "kind": "grants", "rate": rate, "every": every.max(0.001) })
            }),
            1 => (self.rate(), pick(&[0.0, 0.1])).prop_map(|(mean, share)| {
                json!({
                    "kind": "cellular",
                    "mean": mean,
                    "outage_share": share,
                    "outage_length": 0.1,
                })
            }),
        ]
        .boxed()
    }

    fn queue(self) -> BoxedStrategy<Value> {
        let limit = prop_oneof![
            6 => (1u32..30).prop_map(|n| format!("{n}pkt")),
            2 => (3u32..40).prop_map(|n| format!("{}B", n * 512)),
            1 => (1u32..20).prop_map(|n| format!("{}ms", 5 * n)),
            1 => pick_text(&["0.5bdp", "1bdp", "2bdp"]).prop_map(String::from),
            1 => Just("unlimited".to_string()),
        ];
        (limit, any::<bool>())
            .prop_map(|(limit, count)| {
                json!({ "kind": "drop-tail", "limit": limit, "count_in_service": count })
            })
            .boxed()
    }

    fn losses(self, flows: Vec<String>) -> BoxedStrategy<Value> {
        let of_flow = move || option::weighted(0.4, proptest::sample::select(flows.clone()));
        let bernoulli = (pick(&[0.0, 0.002, 0.01, 0.05]), any::<bool>(), of_flow()).prop_map(
            |(p, after, flow)| {
                object(
                    json!({ "kind": "bernoulli", "p": p, "after_queue": after }),
                    vec![("flow", flow.map(|f| json!(f)))],
                )
            },
        );
        let list = (vec(0u32..200, 1..6), of_flow()).prop_map(|(packets, flow)| {
            object(
                json!({ "kind": "list", "packets": packets }),
                vec![("flow", flow.map(|f| json!(f)))],
            )
        });
        prop_oneof![
            3 => Just(json!([])),
            2 => vec(prop_oneof![bernoulli, list], 1..3).prop_map(Value::from),
        ]
        .boxed()
    }
}

/// `base` with the entries that are there.
fn object(mut base: Value, entries: Vec<(&str, Option<Value>)>) -> Value {
    for (key, value) in entries {
        if let Some(value) = value {
            base[key] = value;
        }
    }
    base
}

fn config() -> impl Strategy<Value = Value> {
    let delayed = option::weighted(0.4, any::<bool>());
    let interval = option::weighted(0.3, pick(&[0.04, 0.0625, 0.1, 0.125]));
    let window = option::weighted(0.4, (2u32..60).prop_map(f64::from));
    let ssthresh = option::weighted(0.4, (2u32..40).prop_map(f64::from));
    let flags = (
        option::of(any::<bool>()),
        option::of(any::<bool>()),
        option::of(any::<bool>()),
        option::of(any::<bool>()),
    );
    let pacing = option::weighted(0.2, any::<bool>());
    let linux = || option::weighted(0.2, any::<bool>());
    let linux = (linux(), linux(), linux(), linux(), linux(), linux());
    let packet_size = option::weighted(0.2, 200u32..1440);
    let ecn = (option::of(any::<bool>()), option::of(pick_text(FEEDBACK)), any::<bool>());
    (delayed, interval, window, ssthresh, flags, pacing, linux, packet_size, ecn).prop_map(
        |(
            delayed,
            interval,
            window,
            ssthresh,
            (timestamps, syn, limited, rfc6675),
            pacing,
            (prr, rack, tlp, by_packets, undo, dsack),
            packet_size,
            (ecn, feedback, ect1),
        )| {
            let flag = |value: Option<bool>| value.map(Value::from);
            let entries = vec![
                ("delayed_ack", flag(delayed)),
                ("delayed_ack_interval", interval.map(Value::from)),
                ("window", window.map(Value::from)),
                ("initial_ssthresh", ssthresh.map(Value::from)),
                ("timestamps", flag(timestamps)),
                ("syn", flag(syn)),
                ("limited_transmit", flag(limited)),
                ("sack_rfc6675", flag(rfc6675)),
                ("pacing", flag(pacing)),
                ("prr", flag(prr)),
                ("rack", flag(rack)),
                ("tlp", flag(tlp)),
                ("grow_by_packets", flag(by_packets)),
                ("undo", flag(undo)),
                ("dsack", flag(dsack)),
                ("packet_size", packet_size.map(Value::from)),
                ("ecn", flag(ecn)),
                ("ecn_feedback", feedback.map(Value::from)),
                ("ect1", Some(Value::from(ect1))),
            ];
            object(json!({}), entries)
        },
    )
}

/// Removes settings that are refused because they have no effect.
fn remove_without_effect(scenario: &mut Value) {
    let common = scenario["tcp"].clone();
    let is_linux = scenario["profile"] == "linux";
    let mut in_use = BTreeSet::new();
    for list in ["flows", "arrivals"] {
        for flow in scenario.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten() {
            let is_on = |knob: &str, default: bool| {
                let value = flow["tcp"].get(knob).or(common.get(knob));
                value.and_then(Value::as_bool).unwrap_or(default)
            };
            let mut useful = Vec::new();
            if flow["recovery"] == "fack" {
                useful.extend(["prr", "dsack"]);
            }
            if flow["recovery"] == "sack" {
                useful.extend(["sack_rfc6675", "prr", "rack", "dsack"]);
                useful.extend(is_on("rack", is_linux).then_some("tlp"));
            }
            if is_on("ecn", false) {
                useful.extend(["ect1", "ecn_feedback"]);
            }
            retain_useful(&mut flow["tcp"], |knob| useful.contains(&knob));
            in_use.extend(useful);
        }
    }
    retain_useful(&mut scenario["tcp"], |knob| in_use.contains(knob));
}

fn retain_useful(table: &mut Value, is_useful: impl Fn(&str) -> bool) {
    let conditional = ["sack_rfc6675", "prr", "rack", "dsack", "tlp", "ect1", "ecn_feedback"];
    if let Some(config) = table.as_object_mut() {
        config.retain(|knob, _| !conditional.contains(&knob.as_str()) || is_useful(knob));
    }
}

const RULES: &[&str] = &[
    "AIMD(1, 0.5)",
    "AIMD(0.31, 0.875)",
    "AIAD(1, 3)",
    "MIMD(1.125, 0.8)",
    "MIAD(1.125, 3)",
    "AIMAD(1, 1, 0.9)",
    "MAIMD(1, 1.1, 0.8)",
    "GAIMD(0.31, 0.875)",
    "Binomial(0.5, 0.5, 1, 0.5)",
    "Bimodal(1, 0.5, 0.125)",
    "MRAIMD",
    "CUBIC",
    "DCTCP",
    "Westwood",
    "HighSpeed",
    "Scalable",
    "Vegas",
    "Hybla(0.025)",
    "Illinois",
    "LEDBAT",
    "BBR1",
    "BBR3",
    "BBR3(ecn=on, ecn_max_rtt=0)",
    "Prague",
    "NADA(rmax=400)",
    r#"Rule(inc="1/w^0.5", dec="w - 0.5*w^0.5")"#,
    r#"Rule(inc="2 - 10*w*qdelay", dec="w*(1 - min(0.5, 0.1 + qdelay))")"#,
];
const MODEL_BASED: &[&str] = &["BBR", "NADA"];
const RECOVERIES: &[&str] = &["tahoe", "reno", "newreno", "sack", "fack"];
const FEEDBACK: &[&str] = &["ece", "exact-ece", "accecn", "accecn-without-option"];
const SLOW_STARTS: &[&str] = &["standard", "hystart", "hystart++", "limited", "linux"];

/// A group of flows; its path is put in by the network.
fn flow(numbers: Numbers, index: usize) -> impl Strategy<Value = Value> {
    let start = (
        prop_oneof![Just(0.0).boxed(), numbers.time(0.0, 1.0)],
        option::weighted(0.2, vec((numbers.time(0.0, 1.0), numbers.delay()), 3)),
    );
    let end = (
        option::weighted(0.3, numbers.time(1.1, 3.0)),
        option::weighted(0.3, (1u32..80, 0u32..200)),
    );
    let own = (
        option::weighted(0.4, numbers.rate()),
        option::weighted(0.5, numbers.delay()),
        option::weighted(0.2, numbers.rate()),
        option::weighted(0.3, numbers.delay()),
    );
    let schemes = (pick_text(RECOVERIES), option::weighted(0.3, pick_text(SLOW_STARTS)));
    (1u32..4, pick_text(RULES), schemes, start, end, own, config()).prop_map(
        move |(count, rule, (recovery, slow_start), start, (stop, packets), own, tcp)| {
            // Model-based rules have a slow start of their own.
            let slow_start =
                slow_start.filter(|_| !MODEL_BASED.iter().any(|name| rule.starts_with(name)));
            let tcp = object(tcp, vec![("slow_start", slow_start.map(Value::from))]);
            let (start, each) = start;
            let each = each.map(|each| each.into_iter().take(count as usize).unzip());
            let (start, own_delay) = match each {
                Some((starts, delays)) => {
                    let (starts, delays): (Vec<f64>, Vec<f64>) = (starts, delays);
                    (json!({ "each": starts }), Some(json!({ "each": delays })))
                }
                None => (json!(start), own.1.map(Value::from)),
            };
            let base = json!({
                "name": format!("f{index}"),
                "count": count,
                "rule": rule,
                "recovery": recovery,
                "start": start,
                "tcp": tcp,
            });
            let entries = vec![
                ("stop", stop.map(Value::from)),
                // Whole packets, or a short one after them.
                ("packets", packets.filter(|size| size.1 >= 100).map(|size| size.0.into())),
                (
                    "bytes",
                    packets
                        .filter(|size| size.1 < 100)
                        .map(|size| format!("{}B", 777 * size.0 + size.1).into()),
                ),
                ("access_rate", own.0.map(Value::from)),
                ("access_delay", own_delay),
                ("sink_rate", own.2.map(Value::from)),
                ("sink_delay", own.3.map(Value::from)),
            ];
            object(base, entries)
        },
    )
}

fn flows(numbers: Numbers) -> impl Strategy<Value = Vec<Value>> {
    (1usize..4).prop_flat_map(move |count| {
        (0..count).map(|index| flow(numbers, index).boxed()).collect::<Vec<_>>()
    })
}

fn cross(numbers: Numbers) -> impl Strategy<Value = Vec<Value>> {
    let size = if numbers.grid { Just(1024u32).boxed() } else { (100u32..1500).boxed() };
    let source = (
        numbers.waveform(),
        any::<bool>(),
        size,
        numbers.time(0.0, 1.0),
        option::weighted(0.3, numbers.time(1.1, 2.0)),
        // Faster than every link.
        (option::weighted(0.3, Just(16_777_216)), option::weighted(0.3, numbers.delay())),
        any::<bool>(),
    );
    vec(source, 0..3).prop_map(|sources| {
        type Source = (Value, bool, u32, f64, Option<f64>, (Option<u64>, Option<f64>), bool);
        let source = |(index, source): (usize, Source)| {
            let (rate, left, size, start, stop, (access_rate, access_delay), at_start) = source;
            let mut source =
                json!({ "name": format!("c{index}"), "packet_size": size, "start": start });
            source[if left { "available" } else { "rate" }] = rate;
            let source = object(source, vec![("stop", stop.map(Value::from))]);
            if left {
                return source;
            }
            let entries = vec![
                ("access_rate", access_rate.map(Value::from)),
                ("access_delay", access_delay.map(Value::from)),
                ("first_at_start", at_start.then_some(Value::from(true))),
            ];
            object(source, entries)
        };
        sources.into_iter().enumerate().map(source).collect()
    })
}

fn dumbbell(numbers: Numbers, names: Vec<String>) -> impl Strategy<Value = Value> {
    let spread = prop_oneof![numbers.delay().prop_map(|d| json!(d)), Just(json!([0.001, 0.01]))];
    let access = (
        option::weighted(0.6, numbers.rate()),
        option::weighted(0.7, spread),
        option::weighted(0.2, numbers.rate()),
        option::weighted(0.4, numbers.delay()),
    );
    let back = (
        option::weighted(0.5, prop_oneof![numbers.link_waveform(), Just(json!("unlimited"))]),
        option::weighted(0.3, numbers.queue()),
    );
    (numbers.link_waveform(), numbers.delay(), numbers.queue(), numbers.losses(names), access, back)
        .prop_map(|(rate, delay, queue, loss, access, back)| {
            let base = json!({ "rate": rate, "delay": delay, "queue": queue, "loss": loss });
            let entries = vec![
                ("access_rate", access.0.map(Value::from)),
                ("access_delay", access.1),
                ("sink_rate", access.2.map(Value::from)),
                ("sink_delay", access.3.map(Value::from)),
                ("back_rate", back.0),
                ("back_queue", back.1),
            ];
            object(base, entries)
        })
}

/// Links l0, l1, ... and, for every flow and source, a path along them: which ones are shared falls
/// out of the draw.
fn named_links(
    numbers: Numbers,
    flow_names: Vec<String>,
    travellers: usize,
) -> impl Strategy<Value = (Vec<Value>, Vec<Ways>)> {
    (1usize..6).prop_flat_map(move |count| {
        let link = |index: usize| {
            let parts = (
                numbers.link_waveform(),
                numbers.delay(),
                numbers.queue(),
                numbers.losses(flow_names.clone()),
            );
            parts
                .prop_map(move |(rate, delay, queue, loss)| {
                    json!({
                        "name": format!("l{index}"),
                        "rate": rate,
                        "delay": delay,
                        "queue": queue,
                        "loss": loss,
                    })
                })
                .boxed()
        };
        let names: Vec<String> = (0..count).map(|index| format!("l{index}")).collect();
        // In order, as in a parking lot, or shuffled, so that paths cross each other in opposite
        // directions.
        let path = prop_oneof![
            proptest::sample::subsequence(names.clone(), 1..=count),
            proptest::sample::subsequence(names.clone(), 1..=count).prop_shuffle(),
        ];
        let back = prop_oneof![
            Just(Vec::new()),
            proptest::sample::subsequence(names, 0..=count).prop_shuffle(),
        ];
        ((0..count).map(link).collect::<Vec<_>>(), vec((path, back), travellers))
    })
}

/// A random scenario, as JSON.
pub fn scenario() -> impl Strategy<Value = Value> {
    pick_text(&["grid", "grid", "plain", "plain", "alike"]).prop_flat_map(|family| {
        let numbers = Numbers { grid: family == "grid", alike: family == "alike" };
        (flows(numbers), cross(numbers), any::<bool>()).prop_flat_map(
            move |(flows, cross, in_dumbbell)| {
                let names: Vec<String> = flows
                    .iter()
                    .map(|flow| flow["name"].as_str().unwrap_or_default().to_string())
                    .collect();
                let travellers = flows.len() + cross.len();
                let network = if in_dumbbell {
                    dumbbell(numbers, names)
                        .prop_map(|dumbbell| (Some(dumbbell), Vec::new(), Vec::new()))
                        .boxed()
                } else {
                    named_links(numbers, names, travellers)
                        .prop_map(|(links, paths)| (None, links, paths))
                        .boxed()
                };
                let whole = (
                    any::<u32>(),
                    pick_text(&["rfc", "ns2-2.35", "ns2-2000", "linux"]),
                    numbers.time(0.5, 3.0),
                    0.0..0.5f64,
                    config(),
                );
                let extras = (
                    vec(optional_features::link(numbers), 1..4),
                    vec(optional_features::flow(numbers), 1..4),
                    vec(optional_features::source(numbers), 1..3),
                    optional_features::arrivals(numbers),
                );
                let shares = option::weighted(0.15, numbers.time(0.02, 0.3));
                let host_jitter = option::weighted(0.15, numbers.time(0.0, 0.05));
                let more = (option::weighted(0.6, extras), shares, host_jitter);
                (Just(flows), Just(cross), network, whole, more).prop_map(
                    move |(flows, cross, network, whole, (extras, shares, host_jitter))| {
                        let mut scenario = assemble(numbers, flows, cross, network, whole);
                        if let Some(longest) = host_jitter {
                            scenario["host_jitter"] = json!(longest);
                        }
                        if let Some(bin) = shares {
                            scenario["trace"] = json!({ "shares": true });
                            scenario["shares"] = json!({ "bin": bin, "hold": 2.0 * bin });
                        }
                        if let Some((links, flows, sources, arrivals)) = extras {
                            optional_features::put(
                                &mut scenario,
                                &links,
                                &flows,
                                &sources,
                                arrivals,
                            );
                        }
                        remove_without_effect(&mut scenario);
                        scenario
                    },
                )
            },
        )
    })
}

/// Links of the way out and of the way back.
type Ways = (Vec<String>, Vec<String>);
/// A dumbbell or links, and with links the ways of all flows and sources.
type Network = (Option<Value>, Vec<Value>, Vec<Ways>);

fn assemble(
    numbers: Numbers,
    mut flows: Vec<Value>,
    mut cross: Vec<Value>,
    (dumbbell, links, paths): Network,
    (seed, profile, duration, measured_from, mut tcp): (u32, &str, f64, f64, Value),
) -> Value {
    for (traveller, (path, back)) in flows.iter_mut().chain(&mut cross).zip(paths) {
        traveller["path"] = json!(path);
        if traveller.get("rule").is_some() && !back.is_empty() {
            traveller["back"] = json!(back);
        }
    }
    if numbers.grid {
        // 1024 bytes on the wire, 32 for acknowledgements.
        for (key, value) in [
            ("packet_size", 1024),
            ("header_size", 0),
            ("timestamp_size", 0),
            ("ack_size", 32),
            ("syn_size", 32),
        ] {
            tcp[key] = json!(value);
        }
    }
    // A run that ends while a flow has not started yet is a case, too; only a stop must follow its
    // start.
    for flow in flows.iter_mut().chain(&mut cross) {
        if flow.get("stop").is_some_and(|stop| stop.as_f64() <= flow["start"].as_f64()) {
            flow["stop"] = json!(flow["start"].as_f64().unwrap_or_default() + 0.5);
        }
    }
    // What a source leaves means something on a link of constant rate, for one source.
    let mut shaped = Vec::new();
    for source in &mut cross {
        let first = source
            .get("path")
            .and_then(|path| path[0].as_str())
            .unwrap_or("bottleneck")
            .to_string();
        let link = links.iter().find(|link| link["name"] == *first).or(dumbbell.as_ref());
        let fits = link.is_some_and(|link| !link["rate"].is_object()) && !shaped.contains(&first);
        if let Some(fields) = source.as_object_mut()
            && let Some(available) = fields.remove("available")
        {
            fields.insert(if fits { "available" } else { "rate" }.to_string(), available);
            if fits {
                shaped.push(first);
            }
        }
    }
    let base = json!({
        "duration": duration,
        "seed": seed,
        "profile": profile,
        "flows": flows,
        "cross": cross,
        "tcp": tcp,
        "measure": [measured_from * duration, duration],
        "rate_bin": 0.1,
    });
    object(base, vec![("dumbbell", dumbbell), ("links", (!links.is_empty()).then(|| json!(links)))])
}
