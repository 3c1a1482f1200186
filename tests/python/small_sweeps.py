"""What the tests of sweeps share.

A small network, sweeps over it as data and as a file, how a command refuses one.
"""

from __future__ import annotations

import subprocess

from cwndlab import Sweep

BASE = {
    "duration": "2s",
    "profile": "rfc",
    "dumbbell": {
        "rate": "2Mbit",
        "delay": "5ms",
        "access_delay": ["1ms", "5ms"],
        "queue": {"kind": "drop-tail", "limit": "10pkt"},
    },
    "flows": [{"name": "a", "rule": "AIMD(1, 0.5)", "count": 2}],
}
MEASURED = {**BASE, "measure": ["500ms", "2s"]}
AXES = {"rule": ["AIMD(1, 0.5)", "AIAD(1, 3)"], "dumbbell.queue.limit": ["5pkt", "20pkt"]}
TEXT = """
name = "small"
replicates = 3
metrics = ["aggregate_goodput_bps", "loss_rate"]

[axes]
rule = ["AIMD(1, 0.5)", "AIAD(1, 3)"]
"dumbbell.queue.limit" = ["5pkt", "20pkt"]

[base]
duration = "2s"
profile = "rfc"

[base.dumbbell]
rate = "2Mbit"
delay = "5ms"
access_delay = ["1ms", "5ms"]
queue = { kind = "drop-tail", limit = "10pkt" }

[[base.flows]]
name = "a"
rule = "AIMD(1, 0.5)"
count = 2
"""
RULES = ["AIMD(1, 0.5)", "AIAD(1, 3)", "CUBIC"]
LIMITS = ["3pkt", "6pkt", "20pkt"]
LIMITS_SWEEP = {
    "name": "limits",
    "base": {**BASE, "duration": "4s", "measure": ["1s", "4s"]},
    "axes": {"rule": RULES, "dumbbell.queue.limit": LIMITS},
    "replicates": 3,
    "metrics": ["goodput", "mean_queueing_delay_s", "links.bottleneck.utilization"],
}
"""Of which reports are written."""


def small_sweep(**changes) -> Sweep:
    return Sweep.from_dict(
        {"name": "small", "base": MEASURED, "axes": AXES, "replicates": 3, **changes}
    )


def refused(answer: subprocess.CompletedProcess[str]) -> str:
    """The one line in which a command refuses what it is given."""
    assert answer.returncode == 2, answer.stderr
    assert answer.stdout == ""
    (line,) = answer.stderr.splitlines()
    assert line.startswith("error: ")
    return line
