/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Growth per acknowledged packet (Q44) and window after a cut (Q32) of a rule without memory,
 * sampled by src/table.rs every 1/64 packet up to 256 packets and every packet up to 16383. Between
 * the points: linear interpolation. Above the last point the window does not grow, and cuts follow
 * the line through the last two points.
 */
#ifndef CWNDLAB_TABLE_H
#define CWNDLAB_TABLE_H

#include "fixed.h"

#define POINTS 16384
#define FINE_SHIFT 6
/* Windows below this many packets use the fine points. */
#define FINE_PACKETS ((POINTS - 1) >> FINE_SHIFT)
#define LAST_POINT (POINTS - 1)

struct table {
	s64 growth_fine[POINTS];
	s64 growth[POINTS];
	s64 cut_fine[POINTS];
	s64 cut[POINTS];
};

/*
 * Position of a window: the point at or below it, and the distance from that point, Q12 and Q15 of
 * a cell.
 */
struct place {
	u32 point;
	u32 beyond_q12;
	u32 beyond_q15;
	u8 is_fine;
	u8 is_above;
};

inline_always struct place place_of(u64 window_q32)
{
	struct place place = {};
	u64 cells_q32 = window_q32;
	u32 whole = window_q32 >> 32;

	place.is_fine = whole < FINE_PACKETS;
	place.is_above = whole >= LAST_POINT;
	if (place.is_fine)
		cells_q32 <<= FINE_SHIFT;
	place.point = (cells_q32 >> 32) & (POINTS - 1);
	place.beyond_q15 = (cells_q32 & Q32_MASK) >> 17;
	place.beyond_q12 = place.beyond_q15 >> 3;
	return place;
}

/* Linear interpolation between a point and the next. The masks prove the bounds to the verifier. */
inline_always s64 interpolated(const volatile s64 *points, u32 point, u32 beyond, u32 bits)
{
	s64 a = points[point & (POINTS - 1)];
	s64 b = points[(point + 1) & (POINTS - 1)];

	return a + (((b - a) * (s64)beyond) >> bits);
}

inline_always s64 table_growth(const volatile struct table *table, struct place place)
{
	if (place.is_above) {
		s64 last = table->growth[LAST_POINT];

		return last < 0 ? last : 0;
	}
	if (place.is_fine)
		return interpolated(table->growth_fine, place.point, place.beyond_q12, 12);
	return interpolated(table->growth, place.point, place.beyond_q12, 12);
}

inline_always s64 table_cut(const volatile struct table *table, struct place place, u64 window_q32)
{
	if (place.is_above) {
		s64 last = table->cut[LAST_POINT];
		s64 slope = last - table->cut[LAST_POINT - 1];

		return last + slope * (s64)((window_q32 >> 32) - LAST_POINT);
	}
	if (place.is_fine)
		return interpolated(table->cut_fine, place.point, place.beyond_q15, 15);
	return interpolated(table->cut, place.point, place.beyond_q15, 15);
}

#endif
