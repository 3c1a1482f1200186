use super::*;
use cwndlab_emulator::{Emulator, LoopOptions, drive};
use cwndlab_scenario::Scenario;
use cwndlab_sim::Ecn;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time limit of a test that hangs.
const HANG: Duration = Duration::from_secs(900);

struct Setup {
    relay: Relay,
    sources: Vec<UdpSocket>,
    sinks: Vec<UdpSocket>,
    outer: SocketAddr,
    inner: SocketAddr,
}

/// A relay between `count` pairs of bare sockets.
fn setup(count: usize, ecn: bool, largest: u16) -> Setup {
    let bare = || UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let (sources, sinks): (Vec<_>, Vec<_>) = (0..count).map(|_| (bare(), bare())).unzip();
    let pairs = sources.iter().zip(&sinks);
    let flows = pairs
        .map(|(a, b)| RelayFlow {
            source: a.local_addr().unwrap(),
            sink: b.local_addr().unwrap(),
            ecn,
        })
        .collect();
    let ((outer, _), (inner, _)) = (socket(0, 1 << 20).unwrap(), socket(0, 1 << 20).unwrap());
    let (outer_address, inner_address) = (outer.local_addr().unwrap(), inner.local_addr().unwrap());
    Setup {
        relay: Relay::new(outer, inner, flows, largest).unwrap(),
        sources,
        sinks,
        outer: outer_address,
        inner: inner_address,
    }
}

/// Waits for `count` datagrams.
fn take_all(relay: &mut Relay, side: Side, count: usize) -> Vec<(Received, Vec<u8>)> {
    let (mut all, until) = (Vec::new(), Instant::now() + HANG);
    while all.len() < count {
        assert!(Instant::now() < until, "{} of {count} datagrams came", all.len());
        let mut buffer = vec![0; relay.largest()];
        if let Some(received) = relay.receive(side, &mut buffer).unwrap() {
            all.push((received, buffer));
        }
    }
    all
}

#[test]
fn datagrams_find_their_flow_in_both_directions() {
    let Setup { mut relay, sources, sinks, outer, inner } = setup(3, true, 1500);
    for (i, source) in sources.iter().enumerate() {
        source.send_to(&vec![i as u8; 100 + i], outer).unwrap();
    }
    for (i, (received, mut packet)) in take_all(&mut relay, Side::Source, 3).into_iter().enumerate()
    {
        let Received::Packet(length, meta) = received else { panic!("{received:?}") };
        // 28 bytes of headers; no ECN on a bare socket.
        assert_eq!((meta.flow, meta.size_bytes, meta.ecn), (i as u32, 128 + i as u16, Ecn::NotEct));
        assert_eq!(
            meta.segment.map(|segment| (segment.sequence, segment.payload_bytes)),
            Some((0, 100 + i as u32))
        );
        assert!(relay.send(Side::Sink, &mut packet[..length], false).unwrap());
        let mut got = [0; 2000];
        let (count, from) = sinks[i].recv_from(&mut got).unwrap();
        assert_eq!((&got[..count], from), (vec![i as u8; 100 + i].as_slice(), inner));
    }
    sinks[1].send_to(b"back", inner).unwrap();
    let (received, mut packet) = take_all(&mut relay, Side::Sink, 1).remove(0);
    let Received::Packet(length, meta) = received else { panic!("{received:?}") };
    assert_eq!((meta.flow, meta.size_bytes, meta.segment), (1, 32, None));
    assert!(relay.send(Side::Source, &mut packet[..length], false).unwrap());
    let mut got = [0; 10];
    assert_eq!(sources[1].recv_from(&mut got).unwrap(), (4, outer));
}

/// Sends a datagram with a codepoint through the relay, which marks it if `marked`; returns the
/// codepoint on arrival.
fn codepoint_after(
    ecn_flow: bool,
    sent: Option<EcnCodepoint>,
    marked: bool,
) -> (PacketMeta, Option<EcnCodepoint>) {
    let Setup { mut relay, sources, sinks, outer, .. } = setup(1, ecn_flow, 1500);
    let state = UdpSocketState::new((&sources[0]).into()).unwrap();
    state
        .try_send(
            (&sources[0]).into(),
            &Transmit {
                destination: outer,
                ecn: sent,
                contents: &[7; 50],
                segment_size: None,
                src_ip: None,
            },
        )
        .unwrap();
    let (received, mut packet) = take_all(&mut relay, Side::Source, 1).remove(0);
    let Received::Packet(length, meta) = received else { panic!("{received:?}") };
    let arrival = UdpSocketState::new((&sinks[0]).into()).unwrap();
    assert!(relay.send(Side::Sink, &mut packet[..length], marked).unwrap());
    let (mut buffer, mut metas) = ([0; 100], [RecvMeta::default()]);
    sinks[0].set_nonblocking(false).unwrap();
    assert_eq!(
        arrival.recv((&sinks[0]).into(), &mut [IoSliceMut::new(&mut buffer)], &mut metas).unwrap(),
        1
    );
    (meta, metas[0].ecn)
}

#[test]
fn marks_cross_the_relay() {
    let (ect, ce) = (Some(EcnCodepoint::Ect0), Some(EcnCodepoint::Ce));
    let (meta, arrived) = codepoint_after(true, ect, false);
    assert!(meta.ecn == Ecn::Ect0 && arrived == ect);
    let (meta, arrived) = codepoint_after(true, ect, true);
    assert!(meta.ecn == Ecn::Ect0 && arrived == ce);
    let (meta, arrived) = codepoint_after(true, ce, false);
    assert!(meta.ecn == Ecn::Ce && arrived == ce);
    // The relay clears the ECN field of a flow without ECN.
    let (meta, arrived) = codepoint_after(false, ect, false);
    assert!(meta.ecn == Ecn::NotEct && arrived.is_none());
}

