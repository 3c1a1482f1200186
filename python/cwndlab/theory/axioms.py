"""Axioms of congestion control in a fluid model: how far a rule goes in each [1]_.

Zarchy et al. model senders that adapt their windows once a round trip. The link carries C packets
a round trip and its buffer holds tau more. While the sum X of the windows is above C + tau, a
fraction 1 - (C + tau) / X of the packets is lost, and every sender notices. Each axiom asks for a
property to a degree; what is computed here is the largest degree (the smallest one where less is
better) that the rule keeps in the last half of a run from unequal windows. The axiom of robustness
to loss that is not congestion has no entry: a rule that acts on every loss has the degree 0 in this
model, whatever it does.

References
----------
.. [1] D. Zarchy, R. Mittal, M. Schapira, S. Shenker, "Axiomatizing Congestion Control", Proc. ACM
   Meas. Anal. Comput. Syst. 3 (2), 2019, sections 2 and 3.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Change = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""Windows to windows, packets."""
CAPACITY, BUFFER, SENDERS, ROUNDS = 100.0, 100.0, 4, 6000
"""Packets, packets, and round trips of a run; the first half is not measured."""


@dataclass(frozen=True, eq=False)
class Dynamics:
    """A rule in the model: windows after a round trip without loss, and after one with it."""

    grow: Change
    shrink: Change


RENO = Dynamics(lambda w: w + 1.0, lambda w: w / 2.0)
"""TCP in the axiom of friendliness."""


class Axiom(NamedTuple):
    """An axiom, and the function that computes its degree."""

    meaning: str
    more_is_better: bool
    degree: Callable[[Dynamics], float]


def windows(
    senders: Sequence[Dynamics],
    start: Sequence[float] | NDArray[np.float64],
    *,
    capacity: float = CAPACITY,
    buffer: float = BUFFER,
    rounds: int = ROUNDS,
) -> np.ndarray:
    """Windows of senders on one link, round trip by round trip.

    Parameters
    ----------
    senders : sequence of Dynamics
        One rule for each sender.
    start : sequence of float
        First windows, packets.
    capacity, buffer : float
        Packets that the link carries per round trip without a queue, and that its buffer holds.
    rounds : int
        Round trips.

    Returns
    -------
    ndarray, shape (rounds, senders)
        Packets, at least 1.

    Examples
    --------
    Two windows of Reno become equal, and swing between half of the pipe and all of it:

    >>> found = windows([RENO, RENO], [1, 60], capacity=50, buffer=50)[-200:]
    >>> round(float(found[:, 0].max())), round(float(np.ptp(found[:, 0] - found[:, 1])), 3)
    (50, 0.0)
    """
    load = np.asarray(start, dtype=float)
    kinds = list(dict.fromkeys(senders))
    of = [np.array([sender is kind for sender in senders]) for kind in kinds]
    found = np.empty((rounds, len(load)))
    # A window that is not a number, or without end, ends the model's use: the senders stop.
    with np.errstate(all="ignore"):
        for number in range(rounds):
            found[number] = load
            is_lost = float(load.sum()) > capacity + buffer
            if len(kinds) == 1:
                load = (kinds[0].shrink if is_lost else kinds[0].grow)(load)
            else:
                changed = load.copy()
                for kind, mine in zip(kinds, of, strict=True):
                    changed[mine] = (kind.shrink if is_lost else kind.grow)(load[mine])
                load = changed
            # fmax and fmin take the number where the other is none.
            load = np.fmin(np.fmax(load, 1.0), 1e9)
    return found


@functools.lru_cache(maxsize=64)
def _alone(rule: Dynamics) -> np.ndarray:
    start = np.linspace(1.0, 2.0 * CAPACITY / SENDERS, SENDERS)
    return windows([rule] * SENDERS, start)[ROUNDS // 2 :]


def efficiency(rule: Dynamics) -> float:
    """Smallest load of the link over its capacity, at most 1.

    Examples
    --------
    Before a buffer of one pipe, halving keeps the link full; a quarter does not:

    >>> quarter = Dynamics(lambda w: w + 1, lambda w: w / 4)
    >>> efficiency(RENO), round(efficiency(quarter), 1)
    (1.0, 0.5)
    """
    return float(min(1.0, _alone(rule).sum(axis=1).min() / CAPACITY))


def fast_utilization(rule: Dynamics) -> float:
    """Growth without loss: packets sent beyond the first window, over half of the square of time.

    Examples
    --------
    >>> round(fast_utilization(RENO), 2), round(fast_utilization(Dynamics(lambda w: w + 3, abs)), 2)
    (1.01, 3.03)
    """
    rounds = 100
    found = windows([rule], [1.0], capacity=1e12, buffer=0.0, rounds=rounds + 1)[:, 0]
    return float((found - found[0]).sum() / (rounds**2 / 2))


def loss_avoidance(rule: Dynamics) -> float:
    """Largest fraction of packets that is lost in a round trip.

    Examples
    --------
    Four senders of 50 packets add one each: 4 of 204 are lost.

    >>> round(loss_avoidance(RENO), 4)
    0.0196
    """
    load = _alone(rule).sum(axis=1)
    return float(np.max(1.0 - np.minimum(1.0, (CAPACITY + BUFFER) / load)))


def fairness(rule: Dynamics) -> float:
    """Smallest mean window over the largest.

    Examples
    --------
    >>> round(fairness(RENO), 3), fairness(Dynamics(lambda w: 1.1 * w, lambda w: w / 2)) < 0.1
    (1.0, True)
    """
    mean = _alone(rule).mean(axis=0)
    return float(mean.min() / mean.max())


def convergence(rule: Dynamics) -> float:
    """How near every window stays to one value x: within alpha x and (2 - alpha) x.

    Examples
    --------
    2 b / (1 + b) for AIMD(a, b):

    >>> round(convergence(RENO), 2)
    0.66
    """
    found = _alone(rule)
    low, high = found.min(), found.max()
    return float(2.0 * low / (low + high))


def friendliness(rule: Dynamics) -> float:
    """Mean window of Reno beside the rule over the rule's.

    Examples
    --------
    >>> round(friendliness(RENO), 2), round(friendliness(Dynamics(lambda w: w + 2, RENO.shrink)), 1)
    (1.0, 0.5)
    """
    found = windows([rule, RENO], [1.0, 1.0])[ROUNDS // 2 :].mean(axis=0)
    return float(found[1] / found[0])


def latency_avoidance(rule: Dynamics) -> float:
    """Largest queueing delay over the round trip without a queue.

    Examples
    --------
    >>> round(latency_avoidance(RENO), 1)
    1.0
    """
    queue = np.clip(_alone(rule).sum(axis=1) - CAPACITY, 0.0, BUFFER)
    return float(queue.max() / CAPACITY)


AXIOMS = {
    "efficiency": Axiom("smallest load over capacity", True, efficiency),
    "fast-utilization": Axiom("growth without loss, packets per RTT^2", True, fast_utilization),
    "loss-avoidance": Axiom("largest loss rate of a round trip", False, loss_avoidance),
    "fairness": Axiom("smallest mean window over largest", True, fairness),
    "convergence": Axiom("how near windows stay to one value", True, convergence),
    "friendliness": Axiom("Reno's mean window over the rule's", True, friendliness),
    "latency-avoidance": Axiom("largest queueing delay over RTT", False, latency_avoidance),
}
"""Axioms by name."""
