//! Options of a registration.

use crate::KernelError;
use cwndlab_units::message::invalid;

/// Options of a registration.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// Initial slow-start threshold, packets; none keeps the kernel's, which is infinite. A rule
    /// with shallow cuts takes long to recover from the overshoot of slow start.
    pub initial_ssthresh: Option<u32>,
    /// Lets processes without CAP_NET_ADMIN use the rule (TCP_CONG_NON_RESTRICTED).
    pub for_everybody: bool,
    /// Treats the callbacks of every n-th episode as skipped, for tests of the guard.
    pub skip_every: Option<u32>,
}

impl LoadOptions {
    /// Checks the ranges.
    pub(crate) fn check(&self) -> Result<(), KernelError> {
        match self.initial_ssthresh {
            Some(packets @ (0..2 | 0x7fff_ffff..)) => Err(KernelError::Option(invalid(
                "initial_ssthresh",
                packets,
                "2 packets or more, below 2147483647",
            ))),
            _ => Ok(()),
        }
    }

    /// The bytes of `struct options` (bpf/kernel.h).
    pub(crate) fn bytes(&self, halves_in_slow_start: bool) -> Vec<u8> {
        let switches = [
            self.initial_ssthresh.unwrap_or(0),
            u32::from(halves_in_slow_start),
            self.skip_every.unwrap_or(0),
        ];
        switches.iter().flat_map(|switch| switch.to_ne_bytes()).collect()
    }
}
