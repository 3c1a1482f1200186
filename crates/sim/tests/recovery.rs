//! Whole runs with given losses: tails of transfers, reordering, duplicates, lost SYN-ACKs, and the
//! completion at the receiver. On most links here a packet of 1500 bytes takes 1 ms, and a round
//! trip of propagation delays 40 ms.

use cwndlab_scenario::Scenario;
use cwndlab_sim::results::{FlowResult, RunResult};
use cwndlab_sim::{PacketEvent, Simulation};

fn run(toml: &str) -> RunResult {
    let scenario = Scenario::from_toml(toml).unwrap_or_else(|error| panic!("{error}\n{toml}"));
    Simulation::new(&scenario).run().unwrap()
}

/// The only flow, and the times at which it sent packets again.
fn with_retransmissions(toml: &str) -> (FlowResult, Vec<f64>) {
    let scenario = Scenario::from_toml(toml).unwrap_or_else(|error| panic!("{error}\n{toml}"));
    let mut simulation = Simulation::new(&scenario);
    let result = simulation.run().unwrap();
    let rows = &simulation.traces().recorder.unwrap().packets;
    let again = rows.iter().filter(|row| row.event == PacketEvent::Send && row.retransmission);
    (result.flows[0].clone(), again.map(|row| row.time_s).collect())
}

/// A transfer of this many packets under profile `linux`. `forward` and `back`: numbers of packets
/// that are lost on the way there and back, from 0, the SYN or SYN-ACK.
fn transfer(packets: u32, forward: &[u32], back: &[u32], tcp: &str) -> String {
    let loss = |numbers: &[u32]| format!("loss = [{{ kind = \"list\", packets = {numbers:?} }}]");
    format!(
        r#"
        duration = "20s"
        profile = "linux"
        tcp = {{ {tcp} }}
        [[links]]
        name = "there"
        from = "A"
        to = "B"
        rate = "12Mbit"
        delay = "20ms"
        {}
        [[links]]
        name = "back"
        from = "B"
        to = "A"
        rate = "1000Gbit"
        delay = "20ms"
        {}
        [[flows]]
        rule = "CUBIC"
        from = "A"
        to = "B"
        packets = {packets}
        [trace]
        packets = true
        "#,
        loss(forward),
        loss(back)
    )
}

/// RFC 8985 section 7: the probe repairs the loss of the last packet alone. For a longer tail it is
/// SACKed, which starts a recovery 41 ms after the probe left: 1 ms of transmission and the round
/// trip. No timer of 200 ms and more expires.
#[test]
fn tails_are_repaired_without_a_timeout() {
    for delayed_ack in [true, false] {
        for (lost, repairs) in [(&[20][..], 0), (&[19, 20], 1), (&[16, 17, 18, 19, 20], 1)] {
            let tcp = format!("delayed_ack = {delayed_ack}");
            let (flow, again_s) = with_retransmissions(&transfer(20, lost, &[], &tcp));
            assert_eq!((flow.timeouts, flow.fast_retransmits), (0, repairs), "{lost:?}");
            assert_eq!(flow.retransmitted_packets as usize, lost.len());
            assert!(flow.finish_s.is_some());
            if repairs > 0 {
                let after_s = again_s[1] - again_s[0];
                assert!((after_s - 0.041).abs() < 1e-6, "{lost:?}: {after_s} s after the probe");
            }
        }
    }
}

/// A packet in 50 is 4 ms late, less than min_rtt/4 = 10 ms. The first of them is sent again and
/// proves reordering (Linux `tcp_try_undo_partial`); after it only what is dropped is sent again.
#[test]
fn late_packets_are_not_retransmitted_once_one_has_proved_reordering() {
    for (seed, by) in [(1, "4ms"), (2, "4ms"), (1, "9.5ms")] {
        let flow = &run(&format!(
            r#"
            duration = "60s"
            profile = "linux"
            seed = {seed}
            [dumbbell]
            rate = "20Mbit"
            delay = "20ms"
            queue = {{ kind = "drop-tail", limit = "300pkt" }}
            jitter = {{ kind = "bernoulli", p = 0.02, by = "{by}", reorder = true }}
            [[flows]]
            rule = "CUBIC"
            "#
        ))
        .flows[0];
        assert_eq!(flow.undone_reductions, Some(1), "seed {seed}, {by}");
        // Linux 6.12 in virtual time retransmits 7 to 39 packets more than are dropped.
        let needless = flow.retransmitted_packets - flow.dropped_packets;
        assert!((1..=39).contains(&needless), "seed {seed}, {by}: {needless}");
    }
}

