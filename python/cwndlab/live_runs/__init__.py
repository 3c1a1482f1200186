"""Real flows: Linux TCP through an emulated network, rules in the kernel, and QUIC.

The program `cwndlab-live` (crates/live), which ``make live`` builds, does the work; this package
starts it and reads its events. A live run gives the same `Result` as a simulated one, with the
additional fields ``valid``, ``reasons`` and ``health`` (docs/live.md).
"""
