// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test driver: a program that the kernel runs on request. It applies the event in `flow` to the
 * state in `flow`, by the arithmetic of the congestion controls.
 */
#include "drive.h"

#define SEC(name) __attribute__((section(name), used))

char license_of_program[] SEC("license") = "GPL";

const volatile struct table table SEC(".rodata.table");
const volatile struct surface surface SEC(".rodata.surface");
const volatile struct bimodal bimodal SEC(".rodata.bimodal");
const volatile struct mraimd mraimd SEC(".rodata.mraimd");
struct drive flow SEC(".data.flow");

SEC("syscall") int drive(void *context)
{
	u64 window = window_q32((u32)flow.cwnd, flow.fraction_q44);

	switch (flow.kind) {
	case KIND_TABLE: drive_table(&table, &flow, window); break;
	case KIND_SURFACE: drive_surface(&surface, &flow, window); break;
	case KIND_BIMODAL: drive_bimodal(&bimodal, &flow, window); break;
	case KIND_MRAIMD: drive_mraimd(&mraimd, &flow, window); break;
	}
	return 0;
}
