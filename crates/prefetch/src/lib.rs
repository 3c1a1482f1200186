//! Software prefetch: hints to the processor that memory will be read soon.
//!
//! With a hundred thousand flows most of the time per packet is spent on cache misses. A prefetch
//! some events ahead overlaps them. The standard library has no stable prefetch.

/// Bytes of a cache line on nearly every processor.
const LINE: usize = 64;

/// Prefetches a value into all cache levels; without effect on results.
///
/// ```
/// let table = vec![[0u64; 40]; 1000];
/// cwndlab_prefetch::prefetch(&table[17]);
/// ```
#[inline(always)]
pub fn prefetch<T>(value: &T) {
    let first = std::ptr::from_ref(value).cast::<i8>();
    for line in 0..const { size_of::<T>().div_ceil(LINE) } {
        hint(first.wrapping_add(line * LINE));
    }
    // The value may start inside a line and so end in one more.
    hint(first.wrapping_add(const { size_of::<T>().saturating_sub(1) }));
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[allow(unsafe_code, reason = "the processor ignores a prefetch of an invalid address")]
fn hint(address: *const i8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: every x86-64 processor has the instruction, and it has no architectural effect.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address) }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn hint(_: *const i8) {}
