"""What a flow did in a kernel, held against the simulator's sender.

A run in virtual time with ``trace = { packets = true }`` records what each flow sent, and which
ACKs it got when, with the cwnd and ssthresh that each found. The simulator's sender gets these ACKs
at their times: both senders see the same, so that every difference is one of the senders.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from cwndlab.scenario import Scenario

LATE_NS = 20_000
"""Transmissions may be so late: the kernel's system calls take some of it."""
NO_RTT = 2**32 - 1
"""tcpi_min_rtt before the first sample."""
NO_THRESHOLD = 2e4
"""Thresholds from here on limit nothing."""
DRAWING = ("kernel:bbr",)
"""Rules that draw random numbers, from 0 to 6; their models are told the numbers, and what the
kernel measured."""
MOST_DRAWS = 8
"""Numbers that a flow draws, at most, as far as they are looked for."""

Event = tuple[float, str, int | None, float, float]
"""What the simulator's sender did: time, ``send`` or ``ack``; of ``send`` the packet and whether it
was sent before, of ``ack`` cwnd and ssthresh before it."""


@dataclass(frozen=True)
class Difference:
    """The first difference of both senders.

    Attributes
    ----------
    time_s : float
        When the kernel's did what the simulator's did not.
    expected : str
        What the kernel's did or had.
    found : str
        What the simulator's did or had.
    """

    time_s: float
    expected: str
    found: str


@dataclass(frozen=True)
class Replay:
    """Both senders: transmissions (time in seconds, packet), and (cwnd, ssthresh) before each ACK.

    The ACK of the SYN is left out: its window is the initial one. A socket that is closed has none.
    """

    sent: list[tuple[float, int]]
    recorded_sent: list[tuple[float, int]]
    windows: list[tuple[float, float]]
    recorded_windows: list[tuple[float, float] | None]
    ack_times_s: list[float]

    def first_difference(self, late_s: float = LATE_NS / 1e9) -> Difference | None:
        """Return where the senders begin to differ: a packet, its time, or a window."""
        found = [one for one in (self._of_sent(late_s), self._of_windows()) if one is not None]
        return min(found, key=lambda one: one.time_s, default=None)

    def _of_sent(self, late_s: float) -> Difference | None:
        for theirs, ours in itertools.zip_longest(self.recorded_sent, self.sent):
            if theirs is None:
                return Difference(ours[0], "no packet", f"sent packet {ours[1]}")
            if ours is None:
                return Difference(theirs[0], f"packet {theirs[1]}", "sent none")
            if ours[1] != theirs[1]:
                return Difference(theirs[0], f"packet {theirs[1]}", f"sent packet {ours[1]}")
            if abs(ours[0] - theirs[0]) > late_s:
                text = f"sent it at {ours[0]:.6f} s"
                return Difference(theirs[0], f"packet {theirs[1]}", text)
        return None

    def _of_windows(self) -> Difference | None:
        known = zip(self.recorded_windows, self.windows, self.ack_times_s, strict=True)
        return next(
            (Difference(at_s, _window(theirs), f"has {_window(ours)}")
             for theirs, ours, at_s in known if theirs is not None and theirs != ours),
            None,
        )  # fmt: skip


def _window(window: tuple[float, float]) -> str:
    cwnd, ssthresh = window
    return f"cwnd {cwnd:g}, ssthresh {'none' if ssthresh >= NO_THRESHOLD else f'{ssthresh:g}'}"


@dataclass(frozen=True)
class Recording:
    """What a flow sent in a kernel, and which ACKs it got.

    Attributes
    ----------
    sent : sequence
        Of each transmission its time in nanoseconds and the packet.
    acks : sequence
        Of each ACK its time in nanoseconds, the packet, cwnd and ssthresh before it, whether it has
        ECE, its SACK blocks, and the receiver's window in bytes before it; for a rule that draws
        also what the kernel had measured before it, delivery rate in bytes/s and minimum RTT in
        microseconds.
    draws : sequence of int
        Random numbers that the kernel drew.
    """

    sent: Sequence[Sequence[Any]]
    acks: Sequence[Sequence[Any]]
    draws: Sequence[int] = field(default=())

    @classmethod
    def of(cls, rows: pl.DataFrame, scenario: Scenario, group: int) -> Recording:
        """Take a flow's rows of the packet trace; look for the random numbers that it drew."""
        rows = rows.with_columns(time_ns=(pl.col("time_s") * 1e9).round().cast(pl.Int64))
        columns = ["time_ns", "seq", "cwnd_packets", "ssthresh_packets", "marked", "sack",
                   "receiver_window_bytes"]  # fmt: skip
        draws = scenario.to_dict()["flows"][group]["rule"] in DRAWING
        if draws:
            # No RTT is the largest number.
            rtt = pl.col("min_rtt_us")
            rtt = pl.when(rtt < NO_RTT).then(rtt).otherwise(0).alias("min_rtt_us")
            rows = rows.with_columns(rtt)
            columns += ["delivery_rate_bytes_s", "min_rtt_us"]
        recorded = cls(
            rows.filter(pl.col("event") == "send").select("time_ns", "seq").rows(),
            rows.filter(pl.col("event") == "ack").select(columns).rows(),
        )
        return recorded._with_draws(scenario, group) if draws else recorded

    def _with_draws(self, scenario: Scenario, group: int) -> Recording:
        """Find the numbers that the kernel drew: with each the senders stay equal longest."""
        found = self
        for _ in range(MOST_DRAWS):
            tried = [replace(found, draws=[*found.draws, draw]) for draw in range(7)]
            until = [_equal_until_s(one.replay(scenario, group)) for one in tried]
            if max(until) == min(until):
                break
            found = tried[until.index(max(until))]
        return found

    def events(self, scenario: Scenario, group: int) -> list[Event]:
        """Play the ACKs to a simulated sender: of the first flow of entry `group`."""
        # What an ACK offered, and what the kernel measured with it, is seen before the next one.
        after = [(row[6], *(row[7:9] or (0, 0))) for row in self.acks[1:]]
        acks = [
            (
                row[0] / 1e9,
                row[1],
                [(block[0], block[1]) for block in row[5] or ()],
                # ECE of a SYN-ACK is no mark (RFC 3168 section 6.1.1).
                row[4] and row[1] > 0,
                window,
                rate,
                rtt,
            )
            for row, (window, rate, rtt) in zip(self.acks, [*after, (None, 0, 0)], strict=True)
        ]
        start_s, until_s = self.sent[0][0] / 1e9, (self.sent[-1][0] + LATE_NS) / 1e9
        return scenario.core.replay(group, start_s, acks, until_s, list(self.draws))

    def replay(self, scenario: Scenario, group: int) -> Replay:
        """Play the ACKs to a simulated sender, and put both senders beside each other."""
        done = self.events(scenario, group)
        return Replay(
            [(event[0], event[2]) for event in done if event[2] is not None],
            [(time_ns / 1e9, seq) for time_ns, seq in self.sent],
            [(event[3], min(event[4], NO_THRESHOLD)) for event in done if event[1] == "ack"][1:],
            [None if row[2] is None else (row[2], min(row[3], NO_THRESHOLD))
             for row in self.acks][1:],
            [row[0] / 1e9 for row in self.acks][1:],
        )  # fmt: skip


def _equal_until_s(replay: Replay) -> float:
    difference = replay.first_difference()
    return math.inf if difference is None else difference.time_s
