/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel types and functions that BPF programs use. libbpf relocates each field by name with the
 * running kernel's BTF (CO-RE), so names and kinds matter here and offsets do not.
 */
#ifndef CWNDLAB_PROGRAM_H
#define CWNDLAB_PROGRAM_H

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

/* A flag of acknowledgements (include/net/tcp.h). */
#define CA_ACK_ECE 4

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

const volatile RULE rule_data SEC(".rodata.rule");
const volatile struct options options_data SEC(".rodata.options");
struct hits hits_data SEC(".data.hits");

#define rule_of(sk) (&rule_data)
#define options_of(sk) (&options_data)
#define hits_of(sk) (&hits_data)

/*
 * A callback. The kernel passes its arguments to a BPF program as an array of 64-bit words, `words`;
 * the last arguments of this macro take them from there.
 */
#define CALLBACK(result, name, parameters, ...)        \
	inline_always result name##_with parameters;   \
	SEC("struct_ops") result name(u64 *words)      \
	{                                              \
		return name##_with(__VA_ARGS__);       \
	}                                              \
	inline_always result name##_with parameters

#define SK(word) ((struct sock *)(word))

#define OPERATIONS(...) \
	SEC(".struct_ops.link") struct tcp_congestion_ops cwndlab_ops = { .name = "cwndlab", __VA_ARGS__ }
#define OPERATION(callback) ((void *)callback)

char license_of_program[] SEC("license") = "GPL";

#endif
