/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fixed-point arithmetic of windows, for BPF programs, for modules and for tests on the host.
 * BPF has no floating point and, before version 4 of its instruction set, no signed division. So a
 * window is whole packets and a fraction, and all divisions are unsigned.
 *
 *   Q44: packets times 2^44. For growth per acknowledged packet: 1/w^2 at
 *   16384 packets is 3.7e-9, 65536 units.
 *   Q32: packets times 2^32. Windows up to 2^20 packets.
 */
#ifndef CWNDLAB_FIXED_H
#define CWNDLAB_FIXED_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed int s32;
typedef signed long long s64;
#endif

#define inline_always static inline __attribute__((always_inline))

#define Q44 44
#define Q44_ONE (1ULL << Q44)
#define Q44_MASK (Q44_ONE - 1)
#define Q32_ONE (1ULL << 32)
#define Q32_MASK (Q32_ONE - 1)

/* Largest window that the arithmetic supports, packets. */
#define MOST_PACKETS (1U << 20)
/* Most packets that one acknowledgement can acknowledge: no receive window holds more segments. */
#define MOST_ACKED (1U << 16)

inline_always u64 min_u64(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* The window as Q32. */
inline_always u64 window_q32(u32 cwnd, u64 fraction_q44)
{
	return (min_u64(cwnd, MOST_PACKETS) << 32) | (fraction_q44 >> (Q44 - 32));
}

/*
 * a * share, both Q32, share at most 1. Both products fit: 20 + 32 bits and 32 + 32 bits. The
 * result is exact to the last unit.
 */
inline_always u64 times_share(u64 a_q32, u64 share_q32)
{
	return (a_q32 >> 32) * share_q32 + (((a_q32 & Q32_MASK) * share_q32) >> 32);
}

/* a * factor, both Q32, factor below 2^11, a below 2^20 packets. */
inline_always u64 times(u64 a_q32, u64 factor_q32)
{
	return a_q32 * (factor_q32 >> 32) + times_share(a_q32, factor_q32 & Q32_MASK);
}

/*
 * Growth per acknowledged packet, growth / w, from the growth per round trip, Q44, below 2^16
 * packets. A second division of the remainder keeps 20 fractional bits of the window.
 */
inline_always u64 over_window(u64 growth_q44, u64 window_q32)
{
	u64 window_q20 = (window_q32 > Q32_ONE ? window_q32 : Q32_ONE) >> 12;
	u64 quotient = growth_q44 / window_q20;
	u64 remainder = growth_q44 - quotient * window_q20;

	return (quotient << 20) + (remainder << 20) / window_q20;
}

/*
 * The window after `acked` packets, each of which adds `growth` (Q44, absolute value below 64
 * packets). Returns whole packets; the rest stays in `fraction`. The whole part of a negative
 * growth is split off first, so that no signed value is divided. It leaves two packets at least, as
 * in crates/rules/src/rule/formula/rule.rs.
 */
inline_always u32 grown(u32 cwnd, u64 *fraction_q44, s64 growth_q44, u32 acked)
{
	s64 whole = growth_q44 >> Q44;
	u64 part = growth_q44 & Q44_MASK;
	u64 count = min_u64(acked, MOST_ACKED);
	u64 sum = *fraction_q44 + part * count;
	s64 next = (s64)cwnd + whole * (s64)count + (s64)(sum >> Q44);

	if (next < 2 && growth_q44 < 0) {
		if (cwnd < 2)
			return cwnd;
		*fraction_q44 = 0;
		return 2;
	}
	*fraction_q44 = sum & Q44_MASK;
	return (u32)min_u64((u64)next, MOST_PACKETS);
}

#endif
