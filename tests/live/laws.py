"""Whether a flow of the kernel, alone over an emulated link, cuts and grows as its rule's law says.

    .venv/bin/python tests/live/laws.py [SECONDS] [RULE ...]

Laws are written by hand from the papers' update equations. Two figures for each rule:

The window after a cut, against the law at the window before it. `tcp_info` is sampled once a
millisecond, an acknowledgement comes every 1.2 ms, and an episode is read from three of the
samples. It begins where the window falls: nothing but a cut lowers a window of Linux, and the
acknowledgement that finds the loss takes the first step, so the sample before it has the window
that was cut. Meanwhile proportional rate reduction (RFC 6937) moves the window, down to the
threshold or, where many packets were lost, below it and up again; only at its end is the window the
threshold. So what a cut left is read where growth sets in: the last sample before the window rises
above its threshold. That window and the threshold, which is the rule's answer, are both compared,
and the farther one counts. Windows of the kernel are whole packets: the window that was cut may be
up to one packet larger than its sample, and what is left of it is rounded down; together that is
less than one packet, and nothing is subtracted for it. Counted but not judged are cuts in slow
start, cuts around which samples or acknowledgements came so late that the window may have grown
unseen (what the cut left is not asked for that), and episodes with several thresholds (a time-out
amid recovery, an undone cut).

The slope, as growth in a round trip: the time in which a window's worth of packets is delivered. By
`srtt` it would be off by a packet in a window or more, because `srtt` lags behind a growing queue.
Delivered packets are counted by the emulator on the wire at the sink, in bins of a millisecond, and
belong to the samples one way back later. A stretch goes from the first step of the window after a
cut to the last one before the next: at a step the fraction that the kernel does not show is nearly
zero. Over it the law is integrated along the windows seen. The median of stretches is given,
because a busy machine now and then keeps the sender from filling its window, and then Linux does
not let it grow (RFC 7661).

The cut that is farthest off is printed as the window before it, the threshold, and the window after
it. A rule's answer is whole packets because the kernel's threshold is; the program keeps the
fraction (docs/kernel.md)."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

from cwndlab.live.run import linux
from cwndlab.results import Result

RATE_MBIT = 10
PACKET_BYTES = 1500
PAYLOAD_BYTES = 1448
ONE_WAY_S = 0.010
BUFFER_PACKETS = 30
"""With the 17 packets that 20 ms hold: windows of up to 48 packets, and some cuts a second."""
PACKETS_S = RATE_MBIT * 1e6 / 8 / PACKET_BYTES
BIN_S = 1e-3
UNSEEN_PACKETS = 0.25
"""How much a window may have grown between two samples."""
DUPLICATES = 3
"""Packets delivered before a loss is found, whose acknowledgements let no window grow (RFC 5681,
section 3.2)."""


class Law(NamedTuple):
    """A rule as its paper has it, at a window of w packets: packets added in a round trip, window
    after a cut."""

    growth: Callable[[float], float]
    cut: Callable[[float], float]


LAWS = {
    # RFC 5681, sections 3.1 and 3.2.
    "AIMD(1, 0.5)": Law(lambda _: 1.0, lambda w: 0.5 * w),
    # Yang and Lam 2000, section 2.1.
    "GAIMD(0.31, 0.875)": Law(lambda _: 0.31, lambda w: 0.875 * w),
    # Akella and others 2002, sections 3.2 and 5.1: one packet more in a round trip, three less upon
    # loss.
    "AIAD(1, 3)": Law(lambda _: 1.0, lambda w: w - 3.0),
    # Binomial with k = l = 1/2 (Chandrayana and others 2002, equation 1).
    "SQRT(1, 0.5)": Law(lambda w: 1.0 / w**0.5, lambda w: w - 0.5 * w**0.5),
    # Akella and others 2002, section 3.2: W becomes 1.125 W in a round trip.
    "MIMD(1.125, 0.8)": Law(lambda w: 0.125 * w, lambda w: 0.8 * w),
    # A formula as a user writes it: what it says.
    'Rule(inc="2", dec="w - 0.25*w^0.9")': Law(lambda _: 2.0, lambda w: w - 0.25 * w**0.9),
}


@dataclass
class Cut:
    """An episode in the samples: their numbers where it begins and where growth sets in, and
    windows in packets."""

    begin: int
    growing: int
    before: float
    threshold: float
    after: float

    def off(self, law: Law) -> float:
        """Distance from the law, as a fraction of the tolerance: the larger of 1 packet and 2 %."""
        target = law.cut(self.before)
        return max(abs(self.threshold - target), abs(self.after - target)) / max(1.0, 0.02 * target)


@dataclass
class Samples:
    """The trace of one flow: seconds, windows and thresholds in packets; packets delivered by the
    begin of each bin."""

    time_s: list[float]
    cwnd: list[float]
    ssthresh: list[float]
    delivered: list[float]

    @classmethod
    def of(cls, result: Result) -> Samples:
        """From the first round trip on: before it a connection is not yet one."""
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
        """Packets delivered at the sink of which the source had word at a sample."""
        return self.delivered[
            max(0, min(int((self.time_s[sample] - ONE_WAY_S) / BIN_S), len(self.delivered) - 1))
        ]


def episodes(samples: Samples) -> Iterator[Cut | None]:
    """Give every episode of a lowered window after slow start; none stands for one with several
    thresholds."""
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
        # A skipped callback leaves garbage until the guard repairs it, at the next acknowledgement.
        thresholds = {threshold for threshold in ssthresh[begin:at] if threshold < wild}
        in_slow_start = cwnd[begin - 1] < ssthresh[begin - 1]
        if len(thresholds) == 1 and not in_slow_start:
            yield Cut(begin, at, cwnd[begin - 1], thresholds.pop(), cwnd[at - 1])
        else:
            yield None


def is_seen(samples: Samples, cut: Cut, law: Law) -> bool:
    """Whether the samples around its begin and its end show the windows there.

    They do not where a sample came late, nor where acknowledgements did, which then come many at
    once: before the cut the window would have to have grown by more than it is seen to since its
    last step."""
    by_packet = law.growth(cut.before) / cut.before
    gap_s = max(samples.time_s[at] - samples.time_s[at - 1] for at in (cut.begin, cut.growing))
    steps = (at for at in range(cut.begin - 1, 0, -1) if samples.cwnd[at] != samples.cwnd[at - 1])
    packets = samples.acknowledged(cut.begin) - samples.acknowledged(next(steps, 0)) - DUPLICATES
    is_late = by_packet * packets > 1 + UNSEEN_PACKETS
    return not is_late and gap_s < max(UNSEEN_PACKETS / (PACKETS_S * by_packet), 2 * BIN_S)


def stretches(
    samples: Samples, cuts: list[Cut | None], law: Law
) -> Iterator[tuple[float, float, float]]:
    """Give growth between cuts in packets, that by the law, and the round trips that it took.

    From one step to the next the window is taken halfway between both, for the law and for the
    round trips: 1/w bends so little over a packet that this is exact to 1/(12 w^2)."""
    known = [(last, cut) for last, cut in pairwise(cuts) if last is not None and cut is not None]
    for last, cut in known:
        steps = [
            at for at in range(last.growing, cut.begin) if samples.cwnd[at] > samples.cwnd[at - 1]
        ]
        by_law = rounds = 0.0
        for earlier, later in pairwise(steps):
            window = (samples.cwnd[earlier] + samples.cwnd[later]) / 2
            passed = (samples.acknowledged(later) - samples.acknowledged(earlier)) / window
            rounds += passed
            by_law += law.growth(window) * passed
        if rounds > 0:
            yield samples.cwnd[steps[-1]] - samples.cwnd[steps[0]], by_law, rounds


def measure(rule: str, seconds: float) -> dict[str, Any]:
    """Run one flow with the rule; returns what was found beside what the law says."""
    law = LAWS[rule]
    result = linux(
        {
            "name": "law",
            "duration": f"{seconds}s",
            "dumbbell": {
                "rate": f"{RATE_MBIT}Mbit",
                "delay": f"{1e3 * ONE_WAY_S:g}ms",
                "queue": {"kind": "drop-tail", "limit": f"{BUFFER_PACKETS}pkt"},
                "back_rate": "unlimited",
            },
            "flows": [{"name": "flow", "rule": rule}],
            # Slow start ends below what the path holds: near-flat cuts keep for long what it would
            # overshoot.
            "tcp": {"packet_size": PAYLOAD_BYTES, "initial_ssthresh": 40},
            "trace": {"cwnd": "1ms", "rate": f"{1e3 * BIN_S:g}ms"},
        }
    )
    samples = Samples.of(result)
    found = list(episodes(samples))
    judged = [cut for cut in found if cut is not None and is_seen(samples, cut, law)]
    grown = list(stretches(samples, found, law))
    worst = max(judged, key=lambda cut: cut.off(law), default=None)
    slope = median(grew / by_law for grew, by_law, _ in grown) if grown else None
    by_law_rtt = (
        sum(by_law for _, by_law, _ in grown) / sum(rounds for *_, rounds in grown)
        if grown
        else None
    )
    return {
        "rule": rule,
        "episodes": len(found),
        "cuts": len(judged),
        "worst": None if worst is None else worst.off(law),
        "worst_cut": None if worst is None else (worst.before, worst.threshold, worst.after),
        "windows": [(cut.before, cut.threshold, cut.after) for cut in judged],
        "stretches": len(grown),
        "law_slope_packets": by_law_rtt,
        "slope_packets": None if slope is None else slope * by_law_rtt,
        "slope_error_percent": None if slope is None else 100 * (slope - 1),
        "hits": sum(rule["skipped_callbacks"] for rule in result.kernel_rules),
        "valid": result.valid,
        "reasons": result.reasons,
        "result": result,
    }


def line(row: dict[str, Any]) -> str:
    """Write what was found in a line."""

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
        f" {number(row['law_slope_packets'], '.3f'):>6} "
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
        "cuts judged  off, of allowed   of this cut  packets per RTT, law's  off [%]  stretches "
        " guard hits  valid"
    )
    print(f"{'rule':35}  {columns}")
    for rule in sys.argv[2:] or LAWS:
        print(line(measure(rule, seconds)), flush=True)


if __name__ == "__main__":
    main()
