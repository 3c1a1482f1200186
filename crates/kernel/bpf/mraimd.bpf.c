// SPDX-License-Identifier: GPL-2.0-only
/*
 * Multi-rate AIMD: mraimd.h has the rule. A mark must leave the window alone, but the kernel reduces it on each (state
 * CWR); so this congestion control has the whole window in its hands (cong_control), and repeats the kernel's own
 * reduction for losses: proportional rate reduction (RFC 6937 section 3, as tcp_cwnd_reduction() has it).
 */
#include "mraimd.h"

#define HAS_MEMORY 1
#define OWN_CONTROL 1
#define MEMORY struct mraimd_memory

struct tcp_sock;

const volatile struct mraimd rule __attribute__((section(".rodata.rule"), used));

inline_always void memory_begin(MEMORY *memory)
{
	memory->a_q44 = rule.first_q44;
}

inline_always void memory_slow_start(MEMORY *memory) {}

inline_always s64 rule_growth(MEMORY *memory, struct tcp_sock *tp, u64 window, u32 acked)
{
	return mraimd_growth(&rule, memory, window, acked);
}

inline_always u64 rule_cut(MEMORY *memory, struct tcp_sock *tp, u64 window, u32 timeout)
{
	return mraimd_cut(&rule, memory, window, timeout);
}

/* What this rule keeps for itself in the rest of icsk_ca_priv. */
#define EXTRA                                                     \
	u32 round_end; /* snd_nxt when the round trip began */    \
	u32 prr_delivered;                                        \
	u32 prior_ssthresh; /* before the last cut */             \
	u8 reducing;

#include "hooks.h"

/* The window of a loss is taken back step by step from here on. */
inline_always void reduce(struct flow *flow)
{
	flow->reducing = 1;
	flow->prr_delivered = 0;
}

SEC("struct_ops") u32 on_loss_ssthresh(u64 *words)
{
	struct sock *sk = SK(words);

	flow_of(sk)->prior_ssthresh = tcp(sk)->snd_ssthresh;
	return answer(sk);
}

/*
 * ssthresh() cannot know why it is called. In CWR it was a mark, unless the host's own queue was full: then the rule is to
 * answer nothing, and what ssthresh() did is undone. A loss found in CWR comes without a call of ssthresh().
 */
SEC("struct_ops") void on_state(u64 *words)
{
	struct sock *sk = SK(words);
	struct flow *flow = flow_of(sk);
	struct tcp_sock *tp = tcp(sk);
	u32 state = (u8)words[1], before = flow->state, answered = flow->answered, marked = flow->marked;

	if (state == CA_RECOVERY && before == CA_CWR && !flow->reducing)
		tp->snd_ssthresh = note_and_cut(sk, flow, tp->snd_cwnd, 0);
	told(sk, state);
	if (state == CA_CWR && answered && marked) {
		flow->memory = flow->prior;
		flow->fraction_q44 = flow->prior_fraction_q44;
		tp->snd_ssthresh = flow->prior_ssthresh;
	} else if (state == CA_CWR || state == CA_RECOVERY) {
		reduce(flow);
	} else if (flow->reducing) {
		/* tcp_end_cwnd_reduction() leaves this to a congestion control of this kind. */
		flow->reducing = 0;
		if (state <= CA_DISORDER && tp->snd_cwnd > tp->snd_ssthresh)
			tp->snd_cwnd = tp->snd_ssthresh;
	}
}

/* A mark that began unanswered needs no cut, but a threshold: what stands there is no answer. Slow start ends by it. */
inline_always void answer_skipped_mark(struct sock *sk)
{
	struct flow *flow = flow_of(sk);

	if (ca_state(sk) == CA_CWR && flow->state < CA_CWR && !flow->answered) {
		tcp(sk)->snd_ssthresh = tcp(sk)->prior_cwnd;
		flow->answered = 1;
		count(skipped_ssthresh);
	}
}

SEC("struct_ops") void on_mark_event(u64 *words)
{
	struct sock *sk = SK(words);

	answer_skipped_mark(sk);
	attend(sk, (u32)words[1]);
	if ((u32)words[1] & CA_ACK_ECE)
		mraimd_mark(&rule, &flow_of(sk)->memory);
}

/* Packets in flight (RFC 6675 `pipe`, tcp_packets_in_flight()). */
inline_always u32 in_flight(struct tcp_sock *tp)
{
	return tp->packets_out - (tp->sacked_out + tp->lost_out) + tp->retrans_out;
}

/* RFC 6937 section 3.1, with the slow-start part (section 3.1, PRR-SSRB) where the pipe is below the threshold. */
inline_always void proportional_rate_reduction(struct tcp_sock *tp, struct flow *flow, u32 delivered, int losses, int flag)
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
		send = least(send, ssthresh - pipe);
	}
	/* The first retransmission goes out whatever the pipe holds. */
	if (!send && !tp->prr_out)
		send = 1;
	tp->snd_cwnd = pipe + (u32)send ? pipe + (u32)send : 1;
}

/* As tcp_update_pacing_rate(): 2 windows per round trip in slow start, 1.2 afterwards. It sizes the segments given to the device, too. */
inline_always void set_pacing_rate(struct sock *sk, struct tcp_sock *tp)
{
	u64 window = tp->snd_cwnd > tp->packets_out ? tp->snd_cwnd : tp->packets_out;
	u64 rate = (u64)tp->mss_cache * (8 * 1000000 / 100) * (tp->snd_cwnd < tp->snd_ssthresh / 2 ? 200 : 120) * window;

	if (tp->srtt_us)
		sk->sk_pacing_rate = rate / tp->srtt_us;
}

SEC("struct_ops") void on_cong_control(u64 *words)
{
	struct sock *sk = SK(words);
	struct tcp_sock *tp = tcp(sk);
	struct flow *flow = flow_of(sk);
	const struct rate_sample *rs = (const struct rate_sample *)words[3];
	int flag = (int)words[2];
	u32 round_start = (s32)(tp->snd_una - flow->round_end) >= 0;

	if (round_start)
		flow->round_end = tp->snd_nxt;
	if (flow->reducing) {
		proportional_rate_reduction(tp, flow, rs->acked_sacked, rs->losses, flag);
	} else if (flag & FLAG_DATA_ACKED) {
		mraimd_count_round(&flow->memory, round_start, flow->marked);
		if (bit_field(tp, is_cwnd_limited) ||
		    (tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out))
			grow(sk, rs->acked_sacked);
	}
	flow->marked = 0;
	set_pacing_rate(sk, tp);
}

SEC(".struct_ops.link") struct tcp_congestion_ops cwndlab_ops = {
	.name = "cwndlab",
	.init = (void *)on_init,
	.ssthresh = (void *)on_loss_ssthresh,
	.cong_control = (void *)on_cong_control,
	.set_state = (void *)on_state,
	.in_ack_event = (void *)on_mark_event,
	.undo_cwnd = (void *)on_undo,
};
