//! What a random scenario may have beside flows, links and sources: all queues, losses in bursts
//! and marks, listed packets, jitter, outages, markers, flows that arrive, join, leave, answer requests, load web
//! pages and play videos, bursts, priorities, ECN.

use super::{Numbers, RECOVERIES, RULES, object, pick, pick_text};
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use serde_json::{Value, json};

/// A queue of any kind.
pub fn queue(numbers: Numbers) -> BoxedStrategy<Value> {
    let limit = prop_oneof![
        6 => (2u32..30).prop_map(|n| format!("{n}pkt")),
        1 => (4u32..40).prop_map(|n| format!("{}B", n * 1024)),
        1 => pick_text(&["1bdp", "2bdp"]).prop_map(String::from),
    ];
    let target = prop_oneof![numbers.time(0.02, 0.1), Just(0.005)];
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    (
        pick_text(&[
            "red", "rio", "drr", "sfq", "priority", "codel", "cobalt", "fq-codel", "fq", "cake",
            "pie", "step", "dualpi2",
        ]),
        limit,
        target,
        flags,
        1u32..5,
    )
        .prop_map(|(kind, limit, target, (ecn, a, b, c), n)| {
            let base = json!({ "kind": kind, "limit": limit });
            let some = |key: &'static str, there: bool, value: Value| (key, there.then_some(value));
            let more = match kind {
                "red" => vec![
                    some("ecn", true, json!(ecn)),
                    some("gentle", a, json!(false)),
                    some("wait", b, json!(false)),
                    some("min", c, json!(format!("{n}pkt"))),
                    some("weight", a && c, json!(0.1)),
                    some("adaptive", b && c, json!(true)),
                ],
                "rio" => {
                    vec![
                        some("ecn", true, json!(ecn)),
                        some("out_drop_tail", a, json!(true)),
                        some("min", c, json!(format!("{n}pkt"))),
                    ]
                }
                "drr" => {
                    vec![
                        some("quantum", a, json!(300 * n)),
                        some("buckets", b, json!(n)),
                        some("flow_limit", c, json!(format!("{n}pkt"))),
                    ]
                }
                "sfq" => {
                    vec![
                        some("quantum", a, json!(300 * n)),
                        some("buckets", b, json!(n)),
                        some("flow_limit", c, json!(format!("{}pkt", 3 * n))),
                        some("perturb", a || c, json!(target)),
                        some("head_drop", a && b, json!(true)),
                    ]
                }
                "fq" => {
                    vec![
                        some("quantum", a, json!(300 * n)),
                        some("initial_quantum", b, json!(300 * n)),
                        some("max_rate", c || ecn, json!(f64::from(n) * 1e6)),
                        some("ce_threshold", a && c, json!(target)),
                    ]
                }
                "cake" => {
                    vec![
                        some("quantum", a, json!(300 * n)),
                        some("target", b, json!(target)),
                        some("bandwidth", c || ecn, json!(f64::from(n) * 1e6)),
                        some("overhead", a && c, json!(-20)),
                        some("framing", b && c, json!("ptm")),
                        some("flow_isolation", a && b, json!("dual-srchost")),
                    ]
                }
                "codel" => {
                    vec![
                        some("ecn", true, json!(ecn)),
                        some("target", true, json!(target)),
                        some("interval", a, json!(2.0 * target)),
                        some("ce_threshold", b, json!(target / 2.0)),
                        some("ce_threshold_l4s", b && c, json!(true)),
                    ]
                }
                "cobalt" => vec![some("target", a, json!(target)), some("interval", b, json!(0.1))],
                "fq-codel" => {
                    vec![
                        some("ecn", true, json!(ecn)),
                        some("target", a, json!(target)),
                        some("buckets", b, json!(n)),
                        some("quantum", c, json!(300 * n)),
                    ]
                }
                "pie" => vec![
                    some("ecn", true, json!(ecn)),
                    some("target", a, json!(target)),
                    some("update", b, json!(target)),
                ],
                "step" => vec![some(
                    "threshold",
                    a || b,
                    json!(if c { format!("{n}kB") } else { "0.5bdp".into() }),
                )],
                "dualpi2" => vec![
                    some("target", a, json!(target)),
                    some("update", b, json!(target)),
                    some("coupling", c, json!(f64::from(n))),
                    some("range", b && c, json!(0.0)),
                    some("classic_share", a && b, json!(0.5)),
                ],
                _ => Vec::new(),
            };
            object(base, more)
        })
        .boxed()
}

