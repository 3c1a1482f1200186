// SPDX-License-Identifier: GPL-2.0-only
/* The congestion control of Bimodal; bimodal.h has the rule. */
#include "bimodal.h"

#define RULE struct bimodal
#define HAS_MEMORY 1
#define MEMORY struct bimodal_memory

#include "kernel.h"

inline_always void memory_begin(struct tcp_sock *tp, MEMORY *memory) {}

/* Slow start is not additive increase: the cycle begins when slow start ends. */
inline_always void memory_slow_start(MEMORY *memory)
{
	memory->begin_q32 = 0;
}

inline_always s64 rule_growth(MEMORY *memory, struct tcp_sock *tp, u64 window, u32 acked)
{
	return bimodal_growth(rule_of(tp), memory, window);
}

inline_always u64 rule_cut(MEMORY *memory, struct tcp_sock *tp, u64 window, u32 timeout)
{
	return bimodal_cut(rule_of(tp), memory, window, timeout);
}

#include "hooks.h"
