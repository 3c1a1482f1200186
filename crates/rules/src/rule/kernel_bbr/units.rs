//! Fixed-point numbers of Linux's BBR.

/// Bandwidths are packets per microsecond, times 2 to this.
pub(super) const BANDWIDTH_SHIFT: u32 = 24;
pub(super) const GAIN_SHIFT: u32 = 8;
/// A gain of 1.
pub(super) const UNIT: u64 = 1 << GAIN_SHIFT;
/// Percent of the bandwidth at which it paces.
const PACED_PERCENT: u64 = 99;

/// A bandwidth times a gain in bytes/s, less a percent.
pub(super) fn bytes_per_second(bandwidth: u64, gain: u64, packet_bytes: u64) -> u64 {
    let bytes_us = (bandwidth * packet_bytes * gain) >> GAIN_SHIFT;
    let scaled = u128::from(bytes_us) * u128::from(1_000_000 / 100 * PACED_PERCENT);
    (scaled >> BANDWIDTH_SHIFT) as u64
}
