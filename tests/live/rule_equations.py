"""Checks that a flow alone over an emulated link cuts and grows by its rule's equations.

    .venv/bin/python tests/live/rule_equations.py [SECONDS] [RULE ...]

The equations are written by hand from the papers. There are two figures for each rule:

The window after a cut, against the equation at the window before it. `tcp_info` is sampled every
millisecond, and an acknowledgement arrives every 1.2 ms. An episode begins where the window falls:
only a cut lowers a window of Linux, and the acknowledgement that detects the loss takes the first
step, so the sample before it has the window before the cut. During recovery proportional rate
reduction (RFC 6937) lowers the window to the threshold or, after many losses, below it and up
again. So the window after the cut is read where growth begins: the last sample before the window
rises above its threshold. That window and the threshold, which is the rule's result, are both
compared, and the larger error counts. The kernel's windows are whole packets: the window before the
cut may be up to one packet larger than its sample, and the window after the cut is rounded down.
Together this is less than one packet, and nothing is subtracted for it. Some cuts are counted and
not judged: cuts in slow start, cuts near which samples or acknowledgements came so late that the
window may have grown between samples, and episodes with several thresholds (a timeout during
recovery, an undone cut).

The slope: growth per round trip, where a round trip is the time in which a window of packets is
delivered. With `srtt` it would be off by a packet per window or more, because `srtt` lags behind a
growing queue. The emulator counts delivered packets on the wire at the sink, in bins of a
millisecond; the source learns of them one way later. A stretch lasts from the first increase of the
window after a cut to the last before the next cut: at an increase the fraction of a packet, which
the kernel does not show, is nearly zero. The equation is integrated along the sampled windows. The
figure is the median over stretches, because a busy machine sometimes keeps the sender from filling
its window, which then does not grow (RFC 7661).

The cut with the largest error is printed as window before, threshold and window after. The
threshold is whole packets, as the kernel's is; the BPF program keeps the fraction
(docs/kernel.md)."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

from cwndlab.live_runs.run import linux
from cwndlab.results import Result

RATE_MBIT = 10
PACKET_BYTES = 1500
PAYLOAD_BYTES = 1448
ONE_WAY_S = 0.010
BUFFER_PACKETS = 30
"""With the 17 packets that 20 ms hold, windows reach 48 packets, and there are several cuts a
second."""
PACKETS_S = RATE_MBIT * 1e6 / 8 / PACKET_BYTES
BIN_S = 1e-3
UNSEEN_PACKETS = 0.25
"""Largest growth of a window between two samples for which a cut is judged."""
DUPLICATES = 3
"""Duplicate ACKs before a loss is detected, which do not increase the window (RFC 5681, section
3.2)."""


class Equations(NamedTuple):
    """The equations of a rule at a window of w packets: growth per round trip, and window after a
    cut."""

    growth: Callable[[float], float]
    cut: Callable[[float], float]


EQUATIONS = {
    # RFC 5681, sections 3.1 and 3.2.
    "AIMD(1, 0.5)": Equations(lambda _: 1.0, lambda w: 0.5 * w),
    # Yang and Lam 2000, section 2.1.
    "GAIMD(0.31, 0.875)": Equations(lambda _: 0.31, lambda w: 0.875 * w),
    # Akella and others 2002, sections 3.2 and 5.1: one packet more in a round trip, three less upon
    # loss.
    "AIAD(1, 3)": Equations(lambda _: 1.0, lambda w: w - 3.0),
    # Binomial with k = l = 1/2 (Chandrayana and others 2002, equation 1).
    "SQRT(1, 0.5)": Equations(lambda w: 1.0 / w**0.5, lambda w: w - 0.5 * w**0.5),
    # Akella and others 2002, section 3.2: W becomes 1.125 W in a round trip.
    "MIMD(1.125, 0.8)": Equations(lambda w: 0.125 * w, lambda w: 0.8 * w),
    # A user's formula.
    'Rule(inc="2", dec="w - 0.25*w^0.9")': Equations(lambda _: 2.0, lambda w: w - 0.25 * w**0.9),
}


@dataclass
class Cut:
    """An episode: sample indices of its begin and of the begin of growth, windows in packets."""

    begin: int
    growing: int
    before: float
    threshold: float
    after: float

    def off(self, equations: Equations) -> float:
        """Error, as a fraction of the tolerance, which is the larger of 1 packet and 2 %."""
        target = equations.cut(self.before)
        return max(abs(self.threshold - target), abs(self.after - target)) / max(1.0, 0.02 * target)


@dataclass
class Samples:
    """The trace of a flow: times in seconds, windows and thresholds in packets, and packets
    delivered before each bin."""

    time_s: list[float]
    cwnd: list[float]
    ssthresh: list[float]
    delivered: list[float]

    @classmethod
    def of(cls, result: Result) -> Samples:
        """Take the samples from the first RTT sample on."""
        trace = result.traces["cwnd"].drop_nulls("srtt_s")
        rates = result.traces["rate"].sort("time_s")["goodput_bps"]
        total, delivered = 0.0, [0.0]
        for rate in rates:
            total += rate * BIN_S / 8 / PAYLOAD_BYTES
            delivered.append(total)
        thresholds = trace["ssthresh_packets"].fill_null(float("inf"))
        return cls(
            trace["time_s"].to_list(),
            trace["cwnd_packets"].to_list(),
            thresholds.to_list(),
            delivered,
        )

    def acknowledged(self, sample: int) -> float:
        """Packets whose delivery the source knew at a sample."""
        return self.delivered[
            max(0, min(int((self.time_s[sample] - ONE_WAY_S) / BIN_S), len(self.delivered) - 1))
        ]


def episodes(samples: Samples) -> Iterator[Cut | None]:
    """Give every episode; None stands for one in slow start or with several thresholds."""
    cwnd, ssthresh, count = samples.cwnd, samples.ssthresh, len(samples.cwnd)
    wild = 2 * max(cwnd)
    at = 1
    while at < count:
        begin = at
        if cwnd[at] >= cwnd[at - 1]:
            at += 1
            continue
        while at < count and not (cwnd[at] > cwnd[at - 1] and cwnd[at] > ssthresh[at]):
            at += 1
        if at == count:
            return
        # A skipped callback leaves a random threshold until the guard repairs it at the next ACK.
        thresholds = {threshold for threshold in ssthresh[begin:at] if threshold < wild}
        in_slow_start = cwnd[begin - 1] < ssthresh[begin - 1]
        if len(thresholds) == 1 and not in_slow_start:
            yield Cut(begin, at, cwnd[begin - 1], thresholds.pop(), cwnd[at - 1])
        else:
            yield None


def is_seen(samples: Samples, cut: Cut, equations: Equations) -> bool:
    """Whether the samples at the begin and the end of a cut show the windows there.

    They do not if a sample is late, or if late acknowledgements arrive in a burst: then the window
    must have grown before the cut by more than the samples show."""
    by_packet = equations.growth(cut.before) / cut.before
    gap_s = max(samples.time_s[at] - samples.time_s[at - 1] for at in (cut.begin, cut.growing))
    steps = (at for at in range(cut.begin - 1, 0, -1) if samples.cwnd[at] != samples.cwnd[at - 1])
    packets = samples.acknowledged(cut.begin) - samples.acknowledged(next(steps, 0)) - DUPLICATES
    is_late = by_packet * packets > 1 + UNSEEN_PACKETS
    return not is_late and gap_s < max(UNSEEN_PACKETS / (PACKETS_S * by_packet), 2 * BIN_S)


def stretches(
    samples: Samples, cuts: list[Cut | None], equations: Equations
) -> Iterator[tuple[float, float, float]]:
    """Give growth between cuts in packets, growth by the equation, and the number of round trips.

    Between two increases the window counts as the mean of both, with a relative error of 1/(12
    w^2)."""
    known = [(last, cut) for last, cut in pairwise(cuts) if last is not None and cut is not None]
    for last, cut in known:
        steps = [
            at for at in range(last.growing, cut.begin) if samples.cwnd[at] > samples.cwnd[at - 1]
        ]
        by_equations = rounds = 0.0
        for earlier, later in pairwise(steps):
            window = (samples.cwnd[earlier] + samples.cwnd[later]) / 2
            passed = (samples.acknowledged(later) - samples.acknowledged(earlier)) / window
            rounds += passed
            by_equations += equations.growth(window) * passed
        if rounds > 0:
            yield samples.cwnd[steps[-1]] - samples.cwnd[steps[0]], by_equations, rounds


def measure(rule: str, seconds: float) -> dict[str, Any]:
    """Run one flow with the rule; return the figures and those of the equations."""
    equations = EQUATIONS[rule]
    result = linux(
        {
            "name": "equations",
            "duration": f"{seconds}s",
            "profile": "rfc",
            "dumbbell": {
                "rate": f"{RATE_MBIT}Mbit",
                "delay": f"{1e3 * ONE_WAY_S:g}ms",
                "queue": {"kind": "drop-tail", "limit": f"{BUFFER_PACKETS}pkt"},
                "back_rate": "unlimited",
            },
            "flows": [{"name": "flow", "rule": rule}],
            # Slow start ends below the capacity of the path: rules with shallow cuts would take
            # long to recover from its overshoot.
            "tcp": {"packet_size": PAYLOAD_BYTES, "initial_ssthresh": 40},
            "trace": {"cwnd": "1ms", "rate": f"{1e3 * BIN_S:g}ms"},
        }
    )
    samples = Samples.of(result)
    found = list(episodes(samples))
    judged = [cut for cut in found if cut is not None and is_seen(samples, cut, equations)]
    grown = list(stretches(samples, found, equations))
    worst = max(judged, key=lambda cut: cut.off(equations), default=None)
    slope = median(grew / by_equations for grew, by_equations, _ in grown) if grown else None
    by_equations_rtt = (
        sum(by_equations for _, by_equations, _ in grown) / sum(rounds for *_, rounds in grown)
        if grown
        else None
    )
    return {
        "rule": rule,
        "episodes": len(found),
        "cuts": len(judged),
        "worst": None if worst is None else worst.off(equations),
        "worst_cut": None if worst is None else (worst.before, worst.threshold, worst.after),
        "windows": [(cut.before, cut.threshold, cut.after) for cut in judged],
        "stretches": len(grown),
        "equations_slope_packets": by_equations_rtt,
        "slope_packets": None if slope is None else slope * by_equations_rtt,
        "slope_error_percent": None if slope is None else 100 * (slope - 1),
        "hits": sum(rule["skipped_callbacks"] for rule in result.kernel_rules),
        "valid": result.valid,
        "reasons": result.reasons,
        "result": result,
    }


def line(row: dict[str, Any]) -> str:
    """Format the figures as a line."""

    def number(value: float | None, form: str) -> str:
        return "none" if value is None else format(value, form)

    cut = (
        "none"
        if row["worst_cut"] is None
        else " > ".join(f"{packets:g}" for packets in row["worst_cut"])
    )
    return (
        f"{row['rule']:35}  {row['cuts']:3} of {row['episodes']:3}  "
        f" {number(row['worst'], '.2f'):>14}  {cut:>12}  {number(row['slope_packets'], '.3f'):>15} "
        f" {number(row['equations_slope_packets'], '.3f'):>6} "
        f" {number(row['slope_error_percent'], '+.2f'):>7}  {row['stretches']:9}  {row['hits']:10} "
        f" {'yes' if row['valid'] else 'NO: ' + '; '.join(row['reasons'])}"
    )


def main() -> None:
    """Print a line for each rule."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 20.0
    print(
        f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; one flow over {RATE_MBIT}"
        f" Mbit/s and {2e3 * ONE_WAY_S:g} ms, {seconds:g} s each"
    )
    columns = (
        "cuts judged  error/tolerance   of this cut  packets per RTT, paper  err [%]  stretches "
        " guard hits  valid"
    )
    print(f"{'rule':35}  {columns}")
    for rule in sys.argv[2:] or EQUATIONS:
        print(line(measure(rule, seconds)), flush=True)


if __name__ == "__main__":
    main()