/// Impairments of a link.
pub fn link(numbers: Numbers) -> BoxedStrategy<Value> {
    let jitter = (
        pick_text(&["uniform", "normal", "exponential", "bernoulli", "wi-fi", "steps"]),
        numbers.time(0.0, 0.05),
        any::<bool>(),
    )
        .prop_map(|(kind, time, reorder)| match kind {
            "uniform" => json!({ "kind": kind, "high": time, "reorder": reorder }),
            "normal" => {
                json!({ "kind": kind, "mean": time, "deviation": 0.01, "reorder": reorder })
            }
            "bernoulli" => json!({ "kind": kind, "p": 0.3, "by": time, "reorder": reorder }),
            "wi-fi" => json!({
                "kind": kind, "mean": time, "changes": [[0.5, 0.002], [1.0, 0.03]],
                "reorder": reorder,
            }),
            "steps" => json!({
                "kind": kind, "points": [[0.2, time], [0.7, 0.0], [0.9, 0.01]],
                "reorder": reorder,
            }),
            _ => json!({ "kind": kind, "mean": time, "reorder": reorder }),
        });
    let outage = (numbers.time(0.1, 1.0), numbers.time(0.05, 0.4), pick_text(&["wait", "lost"]))
        .prop_map(|(from, length, arrivals)| {
            json!([{ "from": from, "to": from + length, "arrivals": arrivals }])
        });
    let marker = (numbers.rate(), 1u32..8)
        .prop_map(|(rate, n)| json!({ "rate": rate / 4.0, "burst": 1500 * n }));
    let policer = (numbers.rate(), 1u32..8, any::<bool>(), any::<bool>()).prop_map(
        |(rate, n, mark, peak)| {
            let peak = peak.then(|| json!({ "rate": 2.0 * rate, "burst": 1500 }));
            object(
                json!({ "rate": rate / 2.0, "burst": 1500 * n }),
                vec![("excess", mark.then(|| json!("mark"))), ("peak", peak)],
            )
        },
    );
    let shaper = (numbers.rate(), 1u32..8)
        .prop_map(|(rate, n)| json!({ "rate": rate / 2.0, "burst": 1024 * n }));
    let tunnel = (any::<bool>(), any::<bool>(), pick(&[0.0, 20.0, 64.0])).prop_map(
        |(cleared, ignores, overhead)| {
            object(
                json!({ "overhead": overhead as u32 }),
                vec![
                    ("ingress", cleared.then(|| json!("compatibility"))),
                    ("egress", ignores.then(|| json!("ignores-outer"))),
                ],
            )
        },
    );
    let breaker = (
        pick(&[0.0, 0.01, 0.1]),
        numbers.time(0.05, 0.4),
        1u32..4,
        option::of(numbers.time(0.05, 0.8)),
    )
        .prop_map(|(loss, every, count, pause)| {
            object(
                json!({ "loss": loss, "every": every, "count": count }),
                vec![("pause", pause.map(Value::from))],
            )
        });
    let loss = prop_oneof![
        (pick(&[0.01, 0.1]), pick(&[0.2, 0.5])).prop_map(|(to_bad, to_good)| {
            json!({ "kind": "gilbert-elliott", "to_bad": to_bad, "to_good": to_good,
                    "from": to_good })
        }),
        vec(0u32..200, 1..8).prop_map(|packets| json!({ "kind": "marks", "packets": packets })),
    ];
    // `put` chooses their flows.
    let drops = btree_map(
        (0u32..60, 1u32..3),
        option::weighted(0.5, pick(&[0.004, 0.015625, 0.03125, 0.05])),
        1..12,
    )
    .prop_map(|drops| {
        let drop = |((packet, transmission), hold): (_, Option<f64>)| {
            let listed = json!({ "packet": packet, "transmission": transmission });
            object(listed, vec![("hold", hold.map(Value::from))])
        };
        Value::from_iter(drops.into_iter().map(drop))
    });
    (
        option::weighted(0.4, queue(numbers)),
        option::weighted(0.15, jitter),
        option::weighted(0.15, outage),
        option::weighted(0.15, marker),
        option::weighted(0.2, loss),
        option::weighted(0.1, policer),
        option::weighted(0.1, shaper),
        option::weighted(0.1, pick_text(&["bleach", "clear-ce", "mark-all"])),
        option::weighted(0.2, drops),
        (option::weighted(0.15, tunnel), option::weighted(0.1, breaker)),
    )
        .prop_map(
            |(queue, jitter, outages, marker, loss, policer, shaper, mangling, drops, more)| {
                object(
                    json!({}),
                    vec![
                        ("queue", queue),
                        ("jitter", jitter),
                        ("outages", outages),
                        ("marker", marker),
                        ("more_loss", loss),
                        ("policer", policer),
                        ("shaper", shaper),
                        ("ecn_mangling", mangling.map(|kind| json!(kind))),
                        ("drop", drops),
                        ("tunnel", more.0),
                        ("circuit_breaker", more.1),
                    ],
                )
            },
        )
        .boxed()
}

