/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Growth and cut of a rule over window and RTT, or window and queueing delay, sampled on a grid by
 * src/surface.rs. Both axes are divided into octaves of 16 equal steps: windows from 1 to 2^14
 * packets, RTTs from 64 to 2^24 microseconds (16.8 s). The queueing delay plus 64 microseconds has
 * the axis of the RTT. Between the points: bilinear interpolation. Outside: the nearest edge.
 */
#ifndef CWNDLAB_SURFACE_H
#define CWNDLAB_SURFACE_H

#include "fixed.h"

#define STEP_BITS 4
#define STEPS (1 << STEP_BITS)
#define WINDOW_OCTAVES 14
#define RTT_OCTAVES 18
#define RTT_LEAST_US 64
#define WINDOW_POINTS (WINDOW_OCTAVES * STEPS + 1)
#define RTT_POINTS (RTT_OCTAVES * STEPS + 1)

/* 289 x 225 points, padded to a power of two, so that a mask bounds each index. */
#define ROOM (1 << 16)

struct surface {
	s64 growth[ROOM];
	s64 cut[ROOM];
	u64 is_queueing; /* the second axis is the queueing delay */
};

/*
 * A position on an axis: the point at or below it, and the distance from that point, Q12 of a cell.
 */
struct octave_place {
	u32 point;
	u32 beyond_q12;
};

/* Floor of log2(x), 1 <= x < 2^63, without a branch: each branch doubles the verifier's paths. */
inline_always u32 log2_floor(u64 x)
{
	u32 log = 0, step;

	step = (u32)((0xffffffffULL - x) >> 63) << 5;
	log += step;
	x >>= step;
	step = (u32)((0xffffULL - x) >> 63) << 4;
	log += step;
	x >>= step;
	step = (u32)((0xffULL - x) >> 63) << 3;
	log += step;
	x >>= step;
	step = (u32)((0xfULL - x) >> 63) << 2;
	log += step;
	x >>= step;
	step = (u32)((0x3ULL - x) >> 63) << 1;
	log += step;
	x >>= step;
	return log + (u32)((0x1ULL - x) >> 63);
}

/* Position of x on an axis of `points` points from 2^least_log on; least_log >= 12 + STEP_BITS. */
inline_always struct octave_place octave_place(u64 x, u32 least_log, u32 points)
{
	struct octave_place place;
	u32 log, down;

	if (x < (1ULL << least_log))
		x = 1ULL << least_log;
	log = log2_floor(x);
	down = (log - STEP_BITS - 12) & 63;
	x = (x >> down) - (1ULL << (STEP_BITS + 12));
	place.point = ((log - least_log) << STEP_BITS) + (u32)(x >> 12);
	place.beyond_q12 = x & 0xfff;
	if (place.point >= points - 1) {
		place.point = points - 2;
		place.beyond_q12 = 1 << 12;
	}
	return place;
}

inline_always s64 line(s64 a, s64 b, u32 beyond_q12)
{
	return a + (((b - a) * (s64)beyond_q12) >> 12);
}

inline_always s64 surface_at(const volatile s64 *points, struct octave_place window,
			     struct octave_place rtt)
{
	u32 low = rtt.point * WINDOW_POINTS + window.point;

	/* Hides the bound from the compiler, which would drop the masks that the verifier needs. */
	__asm__ volatile("" : "+r"(low));
	return line(line(points[low & (ROOM - 1)], points[(low + 1) & (ROOM - 1)], window.beyond_q12),
		    line(points[(low + WINDOW_POINTS) & (ROOM - 1)],
			 points[(low + WINDOW_POINTS + 1) & (ROOM - 1)], window.beyond_q12),
		    rtt.beyond_q12);
}

inline_always struct octave_place window_place(u64 window_q32)
{
	return octave_place(window_q32, 32, WINDOW_POINTS);
}

/*
 * Position on the second axis, of the smoothed RTT in eighths of microseconds and the minimum RTT in
 * microseconds. Before the first sample the RTT is 1 s (RFC 6298), and no packet waits.
 */
inline_always struct octave_place time_place(const volatile struct surface *surface, u32 srtt_us_8,
					     u32 min_rtt_us)
{
	u64 time = srtt_us_8 ? srtt_us_8 : 8 * 1000000;
	u64 least = 8ULL * min_rtt_us;

	if (surface->is_queueing)
		time = 8 * RTT_LEAST_US + (srtt_us_8 > least ? srtt_us_8 - least : 0);
	return octave_place(time << 20, 29, RTT_POINTS);
}

#endif
