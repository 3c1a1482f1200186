// SPDX-License-Identifier: GPL-2.0-only
/*
 * The congestion control of multi-rate AIMD; mraimd.h has the rule. A mark must not change the
 * window, but the kernel reduces the window on each mark (state CWR). So this congestion control
 * implements cong_control(), and repeats the kernel's reduction after losses: proportional rate
 * reduction (RFC 6937 section 3, as in tcp_cwnd_reduction()).
 */
#include "mraimd.h"

#define RULE struct mraimd
#define HAS_MEMORY 1
#define HAS_CONG_CONTROL 1
#define MEMORY struct mraimd_memory

#include "kernel.h"

inline_always void memory_begin(struct tcp_sock *tp, MEMORY *memory)
{
	memory->a_q44 = rule_of(tp)->first_q44;
}

inline_always void memory_slow_start(MEMORY *memory) {}

inline_always s64 rule_growth(MEMORY *memory, struct tcp_sock *tp, u64 window, u32 acked)
{
	return mraimd_growth(rule_of(tp), memory, window, acked);
}

inline_always u64 rule_cut(MEMORY *memory, struct tcp_sock *tp, u64 window, u32 timeout)
{
	return mraimd_cut(rule_of(tp), memory, window, timeout);
}

/* State of this congestion control in the rest of icsk_ca_priv. */
#define EXTRA_STATE                                                     \
	u32 round_end; /* snd_nxt when the round trip began */    \
	u32 prr_delivered;                                        \
	u32 prior_ssthresh; /* before the last cut */             \
	u8 reducing;

#include "hooks.h"

/* Begins a window reduction by PRR. */
inline_always void begin_reduction(struct flow *flow)
{
	flow->reducing = 1;
	flow->prr_delivered = 0;
}

CALLBACK(u32, on_loss_ssthresh, (struct sock *sk), SK(words[0]))
{
	flow_of(sk)->prior_ssthresh = tcp(sk)->snd_ssthresh;
	return rule_ssthresh(sk);
}

/*
 * ssthresh() does not learn the cause. State CWR follows a mark, or a full queue of the host. After
 * a mark the rule does not cut, so the effect of ssthresh() is undone. The kernel does not call
 * ssthresh() for a loss in state CWR.
 */
CALLBACK(void, on_state, (struct sock *sk, u8 state), SK(words[0]), (u8)words[1])
{
	struct flow *flow = flow_of(sk);
	struct tcp_sock *tp = tcp(sk);
	u32 before = flow->state;
	u32 answered = flow->ssthresh_called, marked = flow->marked;

	if (state == CA_RECOVERY && before == CA_CWR && !flow->reducing)
		tp->snd_ssthresh = save_and_cut(sk, flow, tp->snd_cwnd, 0);
	on_new_state(sk, state);
	if (state == CA_CWR && answered && marked) {
		flow->memory = flow->prior;
		flow->fraction_q44 = flow->prior_fraction_q44;
		tp->snd_ssthresh = flow->prior_ssthresh;
	} else if (state == CA_CWR || state == CA_RECOVERY) {
		begin_reduction(flow);
	} else if (flow->reducing) {
		/* tcp_end_cwnd_reduction() does nothing where cong_control() is implemented. */
		flow->reducing = 0;
		if (state <= CA_DISORDER && tp->snd_cwnd > tp->snd_ssthresh)
			tp->snd_cwnd = tp->snd_ssthresh;
	}
}

/*
 * After a mark without a call of ssthresh(): no cut, but a valid threshold, which ends slow start.
 */
inline_always void repair_skipped_mark(struct sock *sk)
{
	struct flow *flow = flow_of(sk);

	if (ca_state(sk) == CA_CWR && flow->state < CA_CWR && !flow->ssthresh_called) {
		tcp(sk)->snd_ssthresh = tcp(sk)->prior_cwnd;
		flow->ssthresh_called = 1;
		count(sk, skipped_ssthresh);
	}
}

