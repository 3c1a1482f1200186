// SPDX-License-Identifier: GPL-2.0-only
/* Test driver for the host. `rule` has the data that the loader would put into .rodata.rule. */
#include "drive.h"

void cwndlab_kernel_drive(const void *rule, struct drive *flow)
{
	u64 window = window_q32((u32)flow->cwnd, flow->fraction_q44);

	switch (flow->kind) {
	case KIND_TABLE: drive_table(rule, flow, window); break;
	case KIND_SURFACE: drive_surface(rule, flow, window); break;
	case KIND_BIMODAL: drive_bimodal(rule, flow, window); break;
	case KIND_MRAIMD: drive_mraimd(rule, flow, window); break;
	}
}
