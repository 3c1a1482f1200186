/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The state of a flow in the kernel, the callbacks that all rules share, and the guard against
 * skipped callbacks.
 *
 * Before a rule's file includes this header it defines, besides what kernel.h needs, `MEMORY` (a
 * struct), HAS_MEMORY, `memory_begin(tp, memory)`, `memory_slow_start(memory)`,
 * `rule_growth(memory, tp, window, acked)` and `rule_cut(memory, tp, window, timeout)`.
 */
#ifndef CWNDLAB_FLOW_H
#define CWNDLAB_FLOW_H

#include "kernel.h"

/* Further state of a congestion control besides the rule's memory. */
#ifndef EXTRA_STATE
#define EXTRA_STATE
#endif

/* At most 104 bytes: icsk_ca_priv. */
struct flow {
	u64 fraction_q44;
	u64 prior_fraction_q44;
	u32 prior_cwnd; /* at the last cut */
	u8 state; /* tcp_ca_state at the last set_state() */
	u8 ssthresh_called; /* ssthresh() was called, set_state() not yet */
	u8 marked; /* the current acknowledgement carries ECE */
	u8 was_slow_start; /* at the last cut */
	u32 episodes;
	u32 is_skipped_on_purpose;
	MEMORY memory;
	MEMORY prior; /* before the last cut */
	EXTRA_STATE
};

_Static_assert(sizeof(struct flow) <= 104, "struct flow must fit icsk_ca_priv");

inline_always struct tcp_sock *tcp(struct sock *sk)
{
	return (struct tcp_sock *)sk;
}

inline_always struct flow *flow_of(struct sock *sk)
{
	return (struct flow *)((struct inet_connection_sock *)sk)->icsk_ca_priv;
}

inline_always u32 ca_state(struct sock *sk)
{
	return bit_field((struct inet_connection_sock *)sk, icsk_ca_state);
}

/*
 * The rule's ssthresh: whole packets, at least two (RFC 5681 equation 4). The flow keeps the
 * fraction.
 */
inline_always u32 cut(struct sock *sk, struct flow *flow, u32 cwnd, u32 timeout)
{
	u64 window = window_q32(cwnd, flow->prior_fraction_q44), target;

	if (options_of(sk)->halves_in_slow_start && flow->was_slow_start)
		target = window >> 1;
	else
		target = rule_cut(&flow->memory, tcp(sk), window, timeout);
	if (target < 2 * Q32_ONE)
		target = 2 * Q32_ONE;
	flow->fraction_q44 = (target & Q32_MASK) << (Q44 - 32);
	return target >> 32;
}

/* Saves the state for undo_cwnd(), then cuts. */
inline_always u32 save_and_cut(struct sock *sk, struct flow *flow, u32 cwnd, u32 slow_start)
{
	flow->prior_cwnd = cwnd;
	flow->prior_fraction_q44 = flow->fraction_q44;
	flow->prior = flow->memory;
	flow->was_slow_start = slow_start;
	return cut(sk, flow, cwnd, 0);
}

/*
 * Repairs an episode that began without a call of ssthresh(): the kernel used uninitialised stack
 * memory as the return value. The kernel sets prior_cwnd just before the call; the window may have
 * grown since.
 */
inline_always void repair(struct sock *sk, struct flow *flow)
{
	struct tcp_sock *tp = tcp(sk);
	u32 ssthresh = save_and_cut(sk, flow, tp->prior_cwnd, 0);

	tp->snd_ssthresh = ssthresh;
	if (tp->snd_cwnd > ssthresh && tp->snd_cwnd > tp->prior_cwnd)
		tp->snd_cwnd = ssthresh;
	count(sk, skipped_ssthresh);
}

/*
 * Whether an episode began without a call of ssthresh(). A loss state after a path MTU reduction
 * (tcp_simple_retransmit) has no such call and needs none: its threshold is not above the window.
 */
inline_always u32 is_ssthresh_skipped(struct sock *sk, struct flow *flow, u32 state)
{
	struct tcp_sock *tp = tcp(sk);

	if (flow->ssthresh_called || flow->state >= CA_CWR || state < CA_CWR)
		return 0;
	if (state == CA_LOSS)
		return tp->snd_ssthresh > tp->prior_cwnd && tp->snd_ssthresh > tp->snd_cwnd;
	return 1;
}

inline_always void init_flow(struct sock *sk)
{
	struct flow *flow = flow_of(sk);

	__builtin_memset(flow, 0, sizeof(*flow));
	memory_begin(tcp(sk), &flow->memory);
	flow->state = ca_state(sk);
	if (options_of(sk)->initial_ssthresh)
		tcp(sk)->snd_ssthresh = options_of(sk)->initial_ssthresh;
	count(sk, flows);
}

