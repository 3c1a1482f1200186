// SPDX-License-Identifier: GPL-2.0-only
/* The congestion control of rules without memory, by a table that the loader computes. */
#include "table.h"

#define RULE struct table
#define HAS_MEMORY 0
#define MEMORY struct nothing

struct nothing {};

#include "kernel.h"

inline_always void memory_begin(struct tcp_sock *tp, MEMORY *memory) {}
inline_always void memory_slow_start(MEMORY *memory) {}

inline_always s64 rule_growth(MEMORY *memory, struct tcp_sock *tp, u64 window, u32 acked)
{
	struct place place = place_of(window);

	if (place.is_above)
		count(tp, beyond_table);
	return table_growth(rule_of(tp), place);
}

inline_always u64 rule_cut(MEMORY *memory, struct tcp_sock *tp, u64 window, u32 timeout)
{
	s64 target = table_cut(rule_of(tp), place_of(window), window);

	return target < 0 ? 0 : target;
}

#include "hooks.h"
