//! A hint to the processor: this will be needed soon.
//!
//! With a hundred thousand flows most of the time of a packet is spent waiting for memory, one
//! place after another. A hint some events ahead lets these waits overlap. The standard library has
//! none yet that is stable.

/// Bytes of a cache line on nearly every processor; elsewhere a hint covers less, or is given
/// twice.
const LINE: usize = 64;

/// Brings a value into the caches, unless it is there; nothing depends on whether that happens.
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
    // It need not begin where a line does: its last byte may lie in one more.
    hint(first.wrapping_add(const { size_of::<T>().saturating_sub(1) }));
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[allow(unsafe_code, reason = "the processor ignores a hint about an address that cannot be read")]
fn hint(address: *const i8) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: every x86-64 processor has the instruction, and it neither reads nor writes for the
    // program.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address) }
}

#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
fn hint(_: *const i8) {}
