/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Multi-rate AIMD (Psaras, Dianati and Tafazolli 2009, section 3) with the same reading of it as
 * the rule in crates/rules/src/rule/mraimd.rs. `a` is packets per round trip, a' packets per round
 * trip per round trip, both Q44.
 */
#ifndef CWNDLAB_MRAIMD_H
#define CWNDLAB_MRAIMD_H

#include "fixed.h"

struct mraimd {
	u64 first_q44;
	u64 acceleration_q44;
	u64 acceleration_marked_q44;
	u64 b_q32;
	u64 reset_q44;
	u64 calm;
};

struct mraimd_memory {
	u64 a_q44;
	/* Round trips without a mark until a' returns to its unmarked value; 0: it has. */
	u64 rounds_until_return;
};

/* Largest increase factor, packets per round trip. */
#define MRAIMD_MOST (1ULL << 15)

inline_always void mraimd_count_round(struct mraimd_memory *memory, u32 round_start, u32 marked)
{
	if (round_start && !marked && memory->rounds_until_return > 0)
		memory->rounds_until_return--;
}

inline_always void mraimd_mark(const volatile struct mraimd *rule, struct mraimd_memory *memory)
{
	memory->rounds_until_return = rule->calm + 1;
}

/*
 * Equation 1: growth per packet for an acknowledgement of `acked` packets. Each packet raises a
 * before it adds a / w, so the growth per packet is the mean of a over the packets, divided by w.
 */
inline_always s64 mraimd_growth(const volatile struct mraimd *rule, struct mraimd_memory *memory,
				u64 window_q32, u32 acked)
{
	u64 acceleration = memory->rounds_until_return ? rule->acceleration_marked_q44
						       : rule->acceleration_q44;
	u64 step = over_window(acceleration, window_q32);
	u64 count = min_u64(acked, 1 << 10);
	u64 mean = min_u64(memory->a_q44 + ((step * (count + 1)) >> 1), MRAIMD_MOST << Q44);

	memory->a_q44 = min_u64(memory->a_q44 + step * count, MRAIMD_MOST << Q44);
	return (s64)over_window(mean, window_q32);
}

inline_always u64 mraimd_cut(const volatile struct mraimd *rule, struct mraimd_memory *memory,
			     u64 window_q32, u32 timeout)
{
	u64 whole = memory->a_q44 >> Q44, part = memory->a_q44 & Q44_MASK;

	/* Both parts of a are multiplied by b: products of 15 + 32 bits and of 44 + 20 bits. */
	memory->a_q44 -= ((whole * rule->b_q32) << (Q44 - 32)) + ((part * (rule->b_q32 >> 12)) >> 20);
	if (timeout)
		memory->a_q44 = rule->reset_q44;
	return window_q32 - times_share(window_q32, rule->b_q32);
}

#endif
