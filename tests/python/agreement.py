"""Simulations that keep theory's assumptions, and what first-order arithmetic says of the ones they
cannot keep.

Losses fall at random, or at chosen packets, on a link so fast that nothing ever waits: the round
trip is the propagation delay. Every flow begins near its mean window, and ten mean distances
between losses pass before anything is measured.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import cwndlab
from cwndlab.theory import gaimd

SKIPPED_CYCLES = 10
QUEUE = 100
PACKET_BYTES = 1052
"""Of the profile `rfc`: 1000 of data, 40 of headers, 12 of timestamps."""


@dataclass(frozen=True)
class Observed:
    """One measurement: flows alike, each an independent sample."""

    flows: object
    seconds: float
    rtt: float

    @property
    def rates(self) -> np.ndarray:
        """Packets per second of each flow, lost and retransmitted ones included, as the formulas
        count them."""
        return self.flows["sent_packets"].to_numpy() / self.seconds

    @property
    def loss_rate(self) -> float:
        return self.flows["dropped_packets"].sum() / self.flows["sent_packets"].sum()

    @property
    def timeouts(self) -> int:
        return int(self.flows["timeouts"].sum())

    @property
    def time_in_timeouts(self) -> float:
        """Part of the time spent in timeouts, each with two round trips of slow start from one
        packet."""
        lost = self.timeouts * (self.flows["mean_rto_s"].mean() + 2 * self.rtt)
        return lost / (self.seconds * len(self.flows))

    def over(self, law) -> tuple[float, float]:
        """Rate over `law(p)` where rates go as 1/sqrt(p), p being each flow's own loss rate.

        And its standard error.

        A flow that happened to lose more than its share is slower for that alone; its own p takes
        this out.
        """
        p = self.flows["dropped_packets"].to_numpy() / self.flows["sent_packets"].to_numpy()
        ratios = self.rates / np.array([float(law(one)) for one in p])
        return float(ratios.mean()), float(ratios.std(ddof=1) / np.sqrt(len(ratios)))


def scenario(
    flows: list[dict], loss: list[dict], rtt: float, begin: float, end: float, **more
) -> cwndlab.Scenario:
    """Flows whose packets only ever meet the losses given."""
    return cwndlab.dumbbell(
        "10Tbit",
        rtt / 2,
        flows=flows,
        duration=end,
        profile="rfc",
        measure=[begin, end],
        queue={"kind": "drop-tail", "limit": "unlimited"},
        link={"loss": loss, "back_rate": "unlimited"},
        **more,
    )


def at_random(
    rule: str,
    p: float,
    window: float,
    *,
    rtt: float,
    cycles: int,
    flows: int = 20,
    seed: int = 1,
    recovery: str = "sack",
    rto_rtts: float = 2,
) -> Observed:
    """Independent losses with probability p.

    `window` is the mean expected, `cycles` how many losses a flow has.
    """
    cycle = rtt / (p * window)
    begin = SKIPPED_CYCLES * cycle + 20 * rtt
    # The round trip never varies: without a floor the timeout would fall to just a round trip (RFC
    # 6298, section 2).
    tcp = {"initial_ssthresh": max(2, window), "min_rto": rto_rtts * rtt}
    table = {"name": "f", "rule": rule, "count": flows, "recovery": recovery}
    end = begin + cycles * cycle
    found = cwndlab.run(
        scenario([table], [{"kind": "bernoulli", "p": p}], rtt, begin, end, seed=seed, tcp=tcp)
    )
    return Observed(found.flows, end - begin, rtt)


def periodic(
    rule: str,
    distances: list[int],
    window: float,
    *,
    rtt: float,
    cycles: int,
    skipped: int = SKIPPED_CYCLES,
) -> Observed:
    """One flow for each distance, of whose packets every so many-th is marked.

    Cuts without losses or timeouts.
    """
    cycle = max(distances) * rtt / window
    begin = skipped * cycle + 20 * rtt
    end = begin + cycles * cycle
    tables, marks = [], []
    for number, distance in enumerate(distances):
        tables.append({"name": f"f{number}", "rule": rule})
        most = int(2 * window * end / rtt)
        marks.append(
            {
                "kind": "marks",
                "flow": f"f{number}",
                "packets": list(range(distance, most, distance)),
            }
        )
    tcp = {"ecn": True, "initial_ssthresh": max(2, window)}
    return Observed(
        cwndlab.run(scenario(tables, marks, rtt, begin, end, tcp=tcp)).flows, end - begin, rtt
    )


@dataclass(frozen=True)
class Expansion:
    """What separates a packet-by-packet sender from the law of large windows, to first order in 1 /
    window.

    Each part is a relative change of the rate. Counted in packets, the square of the window grows
    by 2 alpha a packet, so a part x of the growth that is missing costs x / 2 of the rate.

    send
        A window of w sends floor(w) packets: half a packet less on average.
    growth
        A round trip brings the ACKs of the window before it (w - alpha), whole ones only (half a
        packet less); and alpha / w an ACK, with w growing meanwhile, adds up to alpha (1 - alpha /
        2w).
    recovery
        For a round trip after a cut the window, beta W, does not grow: p beta W of a cycle's 1/p
        packets.
    unsent
        The three duplicate ACKs before a loss is taken for one bring at most three packets fewer: 3
        of 1/p.
    delay
        The cut comes a round trip after the loss: W packets more, none of whose losses count, sent
        at W in place of the mean; and the window that is cut has grown by alpha, of which beta^2
        (in squares) stays.
    """

    send: float
    growth: float
    recovery: float
    unsent: float
    delay: float

    @classmethod
    def of(cls, alpha: float, beta: float, p: float) -> Expansion:
        mean = float(gaimd.independent_loss_rate(alpha, beta, p, rtt=1))
        # Root of the mean square window at a loss: 2 alpha / p (1 + beta^2 + beta^4 + ...).
        at_loss = np.sqrt(2 * alpha / (p * (1 - beta**2)))
        lost = p * at_loss
        return cls(
            send=-0.5 / mean,
            growth=-(1.5 * alpha + 0.5) / 2 / mean,
            recovery=-beta / 2 * lost,
            unsent=-3 * p,
            delay=lost * (1 - mean / at_loss + beta**2 / 2),
        )

    @property
    def first_order(self) -> float:
        """The sum of the parts."""
        return self.send + self.growth + self.recovery + self.unsent + self.delay

    @property
    def second_order(self) -> float:
        """Square of the parts' sizes together: what products of any two of them come to at most."""
        return (
            abs(self.send)
            + abs(self.growth)
            + abs(self.recovery)
            + abs(self.unsent)
            + abs(self.delay)
        ) ** 2


