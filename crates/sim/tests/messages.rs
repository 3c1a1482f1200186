//! Every message names the key, the value and what is allowed.

use cwndlab_sim::scenario::Scenario;

const DUMBBELL: &str = "duration = \"10s\"\n[dumbbell]\nrate = \"10Mbit\"\ndelay = \"1ms\"\n";
const FLOW: &str = "[[flows]]\nrule = \"AIMD(1, 0.5)\"\n";
const ARRIVALS: &str = "[[arrivals]]\nrule = \"AIMD(1, 0.5)\"\n";

fn error(text: &str) -> String {
    match Scenario::from_toml(text) {
        Ok(_) => panic!("accepted: {text}"),
        Err(error) => error.to_string(),
    }
}

/// A dumbbell with a line of its own, and a flow.
fn link(line: &str) -> String {
    error(&format!("{DUMBBELL}{line}\n{FLOW}"))
}

fn traffic(table: &str) -> String {
    error(&format!("{DUMBBELL}{table}"))
}

fn assert_all<const N: usize>(found: fn(&str) -> String, cases: [(String, &str); N]) {
    for (line, expected) in cases {
        assert_eq!(found(&line), expected, "{line}");
    }
}

#[test]
fn queues() {
    let queue = |rest: &str| format!("queue = {{ kind = {rest} }}");
    assert_all(
        link,
        [
            (
                queue("\"red\", min = \"20pkt\", max = \"10pkt\""),
                "dumbbell.queue.min: 20pkt is not below max = 10pkt",
            ),
            (
                queue("\"red\", min = \"5ms\", max = \"5ms\""),
                "dumbbell.queue.min: 5ms is not below max = 5ms",
            ),
            (
                queue("\"red\", min = \"5ms\", max = \"5pkt\""),
                "dumbbell.queue.min: 5ms and max = 5pkt are in different units: write both in one",
            ),
            (
                queue("\"red\", max = \"unlimited\""),
                "dumbbell.queue.max: \"unlimited\" is not a threshold: such as \"5pkt\", or leave it out",
            ),
            (
                queue("\"red\", max_p = 0"),
                "dumbbell.queue.max_p: 0 is out of range: above 0, at most 1",
            ),
            (
                queue("\"red\", weight = 1.5"),
                "dumbbell.queue.weight: 1.5 is out of range: above 0, at most 1",
            ),
            (
                queue("\"rio\", in_min = \"0.5bdp\", in_max = \"0.4bdp\""),
                "dumbbell.queue.in_min: 0.5bdp is not below in_max = 0.4bdp",
            ),
            (
                queue("\"rio\", in_max_p = -1"),
                "dumbbell.queue.in_max_p: -1 is out of range: above 0, at most 1",
            ),
            (
                queue("\"drr\", quantum = \"0B\""),
                "dumbbell.queue.quantum: 0B is out of range: 1B to 65535B",
            ),
            (
                queue("\"drr\", buckets = 0"),
                "dumbbell.queue.buckets: 0 is out of range: 1 to 1000000",
            ),
            (
                queue("\"codel\", target = \"0s\""),
                "dumbbell.queue.target: 0s is not allowed: a time above 0",
            ),
            (
                queue("\"fq-codel\", target = \"200ms\""),
                "dumbbell.queue.target: 200ms is above interval = 100ms",
            ),
            (
                queue("\"pie\", update = \"1ns\""),
                "dumbbell.queue.update: 1ns is too often for a run of 10s: at least 1us, at most 100000000 updates",
            ),
            (queue("\"pie\", alpha = -1"), "dumbbell.queue.alpha: -1 is out of range: 0 to 1000"),
            (
                queue("\"drop-tail\", limit = \"900B\""),
                "dumbbell.queue.limit: 900B is less than a packet of 1052B that has to pass",
            ),
            (
                queue("\"drr\", flow_limit = \"90B\""),
                "dumbbell.queue.flow_limit: 90B is less than a packet of 1052B that has to pass",
            ),
            (
                "back_queue = { kind = \"codel\", target = \"0s\" }".into(),
                "dumbbell.back_queue.target: 0s is not allowed: a time above 0",
            ),
        ],
    );
    // Acknowledgements are small: a buffer for them may be.
    let small =
        format!("{DUMBBELL}back_queue = {{ kind = \"drop-tail\", limit = \"900B\" }}\n{FLOW}");
    assert!(Scenario::from_toml(&small).is_ok());
}

