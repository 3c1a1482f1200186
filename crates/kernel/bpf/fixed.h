/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fixed-point arithmetic of windows, for BPF and for tests on the host alike.
 *
 * BPF has no floating point and, in the instruction sets before version 4, no signed division; so windows are whole
 * packets and a fraction, and nothing here divides but by unsigned values.
 *
 *   Q44: packets times 2^44. Growth per acknowledged packet: 1/w^2 at 16384 packets is 3.7e-9, 65536 units.
 *   Q32: packets times 2^32. Windows up to 2^20 packets.
 */
#ifndef CWNDLAB_FIXED_H
#define CWNDLAB_FIXED_H

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef signed int s32;
typedef signed long long s64;

#define inline_always static inline __attribute__((always_inline))

#define Q44 44
#define Q44_ONE (1ULL << Q44)
#define Q44_MASK (Q44_ONE - 1)
#define Q32_ONE (1ULL << 32)
#define Q32_MASK (Q32_ONE - 1)

/* Largest window that the arithmetic takes, packets. */
#define MOST_PACKETS (1U << 20)
/* Most packets that one acknowledgement can count for: more than any receiver's window of whole segments holds. */
#define MOST_ACKED (1U << 16)

inline_always u64 least(u64 a, u64 b)
{
	return a < b ? a : b;
}

/* Window as Q32. */
inline_always u64 window_q32(u32 cwnd, u64 fraction_q44)
{
	return (least(cwnd, MOST_PACKETS) << 32) | (fraction_q44 >> (Q44 - 32));
}

/* a * share, share at most 1, both Q32. Exact but for the last unit: 20 + 32 bits and 32 + 32 bits fit. */
inline_always u64 times_share(u64 a_q32, u64 share_q32)
{
	return (a_q32 >> 32) * share_q32 + (((a_q32 & Q32_MASK) * share_q32) >> 32);
}

/* a * factor, factor below 2^11 in Q32, a below 2^20 packets. */
inline_always u64 times(u64 a_q32, u64 factor_q32)
{
	return a_q32 * (factor_q32 >> 32) + times_share(a_q32, factor_q32 & Q32_MASK);
}

/*
 * Growth of a round trip, below 2^16 packets in Q44, spread over the acknowledgements of one window: growth / w. In two
 * steps, the remainder of the first in the second, so that 20 bits of the window after the point count.
 */
inline_always u64 over_window(u64 growth_q44, u64 window_q32)
{
	u64 window_q20 = (window_q32 > Q32_ONE ? window_q32 : Q32_ONE) >> 12;
	u64 quotient = growth_q44 / window_q20;
	u64 remainder = growth_q44 - quotient * window_q20;

	return (quotient << 20) + (remainder << 20) / window_q20;
}

/*
 * The window after `acked` packets, each of which adds `growth` (Q44, below 64 packets either way): whole packets are
 * returned, the rest stays in `fraction`. Splitting off the whole part below zero first leaves nothing signed to divide.
 */
inline_always u32 grown(u32 cwnd, u64 *fraction_q44, s64 growth_q44, u32 acked)
{
	s64 whole = growth_q44 >> Q44;
	u64 part = growth_q44 & Q44_MASK;
	u64 count = least(acked, MOST_ACKED);
	u64 sum = *fraction_q44 + part * count;
	s64 next = (s64)cwnd + whole * (s64)count + (s64)(sum >> Q44);

	*fraction_q44 = sum & Q44_MASK;
	if (next < 1) {
		*fraction_q44 = 0;
		return 1;
	}
	return (u32)least((u64)next, MOST_PACKETS);
}

#endif
