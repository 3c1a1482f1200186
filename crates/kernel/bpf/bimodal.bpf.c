// SPDX-License-Identifier: GPL-2.0-only
/* The congestion control of Bimodal; bimodal.h has the rule. */
#include "bimodal.h"

#define HAS_MEMORY 1
#define MEMORY struct bimodal_memory

struct tcp_sock;

const volatile struct bimodal rule __attribute__((section(".rodata.rule"), used));

inline_always void memory_begin(MEMORY *memory) {}

/* Slow start is not additive increase: the cycle begins when slow start ends. */
inline_always void memory_slow_start(MEMORY *memory)
{
	memory->begin_q32 = 0;
}

inline_always s64 rule_growth(MEMORY *memory, struct tcp_sock *tp, u64 window, u32 acked)
{
	return bimodal_growth(&rule, memory, window);
}

inline_always u64 rule_cut(MEMORY *memory, struct tcp_sock *tp, u64 window, u32 timeout)
{
	return bimodal_cut(&rule, memory, window, timeout);
}

#include "hooks.h"
