// SPDX-License-Identifier: GPL-2.0-only
/*
 * The congestion control of rules that depend on window and RTT, or window and queueing delay, by
 * surfaces that the loader computes.
 */
#include "surface.h"

#define RULE struct surface
#define HAS_MEMORY 0
#define MEMORY struct nothing

struct nothing {};

#include "kernel.h"

inline_always void memory_begin(struct tcp_sock *tp, MEMORY *memory) {}
inline_always void memory_slow_start(MEMORY *memory) {}

/* The kernel's minimum RTT is that of the last five minutes (net.ipv4.tcp_min_rtt_wlen). */
inline_always struct octave_place time_of(struct tcp_sock *tp)
{
	return time_place(rule_of(tp), tp->srtt_us, tp->rtt_min.s[0].v);
}

inline_always s64 rule_growth(MEMORY *memory, struct tcp_sock *tp, u64 window, u32 acked)
{
	s64 growth = surface_at(rule_of(tp)->growth, window_place(window), time_of(tp));

	if (window >> 32 >> WINDOW_OCTAVES) {
		count(tp, beyond_table);
		return growth < 0 ? growth : 0;
	}
	return growth;
}

inline_always u64 rule_cut(MEMORY *memory, struct tcp_sock *tp, u64 window, u32 timeout)
{
	s64 target = surface_at(rule_of(tp)->cut, window_place(window), time_of(tp));

	return target < 0 ? 0 : target;
}

#include "hooks.h"
