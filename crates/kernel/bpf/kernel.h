/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a congestion control finds in the kernel: types, its rule, its options and its counters.
 *
 * Before a rule's file includes this header it defines `RULE`, the struct that the loader fills.
 * The file is compiled as a BPF program, or within a kernel (built_in.h).
 */
#ifndef CWNDLAB_KERNEL_H
#define CWNDLAB_KERNEL_H

#include "fixed.h"

/* Options that the loader sets. */
struct options {
	u32 initial_ssthresh; /* packets; 0 keeps the kernel's infinite threshold */
	u32 halves_in_slow_start;
	u32 skip_every; /* tests of the guard: treat every n-th ssthresh() as skipped; 0: none */
};

/* Counters over all flows of this rule; the loader reads them. */
struct hits {
	u64 flows;
	u64 cuts; /* calls of ssthresh() */
	u64 skipped_ssthresh; /* episodes that began without a call of ssthresh(), repaired */
	u64 skipped_set_state; /* changes of state without a call of set_state() */
	u64 beyond_table; /* increases withheld beyond the end of the table */
	u64 undone; /* calls of undo_cwnd() */
	u64 skipped_undo; /* undone reductions without a call of undo_cwnd(), repaired */
	u64 left_unanswered; /* calls of ssthresh() skipped on purpose (skip_every) */
};

/* enum tcp_ca_state (include/uapi/linux/tcp.h); flags of net/ipv4/tcp_input.c. */
enum { CA_OPEN, CA_DISORDER, CA_CWR, CA_RECOVERY, CA_LOSS };
#define FLAG_DATA_ACKED 0x04
#define FLAG_SND_UNA_ADVANCED 0x400

#ifdef __KERNEL__
#include "built_in.h"
#else
#include "program.h"
#endif

#define count(sk, what) __sync_fetch_and_add(&hits_of(sk)->what, 1)

#endif