def with_common_signals(
    rules: list[str], thresholds: list[float], capacity: float, *, seconds: float
) -> list[np.ndarray]:
    """Flows that hear the same signal, as in the synchronous model.

    The cuts of each, rows of (time, before, after).

    The queue marks every packet that finds more than `QUEUE` waiting (RED with an average that is
    the queue, and a probability that goes from 0 to 1 within a packet), so within a round trip
    every flow hears of it, once. The capacity is then what is on the way, QUEUE + 1 packets that
    wait, the one in service and the one that is marked. Slow start ends at `thresholds`, each small
    enough not to fill the queue.
    """
    rtt = 0.1
    bits = 8 * PACKET_BYTES * (capacity - QUEUE - 3) / rtt
    flows = [
        {"name": f"f{number}", "rule": rule, "tcp": {"initial_ssthresh": threshold}}
        for number, (rule, threshold) in enumerate(zip(rules, thresholds, strict=True))
    ]
    marking = {
        "kind": "red",
        "min": f"{QUEUE}pkt",
        "max": f"{QUEUE + 1}pkt",
        "max_p": 1.0,
        "weight": 1.0,
    }
    found = cwndlab.run(
        cwndlab.dumbbell(
            f"{int(bits)}bit",
            rtt / 2,
            flows=flows,
            duration=seconds,
            profile="rfc",
            queue={**marking, "limit": "unlimited", "wait": False, "gentle": True, "ecn": True},
            link={"back_rate": "unlimited"},
            tcp={"ecn": True},
            trace={"cwnd": "all"},
        )
    )
    assert found.flows["timeouts"].sum() == found.flows["dropped_packets"].sum() == 0
    return [_cuts(found.traces["cwnd"].filter(flow=f"f{number}")) for number in range(len(rules))]


def _cuts(trace) -> np.ndarray:
    """Where an echoed mark changed the window.

    Growth is by a packet an ACK at most, but for the first window.
    """
    time, window = trace["time_s"].to_numpy(), trace["cwnd_packets"].to_numpy()
    at = np.flatnonzero((np.abs(np.diff(window)) > 1.5) & (window[:-1] > 5))
    return np.column_stack([time[at + 1], window[at], window[at + 1]])
