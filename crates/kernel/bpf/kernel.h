/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel types and functions that the programs use. libbpf relocates each field by name with the
 * running kernel's BTF (CO-RE), so names and kinds matter here and offsets do not.
 */
#ifndef CWNDLAB_KERNEL_H
#define CWNDLAB_KERNEL_H

#include "fixed.h"

typedef u8 bool;

#define SEC(name) __attribute__((section(name), used))
#define relocated __attribute__((preserve_access_index))
#define ksym __attribute__((section(".ksyms")))

struct sock {
	unsigned long sk_pacing_rate;
} relocated;

struct inet_connection_sock {
	u8 icsk_ca_state : 5;
	u64 icsk_ca_priv[13];
} relocated;

struct minmax_sample {
	u32 t;
	u32 v;
} relocated;

struct minmax {
	struct minmax_sample s[3];
} relocated;

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	u32 snd_cwnd;
	u32 snd_cwnd_clamp;
	u32 snd_ssthresh;
	u32 prior_cwnd;
	u32 prr_out;
	u32 packets_out;
	u32 sacked_out;
	u32 lost_out;
	u32 retrans_out;
	u32 srtt_us;
	struct minmax rtt_min;
	u32 mss_cache;
	u32 snd_una;
	u32 snd_nxt;
	u32 max_packets_out;
	u8 is_cwnd_limited : 1;
} relocated;

struct rate_sample {
	int losses;
	u32 acked_sacked;
} relocated;

/* enum tcp_ca_state (include/uapi/linux/tcp.h); flags of acknowledgements (include/net/tcp.h). */
enum { CA_OPEN, CA_DISORDER, CA_CWR, CA_RECOVERY, CA_LOSS };
#define CA_ACK_ECE 4
#define FLAG_DATA_ACKED 0x04
#define FLAG_SND_UNA_ADVANCED 0x400
#define INFINITE_SSTHRESH 0x7fffffff

/*
 * The loader writes the name and the flags at the offsets that they have here. libbpf matches the
 * other members with the kernel's struct by name.
 */
struct tcp_congestion_ops {
	char name[16];
	u32 flags;
	void (*init)(struct sock *sk);
	u32 (*ssthresh)(struct sock *sk);
	void (*cong_avoid)(struct sock *sk, u32 ack, u32 acked);
	void (*set_state)(struct sock *sk, u8 new_state);
	void (*in_ack_event)(struct sock *sk, u32 flags);
	void (*cong_control)(struct sock *sk, u32 ack, int flag, const struct rate_sample *rs);
	u32 (*undo_cwnd)(struct sock *sk);
};

extern u32 tcp_slow_start(struct tcp_sock *tp, u32 acked) ksym;

/* Kinds of __builtin_preserve_field_info: where a bit field lies in the running kernel. */
enum { FIELD_BYTE_OFFSET = 0, FIELD_BYTE_SIZE = 1, FIELD_LSHIFT_U64 = 4, FIELD_RSHIFT_U64 = 5 };

#define bit_field(object, field)                                                                \
	({                                                                                      \
		const void *at = (const void *)(object) +                                       \
				 __builtin_preserve_field_info((object)->field, FIELD_BYTE_OFFSET); \
		u64 value = 0;                                                                  \
		switch (__builtin_preserve_field_info((object)->field, FIELD_BYTE_SIZE)) {      \
		case 1: value = *(const u8 *)at; break;                                         \
		case 2: value = *(const u16 *)at; break;                                        \
		case 4: value = *(const u32 *)at; break;                                        \
		case 8: value = *(const u64 *)at; break;                                        \
		}                                                                               \
		value <<= __builtin_preserve_field_info((object)->field, FIELD_LSHIFT_U64);     \
		value >> __builtin_preserve_field_info((object)->field, FIELD_RSHIFT_U64);      \
	})

char license_of_program[] SEC("license") = "GPL";

#endif
