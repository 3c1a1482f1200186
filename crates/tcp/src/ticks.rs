//! Linux's clocks: microseconds of a connection, milliseconds of timestamps, and ticks (`jiffies`), in
//! which timers expire.

/// Ticks of Linux's clock per second (`HZ`).
pub(crate) const HZ: f64 = 1000.0;

/// Time in whole ticks, rounded up (`usecs_to_jiffies`).
#[inline]
pub(crate) fn ticks_of(seconds: f64) -> u64 {
    // A microsecond is the least that the kernel's times have.
    let ticks = seconds * HZ - 1e-4;
    let whole = ticks as u64;
    whole + u64::from((whole as f64) < ticks)
}

/// The tick at or before a time.
#[inline]
pub(crate) fn tick_before(now_s: f64) -> u64 {
    (now_s * HZ + 1e-6) as u64
}

/// The tick at time 0, modulo the granularities of timers up to 4096 ticks: Linux counts from 300 s
/// before its counter overflows, and runs in virtual time begin a second after the start of their
/// kernel.
const FIRST_TICK: u64 = 8;

/// Whole microseconds, as the kernel has them from its nanoseconds.
pub(crate) fn whole_us(seconds: f64) -> u64 {
    // Half a nanosecond is what rounding may take.
    (seconds * 1e6 + 5e-4) as u64
}

/// The first step of a clock at or after `at_s`; both in seconds.
pub fn step_after_s(at_s: f64, step_s: f64) -> f64 {
    // A thousandth of a step is the rounding of sums.
    (at_s / step_s - 1e-3).ceil() * step_s
}

/// When a timer of so many seconds expires that is set now, seconds.
pub(crate) fn timer_expiry_s(now_s: f64, seconds: f64) -> f64 {
    let now = tick_before(now_s);
    expiry_s(now, now + ticks_of(seconds))
}

/// When a timer for the tick `expires` does that is set at tick `now`, seconds. Linux's timer wheel
/// never expires early: a timer waits for the tick behind its own, one of 63 ticks or more for the
/// next multiple of 8, and so on (`calc_index` of kernel/time/timer.c).
pub(crate) fn expiry_s(now: u64, expires: u64) -> f64 {
    /// Bits of a level's slots, and of the granularity that each level adds.
    const SLOT_BITS: u32 = 6;
    const CLOCK_BITS: u32 = 3;
    let wait = expires.saturating_sub(now);
    let expires = FIRST_TICK + expires;
    let slots = (1u64 << SLOT_BITS) - 1;
    let level = (0..8u32).find(|level| wait < slots << (level * CLOCK_BITS)).unwrap_or(8);
    let shift = level * CLOCK_BITS;
    ((((expires >> shift) + 1) << shift) - FIRST_TICK) as f64 / HZ
}

/// Timestamp of a packet that leaves at this time, milliseconds (TSval, RFC 7323): from 1 on,
/// because 0 stands for none.
///
/// ```
/// assert_eq!(cwndlab_tcp::timestamp_ms(0.0129), 13);
/// ```
pub fn timestamp_ms(now_s: f64) -> u32 {
    (now_s * 1e3 + 1e-6) as u32 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-12
    }

    /// Ten ticks from tick 100.4 end at 110, and the timer expires with the next one; 300 from
    /// there end at 400, and the next multiple of 8 is 408; 1000 from 0 end at 1008 ticks of the
    /// counter, and the next multiple of 64 is 1024.
    #[test]
    fn timers_wait_for_their_slot() {
        assert!(close(timer_expiry_s(0.1004, 0.0095), 0.111));
        assert!(close(timer_expiry_s(0.1004, 0.3), 0.408));
        assert!(close(timer_expiry_s(0.0, 1.0), 1.016));
    }
}
