// SPDX-License-Identifier: GPL-2.0-only
/* The congestion control of rules without memory, by a table that the loader computes. */
#include "table.h"

#define HAS_MEMORY 0
#define MEMORY struct nothing

struct nothing {};
struct tcp_sock;

const volatile struct table table __attribute__((section(".rodata.rule"), used));

inline_always void memory_begin(MEMORY *memory) {}
inline_always void memory_slow_start(MEMORY *memory) {}

inline_always void count_beyond_table(void);

inline_always s64 rule_growth(MEMORY *memory, struct tcp_sock *tp, u64 window, u32 acked)
{
	struct place place = place_of(window);

	if (place.is_above)
		count_beyond_table();
	return table_growth(&table, place);
}

inline_always u64 rule_cut(MEMORY *memory, struct tcp_sock *tp, u64 window, u32 timeout)
{
	s64 target = table_cut(&table, place_of(window), window);

	return target < 0 ? 0 : target;
}

#include "hooks.h"

inline_always void count_beyond_table(void)
{
	count(beyond_table);
}
