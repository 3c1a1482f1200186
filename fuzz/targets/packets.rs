//! Fuzz target of packet headers: parsing never panics, and a mark changes only the ECN field and
//! the checksum.
#![no_main]

use cwndlab_emulator::{Malformed, parse_packet, set_ce};
use cwndlab_tcp::Ecn;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let before = parse_packet(bytes);
    let mut marked = bytes.to_vec();
    let changed = set_ce(&mut marked);
    if !changed {
        assert_eq!(marked, bytes);
        return;
    }
    let differing = (0..bytes.len()).filter(|&i| marked[i] != bytes[i]);
    assert!(differing.into_iter().all(|i| i == 1 || i == 10 || i == 11));
    let Ok(seen) = before else {
        // A wrong checksum stays wrong: a mark must not hide a transmission error.
        assert!(before != Err(Malformed::HeaderChecksum) || parse_packet(&marked) == before);
        return;
    };
    let after = parse_packet(&marked).expect("a valid packet stays valid");
    assert_eq!(after.meta.ecn, Ecn::Ce);
    assert_eq!(
        (after.source, after.destination, after.meta.segment),
        (seen.source, seen.destination, seen.meta.segment)
    );
});
