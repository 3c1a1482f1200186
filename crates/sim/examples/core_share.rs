//! How much of a core this process gets: `cargo run --release --example core_share`.
//!
//! Prints one line of JSON: steps a nanosecond of one chain of dependent operations, and of four
//! chains side by side. A core of one's own may do up to four times as much with four chains; where
//! the other hardware thread of the core is somebody else's, which no load average shows, it does
//! less. `bench/` says so beside its measurements.

#![allow(clippy::disallowed_methods, reason = "a program reads the clock, the library does not")]

use std::hint::black_box;
use std::time::Instant;

const STEPS: u64 = 20_000_000;

/// Two operations that wait for each other, and which no compiler does for several chains at once.
#[inline(always)]
fn step(chain: u64, turn: u32, added: u64) -> u64 {
    chain.rotate_left(turn).wrapping_add(added)
}

/// Steps a nanosecond with `CHAINS` chains.
fn rate<const CHAINS: usize>() -> f64 {
    let (mut chains, added) = (black_box([1u64; CHAINS]), black_box(3u64));
    let begin = Instant::now();
    for _ in 0..STEPS {
        for (turn, chain) in chains.iter_mut().enumerate() {
            *chain = step(*chain, turn as u32 + 5, added);
        }
    }
    black_box(chains);
    (STEPS * CHAINS as u64) as f64 / begin.elapsed().as_nanos() as f64
}

fn main() {
    println!("{}", serde_json::json!({ "one": rate::<1>(), "four": rate::<4>() }));
}