#[test]
fn datagrams_cross_the_emulated_network() {
    let scenario = Scenario::from_toml(
        "duration = \"1s\"\n[dumbbell]\nrate = \"10Mbit\"\ndelay = \"20ms\"\n\
         [[flows]]\nrule = \"AIMD(1, 0.5)\"\n",
    )
    .unwrap();
    let Setup { mut relay, sources, sinks, outer, .. } = setup(1, true, 1500);
    let mut emulator = Emulator::new(&scenario, relay.largest());
    let begin = Instant::now();
    sources[0].send_to(&[1; 1222], outer).unwrap();
    let health = drive(
        &mut emulator,
        &mut relay,
        LoopOptions::new(begin, HANG.as_secs_f64()),
        |_, health| health.released_packets == 0,
    )
    .unwrap();
    let waited = begin.elapsed();
    sinks[0].set_read_timeout(Some(HANG)).unwrap();
    let mut got = [0; 2000];
    assert_eq!(sinks[0].recv(&mut got).unwrap(), 1222);
    // 1250 bytes at 10 Mbit/s take 1 ms, and the delay is 20 ms. No machine may be earlier; how
    // late the datagram is depends on the machine.
    assert!(waited >= Duration::from_millis(21), "{waited:?}");
    assert_eq!(
        (health.released_packets, health.strange_packets, emulator.flow_counters()[0].total.sent),
        (1, 0, 1)
    );
}

#[test]
fn full_buffers_are_counted() {
    let (full, allowed) = socket(0, 4096).unwrap();
    let address = full.local_addr().unwrap();
    let sender = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    for _ in 0..allowed / 1000 + 10 {
        sender.send_to(&[0; 1000], address).unwrap();
    }
    let mut kept = 0;
    while full.recv(&mut [0; 1000]).is_ok() {
        kept += 1;
    }
    let lost = drops(&[address.port()]).unwrap();
    assert_eq!(lost + kept, (allowed / 1000 + 10) as u64);
    assert!(
        lost > 0
            && socket(address.port(), 4096)
                .is_err_and(|error| error.kind() == io::ErrorKind::AddrInUse)
    );
}

/// With one reading of the table each, one in ten of these counts was 0.
#[test]
fn drops_are_counted_while_other_sockets_open_and_close() {
    let (full, allowed) = socket(0, 4096).unwrap();
    let address = full.local_addr().unwrap();
    let sender = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    for _ in 0..allowed / 1000 + 10 {
        sender.send_to(&[0; 1000], address).unwrap();
    }
    let counted = AtomicBool::new(false);
    let counts: BTreeSet<u64> = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !counted.load(Ordering::Relaxed) {
                let others = (0..40).map(|_| UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)));
                drop(others.collect::<Vec<_>>());
            }
        });
        let counts = (0..200).map(|_| drops(&[address.port()]).unwrap()).collect();
        counted.store(true, Ordering::Relaxed);
        counts
    });
    assert!(counts.len() == 1 && !counts.contains(&0), "{counts:?}");
}

#[test]
fn a_socket_that_the_kernel_lists_twice_counts_once() {
    let line = |address, port, drops| {
        format!(
            "  1: {address}:{port} 00000000:0000 07 00000000:00000000 00:00000000 00000000 0 0 5 2 \
             0000000000000000 {drops}\n"
        )
    };
    let table = "  sl  local_address rem_address   st ... drops\n".to_owned()
        + &line("0100007F", "0035", 15)
        + &line("0100007F", "0036", 4)
        + &line("0100007F", "0035", 16)
        + &line("00000000", "0035", 100);
    let drops = |table: &str, ports: &[u16]| {
        let mut drops = BTreeMap::new();
        note_drops(&mut drops, table, ports);
        drops
    };
    assert_eq!(drops(&table, &[0x35, 0x36]), BTreeMap::from([(0x35, 16), (0x36, 4)]));
    assert_eq!(drops(&table, &[0x36, 0x37]), BTreeMap::from([(0x36, 4)]));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]
    #[test]
    fn every_datagram_is_forwarded_unchanged_or_is_strange(
        datagrams in prop::collection::vec(
            (0usize..4, any::<bool>(), prop::collection::vec(any::<u8>(), 0..1600)), 1..20
        )
    ) {
        // Of four senders on each side the last is unknown. More than 1400 bytes are too long.
        let Setup { mut relay, sources, sinks, outer, inner } = setup(3, true, 1400);
        let stranger = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        for (who, back, bytes) in datagrams {
            let (side, near, far, to) = if back {
                (Side::Sink, &sinks, &sources, inner)
            } else {
                (Side::Source, &sources, &sinks, outer)
            };
            near.get(who).unwrap_or(&stranger).send_to(&bytes, to).unwrap();
            let (received, mut packet) = take_all(&mut relay, side, 1).remove(0);
            if who == 3 || bytes.len() > 1400 {
                prop_assert_eq!(received, Received::UnknownFlow);
                continue;
            }
            let Received::Packet(length, meta) = received else { panic!("{received:?}") };
            let size_bytes = usize::from(meta.size_bytes);
            prop_assert_eq!((meta.flow as usize, size_bytes), (who, bytes.len() + 28));
            prop_assert!(relay.send(side.other(), &mut packet[..length], false).unwrap());
            let mut got = [0; 2000];
            let count = far[who].recv(&mut got).unwrap();
            prop_assert_eq!(&got[..count], bytes.as_slice());
        }
        // A buffer shorter than the tag is not sent.
        prop_assert!(!relay.send(Side::Sink, &mut [0; 3], true).unwrap());
    }
}
