"""Real flows: Linux TCP through an emulated network, rules in the kernel, and QUIC.

What is done there, the program `cwndlab-live` does (crates/live), which ``make live`` builds; here
it is found, asked and listened to. A run of it gives the same `Result` as a simulated one, with the
fields ``valid``, ``reasons`` and ``health`` besides; docs/live.md says what they mean.
"""
