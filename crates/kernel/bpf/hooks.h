/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The callbacks of a congestion control that leaves window reduction to the kernel (PRR, RFC 6937):
 * the kernel calls ssthresh() when an episode begins and cong_avoid() outside of episodes. It
 * passes the arguments of a callback as an array of 64-bit words.
 */
#ifndef CWNDLAB_HOOKS_H
#define CWNDLAB_HOOKS_H

#include "flow.h"

#define SK(words) ((struct sock *)(words)[0])

SEC("struct_ops") void on_init(u64 *words)
{
	init_flow(SK(words));
}

SEC("struct_ops") u32 on_undo(u64 *words)
{
	return undo_reduction(SK(words));
}

#ifndef HAS_CONG_CONTROL
SEC("struct_ops") u32 on_ssthresh(u64 *words)
{
	return rule_ssthresh(SK(words));
}

SEC("struct_ops") void on_set_state(u64 *words)
{
	on_new_state(SK(words), (u8)words[1]);
}

SEC("struct_ops") void on_ack_event(u64 *words)
{
	find_skipped_callbacks(SK(words), (u32)words[1]);
}

/* RFC 7661 as Linux implements it: the window does not grow while the flow is not cwnd-limited. */
SEC("struct_ops") void on_cong_avoid(u64 *words)
{
	struct sock *sk = SK(words);
	struct tcp_sock *tp = tcp(sk);

	if (bit_field(tp, is_cwnd_limited) ||
	    (tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out))
		increase_window(sk, (u32)words[2]);
}

SEC(".struct_ops.link") struct tcp_congestion_ops cwndlab_ops = {
	.name = "cwndlab",
	.init = (void *)on_init,
	.ssthresh = (void *)on_ssthresh,
	.cong_avoid = (void *)on_cong_avoid,
	.set_state = (void *)on_set_state,
	.in_ack_event = (void *)on_ack_event,
	.undo_cwnd = (void *)on_undo,
};
#endif

#endif
