//! The memory of a kernel in virtual time.

use crate::events::Failure;
use cwndlab_scenario::CheckedScenario;
use rustix::fs::{StatVfsMountFlags, statvfs};
use std::path::{Path, PathBuf};

/// Memory of the kernel and of this program in it, bytes.
pub const LEAST: u64 = 256 << 20;
/// What a packet of 1500 bytes takes in the kernel, with its descriptor, bytes.
const PACKET: f64 = 2304.0;
/// Times that a packet in the network may be in memory: at the sender, in the emulator's buffer, at
/// the receiver; a small packet takes a buffer of its own.
const COPIES: u64 = 4;

/// Memory of the kernel, bytes: what the fullest network needs, in steps of 256 MiB. It decides
/// limits of TCP's buffers, so it is a function of the scenario.
pub fn needed(scenario: &CheckedScenario) -> u64 {
    let network = cwndlab_sim::NetworkPath::new(scenario);
    let longest_s = network.flows().iter().map(|flow| flow.base_rtt_s).fold(0.0, f64::max);
    let path = crate::result::fastest_bps(scenario) / 8.0 * longest_s;
    let queue = |packets: Option<u64>| packets.map_or(8.0 * path, |count| count as f64 * PACKET);
    let queues: f64 = network.links().iter().map(|link| queue(link.limit_packets)).sum();
    let bytes = LEAST + COPIES * (path + queues) as u64;
    bytes.div_ceil(LEAST) * LEAST
}

/// The folder of the file with the kernel's memory: /dev/shm, or the folder of temporary files
/// where it is too small or allows no execution, as in containers.
pub fn folder(memory: u64, folder: &Path) -> Result<PathBuf, Failure> {
    let temporary = folder.parent().unwrap_or(folder).to_path_buf();
    let mut found = Vec::new();
    for candidate in [PathBuf::from("/dev/shm"), temporary] {
        let Ok(about) = statvfs(&candidate) else { continue };
        let free = about.f_bavail * about.f_frsize;
        let executes = !about.f_flag.contains(StatVfsMountFlags::NOEXEC);
        if executes && free > memory {
            return Ok(candidate);
        }
        found.push(format!(
            "{} has {} MB free{}",
            candidate.display(),
            free >> 20,
            if executes { "" } else { " and is mounted noexec" }
        ));
    }
    Err(Failure::refused(format!(
        "virtual kernel: its memory is a file of {} MB, and {}: set TMPDIR to a folder with room",
        memory >> 20,
        found.join(", ")
    )))
}
