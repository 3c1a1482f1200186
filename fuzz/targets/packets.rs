//! Fuzz target of packet headers: parsing never panics, and a mark changes only the ECN field and
//! the checksum.
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
        // A wrong checksum stays wrong: a mark must not hide a transmission error.
        assert!(before != Err(Malformed::HeaderChecksum) || read(&marked) == before);
        return;
    };
    let after = read(&marked).expect("a valid packet stays valid");
    assert!(after.meta.marked && after.meta.capable);
    assert_eq!(
        (after.source, after.destination, after.meta.segment),
        (seen.source, seen.destination, seen.meta.segment)
    );
});