CALLBACK(void, on_mark_event, (struct sock *sk, u32 flags), SK(words[0]), (u32)words[1])
{
	repair_skipped_mark(sk);
	find_skipped_callbacks(sk, flags);
	if (flags & CA_ACK_ECE)
		mraimd_mark(rule_of(sk), &flow_of(sk)->memory);
}

/* Packets in flight (RFC 6675 `pipe`, tcp_packets_in_flight()). */
inline_always u32 in_flight(struct tcp_sock *tp)
{
	return tp->packets_out - (tp->sacked_out + tp->lost_out) + tp->retrans_out;
}

/* RFC 6937 section 3.1; the slow-start part (PRR-SSRB) where the pipe is below the threshold. */
inline_always void proportional_rate_reduction(struct tcp_sock *tp, struct flow *flow,
					       u32 delivered, int losses, int flag)
{
	u32 pipe = in_flight(tp), ssthresh = tp->snd_ssthresh, prior = tp->prior_cwnd;
	u64 send = 0;

	if (!delivered || !prior)
		return;
	flow->prr_delivered += delivered;
	if (pipe > ssthresh) {
		u64 due = ((u64)ssthresh * flow->prr_delivered + prior - 1) / prior;

		send = due > tp->prr_out ? due - tp->prr_out : 0;
	} else {
		send = flow->prr_delivered > tp->prr_out ? flow->prr_delivered - tp->prr_out : 0;
		if (send < delivered)
			send = delivered;
		if ((flag & FLAG_SND_UNA_ADVANCED) && !losses)
			send++;
		send = min_u64(send, ssthresh - pipe);
	}
	/* The fast retransmission is sent whatever the pipe holds. */
	if (!send && !tp->prr_out)
		send = 1;
	tp->snd_cwnd = pipe + (u32)send ? pipe + (u32)send : 1;
}

/*
 * As tcp_update_pacing_rate(): 2 windows per round trip in slow start, 1.2 afterwards. The rate
 * also determines the size of TSO segments.
 */
inline_always void set_pacing_rate(struct sock *sk, struct tcp_sock *tp)
{
	u64 window = tp->snd_cwnd > tp->packets_out ? tp->snd_cwnd : tp->packets_out;
	u64 percent = tp->snd_cwnd < tp->snd_ssthresh / 2 ? 200 : 120;
	u64 rate = (u64)tp->mss_cache * (8 * 1000000 / 100) * percent * window;

	if (tp->srtt_us)
		sk->sk_pacing_rate = rate / tp->srtt_us;
}

CALLBACK(void, on_cong_control,
	 (struct sock *sk, u32 ack, int flag, const struct rate_sample *rs), SK(words[0]),
	 (u32)words[1], (int)words[2], (const struct rate_sample *)words[3])
{
	struct tcp_sock *tp = tcp(sk);
	struct flow *flow = flow_of(sk);
	u32 round_start = (s32)(tp->snd_una - flow->round_end) >= 0;

	if (round_start)
		flow->round_end = tp->snd_nxt;
	if (flow->reducing) {
		proportional_rate_reduction(tp, flow, rs->acked_sacked, rs->losses, flag);
	} else if (flag & FLAG_DATA_ACKED) {
		mraimd_count_round(&flow->memory, round_start, flow->marked);
		if (bit_field(tp, is_cwnd_limited) ||
		    (tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out))
			increase_window(sk, rs->acked_sacked);
	}
	flow->marked = 0;
	set_pacing_rate(sk, tp);
}

OPERATIONS(
	.init = OPERATION(on_init),
	.ssthresh = OPERATION(on_loss_ssthresh),
	.cong_control = OPERATION(on_cong_control),
	.set_state = OPERATION(on_state),
	.in_ack_event = OPERATION(on_mark_event),
	.undo_cwnd = OPERATION(on_undo),
);
