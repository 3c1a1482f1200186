//! Any bytes as a packet: reading never panics, and a mark changes the ECN field and the checksum and nothing else.
#![no_main]

use cwndlab_emulator::{Malformed, mark, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let before = read(bytes);
    let mut marked = bytes.to_vec();
    let changed = mark(&mut marked);
    if !changed {
        assert_eq!(marked, bytes);
        return;
    }
    let differing = (0..bytes.len()).filter(|&i| marked[i] != bytes[i]);
    assert!(differing.into_iter().all(|i| i == 1 || i == 10 || i == 11));
    let Ok(seen) = before else {
        // What was wrong stays wrong: a patch that heals a checksum would hide an error on the way.
        assert!(before != Err(Malformed::HeaderChecksum) || read(&marked) == before);
        return;
    };
    let after = read(&marked).expect("a right packet stays right");
    assert!(after.meta.marked && after.meta.capable);
    assert_eq!((after.source, after.destination, after.meta.segment), (seen.source, seen.destination, seen.meta.segment));
});