#[test]
fn losses_jitter_outages_and_markers() {
    let loss = |rest: &str| format!("loss = [{{ kind = {rest} }}]");
    let outages = |rest: &str| format!("outages = [{rest}]");
    assert_all(
        link,
        [
            (
                loss("\"bernoulli\", p = 1"),
                "dumbbell.loss[0].p: 1 is not a loss probability: from 0 to below 1",
            ),
            (
                loss("\"gilbert-elliott\", to_bad = 0, to_good = 0.1"),
                "dumbbell.loss[0].to_bad: 0 is out of range: above 0, at most 1",
            ),
            (
                loss("\"gilbert-elliott\", to_bad = 0.1, to_good = 2"),
                "dumbbell.loss[0].to_good: 2 is out of range: above 0, at most 1",
            ),
            (
                loss("\"gilbert-elliott\", to_bad = 0.1, to_good = 0.1, good_loss = 1"),
                "dumbbell.loss[0].good_loss: 1 is not a loss probability: from 0 to below 1",
            ),
            (
                loss("\"marks\", packets = [1], flow = \"x\""),
                "dumbbell.loss[0].flow: there is no flow \"x\": tcp",
            ),
            (
                "jitter = { kind = \"uniform\", low = \"2ms\", high = \"1ms\" }".into(),
                "dumbbell.jitter.low: 2ms is above high = 1ms",
            ),
            (
                "jitter = { kind = \"exponential\", mean = \"60s\" }".into(),
                "dumbbell.jitter.mean: 60s is too long: below 60s",
            ),
            (
                "jitter = { kind = \"normal\", mean = \"1s\", deviation = \"2min\" }".into(),
                "dumbbell.jitter.deviation: 120s is too long: below 60s",
            ),
            (
                outages("{ from = \"2s\", to = \"2s\" }"),
                "dumbbell.outages[0].to: 2s is not after from = 2s",
            ),
            (
                outages("{ from = \"2s\", to = \"4s\" }, { from = \"3s\", to = \"5s\" }"),
                "dumbbell.outages[1].from: 3s is before the end of the one before, 4s: in order, without overlap",
            ),
            (
                "marker = { rate = \"1Mbit\", burst = \"0B\" }".into(),
                "dumbbell.marker.burst: 0B is not allowed: no packet would ever be within the profile",
            ),
        ],
    );
}

#[test]
fn flows() {
    let flow = |rest: &str| format!("{FLOW}{rest}");
    assert_all(
        traffic,
        [
            (flow("priority = 4"), "flows[0].priority: 4 is out of range: 0 to 3"),
            (
                flow("join = { batch = 0, every = \"1s\" }"),
                "flows[0].join.batch: 0 is out of range: 1 to 2000000",
            ),
            (
                flow("join = { batch = 1, every = \"0s\" }"),
                "flows[0].join.every: 0s is not allowed: a time above 0",
            ),
            (flow("leave = { every = \"1s\" }"), "flows[0].leave: write either share or batch"),
            (
                flow("leave = { share = 0.5, batch = 2, every = \"1s\" }"),
                "flows[0].leave: write either share or batch",
            ),
            (
                flow("leave = { share = 0, every = \"1s\" }"),
                "flows[0].leave.share: 0 is out of range: above 0, at most 1",
            ),
            (
                flow("packets = 3\nresponses = { size = 3, think = \"1s\" }"),
                "flows[0].responses: write either packets or responses",
            ),
            (
                flow("responses = { size = 0.5, think = \"1s\" }"),
                "flows[0].responses.size: a mean of 0.5 is out of range: at least 1 packet, at most 1e12",
            ),
            (
                flow(
                    "responses = { size = 2, think = { kind = \"log-normal\", mean = \"1s\", sigma = -1 } }",
                ),
                "flows[0].responses.think.sigma: -1 is out of range: 0 to 10",
            ),
            (
                flow("") + FLOW,
                "flows[1].name: \"tcp\" is empty or taken: every group of flows has its own name",
            ),
            (
                flow("from = \"a\"\nto = \"b\""),
                "flows[0].from: a dumbbell has no named nodes: leave from and to out, or use [[links]]",
            ),
        ],
    );
}

