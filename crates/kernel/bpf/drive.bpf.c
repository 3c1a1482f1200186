// SPDX-License-Identifier: GPL-2.0-only
/* The arithmetic of the programs as one that the kernel runs on request, for tests: `flow` is what happens and what came of it. */
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