/* Stands for the uninitialised stack memory that a skipped ssthresh() returns. */
#define GARBAGE 0x7ffffff0

inline_always u32 rule_ssthresh(struct sock *sk)
{
	struct flow *flow = flow_of(sk);
	struct tcp_sock *tp = tcp(sk);

	flow->is_skipped_on_purpose = options_of(sk)->skip_every && ++flow->episodes % options_of(sk)->skip_every == 0;
	if (flow->is_skipped_on_purpose) {
		count(sk, left_unanswered);
		return GARBAGE;
	}
	flow->ssthresh_called = 1;
	count(sk, cuts);
	return save_and_cut(sk, flow, tp->snd_cwnd, tp->snd_cwnd < tp->snd_ssthresh);
}

/* ssthresh() does not learn the cause: at a timeout the cut is repeated from the saved state. */
inline_always void on_timeout(struct sock *sk, struct flow *flow)
{
	if (flow->ssthresh_called) {
		flow->memory = flow->prior;
		tcp(sk)->snd_ssthresh = cut(sk, flow, flow->prior_cwnd, 1);
	} else {
		/* The timeout is within an episode: its cut stands, and only the memory is updated. */
		rule_cut(&flow->memory, tcp(sk), window_q32(flow->prior_cwnd, flow->prior_fraction_q44), 1);
	}
}

/* Enters `state`, on set_state() or, if that was skipped, on the next acknowledgement. */
inline_always void enter_state(struct sock *sk, u32 state)
{
	struct flow *flow = flow_of(sk);

	if (is_ssthresh_skipped(sk, flow, state)) {
		repair(sk, flow);
		flow->ssthresh_called = 1;
	}
	if (HAS_MEMORY && state == CA_LOSS && flow->state != CA_LOSS)
		on_timeout(sk, flow);
	flow->ssthresh_called = 0;
	flow->state = state;
}

/* The callback set_state(). */
inline_always void on_new_state(struct sock *sk, u32 state)
{
	struct flow *flow = flow_of(sk);

	if (flow->is_skipped_on_purpose)
		flow->is_skipped_on_purpose = 0;
	else
		enter_state(sk, state);
}

/*
 * The callback in_ack_event(): finds skipped callbacks before the acknowledgement has any effect.
 */
inline_always void find_skipped_callbacks(struct sock *sk, u32 flags)
{
	struct flow *flow = flow_of(sk);
	u32 state = ca_state(sk);

	flow->marked = (flags & CA_ACK_ECE) != 0;
	if (state != flow->state) {
		count(sk, skipped_set_state);
		enter_state(sk, state);
	}
	/* No path holds so many packets: undo_cwnd() was skipped and returned stack memory. */
	if (tcp(sk)->snd_cwnd > MOST_PACKETS && state <= CA_DISORDER) {
		tcp(sk)->snd_cwnd = flow->prior_cwnd > 2 ? flow->prior_cwnd : 2;
		count(sk, skipped_undo);
	}
}

/*
 * Slow start as in the kernel (RFC 5681 section 3.1), then the rule's growth for the rest of
 * `acked`.
 */
inline_always void increase_window(struct sock *sk, u32 acked)
{
	struct tcp_sock *tp = tcp(sk);
	struct flow *flow = flow_of(sk);
	u32 cwnd = tp->snd_cwnd;
	u32 next;
	s64 growth;

	if (cwnd < tp->snd_ssthresh) {
		memory_slow_start(&flow->memory);
		acked = tcp_slow_start(tp, acked);
		if (!acked)
			return;
		cwnd = tp->snd_cwnd;
	}
	growth = rule_growth(&flow->memory, tp, window_q32(cwnd, flow->fraction_q44), acked);
	next = grown(cwnd, &flow->fraction_q44, growth, acked);
	if (next > tp->snd_cwnd_clamp)
		next = tp->snd_cwnd_clamp;
	if (next != cwnd)
		tp->snd_cwnd = next;
	/* A rule that shrinks the window on an ACK does not return to slow start by it (tcp_vegas.c). */
	if (next < tp->snd_ssthresh)
		tp->snd_ssthresh = next;
}

/* As tcp_reno_undo_cwnd(): restores the window before the cut, and the rule's memory. */
inline_always u32 undo_reduction(struct sock *sk)
{
	struct flow *flow = flow_of(sk);
	struct tcp_sock *tp = tcp(sk);

	count(sk, undone);
	flow->memory = flow->prior;
	flow->fraction_q44 = flow->prior_fraction_q44;
	return tp->snd_cwnd > tp->prior_cwnd ? tp->snd_cwnd : tp->prior_cwnd;
}

#endif
