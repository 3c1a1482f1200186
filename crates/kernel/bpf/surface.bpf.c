// SPDX-License-Identifier: GPL-2.0-only
/*
 * The congestion control of rules that depend on window and RTT, or window and queueing delay, by
 * surfaces that the loader computes.
 */
#include "surface.h"

#define HAS_MEMORY 0
#define MEMORY struct nothing

struct nothing {};
struct tcp_sock;

const volatile struct surface surface __attribute__((section(".rodata.rule"), used));

inline_always void memory_begin(MEMORY *memory) {}
inline_always void memory_slow_start(MEMORY *memory) {}

inline_always void count_beyond_table(void);
inline_always struct octave_place time_of(struct tcp_sock *tp);

inline_always s64 rule_growth(MEMORY *memory, struct tcp_sock *tp, u64 window, u32 acked)
{
	s64 growth = surface_at(surface.growth, window_place(window), time_of(tp));

	if (window >> 32 >> WINDOW_OCTAVES) {
		count_beyond_table();
		return growth < 0 ? growth : 0;
	}
	return growth;
}

inline_always u64 rule_cut(MEMORY *memory, struct tcp_sock *tp, u64 window, u32 timeout)
{
	s64 target = surface_at(surface.cut, window_place(window), time_of(tp));

	return target < 0 ? 0 : target;
}

#include "hooks.h"

inline_always void count_beyond_table(void)
{
	count(beyond_table);
}

/* The kernel's minimum RTT is that of the last five minutes (net.ipv4.tcp_min_rtt_wlen). */
inline_always struct octave_place time_of(struct tcp_sock *tp)
{
	return time_place(&surface, tp->srtt_us, tp->rtt_min.s[0].v);
}
