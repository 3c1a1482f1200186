"""What an agent may observe: named quantities, each with its unit and its bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from cwndlab.gym.step import Step, Values, chosen, limited, ratio


@dataclass(frozen=True)
class Observation:
    """A quantity that an agent may observe."""

    name: str
    unit: str
    """Empty for a ratio or a count."""
    low: float
    high: float
    meaning: str
    of: Callable[[Step], Values]


def delivery_rate(step: Step) -> Values:
    """Packets delivered per second of the step; at the first decision the last rate sample."""
    rate = ratio(step["delivered_packets"], step["duration_s"])
    return chosen(step["duration_s"] > 0, rate, step["delivery_rate_packets_s"])


def loss_rate(step: Step) -> Values:
    """Share of the packets of the step that were lost."""
    return ratio(step["lost_packets"], step["lost_packets"] + step["delivered_packets"])


def _mark_rate(step: Step) -> Values:
    return limited(ratio(step["marked_packets"], step["delivered_packets"]), 0.0, 1.0)


def _cwnd_ratio(step: Step) -> Values:
    bdp = step["max_delivery_rate_packets_s"] * step["min_rtt_s"]
    return ratio(step["cwnd_packets"], bdp)


OBSERVATIONS = {
    entry.name: entry
    for entry in (
        Observation("rtt", "s", 0, math.inf, "mean RTT of the step", lambda step: step["rtt_s"]),
        Observation("least_rtt", "s", 0, math.inf, "least RTT of the step",
                    lambda step: step["least_rtt_s"]),
        Observation("srtt", "s", 0, math.inf, "smoothed RTT (RFC 6298)",
                    lambda step: step["srtt_s"]),
        Observation("min_rtt", "s", 0, math.inf, "least RTT since the start",
                    lambda step: step["min_rtt_s"]),
        Observation("queueing_delay", "s", 0, math.inf, "rtt - min_rtt",
                    lambda step: limited(step["rtt_s"] - step["min_rtt_s"], 0.0, math.inf)),
        Observation("rtt_ratio", "", 0, math.inf, "rtt / min_rtt",
                    lambda step: ratio(step["rtt_s"], step["min_rtt_s"])),
        Observation("rtt_gradient", "s/s", -math.inf, math.inf,
                    "slope of the RTT over the time of the step, by least squares",
                    lambda step: step["rtt_gradient"]),
        Observation("delivery_rate", "packets/s", 0, math.inf,
                    "packets delivered per second of the step", delivery_rate),
        Observation("delivery_ratio", "", 0, math.inf,
                    "delivery_rate / the largest rate sample since the start",
                    lambda step: ratio(delivery_rate(step), step["max_delivery_rate_packets_s"])),
        Observation("loss_rate", "", 0, 1, "share of the step's packets that were lost",
                    loss_rate),
        Observation("mark_rate", "", 0, 1, "share of the delivered packets that were marked",
                    _mark_rate),
        Observation("loss_events", "", 0, math.inf, "fast retransmits of the step",
                    lambda step: step["loss_events"]),
        Observation("timeouts", "", 0, math.inf, "retransmission timeouts of the step",
                    lambda step: step["timeouts"]),
        Observation("acks", "", 0, math.inf, "ACKs of the step", lambda step: step["acks"]),
        Observation("cwnd", "packets", 0, math.inf, "window of the last action",
                    lambda step: step["cwnd_packets"]),
        Observation("pacing_rate", "packets/s", 0, math.inf, "pacing rate of the last action",
                    lambda step: step["pacing_rate_packets_s"]),
        Observation("in_flight", "packets", 0, math.inf, "packets in flight at the last ACK",
                    lambda step: step["in_flight_packets"]),
        Observation("cwnd_ratio", "", 0, math.inf,
                    "cwnd / (largest rate sample x min_rtt): the window in BDPs, as measured",
                    _cwnd_ratio),
        Observation("duration", "s", 0, math.inf, "length of the step",
                    lambda step: step["duration_s"]),
        Observation("time", "s", 0, math.inf, "simulated time", lambda step: step["time_s"]),
    )
}  # fmt: skip

SCALE_FREE = ("rtt_ratio", "rtt_gradient", "delivery_ratio", "loss_rate", "cwnd_ratio")
"""What is observed by default: the same on slow and fast, short and long paths."""
