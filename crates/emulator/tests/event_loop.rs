//! Tests of the real-time event loop over socket pairs: delivery of due packets, and its end.

use cwndlab_emulator::{Backend, Emulator, LoopOptions, PacketMeta, Received, Side, drive};
use cwndlab_scenario::Scenario;
use rustix::fd::{AsFd, BorrowedFd};
use std::io;
use std::os::unix::net::UnixDatagram;
use std::time::{Duration, Instant};

/// Time limit of a test that hangs, seconds.
const HANG_S: f64 = 900.0;

/// A backend of two socket pairs; the first byte of a packet is its flow number.
struct Pairs([UnixDatagram; 2]);

impl Pairs {
    fn new() -> (Self, [UnixDatagram; 2]) {
        let ((near, source), (far, sink)) =
            (UnixDatagram::pair().unwrap(), UnixDatagram::pair().unwrap());
        [&near, &far, &source, &sink]
            .iter()
            .for_each(|socket| socket.set_nonblocking(true).unwrap());
        (Self([near, far]), [source, sink])
    }
}

impl Backend for Pairs {
    fn descriptors(&self) -> [BorrowedFd<'_>; 2] {
        [self.0[0].as_fd(), self.0[1].as_fd()]
    }

    fn largest(&self) -> usize {
        2000
    }

    fn receive(&mut self, side: Side, buffer: &mut [u8]) -> io::Result<Option<Received>> {
        match self.0[side as usize].recv(buffer) {
            Ok(length) if buffer[0] == b'?' => {
                Ok(Some(if length > 1 { Received::BadChecksum } else { Received::UnknownFlow }))
            }
            Ok(length) => Ok(Some(Received::Packet(
                length,
                PacketMeta {
                    flow: u32::from(buffer[0]),
                    size_bytes: length as u16,
                    ..PacketMeta::default()
                },
            ))),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn send(&mut self, side: Side, packet: &mut [u8], _mark: bool) -> io::Result<bool> {
        Ok(self.0[side as usize].send(packet).is_ok())
    }
}

fn emulator() -> Emulator {
    let text = "duration = \"1s\"\n[dumbbell]\nrate = \"4Mbit\"\ndelay = \"20ms\"\n\
        queue = { kind = \"drop-tail\", limit = \"100pkt\" }\n\
        [[flows]]\nrule = \"AIMD(1, 0.5)\"\n";
    Emulator::new(&Scenario::from_toml(text).unwrap(), 2000)
}

#[test]
fn packets_pass_in_both_directions_and_others_are_counted() {
    let (mut pairs, [source, sink]) = Pairs::new();
    for number in 0..20u8 {
        source.send(&[&[0, number][..], &[0; 998]].concat()).unwrap();
    }
    sink.send(&[0, 99]).unwrap();
    source.send(b"?").unwrap();
    source.send(b"??").unwrap();
    source.send(&[1, 0]).unwrap();
    let options = LoopOptions::new(Instant::now(), HANG_S);
    let health =
        drive(&mut emulator(), &mut pairs, options, |_, health| health.released_packets < 21)
            .unwrap();
    let mut buffer = [0; 2000];
    let numbers: Vec<u8> =
        std::iter::from_fn(|| sink.recv(&mut buffer).ok().map(|_| buffer[1])).collect();
    assert_eq!(numbers, (0..20).collect::<Vec<_>>());
    assert_eq!(source.recv(&mut buffer).unwrap(), 2);
    // Unknown: the packet "?" of the backend, and the packet of flow 1, which does not exist.
    assert_eq!(
        (
            health.released_packets,
            health.broken_packets,
            health.strange_packets,
            health.refused_packets
        ),
        (21, 1, 2, 0)
    );
    assert_eq!(health.lateness_histogram.iter().map(|bucket| bucket.1).sum::<u64>(), 21);
}

#[test]
fn the_loop_ends_with_the_run_and_not_before() {
    let (mut pairs, _ends) = Pairs::new();
    let begin = Instant::now();
    drive(&mut emulator(), &mut pairs, LoopOptions::new(begin, 0.1), |_, _| true).unwrap();
    assert!(begin.elapsed() >= Duration::from_millis(100));
}

#[test]
fn the_loop_ends_when_keep_running_returns_false() {
    let (mut pairs, _ends) = Pairs::new();
    let mut looks = 0;
    drive(&mut emulator(), &mut pairs, LoopOptions::new(Instant::now(), HANG_S), |_, _| {
        looks += 1;
        looks < 2
    })
    .unwrap();
    assert_eq!(looks, 2);
}
