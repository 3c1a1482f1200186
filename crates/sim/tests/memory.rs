//! Flows that come and go need no memory of their own: what a flow that is over has left behind
//! serves the next.

use allocation_counter::measure;
use cwndlab_scenario::Scenario;
use cwndlab_sim::{Simulation, Status};

/// Short flows over a link that is loaded to four fifths, 8000 a second, of lengths that differ.
const ARRIVALS: &str = r#"
    duration = "40s"
    profile = "ns2-2.35"
    [dumbbell]
    rate = "1Gbit"
    delay = "5ms"
    queue = { kind = "drop-tail", limit = "1200pkt" }
    access_rate = "1Gbit"
    [[arrivals]]
    rule = "AIMD(1, 0.5)"
    gap = "124800ns"
    size = { kind = "exponential", mean = 12 }
    access_delay = ["1ms", "20ms"]
"#;

/// Runs up to a moment of simulated time.
fn run_until(simulation: &mut Simulation<'_>, time_s: f64) {
    while simulation.progress().0 < time_s {
        assert_eq!(simulation.advance(1 << 10), Status::Running);
    }
}

#[test]
fn arriving_flows_allocate_nothing_in_steady_state() {
    let scenario = Scenario::from_toml(ARRIVALS).unwrap();
    let mut simulation = Simulation::new(&scenario);
    // By then the slots are as many as there are flows at a time, and nearly all have had their
    // long flow.
    run_until(&mut simulation, 12.0);
    let once = measure(|| run_until(&mut simulation, 19.0)).count_total;
    let twice = measure(|| run_until(&mut simulation, 33.0)).count_total;
    let flows = 14.0 / 124.8e-6;
    println!("{once} allocations in 7 s, {twice} in the next 14 s");
    // What is left is a ring or a scoreboard that is larger than ever before in its slot, and the
    // list of transfers, which doubles: it comes less and less often, not with each flow. A Poisson
    // process has no bound, so there is no zero here.
    assert!((twice as f64) < flows / 500.0, "{twice} allocations for {flows:.0} flows");
    assert!(twice <= once, "{once} allocations in 7 s, {twice} in the next 14 s");
}

/// A tenth of the flows, the rate and the buffer of bench/scenarios/hundred-thousand.toml: enough
/// flows to be counted as many.
fn many(flows: &str) -> String {
    format!(
        r#"
        duration = "5s"
        profile = "ns2-2.35"
        [dumbbell]
        rate = "1Gbit"
        delay = "20ms"
        queue = {{ kind = "drop-tail", limit = "12000pkt", count_in_service = true }}
        access_rate = "1Gbit"
        access_delay = ["1ms", "81ms"]
        [[flows]]
        {flows}
        rule = "AIMD(1, 0.5)"
        recovery = "sack"
        start = ["0s", "1s"]
        tcp = {{ window = 100000, initial_ssthresh = 100000 }}
    "#
    )
}

/// Heap that a run holds at most, from its network to its results, bytes.
fn most_bytes(flows: &str) -> u64 {
    let scenario = Scenario::from_toml(&many(flows)).unwrap();
    measure(|| drop(Simulation::new(&scenario).run().unwrap())).bytes_max
}

#[test]
fn a_flow_of_many_takes_little_memory() {
    let each = (most_bytes("count = 10000") - most_bytes("packets = 1")) as f64 / 10_000.0;
    println!("{each:.0} bytes a flow");
    // It is 1,764. Some bytes more for each flow are no harm; a list or a ring of its own for each
    // takes hundreds.
    assert!(each < 1900.0, "{each:.0} bytes a flow");
}

/// Cross traffic has no loop: its horizon is the end of the run.
#[test]
fn cross_traffic_alone_takes_no_memory_with_time() {
    for queue in ["drop-tail", "drr"] {
        let most_bytes = |duration: &str| {
            let scenario = Scenario::from_toml(&format!(
                r#"
                duration = "{duration}"
                [dumbbell]
                rate = "1Gbit"
                delay = "5ms"
                queue = {{ kind = "{queue}", limit = "100pkt" }}
                [[cross]]
                name = "constant"
                rate = "900Mbit"
            "#
            ))
            .unwrap();
            measure(|| drop(Simulation::new(&scenario).run().unwrap())).bytes_max
        };
        let (once, twice) = (most_bytes("4s"), most_bytes("8s"));
        println!("{queue}: {once} bytes for 4 s, {twice} bytes for 8 s");
        // What a run records takes a little more, packets that wait do not.
        assert!(twice < once + once / 4, "{queue}: {once} bytes for 4 s, {twice} bytes for 8 s");
    }
}
