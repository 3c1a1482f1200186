/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The callbacks of a congestion control whose reductions are the kernel's own (PRR, RFC 6937): it asks for the threshold
 * when an episode begins and for growth outside of one. The kernel passes the arguments of a callback as an array of
 * 64-bit words.
 */
#ifndef CWNDLAB_HOOKS_H
#define CWNDLAB_HOOKS_H

#include "flow.h"

#define SK(words) ((struct sock *)(words)[0])

SEC("struct_ops") void on_init(u64 *words)
{
	begin(SK(words));
}

SEC("struct_ops") u32 on_undo(u64 *words)
{
	return undo(SK(words));
}

#ifndef OWN_CONTROL
SEC("struct_ops") u32 on_ssthresh(u64 *words)
{
	return answer(SK(words));
}

SEC("struct_ops") void on_set_state(u64 *words)
{
	told(SK(words), (u8)words[1]);
}

SEC("struct_ops") void on_ack_event(u64 *words)
{
	attend(SK(words), (u32)words[1]);
}

/* RFC 7661 in the kernel's reading: a window that the application does not fill does not grow. */
SEC("struct_ops") void on_cong_avoid(u64 *words)
{
	struct sock *sk = SK(words);
	struct tcp_sock *tp = tcp(sk);

	if (bit_field(tp, is_cwnd_limited) ||
	    (tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out))
		grow(sk, (u32)words[2]);
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
