//! Every message names the key, the value and what is allowed.

use cwndlab_scenario::Scenario;

const DUMBBELL: &str = "duration = \"10s\"\nprofile = \"rfc\"\n[dumbbell]\nrate = \"10Mbit\"\n\
                        delay = \"1ms\"\n";
const FLOW: &str = "[[flows]]\nrule = \"AIMD(1, 0.5)\"\n";
const ARRIVALS: &str = "[[arrivals]]\nrule = \"AIMD(1, 0.5)\"\n";

fn error(text: &str) -> String {
    match Scenario::from_toml(text) {
        Ok(_) => panic!("accepted: {text}"),
        Err(error) => error.to_string(),
    }
}

fn is_valid(text: &str) -> bool {
    Scenario::from_toml(text).map_err(|error| eprintln!("{error}")).is_ok()
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
                "dumbbell.queue.min: 20pkt is not valid: expected below max = 10pkt",
            ),
            (
                queue("\"red\", min = \"5ms\", max = \"5ms\""),
                "dumbbell.queue.min: 5ms is not valid: expected below max = 5ms (kind = \"step\" marks \
                 at one threshold)",
            ),
            (
                queue("\"red\", min = \"5ms\", max = \"5pkt\""),
                "dumbbell.queue.min: min = 5ms and max = 5pkt must be in one unit",
            ),
            (
                queue("\"red\", max = \"unlimited\""),
                "dumbbell.queue.max: \"unlimited\" is not valid: expected a threshold such as \
                 \"5pkt\"",
            ),
            (
                queue("\"red\", max_p = 0"),
                "dumbbell.queue.max_p: 0 is not valid: expected above 0, at most 1",
            ),
            (
                queue("\"red\", weight = 1.5"),
                "dumbbell.queue.weight: 1.5 is not valid: expected above 0, at most 1",
            ),
            (
                queue("\"rio\", in_min = \"0.5bdp\", in_max = \"0.4bdp\""),
                "dumbbell.queue.in_min: 0.5bdp is not valid: expected below in_max = 0.4bdp",
            ),
            (
                queue("\"rio\", in_max_p = -1"),
                "dumbbell.queue.in_max_p: -1 is not valid: expected above 0, at most 1",
            ),
            (
                queue("\"drr\", quantum = \"0B\""),
                "dumbbell.queue.quantum: 0B is not valid: expected 1B to 65535B",
            ),
            (
                queue("\"drr\", buckets = 0"),
                "dumbbell.queue.buckets: 0 is not valid: expected 1 to 1000000",
            ),
            (
                queue("\"codel\", target = \"0s\""),
                "dumbbell.queue.target: 0s is not valid: expected a time above 0",
            ),
            (
                queue("\"fq-codel\", target = \"200ms\""),
                "dumbbell.queue.target: 200ms is not valid: expected at most interval = 100ms",
            ),
            (
                queue("\"pie\", update = \"1ns\""),
                "dumbbell.queue.update: 1ns is not valid: expected at least 1us, and at most \
                 100000000 updates in a run of 10s",
            ),
            (
                queue("\"pie\", alpha = -1"),
                "dumbbell.queue.alpha: -1 is not valid: expected 0 to 1000",
            ),
            (
                queue("\"step\", limit = \"65pkt\", threshold = \"65pkt\""),
                "dumbbell.queue.threshold: 65pkt is not valid: expected below limit = 65pkt",
            ),
            (
                queue("\"step\", threshold = \"unlimited\""),
                "dumbbell.queue.threshold: \"unlimited\" is not valid: expected a threshold such as \
                 \"65pkt\"",
            ),
            (
                queue("\"drop-tail\", limit = \"900B\""),
                "dumbbell.queue.limit: 900B is not valid: expected at least a packet, 1052B",
            ),
            (
                queue("\"drr\", flow_limit = \"90B\""),
                "dumbbell.queue.flow_limit: 90B is not valid: expected at least a packet, 1052B",
            ),
            (
                queue("\"sfq\", buckets = 70000"),
                "dumbbell.queue.buckets: 70000 is not valid: expected 1 to 65536",
            ),
            (
                queue("\"sfq\", perturb = \"0s\""),
                "dumbbell.queue.perturb: 0s is not valid: expected at least 1us, and at most \
                 100000000 updates in a run of 10s",
            ),
            (
                queue("\"fq\", initial_quantum = \"0B\""),
                "dumbbell.queue.initial_quantum: 0B is not valid: expected 1B to 1000000000B",
            ),
            (
                queue("\"fq\", ce_threshold_l4s = true"),
                "dumbbell.queue.ce_threshold_l4s: ce_threshold_l4s needs ce_threshold, such as \
                 \"1ms\"",
            ),
            (
                queue("\"cake\", overhead = 300"),
                "dumbbell.queue.overhead: 300 is not valid: expected -64 to 256",
            ),
            (
                queue("\"cake\", mpu = \"1kB\""),
                "dumbbell.queue.mpu: 1000B is not valid: expected 1B to 256B",
            ),
            (
                queue("\"cake\", flow_isolation = \"dual-srchst\""),
                "dumbbell.queue.flow_isolation: \"dual-srchst\" is not known: expected flows, \
                 dual-srchost, dual-dsthost or triple-isolate (did you mean dual-srchost?)",
            ),
            (
                "back_queue = { kind = \"codel\", target = \"0s\" }".into(),
                "dumbbell.back_queue.target: 0s is not valid: expected a time above 0",
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
    let drop = |rest: &str| format!("drop = [{{ {rest} }}]");
    assert_all(
        link,
        [
            (
                loss("\"bernoulli\", p = 1"),
                "dumbbell.loss[0].p: 1 is not valid: expected a probability of at least 0, below 1",
            ),
            (
                loss("\"gilbert-elliott\", to_bad = 0, to_good = 0.1"),
                "dumbbell.loss[0].to_bad: 0 is not valid: expected above 0, at most 1",
            ),
            (
                loss("\"gilbert-elliott\", to_bad = 0.1, to_good = 2"),
                "dumbbell.loss[0].to_good: 2 is not valid: expected above 0, at most 1",
            ),
            (
                loss("\"gilbert-elliott\", to_bad = 0.1, to_good = 0.1, good_loss = 1"),
                "dumbbell.loss[0].good_loss: 1 is not valid: expected a probability of at least \
                 0, below 1",
            ),
            (
                loss("\"bernoulli\", p = 0.1, from = \"2s\", to = \"2s\""),
                "dumbbell.loss[0].to: 2s is not valid: expected later than from = 2s",
            ),
            (
                "back_loss = [{ kind = \"bernoulli\", p = 1 }]".into(),
                "dumbbell.back_loss[0].p: 1 is not valid: expected a probability of at least 0, \
                 below 1",
            ),
            (
                "back_rate = \"unlimited\"\nback_loss = [{ kind = \"bernoulli\", p = 0.1 }]".into(),
                "dumbbell.back_loss: back_rate = \"unlimited\" has no link that could lose packets",
            ),
            (
                loss("\"marks\", packets = [1], flow = \"x\""),
                "dumbbell.loss[0].flow: \"x\" is not known: expected tcp",
            ),
            (
                drop("flow = \"x\", packet = 1"),
                "dumbbell.drop[0].flow: \"x\" is not known: expected tcp",
            ),
            (
                drop("flow = \"tcp\", packet = -1"),
                "dumbbell.drop[0].packet: -1 is not valid: expected an integer of at least 0",
            ),
            (drop("flow = \"tcp\""), "dumbbell.drop[0]: key \"packet\" is missing"),
            (
                drop("flow = \"tcp\", packet = 1, transmission = 0"),
                "dumbbell.drop[0].transmission: 0 is not valid: expected at least 1",
            ),
            (
                drop("flow = \"tcp\", packet = 1, hold = \"-1ms\""),
                "dumbbell.drop[0].hold: \"-1ms\" is not valid: expected a time such as \"50ms\" (units \
                 ns, us, ms, s, min; a bare number is seconds; 0 to 1e7 s)",
            ),
            (
                drop("flow = \"tcp\", packet = 1, hold = \"0s\""),
                "dumbbell.drop[0].hold: 0s is not valid: expected a time above 0",
            ),
            (
                drop("flow = \"tcp\", packet = 1, hold = \"1min\""),
                "dumbbell.drop[0].hold: 60s is not valid: expected below 60s",
            ),
            (
                drop("flow = \"tcp\", packet = 1 }, { flow = \"tcp\", packet = 1, hold = \"1ms\""),
                "dumbbell.drop[1].transmission: 1 is not valid: expected a transmission of the \
                 packet that no entry before has",
            ),
            (
                "jitter = { kind = \"uniform\", low = \"2ms\", high = \"1ms\" }".into(),
                "dumbbell.jitter.low: 2ms is not valid: expected at most high = 1ms",
            ),
            (
                "jitter = { kind = \"bernoulli\", p = 1.5, by = \"1ms\" }".into(),
                "dumbbell.jitter.p: 1.5 is not valid: expected 0 to 1",
            ),
            (
                "jitter = { kind = \"wi-fi\", mean = \"92ms\" }".into(),
                "dumbbell.jitter.mean: 92ms is not valid: expected at most 91ms",
            ),
            (
                "jitter = { kind = \"steps\", points = [] }".into(),
                "dumbbell.jitter.points: [] is not valid: expected one pair of times or more",
            ),
            (
                "jitter = { kind = \"steps\", points = [[\"2s\", \"1ms\"], [\"1s\", \"1ms\"]] }"
                    .into(),
                "dumbbell.jitter.points: times must increase",
            ),
            (
                "jitter = { kind = \"wi-fi\", mean = \"1ms\", changes = [[\"2s\", \"1s\"]] }"
                    .into(),
                "dumbbell.jitter.changes[0]: 1s is not valid: expected at most 91ms",
            ),
            (
                "jitter = { kind = \"exponential\", mean = \"60s\" }".into(),
                "dumbbell.jitter.mean: 60s is not valid: expected below 60s",
            ),
            (
                "jitter = { kind = \"normal\", mean = \"1s\", deviation = \"2min\" }".into(),
                "dumbbell.jitter.deviation: 120s is not valid: expected below 60s",
            ),
            (
                outages("{ from = \"2s\", to = \"2s\" }"),
                "dumbbell.outages[0].to: 2s is not valid: expected later than from = 2s",
            ),
            (
                outages("{ from = \"2s\", to = \"4s\" }, { from = \"3s\", to = \"5s\" }"),
                "dumbbell.outages[1].from: 3s is not valid: expected no earlier than the end of \
                 the outage before, 4s",
            ),
            (
                "ecn_mangling = \"scrub\"".into(),
                "dumbbell.ecn_mangling: \"scrub\" is not known: expected bleach, clear-ce or \
                 mark-all",
            ),
            (
                "tunnel = { ingress = \"full\" }".into(),
                "dumbbell.tunnel.ingress: \"full\" is not known: expected normal or compatibility",
            ),
            (
                "tunnel = { egress = \"full\" }".into(),
                "dumbbell.tunnel.egress: \"full\" is not known: expected rfc6040 or \
                 ignores-outer",
            ),
            (
                "tunnel = { overhead = \"2kB\" }".into(),
                "dumbbell.tunnel.overhead: 2000B is not valid: expected at most 1500B",
            ),
            (
                "queue = { kind = \"drop-tail\", limit = \"1060B\" }\n\
                 tunnel = { overhead = \"50B\" }"
                    .into(),
                "dumbbell.queue.limit: 1060B is not valid: expected at least a packet, 1102B",
            ),
            (
                "circuit_breaker = { every = \"1s\", loss = 1 }".into(),
                "dumbbell.circuit_breaker.loss: 1 is not valid: expected a share of at least 0, \
                 below 1",
            ),
            (
                "circuit_breaker = { every = \"0s\" }".into(),
                "dumbbell.circuit_breaker.every: 0s is not valid: expected a time above 0",
            ),
            (
                "circuit_breaker = { every = \"1ns\" }".into(),
                "dumbbell.circuit_breaker.every: 1ns is not valid: expected at most 100000000 \
                 intervals in a run of 10s",
            ),
            (
                "circuit_breaker = { every = \"1s\", count = 0 }".into(),
                "dumbbell.circuit_breaker.count: 0 is not valid: expected at least 1",
            ),
            (
                "circuit_breaker = { every = \"1s\", pause = \"0s\" }".into(),
                "dumbbell.circuit_breaker.pause: 0s is not valid: expected a time above 0",
            ),
            (
                "marker = { rate = \"1Mbit\", burst = \"0B\" }".into(),
                "dumbbell.marker.burst: 0B is not valid: expected at least 1B",
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
            (flow("priority = 4"), "flows[0].priority: 4 is not valid: expected 0 to 3"),
            (
                flow("join = { batch = 0, every = \"1s\" }"),
                "flows[0].join.batch: 0 is not valid: expected 1 to 2000000",
            ),
            (
                flow("join = { batch = 1, every = \"0s\" }"),
                "flows[0].join.every: 0s is not valid: expected a time above 0",
            ),
            (
                flow("leave = { every = \"1s\" }"),
                "flows[0].leave: exactly one of `share` and `batch` must be given",
            ),
            (
                flow("leave = { share = 0.5, batch = 2, every = \"1s\" }"),
                "flows[0].leave: exactly one of `share` and `batch` must be given",
            ),
            (
                flow("leave = { share = 0, every = \"1s\" }"),
                "flows[0].leave.share: 0 is not valid: expected above 0, at most 1",
            ),
            (
                flow("packets = 3\nresponses = { size = 3, think = \"1s\" }"),
                "flows[0].responses: `responses` must not be given when `packets` is",
            ),
            (
                flow("responses = { size = 0.5, think = \"1s\" }"),
                "flows[0].responses.size: a mean of 0.5 is not valid: expected at least 1 packet, \
                 at most 1e12",
            ),
            (
                flow(
                    "responses = { size = 2, think = { kind = \"log-normal\", mean = \"1s\", \
                     sigma = -1 } }",
                ),
                "flows[0].responses.think.sigma: -1 is not valid: expected 0 to 10",
            ),
            (
                flow("packets = 3\nframes = { size = 3, every = \"33ms\" }"),
                "flows[0].frames: `frames` must not be given when `packets` or `responses` is",
            ),
            (
                flow("bytes = 3\nframes = { size = 3, every = \"33ms\" }"),
                "flows[0].bytes: `bytes` must not be given when `packets`, `responses`, `frames`, \
                 `page` or `video` is",
            ),
            (
                flow("frames = { size = 3, every = \"1us\" }"),
                "flows[0].frames.every: 1us is not valid: expected at least 10us",
            ),
            (
                flow("frames = { size = 3, every = \"33ms\", deadline = 0 }"),
                "flows[0].frames.deadline: 0s is not valid: expected at least 10us",
            ),
            (
                flow("frames = { every = \"33ms\" }"),
                "flows[0].frames.size: `size` must be given for AIMD(1, 0.5): only NADA sets the \
                 rate of an encoder",
            ),
            (
                flow("frames = { size = 0, every = \"33ms\" }"),
                "flows[0].frames.size: a mean of 0 is not valid: expected at least 1 packet, at \
                 most 1e12",
            ),
            (
                flow("") + FLOW,
                "flows[1].name: \"tcp\" is not valid: expected a unique traffic name",
            ),
            (
                flow("from = \"a\"\nto = \"b\""),
                "flows[0].from: `from` and `to` must not be given in a dumbbell: use [[links]]",
            ),
        ],
    );
}

#[test]
fn web_pages() {
    let page = |keys: &str| format!("{FLOW}[flows.page]\n{keys}");
    let objects = |list: &str| page(&format!("think = 1\nobjects = [{list}]"));
    let drawn = |keys: &str| page(&format!("think = 1\nmain = 9\nembedded = 5\nsize = 3\n{keys}"));
    let object = "{ name = \"a\", size = 1 }";
    assert_all(
        traffic,
        [
            (
                page("think = 1"),
                "flows[0].page: either `objects` or `main`, `embedded` and `size` must be given",
            ),
            (
                page("think = 1\nmain = 5\nsize = 2"),
                "flows[0].page: either `objects` or `main`, `embedded` and `size` must be given",
            ),
            (
                objects(&format!("{object}, {object}")),
                "flows[0].page.objects[1].name: \"a\" is not valid: expected a unique object name",
            ),
            (
                objects("{ name = \"a\", size = 0 }"),
                "flows[0].page.objects[0].size: 0 is not valid: expected 1 to 1000000000000",
            ),
            (
                objects("{ name = \"a\", size = 1, after = [\"b\"] }, { name = \"b\", size = 1 }"),
                "flows[0].page.objects[0].after: \"b\" is not valid: expected names of objects \
                 before it in the list",
            ),
            (
                objects("{ name = \"a\", size = 1, after = [\"a\"] }"),
                "flows[0].page.objects[0].after: \"a\" is not valid: expected names of objects \
                 before it in the list",
            ),
            (
                page(&format!("think = 1\nchained = 0.1\nobjects = [{object}]")),
                "flows[0].page.chained: `chained` must not be given when `objects` is: the list \
                 says it",
            ),
            (drawn("chained = 1.5"), "flows[0].page.chained: 1.5 is not valid: expected 0 to 1"),
            (
                page("think = 1\nmain = 0\nembedded = 5\nsize = 3"),
                "flows[0].page.main: a mean of 0 is not valid: expected at least 1 packet, at most \
                 1e12",
            ),
            (
                page("think = 1\nmain = 1\nembedded = 20000\nsize = 3"),
                "flows[0].page.embedded: a mean of 20000 is not valid: expected at most 10000 \
                 objects",
            ),
            (
                format!(
                    "{FLOW}join = {{ batch = 1, every = 1 }}\npage = {{ objects = [{object}], think = 1 }}"
                ),
                "flows[0].join: `join` must not be given when `page` is: its flows are one browser",
            ),
            (
                format!("{FLOW}packets = 5\npage = {{ objects = [{object}], think = 1 }}"),
                "flows[0].page: `page` must not be given when `packets`, `responses` or `frames` is",
            ),
        ],
    );
    assert!(is_valid(&format!("{DUMBBELL}{}", drawn("chained = 1\nparse = \"10ms\""))));
    assert!(is_valid(&format!("{DUMBBELL}{}", objects(object))));
}

#[test]
fn videos() {
    let video = |keys: &str| format!("{FLOW}[flows.video]\n{keys}");
    let one = "bitrates = [\"1Mbit\"]\n";
    assert_all(
        traffic,
        [
            (
                video("bitrates = []"),
                "flows[0].video.bitrates: [] is not valid: expected one or more ascending bitrates",
            ),
            (
                video("bitrates = [\"2Mbit\", \"1Mbit\"]"),
                "flows[0].video.bitrates: [2Mbit, 1Mbit] is not valid: expected one or more \
                 ascending bitrates",
            ),
            (
                video(&format!("{one}segment = 0")),
                "flows[0].video.segment: 0s is not valid: expected at least 1ms",
            ),
            (
                video(&format!("{one}cushion = 0")),
                "flows[0].video.cushion: 0s is not valid: expected a time above 0",
            ),
            (
                video(&format!("{one}buffer = 7")),
                "flows[0].video.buffer: 7s is not valid: expected at least startup and a segment, \
                 8s",
            ),
            (
                format!(
                    "{FLOW}video = {{ bitrates = [\"1Mbit\"] }}\nframes = {{ size = 1, every = 1 }}"
                ),
                "flows[0].video: `video` must not be given when `packets`, `responses`, `frames` or \
                 `page` is",
            ),
        ],
    );
    assert!(is_valid(&format!("{DUMBBELL}{}", video(one))));
}

#[test]
fn shares() {
    let shares = |keys: &str| format!("{FLOW}[shares]\n{keys}");
    assert_all(
        traffic,
        [
            (shares("band = 0"), "shares.band: 0 is not valid: expected above 0, at most 1"),
            (
                shares("starved_below = 1.5"),
                "shares.starved_below: 1.5 is not valid: expected above 0, at most 1",
            ),
            (shares("hold = 0.5"), "shares.hold: 500ms is not valid: expected at least bin = 1s"),
            (shares("bin = 0"), "shares.bin: 0s is not valid: expected at least 1us"),
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
            (
                arrivals("size = 1"),
                "arrivals[0].gap: exactly one of `gap` and `phases` must be given",
            ),
            (
                arrivals("size = 1\ngap = \"1s\"\nphases = [{ length = \"1s\", gap = \"1s\" }]"),
                "arrivals[0].gap: exactly one of `gap` and `phases` must be given",
            ),
            (
                arrivals("size = 1\ngap = \"0s\""),
                "arrivals[0].gap: 0s is not valid: expected at least 1us",
            ),
            (
                arrivals("size = 1\nphases = [{ length = \"1s\", gap = \"0s\" }]"),
                "arrivals[0].phases[0].gap: 0s is not valid: expected at least 1us",
            ),
            (
                arrivals("size = 1\nphases = [{ length = \"0s\", gap = \"1s\" }]"),
                "arrivals[0].phases[0].length: 0s is not valid: expected at least 1us",
            ),
            (
                size("\"pareto\", mean = 10, shape = 1"),
                "arrivals[0].size.shape: 1 is not valid: expected above 1 (for a finite mean), at \
                 most 1000",
            ),
            (
                size("\"pareto\", mean = 10, shape = 2, most = 4"),
                "arrivals[0].size.most: 4 is not valid: expected at least the smallest value, 5",
            ),
            (
                size("\"uniform\", low = 4, high = 2"),
                "arrivals[0].size.low: 4 is not valid: expected at most high = 2",
            ),
            (
                size("\"uniform\", low = -4, high = 20"),
                "arrivals[0].size.low: -4 is not valid: expected 0 or more",
            ),
            (
                size("\"exponential\", mean = 0"),
                "arrivals[0].size.mean: 0 is not valid: expected above 0",
            ),
            (
                size("\"exponential\", mean = 0.5"),
                "arrivals[0].size.mean: a mean of 0.5 is not valid: expected at least 1 packet, \
                 at most 1e12",
            ),
            (arrivals("gap = 1"), "arrivals[0].size: one of `size` and `vectors` must be given"),
            (
                arrivals("size = 1\ngap = 1\nexchanges = 3"),
                "arrivals[0].exchanges: `exchanges` and `think` must be given together",
            ),
            (
                arrivals("size = 1\ngap = 1\nthink = 1\nexchanges = 0"),
                "arrivals[0].exchanges: a mean of 0 is not valid: expected at least 1 response, at \
                 most 1e12",
            ),
            (
                arrivals("size = 1\ngap = 1\nthink = 1\nexchanges = 20000"),
                "arrivals[0].exchanges: a mean of 20000 is not valid: expected at most 10000 \
                 responses",
            ),
            (
                arrivals("size = 1\ngap = 1\npacket_sizes = [{ size = 0, share = 1 }]"),
                "arrivals[0].packet_sizes[0].size: 0B is not valid: expected 1B to 65000B",
            ),
            (
                arrivals("size = 1\ngap = 1\npacket_sizes = [{ size = 536, share = 0.5 }]"),
                "arrivals[0].packet_sizes: a sum of shares of 0.5 is not valid: expected shares \
                 that add up to 1",
            ),
            (
                arrivals(
                    "size = 1\ngap = 1\npacket_sizes = [{ size = 536, share = 1 }]\ntcp = { \
                     packet_size = 5 }",
                ),
                "arrivals[0].packet_sizes: `packet_sizes` must not be given when `tcp.packet_size` \
                 is",
            ),
            (
                arrivals("size = 1\ngap = \"1s\"\nstart = \"2s\"\nstop = \"2s\""),
                "arrivals[0].stop: 2s is not valid: expected later than start = 2s",
            ),
            (
                arrivals("size = 1\ngap = \"1s\"\nname = \"tcp\"\n") + FLOW,
                "arrivals[0].name: \"tcp\" is not valid: expected a unique traffic name",
            ),
        ],
    );
    // 1e7 flows in 10 s may be, half a second more not.
    let many = format!("{DUMBBELL}{ARRIVALS}size = 1\ngap = \"1us\"").replace("10s", "10.5s");
    assert_eq!(
        error(&many),
        "arrivals[0].gap: a mean of 10500000 arrivals is not valid: expected at most 10000000 in \
         a run"
    );
    let short =
        format!("{DUMBBELL}{ARRIVALS}size = 1\nphases = [{{ length = \"1us\", gap = \"1s\" }}]")
            .replace("10s", "1000s");
    assert_eq!(
        error(&short),
        "arrivals[0].phases[0].length: 1us is not valid: expected at most 100000000 phases in a \
         run of 1000s"
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
                "cross[0].off: `off` is required when `on` is given",
            ),
            (
                cross("rate = \"1Mbit\"\noff = \"1s\""),
                "cross[0].on: `on` is required when `off` is given",
            ),
            (
                cross("rate = \"1Mbit\"\noff = \"1s\"\non = \"0s\""),
                "cross[0].on: a mean of 0 is not valid: expected at least 1us, at most 1e12",
            ),
            (
                cross("available = \"1Mbit\"\noff = \"1s\"\non = \"1s\""),
                "cross[0].on: `on` must not be given when `available` is",
            ),
            (
                cross("rate = \"1Mbit\"\ncount = 0"),
                "cross[0].count: 0 is not valid: expected 1 to 1000000 sources in all",
            ),
            (
                cross("rate = \"1Mbit\"\ncount = 1000001"),
                "cross[0].count: 1000001 is not valid: expected 1 to 1000000 sources in all",
            ),
            (
                cross("available = \"1Mbit\"\ncount = 2"),
                "cross[0].count: `count` must be 1 when `available` is given",
            ),
            (
                cross("rate = \"1Mbit\"\nsource_rate = \"1Mbit\""),
                "cross[0].source_rate: `source_rate` needs `available`",
            ),
            (
                cross("rate = \"1Mbit\"\nbeside = 2"),
                "cross[0].beside: `beside` needs `available` and `source_rate`",
            ),
            (
                cross("available = \"1bit\"\nsource_rate = \"1Mbit\""),
                "cross[0].available: 1bit is not valid: expected a rate that takes at most \
                 1000000 sources beside 1 flow, not 9999999",
            ),
            (
                "[[cross]]\navailable = \"1Mbit\"\nsource_rate = \"1Mbit\"".into(),
                "cross[0].beside: `beside` is required when no flow crosses \"bottleneck\"",
            ),
            (
                cross("rate = \"1Mbit\"\nname = \"tcp\""),
                "cross[0].name: \"tcp\" is not valid: expected a unique traffic name",
            ),
            (
                cross("rate = \"1Mbit\"\npriority = 9"),
                "cross[0].priority: 9 is not valid: expected 0 to 3",
            ),
            (
                cross("rate = \"1Mbit\"\npath = [\"x\"]"),
                "cross[0].path: \"x\" is not known: expected bottleneck or bottleneck-back",
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
            (
                flow("count = \"many\""),
                "flows[0].count: \"many\" is not valid: expected an integer of at least 0",
            ),
            (
                flow("count = -1"),
                "flows[0].count: -1 is not valid: expected an integer of at least 0",
            ),
            (
                flow("count = 1.5"),
                "flows[0].count: 1.5 is not valid: expected an integer of at least 0",
            ),
            (flow("name = 3"), "flows[0].name: 3 is not valid: expected text in quotes"),
            (
                flow("reverse = \"yes\""),
                "flows[0].reverse: \"yes\" is not valid: expected true or false",
            ),
            (flow("path = \"x\""), "flows[0].path: \"x\" is not valid: expected a list"),
            (flow("join = 3"), "flows[0].join: 3 is not valid: expected a table"),
            ("[[flows]]\ncount = 2".into(), "flows[0]: key \"rule\" is missing"),
            (flow("recovery = 3"), "flows[0].recovery: 3 is not valid: expected a name in quotes"),
        ],
    );
    assert_eq!(link("queue = 3"), "dumbbell.queue: 3 is not valid: expected a table");
    assert_eq!(link("queue = {}"), "dumbbell.queue: key \"kind\" is missing");
    assert_eq!(link("loss = [{ kind = \"bernoulli\" }]"), "dumbbell.loss[0]: key \"p\" is missing");
    assert_eq!(
        link("loss = [{ kind = \"bernoulli\", p = nan }]"),
        "dumbbell.loss[0].p: null or nan is not valid: expected a number"
    );
    assert_eq!(
        error(&format!("measure = [1]\n{DUMBBELL}{FLOW}")),
        "measure: a list of 1 is not valid: expected a list of 2"
    );
}