#[test]
fn arrivals() {
    let arrivals = |rest: &str| format!("{ARRIVALS}{rest}");
    let size = |rest: &str| format!("{ARRIVALS}gap = \"1s\"\nsize = {{ kind = {rest} }}");
    assert_all(
        traffic,
        [
            (arrivals("size = 1"), "arrivals[0].gap: write either gap or phases"),
            (
                arrivals("size = 1\ngap = \"1s\"\nphases = [{ length = \"1s\", gap = \"1s\" }]"),
                "arrivals[0].gap: write either gap or phases",
            ),
            (arrivals("size = 1\ngap = \"0s\""), "arrivals[0].gap: 0s is too short: at least 1us"),
            (
                arrivals("size = 1\nphases = [{ length = \"1s\", gap = \"0s\" }]"),
                "arrivals[0].phases[0].gap: 0s is too short: at least 1us",
            ),
            (
                arrivals("size = 1\nphases = [{ length = \"0s\", gap = \"1s\" }]"),
                "arrivals[0].phases[0].length: 0s is too short: at least 1us",
            ),
            (
                size("\"pareto\", mean = 10, shape = 1"),
                "arrivals[0].size.shape: 1 is out of range: above 1 (the mean is finite) to 1000",
            ),
            (
                size("\"pareto\", mean = 10, shape = 2, most = 4"),
                "arrivals[0].size.most: 4 is below the least value of the law, 5",
            ),
            (size("\"uniform\", low = 4, high = 2"), "arrivals[0].size.low: 4 is above high = 2"),
            (
                size("\"uniform\", low = -4, high = 20"),
                "arrivals[0].size.low: -4 is not allowed: 0 or more",
            ),
            (size("\"exponential\", mean = 0"), "arrivals[0].size.mean: 0 is not allowed: above 0"),
            (
                size("\"exponential\", mean = 0.5"),
                "arrivals[0].size.mean: a mean of 0.5 is out of range: at least 1 packet, at most 1e12",
            ),
            (
                arrivals("size = 1\ngap = \"1s\"\nstart = \"2s\"\nstop = \"2s\""),
                "arrivals[0].stop: 2s is not after start = 2s",
            ),
            (
                arrivals("size = 1\ngap = \"1s\"\nname = \"tcp\"\n") + FLOW,
                "arrivals[0].name: \"tcp\" is empty or taken: all traffic has its own names",
            ),
        ],
    );
    // 1e7 flows in 10 s may be, half a second more not.
    let many = format!("{DUMBBELL}{ARRIVALS}size = 1\ngap = \"1us\"").replace("10s", "10.5s");
    assert_eq!(
        error(&many),
        "arrivals[0].gap: about 10500000 flows would arrive: at most 10000000"
    );
    let short =
        format!("{DUMBBELL}{ARRIVALS}size = 1\nphases = [{{ length = \"1us\", gap = \"1s\" }}]")
            .replace("10s", "1000s");
    assert_eq!(
        error(&short),
        "arrivals[0].phases[0].length: 1us is too short for a run of 1000s: at most 100000000 phases"
    );
}

