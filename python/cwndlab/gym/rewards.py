"""Rewards of a step, by name; a function of a `Step` is one, too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from cwndlab.gym.observations import delivery_rate, loss_rate
from cwndlab.gym.step import Step, Values, chosen, ratio

MEGABITS_A_PACKET = 0.012
"""Megabits of a packet of 1500 bytes: Vivace's utility counts Mbit/s, an agent packets."""


@dataclass(frozen=True)
class Reward:
    """A reward that has a name."""

    name: str
    formula: str
    source: str
    of: Callable[[Step], Values]


def _power(step: Step) -> Values:
    rate = ratio(delivery_rate(step), step["max_delivery_rate_packets_s"])
    return rate * ratio(step["min_rtt_s"], step["rtt_s"])


def _aurora(step: Step) -> Values:
    return 10 * delivery_rate(step) - 1000 * step["rtt_s"] - 2000 * loss_rate(step)


def _orca(step: Step) -> Values:
    lost = ratio(step["lost_packets"], step["duration_s"])
    rate = ratio(delivery_rate(step) - 5 * lost, step["max_delivery_rate_packets_s"])
    least = step["min_rtt_s"]
    return rate * ratio(least, chosen(step["rtt_s"] <= 1.25 * least, least, step["rtt_s"]))


def _vivace(step: Step) -> Values:
    sent = delivery_rate(step) + ratio(step["lost_packets"], step["duration_s"])
    x = MEGABITS_A_PACKET * sent
    return x**0.9 - 900 * x * step["rtt_gradient"] - 11.35 * x * loss_rate(step)


REWARDS = {
    entry.name: entry
    for entry in (
        Reward("power", "(rate / largest rate) (min_rtt / rtt)",
               "Kleinrock 1979: power, relative to the best of path and episode", _power),
        Reward("orca", "((rate - 5 lost rate) / largest rate) (min_rtt / rtt'), "
               "rtt' = min_rtt up to 1.25 min_rtt, else rtt",
               "Abbasloo, Yen and Chao 2020 (Orca)", _orca),
        Reward("aurora", "10 rate - 1000 rtt - 2000 loss rate, in packets/s and s",
               "Jay et al. 2019 (Aurora)", _aurora),
        Reward("vivace", "x^0.9 - 900 x d rtt/dt - 11.35 x loss rate, x in Mbit/s",
               "Dong et al. 2018 (PCC Vivace); packets of 1500 bytes", _vivace),
    )
}  # fmt: skip
"""`rate` is that of delivery; the largest rate is the largest rate sample since the start."""