/// What a flow may do beside sending.
pub fn flow(numbers: Numbers) -> BoxedStrategy<Value> {
    let responses =
        (1u32..30, numbers.time(0.02, 0.5), any::<bool>()).prop_map(|(size, think, random)| {
            match random {
                true => json!({
                    "size": { "kind": "pareto", "mean": size, "shape": 1.5, "most": 200 },
                    "think": { "kind": "exponential", "mean": think },
                }),
                false => json!({ "size": size, "think": think }),
            }
        });
    let frames = (1u32..30, numbers.time(0.02, 0.2), option::of(numbers.time(0.02, 0.5))).prop_map(
        |(size, every, deadline)| {
            let deadline = ("deadline", deadline.map(|deadline| json!(deadline)));
            object(json!({ "size": size, "every": every }), vec![deadline])
        },
    );
    let page = (1u32..12, numbers.time(0.0, 0.1), numbers.time(0.02, 0.3), any::<bool>()).prop_map(
        |(size, parse, think, random)| match random {
            true => json!({
                "main": size, "embedded": { "kind": "uniform", "low": 0, "high": 9 },
                "size": { "kind": "log-normal", "mean": size, "sigma": 1.0 }, "chained": 0.3,
                "parse": { "kind": "exponential", "mean": parse.max(0.001) }, "think": think,
            }),
            false => json!({
                "objects": [
                    { "name": "a", "size": size },
                    { "name": "b", "size": 3, "after": ["a"] },
                    { "name": "c", "size": 2, "after": ["a"], "parse": parse },
                    { "name": "d", "size": size, "after": ["b", "c"] },
                    { "name": "e", "size": 1 },
                ],
                "think": think,
            }),
        },
    );
    let video = (numbers.rate(), numbers.time(0.02, 0.2), 1u32..6).prop_map(|(rate, time, n)| {
        let time = time.max(0.02);
        json!({
            "bitrates": [rate / 8.0, rate / 4.0, rate], "segment": time, "reservoir": time,
            "cushion": f64::from(n) * time, "buffer": f64::from(n + 3) * time,
        })
    });
    let change = (option::of(0u32..40), option::of(numbers.rate()), any::<bool>());
    let changes = vec((numbers.time(0.05, 0.8), change), 0..3).prop_map(|changes| {
        let mut at_s = 0.0;
        let change = |(after_s, (buffer, rate, reads)): (f64, (Option<u32>, Option<f64>, bool))| {
            at_s += after_s;
            let entries =
                vec![("buffer", buffer.map(|n| json!(n))), ("rate", rate.map(|r| json!(r)))];
            object(json!({ "at": at_s, "reads": reads }), entries)
        };
        Value::Array(changes.into_iter().map(change).collect())
    });
    let reader =
        (0u32..40, option::of(numbers.rate()), changes).prop_map(|(buffer, rate, changes)| {
            let rate = ("rate", rate.map(|rate| json!(rate)));
            object(json!({ "buffer": buffer, "changes": changes }), vec![rate])
        });
    let join = (1u32..3, numbers.time(0.1, 0.5))
        .prop_map(|(batch, every)| json!({ "batch": batch, "every": every }));
    let leave = (1u32..3, numbers.time(0.3, 1.0))
        .prop_map(|(batch, every)| json!({ "batch": batch, "every": every }));
    (
        option::weighted(0.2, responses),
        option::weighted(0.2, frames),
        (option::weighted(0.2, page), option::weighted(0.15, video)),
        option::weighted(0.2, join),
        option::weighted(0.2, leave),
        option::weighted(0.3, 0u8..4),
        any::<bool>(),
        (
            option::weighted(0.1, 1u32..5),
            option::weighted(0.1, 1u32..20),
            option::weighted(0.3, reader),
        ),
    )
        .prop_map(
            |(
                responses,
                frames,
                applications,
                join,
                leave,
                priority,
                ecn,
                (parts, ahead, reader),
            )| {
                let (page, video) = applications;
                let is_honest = parts.is_none_or(|n| n == 1) && ahead.is_none();
                let mut is_free = responses.is_none();
                let frames = frames.filter(|_| is_free);
                is_free &= frames.is_none();
                let page = page.filter(|_| is_free);
                is_free &= page.is_none();
                let video = video.filter(|_| is_free);
                let rest = vec![
                    ("ack_division", parts.map(|n| json!(n))),
                    ("optimistic_acks", ahead.map(|n| json!(n))),
                    ("frames", frames),
                    ("responses", responses),
                    ("join", join.filter(|_| page.is_none())),
                    ("leave", leave.filter(|_| page.is_none())),
                    ("page", page),
                    ("video", video),
                    ("priority", priority.map(|p| json!(p))),
                    ("reader", reader.filter(|_| is_honest)),
                ];
                object(json!({ "ecn": ecn }), rest)
            },
        )
        .boxed()
}

