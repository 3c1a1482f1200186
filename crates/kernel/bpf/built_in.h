/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The congestion controls within a kernel that has no BPF for them (user-mode Linux). The file
 * /proc/cwndlab_PROGRAM takes a name (TCP_CA_NAME_MAX bytes), the options and the rule, in one
 * write, and registers the congestion control. /proc/NAME then has its counters.
 */
#ifndef CWNDLAB_BUILT_IN_H
#define CWNDLAB_BUILT_IN_H

#include <linux/proc_fs.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <net/tcp.h>

/* A registered congestion control. */
struct registered {
	struct tcp_congestion_ops operations;
	struct hits hits;
	struct options options;
	RULE rule;
};

#define registered_of(sk) \
	container_of(inet_csk((struct sock *)(sk))->icsk_ca_ops, struct registered, operations)
#define rule_of(sk) (&registered_of(sk)->rule)
#define options_of(sk) (&registered_of(sk)->options)
#define hits_of(sk) (&registered_of(sk)->hits)

#define bit_field(object, field) ((object)->field)

#define CALLBACK(result, name, parameters, ...) static result name parameters

static ssize_t read_hits(struct file *file, char __user *to, size_t length, loff_t *at)
{
	const struct registered *registered = pde_data(file_inode(file));

	return simple_read_from_buffer(to, length, at, &registered->hits, sizeof(registered->hits));
}

static const struct proc_ops hits_file = { .proc_read = read_hits };

static const struct tcp_congestion_ops operations;

static ssize_t register_rule(struct file *file, const char __user *from, size_t length, loff_t *at)
{
	const size_t options_at = TCP_CA_NAME_MAX, rule_at = options_at + sizeof(struct options);
	struct registered *registered;
	int error = -EFAULT;

	if (length != rule_at + sizeof(RULE))
		return -EINVAL;
	registered = vzalloc(sizeof(*registered));
	if (!registered)
		return -ENOMEM;
	registered->operations = operations;
	if (copy_from_user(registered->operations.name, from, TCP_CA_NAME_MAX - 1) ||
	    copy_from_user(&registered->options, from + options_at, sizeof(registered->options)) ||
	    copy_from_user(&registered->rule, from + rule_at, sizeof(registered->rule)))
		goto failed;
	error = tcp_register_congestion_control(&registered->operations);
	if (error)
		goto failed;
	if (!proc_create_data(registered->operations.name, 0400, NULL, &hits_file, registered))
		return -ENOMEM;
	return length;
failed:
	vfree(registered);
	return error;
}

static const struct proc_ops register_file = { .proc_write = register_rule };

static int __init make_register_file(void)
{
	return proc_create("cwndlab_" KBUILD_MODNAME, 0200, NULL, &register_file) ? 0 : -ENOMEM;
}
late_initcall(make_register_file);

#define OPERATIONS(...) static const struct tcp_congestion_ops operations = { __VA_ARGS__ }
#define OPERATION(callback) callback

#endif
