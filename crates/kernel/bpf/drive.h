/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Test driver: applies events to the arithmetic of all programs. It is compiled for the host and as
 * a BPF program, because the kernel does not run a congestion control's programs on request.
 */
#ifndef CWNDLAB_DRIVE_H
#define CWNDLAB_DRIVE_H

#include "bimodal.h"
#include "mraimd.h"
#include "surface.h"
#include "table.h"

enum { KIND_TABLE, KIND_SURFACE, KIND_BIMODAL, KIND_MRAIMD };
enum { EVENT_ACK, EVENT_CUT, EVENT_TIMEOUT, EVENT_SLOW_START, EVENT_MARK, EVENT_ROUND };

/* The state of a flow and the next event. */
struct drive {
	u32 kind;
	u32 event;
	u32 acked;
	u32 srtt_us_8;
	u32 min_rtt_us;
	u32 padding;
	u64 cwnd;
	u64 fraction_q44;
	struct bimodal_memory bimodal;
	struct mraimd_memory mraimd;
};

inline_always void drive_to(struct drive *flow, u64 target_q32)
{
	flow->cwnd = target_q32 >> 32;
	flow->fraction_q44 = (target_q32 & Q32_MASK) << (Q44 - 32);
}

inline_always void drive_by(struct drive *flow, s64 growth)
{
	flow->cwnd = grown((u32)flow->cwnd, &flow->fraction_q44, growth, flow->acked);
}

inline_always void drive_positive(struct drive *flow, s64 target)
{
	drive_to(flow, target < 0 ? 0 : target);
}

inline_always void drive_table(const volatile struct table *table, struct drive *flow, u64 window)
{
	if (flow->event == EVENT_ACK)
		drive_by(flow, table_growth(table, place_of(window)));
	else if (flow->event == EVENT_CUT || flow->event == EVENT_TIMEOUT)
		drive_positive(flow, table_cut(table, place_of(window), window));
}

inline_always void drive_surface(const volatile struct surface *surface, struct drive *flow,
				 u64 window)
{
	struct octave_place time = time_place(surface, flow->srtt_us_8, flow->min_rtt_us);

	if (flow->event == EVENT_ACK)
		drive_by(flow, surface_at(surface->growth, window_place(window), time));
	else if (flow->event == EVENT_CUT || flow->event == EVENT_TIMEOUT)
		drive_positive(flow, surface_at(surface->cut, window_place(window), time));
}

inline_always void drive_bimodal(const volatile struct bimodal *rule, struct drive *flow,
				 u64 window)
{
	if (flow->event == EVENT_ACK)
		drive_by(flow, bimodal_growth(rule, &flow->bimodal, window));
	else if (flow->event == EVENT_SLOW_START)
		flow->bimodal.begin_q32 = 0;
	else if (flow->event == EVENT_CUT || flow->event == EVENT_TIMEOUT)
		drive_to(flow, bimodal_cut(rule, &flow->bimodal, window, flow->event == EVENT_TIMEOUT));
}

inline_always void drive_mraimd(const volatile struct mraimd *rule, struct drive *flow, u64 window)
{
	if (flow->event == EVENT_ACK)
		drive_by(flow, mraimd_growth(rule, &flow->mraimd, window, flow->acked));
	else if (flow->event == EVENT_MARK)
		mraimd_mark(rule, &flow->mraimd);
	else if (flow->event == EVENT_ROUND)
		mraimd_count_round(&flow->mraimd, 1, 0);
	else if (flow->event == EVENT_CUT || flow->event == EVENT_TIMEOUT)
		drive_to(flow, mraimd_cut(rule, &flow->mraimd, window, flow->event == EVENT_TIMEOUT));
}

#endif