/// What a source may do beside sending at its rate.
pub fn source(numbers: Numbers) -> BoxedStrategy<Value> {
    let bursts = (numbers.time(0.02, 0.3), numbers.time(0.02, 0.3), any::<bool>()).prop_map(
        |(on, off, random)| match random {
            true => json!([
                { "kind": "pareto", "mean": on, "shape": 1.5, "most": 5.0 },
                { "kind": "exponential", "mean": off },
            ]),
            false => json!([on, off]),
        },
    );
    (option::weighted(0.3, bursts), option::weighted(0.3, 1u32..4), option::weighted(0.3, 0u8..4))
        .prop_map(|(bursts, count, priority)| {
            let on = bursts.as_ref().map(|bursts| bursts[0].clone());
            let off = bursts.as_ref().map(|bursts| bursts[1].clone());
            let rest = vec![
                ("on", on),
                ("off", off),
                ("count", count.map(|n| json!(n))),
                ("priority", priority.map(|p| json!(p))),
            ];
            object(json!({}), rest)
        })
        .boxed()
}

/// Groups of flows that arrive; they take the way of one of the flows.
pub fn arrivals(numbers: Numbers) -> BoxedStrategy<Vec<Value>> {
    let delay = prop_oneof![numbers.delay().prop_map(|d| json!(d)), Just(json!([0.001, 0.01]))];
    let group = (
        pick_text(RULES),
        pick_text(RECOVERIES),
        numbers.time(0.02, 0.3),
        1u32..20,
        any::<bool>(),
        delay,
        any::<bool>(),
        (option::weighted(0.4, numbers.time(0.02, 0.3)), any::<bool>()),
    );
    let group = group.prop_map(|(rule, recovery, gap, size, regular, delay, ecn, more)| {
        let size = if regular {
            json!(size)
        } else {
            json!({ "kind": "log-normal", "mean": size, "sigma": 1.0 })
        };
        let mut group = json!({
            "rule": rule,
            "recovery": recovery,
            "size": size,
            "regular": regular,
            "access_delay": delay,
            "tcp": { "ecn": ecn },
        });
        let (think, mixes) = more;
        if let Some(think) = think {
            group["exchanges"] = json!({ "kind": "uniform", "low": 1, "high": 5 });
            group["think"] = json!({ "kind": "exponential", "mean": think });
        }
        if mixes {
            group["packet_sizes"] =
                json!([{ "size": 536, "share": 0.25 }, { "size": 1460, "share": 0.75 }]);
        }
        if ecn {
            group["phases"] = json!([
                { "length": 4.0 * gap, "gap": gap },
                { "length": 0.25, "gap": 0.25 * gap },
            ]);
        } else {
            group["gap"] = json!(gap);
        }
        group
    });
    prop_oneof![3 => Just(Vec::new()), 2 => vec(group, 1..3)]
        .prop_map(|mut groups| {
            for (index, group) in groups.iter_mut().enumerate() {
                group["name"] = json!(format!("a{index}"));
            }
            groups
        })
        .boxed()
}

