/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bimodal congestion avoidance (Attie, Lahanas and Tsaoussidis 2003, section 2, Figure 1) with the
 * same reading of it as the rule in crates/rules/src/rule/bimodal.rs, whose header maps its terms to
 * the paper's. All windows are Q32.
 */
#ifndef CWNDLAB_BIMODAL_H
#define CWNDLAB_BIMODAL_H

#include "fixed.h"

struct bimodal {
	u64 increment_q44; /* packets per round trip */
	u64 beta_q32;
	u64 inverse_beta_q32;
	u64 epsilon_q32;
	u64 band_q32;
	u64 is_scaled; /* compare with (1 - epsilon) of the share */
};

enum { BIMODAL_UNKNOWN_FIRST, BIMODAL_UNKNOWN_SECOND, BIMODAL_KNOWN };

struct bimodal_memory {
	u64 fair_q32;
	/* The window at the start of this cycle's additive increase; zero before it. */
	u64 begin_q32;
	u64 mode;
};

inline_always s64 bimodal_growth(const volatile struct bimodal *rule,
				 struct bimodal_memory *memory, u64 window_q32)
{
	if (memory->begin_q32 == 0)
		memory->begin_q32 = window_q32;
	return (s64)over_window(rule->increment_q44, window_q32);
}

inline_always u64 bimodal_forget(const volatile struct bimodal *rule,
				 struct bimodal_memory *memory, u64 window_q32, u64 mode)
{
	memory->mode = mode;
	return window_q32 - times_share(window_q32, rule->beta_q32);
}

inline_always u64 bimodal_known(const volatile struct bimodal *rule,
				struct bimodal_memory *memory, u64 window_q32)
{
	u64 kept = memory->fair_q32 - times_share(memory->fair_q32, rule->epsilon_q32);
	u64 scaled = window_q32 - times_share(window_q32, rule->epsilon_q32);
	u64 point = rule->is_scaled ? kept : memory->fair_q32;
	u64 off = window_q32 > point ? window_q32 - point : point - window_q32;

	if (off <= times_share(point, rule->band_q32))
		return rule->is_scaled ? min_u64(kept, scaled) : kept;
	if (window_q32 < point)
		return bimodal_forget(rule, memory, window_q32, BIMODAL_UNKNOWN_FIRST);
	memory->fair_q32 = window_q32;
	return scaled;
}

inline_always u64 bimodal_cut(const volatile struct bimodal *rule, struct bimodal_memory *memory,
			      u64 window_q32, u32 timeout)
{
	u64 begin = memory->begin_q32;
	u32 grew = begin > 0 && window_q32 > begin;
	u64 most = ((u64)MOST_PACKETS << 32);

	memory->begin_q32 = 0;
	if (timeout)
		return bimodal_forget(rule, memory, window_q32, BIMODAL_UNKNOWN_FIRST);
	if (memory->mode == BIMODAL_KNOWN)
		return bimodal_known(rule, memory, window_q32);
	if (memory->mode == BIMODAL_UNKNOWN_SECOND && grew) {
		memory->fair_q32 = min_u64(times(window_q32 - begin, rule->inverse_beta_q32), most);
		memory->mode = BIMODAL_KNOWN;
		return memory->fair_q32 - times_share(memory->fair_q32, rule->epsilon_q32);
	}
	/* A reduction in slow start is no cycle. */
	return bimodal_forget(rule, memory, window_q32,
			      grew ? BIMODAL_UNKNOWN_SECOND : BIMODAL_UNKNOWN_FIRST);
}

#endif