#[test]
fn knobs_without_effect() {
    let flow = |recovery: &str, config: &str| {
        format!("{FLOW}recovery = \"{recovery}\"\ntcp = {{ {config} }}")
    };
    let only_sack = |knob: &str| {
        let schemes = match knob {
            "prr" => "\"sack\" and \"fack\", and with rack = true \"newreno\", have",
            "dsack" => "\"sack\" and \"fack\" have",
            "rack" => "\"sack\" and \"newreno\" have",
            _ => "\"sack\" has",
        };
        format!("flows[0].tcp.{knob}: has no effect: only recovery = {schemes} it")
    };
    for knob in ["sack_rfc6675", "prr", "rack", "dsack"] {
        assert_eq!(
            error(&format!("{DUMBBELL}{}", flow("reno", &format!("{knob} = true")))),
            only_sack(knob)
        );
        assert!(is_valid(&format!("{DUMBBELL}{}", flow("reno", &format!("{knob} = false")))));
        assert!(is_valid(&format!("{DUMBBELL}{}", flow("sack", &format!("{knob} = true")))));
    }
    assert_eq!(
        error(&format!("{DUMBBELL}{}", flow("sack", "tlp = true"))),
        "flows[0].tcp.tlp: has no effect: it needs recovery = \"sack\" and rack = true"
    );
    assert!(is_valid(&format!("{DUMBBELL}{}", flow("sack", "rack = true, tlp = true"))));
    for knob in ["ect1 = true", "ecn_feedback = \"accecn\""] {
        let name = knob.split(' ').next().unwrap_or_default();
        assert_eq!(
            error(&format!("{DUMBBELL}{}", flow("sack", knob))),
            format!("flows[0].tcp.{name}: has no effect: it needs ecn = true")
        );
    }
    assert!(is_valid(&format!("{DUMBBELL}{}", flow("sack", "optimistic_acks = 5, window = 50"))));
    assert_eq!(
        error(&format!("{DUMBBELL}{}", flow("sack", "optimistic_acks = 5"))),
        "flows[0].tcp.optimistic_acks: `window` must be at most 100000: nothing else limits a \
         sender that hears of no loss"
    );
    assert_eq!(
        error(&format!("{DUMBBELL}{}", flow("sack", "ack_division = 0"))),
        "flows[0].tcp.ack_division: 0 is not valid: expected 1 to 1000"
    );
    // The table of all flows is refused if none of them has a use for it; a profile never is.
    let named = |name: &str, recovery: &str| format!("{}\nname = \"{name}\"\n", flow(recovery, ""));
    let both = format!("{DUMBBELL}{}{}", named("f", "reno"), named("g", "sack"));
    assert!(is_valid(&format!("{both}\n[tcp]\nrack = true")));
    assert_eq!(
        error(&format!("{DUMBBELL}{}\n[tcp]\nrack = true", flow("fack", ""))),
        "tcp.rack: has no effect: only recovery = \"sack\" and \"newreno\" have it"
    );
    assert!(is_valid(&format!("{}{}", DUMBBELL.replace("rfc", "linux"), flow("reno", ""))));
}