/// RFC 9293 section 3.10.7.4, RFC 2883 section 4: the ACK of the last packet is lost, and the probe
/// repeats the packet. Its answer leaves at once and arrives a round trip of propagation delays and
/// two transmissions after the probe: 40 ms, 1500 bytes and 64 bytes (an ACK with a DSACK) at 100
/// Mbit/s.
#[test]
fn a_duplicate_of_the_last_packet_is_acknowledged_at_once() {
    let toml =
        transfer(20, &[], &[18], "").replace("12Mbit", "100Mbit").replace("1000Gbit", "100Mbit");
    let (flow, again_s) = with_retransmissions(&toml);
    assert_eq!(again_s.len(), 1);
    let answered_s = 0.04 + (1500.0 + 64.0) * 8.0 / 100e6;
    assert!((flow.finish_s.unwrap() - again_s[0] - answered_s).abs() < 1e-9);
    // The data had arrived before.
    assert!(flow.received_s.unwrap() < again_s[0]);
}

/// SYN-ACK and second SYN are lost; Linux's receiver repeats the SYN-ACK a second after it was sent
/// (`tcp_synack_retries`). The SYN takes 0.04 ms and 20 ms, the SYN-ACK 20 ms, the packet 1 ms and
/// 20 ms. Without the timer the third SYN is answered, which a timer of 1 s and its granularity of
/// 64 ms let leave at 2.04 s.
#[test]
fn a_lost_syn_ack_is_repeated() {
    for (tcp, waits_s) in [("", 1.0), ("synack_retries = 0", 2.04)] {
        let flow = &run(&transfer(1, &[1], &[0], tcp)).flows[0];
        let received_s = flow.received_s.unwrap();
        assert!((received_s - waits_s - 0.06104).abs() < 1e-8, "{tcp}: {received_s}");
    }
}

/// Linux `tcp_syn_linear_timeouts`: SYNs leave after 1, 1, 1, 1, 1 and 2 s and up to 64 ms more,
/// the granularity of such timers: these are the times of Linux 6.12 in virtual time.
#[test]
fn the_first_syns_follow_each_other_without_backoff() {
    let (_, again_s) = with_retransmissions(&transfer(1, &[0, 1, 2, 3, 4, 5], &[], ""));
    assert_eq!(again_s, [1.016, 2.04, 3.064, 4.088, 5.112, 7.16]);
}

/// The ACK of a last packet that is alone is delayed by 40 ms: the sender finishes late. The
/// receiver has one packet more after every millisecond that the link takes for it, once the window
/// keeps the link busy.
#[test]
fn completion_at_the_receiver_grows_with_the_packets() {
    let flows = [49, 50, 51].map(|packets| run(&transfer(packets, &[], &[], "")).flows.remove(0));
    let received_s = flows.each_ref().map(|flow| flow.received_s.unwrap());
    let delays_s = flows.each_ref().map(|flow| flow.finish_s.unwrap() - flow.received_s.unwrap());
    for pair in received_s.windows(2) {
        assert!((pair[1] - pair[0] - 0.001).abs() < 1e-9, "{received_s:?}");
    }
    // On its way back alone, and held for 40 ms before.
    let mut sorted_s = delays_s;
    sorted_s.sort_by(f64::total_cmp);
    assert!((sorted_s[0] - 0.02).abs() < 1e-8 && (sorted_s[2] - 0.06).abs() < 1e-8, "{delays_s:?}");
}
