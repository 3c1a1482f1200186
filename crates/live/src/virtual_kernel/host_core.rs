//! A processor core for each kernel in virtual time.

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

/// A processor core for one guest: its processes take turns, and system calls take several times
/// longer where they do so on two cores.
pub struct Core {
    /// Its number.
    pub number: usize,
    _lock: Option<UnixListener>,
}

impl Core {
    /// A core that no other guest has, or the one that this process runs on. The lock is an
    /// abstract socket, which ends with the process.
    pub fn choose() -> Self {
        let allowed = nix::sched::sched_getaffinity(nix::unistd::Pid::from_raw(0));
        let is_allowed = |core: &usize| allowed.is_ok_and(|set| set.is_set(*core).unwrap_or(false));
        for core in (0..nix::sched::CpuSet::count()).rev().filter(is_allowed) {
            let name = format!("cwndlab-virtual-core-{core}");
            let lock = SocketAddr::from_abstract_name(name)
                .and_then(|address| UnixListener::bind_addr(&address));
            if let Ok(lock) = lock {
                return Self { number: core, _lock: Some(lock) };
            }
        }
        Self { number: nix::sched::sched_getcpu().unwrap_or(0), _lock: None }
    }
}
