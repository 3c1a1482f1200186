//! Packets that come from outside meet what simulated ones meet: the same arrivals have the same
//! fate at the same time, to the last bit.

use cwndlab_scenario::Scenario;
use cwndlab_sim::{Ecn, ExternalPacket, Fate, NetworkPath, PacketEvent, PacketRow, Simulation};

/// Runs a scenario, then sends the data packets that its senders sent through a path; compares what
/// receivers and queues saw. Profile `rfc` has no ACK of a handshake, which traces leave out.
fn assert_agreement(network: &str) {
    let text = format!(
        "duration = \"8s\"\nmeasure = [\"2s\", \"8s\"]\ntrace = {{ packets = true }}\n\
         profile = \"rfc\"\n{network}"
    );
    let scenario = Scenario::from_toml(&text).unwrap();
    let mut simulation = Simulation::new(&scenario);
    let simulated = simulation.run().unwrap();
    let mut rows: Vec<PacketRow> = simulation.traces().recorder.unwrap().packets.clone();
    rows.sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
    let mut path = NetworkPath::new(&scenario);
    let mut outcomes = Vec::new();
    let sent: Vec<&PacketRow> = rows.iter().filter(|row| row.event == PacketEvent::Send).collect();
    for (token, row) in sent.iter().enumerate() {
        let packet = ExternalPacket {
            token: token as u32,
            flow: row.flow,
            number: u64::try_from(row.number).ok(),
            reverse: false,
            size_bytes: row.size_bytes as u16,
            ecn: row.ecn,
        };
        path.inject(row.time_s, packet, &mut |outcome| outcomes.push(outcome));
    }
    path.advance(8.0, &mut |outcome| outcomes.push(outcome));
    path.finish(8.0);
    let traced = |event| {
        let mut traced: Vec<(u64, u32, i64, bool)> = rows
            .iter()
            .filter(|row| row.event == event)
            .map(|row| {
                (
                    row.time_s.to_bits(),
                    row.flow,
                    row.number,
                    row.ecn == Ecn::Ce && event == PacketEvent::Receive,
                )
            })
            .collect();
        traced.sort_unstable();
        traced
    };
    let found = |fate| {
        let mut found: Vec<(u64, u32, i64, bool)> = outcomes
            .iter()
            .filter(|outcome| outcome.fate == fate)
            .map(|outcome| {
                let row = sent[outcome.packet.token as usize];
                (
                    outcome.at_s.to_bits(),
                    row.flow,
                    row.number,
                    outcome.packet.ecn == Ecn::Ce && fate == Fate::Delivered,
                )
            })
            .collect();
        found.sort_unstable();
        found
    };
    assert!(found(Fate::Delivered).len() > 500, "{} packets are no test", outcomes.len());
    assert_eq!(found(Fate::Delivered), traced(PacketEvent::Receive), "arrivals\n{network}");
    assert_eq!(found(Fate::Dropped), traced(PacketEvent::Drop), "losses\n{network}");
    // The way there carries data only, so its links must have counted the same.
    let (ours, theirs) = (&path.links()[0], &simulated.links[0]);
    assert_eq!(format!("{ours:?}"), format!("{theirs:?}"));
    assert_eq!(format!("{:?}", path.cross(&scenario)), format!("{:?}", simulated.cross));
}

fn dumbbell(queue: &str, more: &str) {
    assert_agreement(&format!(
        "[dumbbell]\nrate = \"5Mbit\"\ndelay = \"10ms\"\naccess_delay = [\"1ms\", \"9ms\"]\nqueue \
         = {queue}\n{more}\n\
         [[flows]]\nname = \"a\"\ncount = 3\nrule = \"AIMD(1, 0.5)\"\nstart = [\"0s\", \
          \"1s\"]\ntcp = {{ ecn = true }}\n\
         [[flows]]\nname = \"b\"\nrule = \"GAIMD(0.31, 0.875)\"\npriority = 0\n"
    ));
}