#[test]
fn cross_traffic() {
    let cross = |rest: &str| format!("{FLOW}[[cross]]\n{rest}");
    assert_all(
        traffic,
        [
            (
                cross("rate = \"1Mbit\"\non = \"1s\""),
                "cross[0].off: missing: bursts need both on and off",
            ),
            (
                cross("rate = \"1Mbit\"\noff = \"1s\""),
                "cross[0].on: missing: bursts need both on and off",
            ),
            (
                cross("rate = \"1Mbit\"\noff = \"1s\"\non = \"0s\""),
                "cross[0].on: a mean of 0 is out of range: at least 1us, at most 1e12",
            ),
            (
                cross("available = \"1Mbit\"\noff = \"1s\"\non = \"1s\""),
                "cross[0].on: bursts have a rate: what is available is left by a source that is always on",
            ),
            (
                cross("rate = \"1Mbit\"\ncount = 0"),
                "cross[0].count: 0 is out of range: 1 to 1000000 sources in all",
            ),
            (
                cross("rate = \"1Mbit\"\ncount = 1000001"),
                "cross[0].count: 1000001 is out of range: 1 to 1000000 sources in all",
            ),
            (
                cross("available = \"1Mbit\"\ncount = 2"),
                "cross[0].count: 2 is not allowed with available: one source leaves what is wanted",
            ),
            (
                cross("rate = \"1Mbit\"\nsource_rate = \"1Mbit\""),
                "cross[0].source_rate: it goes with available",
            ),
            (
                cross("rate = \"1Mbit\"\nbeside = 2"),
                "cross[0].beside: it goes with available and source_rate",
            ),
            (
                cross("available = \"1bit\"\nsource_rate = \"1Mbit\""),
                "cross[0].available: to leave 1bit of 10Mbit beside 1 flows takes 9999999 sources: at most 1000000",
            ),
            (
                "[[cross]]\navailable = \"1Mbit\"\nsource_rate = \"1Mbit\"".into(),
                "cross[0].beside: no flow crosses \"bottleneck\": say beside how many flows",
            ),
            (
                cross("rate = \"1Mbit\"\nname = \"tcp\""),
                "cross[0].name: \"tcp\" is empty or taken: every source has its own name",
            ),
            (
                cross("rate = \"1Mbit\"\npriority = 9"),
                "cross[0].priority: 9 is out of range: 0 to 3",
            ),
            (
                cross("rate = \"1Mbit\"\npath = [\"x\"]"),
                "cross[0].path: there is no link \"x\": bottleneck, bottleneck-back",
            ),
        ],
    );
}

#[test]
fn values_of_the_wrong_kind() {
    let flow = |rest: &str| format!("{FLOW}{rest}");
    assert_all(
        traffic,
        [
            (flow("count = \"many\""), "flows[0].count: \"many\" is not a whole number from 0 on"),
            (flow("count = -1"), "flows[0].count: -1 is not a whole number from 0 on"),
            (flow("count = 1.5"), "flows[0].count: 1.5 is not a whole number from 0 on"),
            (flow("name = 3"), "flows[0].name: 3 is not text in quotes"),
            (flow("reverse = \"yes\""), "flows[0].reverse: \"yes\" is not true or false"),
            (flow("path = \"x\""), "flows[0].path: \"x\" is not a list"),
            (flow("join = 3"), "flows[0].join: 3 is not a table"),
            ("[[flows]]\ncount = 2".into(), "flows[0]: missing: it needs \"rule\""),
            (flow("recovery = 3"), "flows[0].recovery: 3 is not a name in quotes"),
        ],
    );
    assert_eq!(link("queue = 3"), "dumbbell.queue: 3 is not a table");
    assert_eq!(link("queue = {}"), "dumbbell.queue: missing: it needs \"kind\"");
    assert_eq!(
        link("loss = [{ kind = \"bernoulli\" }]"),
        "dumbbell.loss[0]: missing: it needs \"p\""
    );
    assert_eq!(
        link("loss = [{ kind = \"bernoulli\", p = nan }]"),
        "dumbbell.loss[0].p: nothing or nan is not a number"
    );
    assert_eq!(
        error(&format!("measure = [1]\n{DUMBBELL}{FLOW}")),
        "measure: 1 entries are not a list of 2"
    );
}
