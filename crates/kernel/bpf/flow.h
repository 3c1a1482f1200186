/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One flow's state in the kernel, what all rules share of it, and the guard against skipped callbacks.
 *
 * A rule's file defines before it includes this: `MEMORY` (a struct), `memory_begin(memory)`, `rule_growth(memory, tp, window,
 * acked)`, `rule_cut(memory, tp, window, timeout)` and HALVES_IN_SLOW_START.
 */
#ifndef CWNDLAB_FLOW_H
#define CWNDLAB_FLOW_H

#include "kernel.h"

/* What a rule keeps besides its memory. */
#ifndef EXTRA
#define EXTRA
#endif

/* What the loader sets for all rules. */
struct options {
	u32 initial_ssthresh; /* packets; 0: the kernel's, infinite */
	u32 halves_in_slow_start;
	u32 skip_every; /* to test the guard: every n-th episode is left unanswered, as a skipped callback leaves it; 0: none */
};

/* Counted over all flows of this rule; the loader reads them. */
struct hits {
	u64 flows;
	u64 cuts; /* calls of ssthresh() */
	u64 skipped_ssthresh; /* loss or mark episodes that began without a call of ssthresh(): repaired */
	u64 skipped_set_state; /* changes of state that set_state() was not told of */
	u64 beyond_table; /* growth refused at the end of the table */
	u64 undone;
	u64 skipped_undo; /* windows that undo_cwnd() never answered: repaired */
	u64 left_unanswered; /* on purpose: skip_every */
};

const volatile struct options options SEC(".rodata.options");
struct hits hits SEC(".data.hits");

#define count(what) __sync_fetch_and_add(&hits.what, 1)

/* At most 104 bytes: icsk_ca_priv. */
struct flow {
	u64 fraction_q44;
	u64 prior_fraction_q44;
	u32 prior_cwnd; /* at the last cut */
	u8 state; /* as set_state() was last told */
	u8 answered; /* ssthresh() was called, set_state() not yet */
	u8 marked; /* the acknowledgement at hand echoes a mark */
	u8 was_slow_start; /* at the last cut */
	u32 episodes;
	u32 is_left_unanswered;
	MEMORY memory;
	MEMORY prior; /* before the last cut */
	EXTRA
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

/* What the rule asks for at a window, whole packets, two at least (RFC 5681 equation 4); the fraction stays with the flow. */
inline_always u32 cut(struct sock *sk, struct flow *flow, u32 cwnd, u32 timeout)
{
	u64 window = window_q32(cwnd, flow->prior_fraction_q44), target;

	if (options.halves_in_slow_start && flow->was_slow_start)
		target = window >> 1;
	else
		target = rule_cut(&flow->memory, tcp(sk), window, timeout);
	if (target < 2 * Q32_ONE)
		target = 2 * Q32_ONE;
	flow->fraction_q44 = (target & Q32_MASK) << (Q44 - 32);
	return target >> 32;
}

/* Notes what undoing needs, then cuts. */
inline_always u32 note_and_cut(struct sock *sk, struct flow *flow, u32 cwnd, u32 slow_start)
{
	flow->prior_cwnd = cwnd;
	flow->prior_fraction_q44 = flow->fraction_q44;
	flow->prior = flow->memory;
	flow->was_slow_start = slow_start;
	return cut(sk, flow, cwnd, 0);
}

/*
 * An episode began and ssthresh() was not called: what the kernel took for its answer is whatever lay on the stack.
 * prior_cwnd is the window that it noted just before the call. The window itself may have run away since.
 */
inline_always void repair(struct sock *sk, struct flow *flow)
{
	struct tcp_sock *tp = tcp(sk);
	u32 ssthresh = note_and_cut(sk, flow, tp->prior_cwnd, 0);

	tp->snd_ssthresh = ssthresh;
	if (tp->snd_cwnd > ssthresh && tp->snd_cwnd > tp->prior_cwnd)
		tp->snd_cwnd = ssthresh;
	count(skipped_ssthresh);
}

/*
 * A loss state that comes of a smaller path MTU (tcp_simple_retransmit) has no call of ssthresh() either and needs
 * none: its threshold is not above the window.
 */
inline_always u32 begins_unanswered(struct sock *sk, struct flow *flow, u32 state)
{
	struct tcp_sock *tp = tcp(sk);

	if (flow->answered || flow->state >= CA_CWR || state < CA_CWR)
		return 0;
	if (state == CA_LOSS)
		return tp->snd_ssthresh > tp->prior_cwnd && tp->snd_ssthresh > tp->snd_cwnd;
	return 1;
}

inline_always void begin(struct sock *sk)
{
	struct flow *flow = flow_of(sk);

	__builtin_memset(flow, 0, sizeof(*flow));
	memory_begin(&flow->memory);
	flow->state = ca_state(sk);
	if (options.initial_ssthresh)
		tcp(sk)->snd_ssthresh = options.initial_ssthresh;
	count(flows);
}

/* What a skipped ssthresh() answers is what lay on the stack. This is no window that anybody could mean. */
#define GARBAGE 0x7ffffff0

inline_always u32 answer(struct sock *sk)
{
	struct flow *flow = flow_of(sk);
	struct tcp_sock *tp = tcp(sk);

	flow->is_left_unanswered = options.skip_every && ++flow->episodes % options.skip_every == 0;
	if (flow->is_left_unanswered) {
		count(left_unanswered);
		return GARBAGE;
	}
	flow->answered = 1;
	count(cuts);
	return note_and_cut(sk, flow, tp->snd_cwnd, tp->snd_cwnd < tp->snd_ssthresh);
}

/* A time-out is known only here: ssthresh() is not told why. So the cut is done again from what was noted before it. */
inline_always void time_out(struct sock *sk, struct flow *flow)
{
	if (flow->answered) {
		flow->memory = flow->prior;
		tcp(sk)->snd_ssthresh = cut(sk, flow, flow->prior_cwnd, 1);
	} else {
		/* In an episode under way: its cut stands, only the memory learns of it. */
		rule_cut(&flow->memory, tcp(sk), window_q32(flow->prior_cwnd, flow->prior_fraction_q44), 1);
	}
}

/* What set_state() and, where that was skipped, the next acknowledgement say: the state is `state` now. */
inline_always void enter(struct sock *sk, u32 state)
{
	struct flow *flow = flow_of(sk);

	if (begins_unanswered(sk, flow, state)) {
		repair(sk, flow);
		flow->answered = 1;
	}
	if (HAS_MEMORY && state == CA_LOSS && flow->state != CA_LOSS)
		time_out(sk, flow);
	flow->answered = 0;
	flow->state = state;
}

/* What set_state() says. */
inline_always void told(struct sock *sk, u32 state)
{
	struct flow *flow = flow_of(sk);

	if (flow->is_left_unanswered)
		flow->is_left_unanswered = 0;
	else
		enter(sk, state);
}

/* Before anything else that an acknowledgement does: were we told of the state that the kernel is in? */
inline_always void attend(struct sock *sk, u32 flags)
{
	struct flow *flow = flow_of(sk);
	u32 state = ca_state(sk);

	flow->marked = (flags & CA_ACK_ECE) != 0;
	if (state != flow->state) {
		count(skipped_set_state);
		enter(sk, state);
	}
	/* No path is as long: undo_cwnd() was skipped, and its answer was what lay on the stack. */
	if (tcp(sk)->snd_cwnd > MOST_PACKETS && state <= CA_DISORDER) {
		tcp(sk)->snd_cwnd = flow->prior_cwnd > 2 ? flow->prior_cwnd : 2;
		count(skipped_undo);
	}
}

/* RFC 5681 section 3.1 as the kernel does it, then the rule; `acked` packets were newly acknowledged. */
inline_always void grow(struct sock *sk, u32 acked)
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
}

/* As the kernel's Reno: back to the window before the cut, with the rule's memory of then. */
inline_always u32 undo(struct sock *sk)
{
	struct flow *flow = flow_of(sk);
	struct tcp_sock *tp = tcp(sk);

	count(undone);
	flow->memory = flow->prior;
	flow->fraction_q44 = flow->prior_fraction_q44;
	return tp->snd_cwnd > tp->prior_cwnd ? tp->snd_cwnd : tp->prior_cwnd;
}

#endif