#[test]
fn hosts_that_are_not_exact() {
    let flow = "[[flows]]\nname = \"a\"\ncount = 3\nrule = \"AIMD(1, 0.5)\"\n";
    let link = "[dumbbell]\nrate = \"5Mbit\"\ndelay = \"10ms\"\n";
    assert_agreement(&format!("host_jitter = \"3ms\"\n{link}{flow}"));
}

#[test]
fn admission_queues() {
    dumbbell(r#"{ kind = "drop-tail", limit = "20pkt" }"#, "");
    dumbbell(r#"{ kind = "drop-tail", limit = "20kB" }"#, "");
    dumbbell(r#"{ kind = "red", limit = "60pkt", min = "5pkt", max = "20pkt", ecn = true }"#, "");
    dumbbell(r#"{ kind = "pie", limit = "100pkt", ecn = true }"#, "");
    dumbbell(r#"{ kind = "step", limit = "60pkt", threshold = "10pkt" }"#, "");
}

#[test]
fn scheduled_queues() {
    for kind in ["drr", "codel", "fq-codel", "priority"] {
        dumbbell(&format!("{{ kind = \"{kind}\", limit = \"40pkt\" }}"), "");
    }
}

#[test]
fn impairments() {
    let queue = r#"{ kind = "drop-tail", limit = "20pkt" }"#;
    dumbbell(
        queue,
        r#"loss = [
            { kind = "bernoulli", p = 0.01 },
            { kind = "gilbert-elliott", to_bad = 0.001, to_good = 0.3, after_queue = true },
        ]"#,
    );
    dumbbell(queue, r#"jitter = { kind = "normal", mean = "5ms", deviation = "2ms" }"#);
    dumbbell(queue, r#"jitter = { kind = "exponential", mean = "5ms", reorder = true }"#);
    let drops = r#"drop = [
        { flow = "a", packet = 30 },
        { flow = "a-1", packet = 40, transmission = 2 },
        { flow = "b", packet = 50, hold = "12ms" },
        { flow = "b", packet = 0 },
    ]"#;
    for queue in [queue, r#"{ kind = "codel", limit = "40pkt" }"#] {
        dumbbell(queue, drops);
    }
    dumbbell(
        queue,
        r#"outages = [
            { from = "3s", to = "3.5s" },
            { from = "5s", to = "5.2s", arrivals = "lost" },
        ]"#,
    );
}

#[test]
fn varying_rates_and_cross_traffic() {
    for queue in
        [r#"{ kind = "drop-tail", limit = "20pkt" }"#, r#"{ kind = "codel", limit = "60pkt" }"#]
    {
        assert_agreement(&format!(
            "[dumbbell]\nrate = {{ kind = \"square\", high = \"8Mbit\", low = \"2Mbit\", every = \
             \"700ms\" }}\ndelay = \"10ms\"\nqueue = {queue}\n\
             [[flows]]\nrule = \"AIMD(1, 0.5)\"\n[[cross]]\nrate = \"1Mbit\"\nstart = \"1s\"\n\
             [[cross]]\nname = \"bursts\"\nrate = \"2Mbit\"\non = {{ kind = \"exponential\", mean \
              = \"100ms\" }}\noff = \"150ms\"\n"
        ));
    }
}

#[test]
fn links_in_series() {
    assert_agreement(
        "[[links]]\nname = \"one\"\nrate = \"6Mbit\"\ndelay = \"5ms\"\nqueue = { kind = \
         \"drop-tail\", limit = \"15pkt\" }\n\
         [[links]]\nname = \"two\"\nrate = \"5Mbit\"\ndelay = \"7ms\"\nqueue = { kind = \
          \"codel\", limit = \"30pkt\" }\n\
         [[flows]]\nname = \"both\"\ncount = 2\nrule = \"AIMD(1, 0.5)\"\npath = [\"one\", \
          \"two\"]\n\
         [[flows]]\nname = \"first\"\nrule = \"AIMD(1, 0.5)\"\npath = [\"one\"]\naccess_rate = \
          \"20Mbit\"\naccess_delay = \"3ms\"\n",
    );
}
