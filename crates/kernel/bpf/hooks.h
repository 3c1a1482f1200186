/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The callbacks of a congestion control that leaves window reduction to the kernel (PRR, RFC 6937):
 * the kernel calls ssthresh() when an episode begins and cong_avoid() outside of episodes.
 */
#ifndef CWNDLAB_HOOKS_H
#define CWNDLAB_HOOKS_H

#include "flow.h"

CALLBACK(void, on_init, (struct sock *sk), SK(words[0]))
{
	init_flow(sk);
}

CALLBACK(u32, on_undo, (struct sock *sk), SK(words[0]))
{
	return undo_reduction(sk);
}

#ifndef HAS_CONG_CONTROL
CALLBACK(u32, on_ssthresh, (struct sock *sk), SK(words[0]))
{
	return rule_ssthresh(sk);
}

CALLBACK(void, on_set_state, (struct sock *sk, u8 state), SK(words[0]), (u8)words[1])
{
	on_new_state(sk, state);
}

CALLBACK(void, on_ack_event, (struct sock *sk, u32 flags), SK(words[0]), (u32)words[1])
{
	find_skipped_callbacks(sk, flags);
}

/* RFC 7661 as Linux implements it: the window does not grow while the flow is not cwnd-limited. */
CALLBACK(void, on_cong_avoid, (struct sock *sk, u32 ack, u32 acked), SK(words[0]), (u32)words[1],
	 (u32)words[2])
{
	struct tcp_sock *tp = tcp(sk);

	if (bit_field(tp, is_cwnd_limited) ||
	    (tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out))
		increase_window(sk, acked);
}

OPERATIONS(
	.init = OPERATION(on_init),
	.ssthresh = OPERATION(on_ssthresh),
	.cong_avoid = OPERATION(on_cong_avoid),
	.set_state = OPERATION(on_set_state),
	.in_ack_event = OPERATION(on_ack_event),
	.undo_cwnd = OPERATION(on_undo),
);
#endif

#endif