/// Puts extras in their places.
pub fn put(
    scenario: &mut Value,
    links: &[Value],
    flows: &[Value],
    sources: &[Value],
    arrivals: Vec<Value>,
) {
    let mut all: Vec<&mut Value> = Vec::new();
    if let Some(fields) = scenario.as_object_mut() {
        let (mut dumbbell, mut named, mut groups, mut cross) = (None, None, None, None);
        for (key, value) in fields.iter_mut() {
            match key.as_str() {
                "dumbbell" => dumbbell = Some(value),
                "links" => named = value.as_array_mut(),
                "flows" => groups = value.as_array_mut(),
                "cross" => cross = value.as_array_mut(),
                _ => {}
            }
        }
        all.extend(dumbbell);
        all.extend(named.into_iter().flatten());
        let groups: Vec<&mut Value> = groups.into_iter().flatten().collect();
        for (link, extra) in all.into_iter().zip(links.iter().cycle()) {
            merge(link, extra);
            choose_flows(link, &groups);
        }
        let mut ways = Vec::new();
        for (flow, extra) in groups.into_iter().zip(flows.iter().cycle()) {
            ways.push((flow.get("path").cloned(), flow.get("back").cloned()));
            merge(flow, extra);
        }
        for (source, extra) in cross.into_iter().flatten().zip(sources.iter().cycle()) {
            // What a single source leaves of a link means nothing for bursts, or for several.
            if source.get("available").is_none() {
                merge(source, extra);
            } else if extra.get("priority").is_some() {
                // Instead of one source of a varying rate, a varying number of sources.
                source["source_rate"] = json!(500_000);
                source["beside"] = json!(3);
            }
            if source.get("on").is_some()
                && let Some(source) = source.as_object_mut()
            {
                source.remove("first_at_start");
            }
        }
        let arrivals = arrivals.into_iter().enumerate().map(|(i, group)| {
            let (path, back) = ways[i % ways.len()].clone();
            object(group, vec![("path", path), ("back", back)])
        });
        fields.insert("arrivals".into(), arrivals.collect());
    }
}

/// Gives the listed packets of a link flows whose data, and no ACKs, cross it.
fn choose_flows(link: &mut Value, groups: &[&mut Value]) {
    let name = link.get("name").cloned();
    let crosses = |flow: &&&mut Value, way: &str| {
        let links = flow.get(way).and_then(Value::as_array);
        links.is_some_and(|links| links.iter().any(|link| Some(link) == name.as_ref()))
    };
    let crossing = groups
        .iter()
        .filter(|flow| name.is_none() || crosses(flow, "path") && !crosses(flow, "back"));
    let names: Vec<Value> = crossing.map(|flow| flow["name"].clone()).collect();
    let Some(fields) = link.as_object_mut() else { return };
    if names.is_empty() {
        fields.remove("drop");
    }
    let drops = fields.get_mut("drop").and_then(Value::as_array_mut);
    for (drop, flow) in drops.into_iter().flatten().zip(names.iter().cycle()) {
        drop["flow"] = flow.clone();
    }
}

fn merge(target: &mut Value, extra: &Value) {
    for (key, value) in extra.as_object().into_iter().flatten() {
        match key.as_str() {
            "ecn" => target["tcp"]["ecn"] = value.clone(),
            "ack_division" => target["tcp"][key] = value.clone(),
            "optimistic_acks" => {
                target["tcp"][key] = value.clone();
                target["tcp"]["window"] = json!(40.0);
            }
            "more_loss" => {
                if let Some(losses) = target["loss"].as_array_mut() {
                    losses.push(value.clone());
                }
            }
            // A group that leaves by itself, or has a size, keeps it.
            "responses" | "frames" | "page" | "video"
                if target.get("packets").or(target.get("bytes")).is_some() => {}
            // Half of the media flows of NADA have an encoder.
            "frames" if is_encoded(target, value) => {
                target[key] = value.clone();
                target[key].as_object_mut().map(|frames| frames.remove("size"));
            }
            _ => target[key] = value.clone(),
        }
    }
}

/// Whether the rule of `flow` sets the rate of its frames.
fn is_encoded(flow: &Value, frames: &Value) -> bool {
    flow["rule"].as_str().is_some_and(|rule| rule.starts_with("NADA"))
        && frames["size"].as_u64().is_some_and(|size| size % 2 == 0)
}
