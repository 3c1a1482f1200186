"""What a rule's own law says: its decrease, its growth, the utilisation of its sawtooth.

References
----------
.. [1] C. Villamizar, C. Song, "High performance TCP in ANSNET", ACM CCR 24(5), 1994: a buffer of
   one BDP keeps a link busy while a window halves.
.. [2] RFC 5681, sections 3.1 and 3.2.
.. [3] RFC 6817, section 2.4.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from cwndlab import theory
from cwndlab.theory.rules import Rule

HALVED = 0.5
"""The decrease of the standard [2]_, which no rule of the registry exceeds without saying so."""
MOST_ROUNDS = 20_000


@functools.cache
def law(rule: str) -> Rule | None:
    """Return the law of a rule that theory has, else None."""
    try:
        return theory.parse(rule)
    except ValueError:
        return None


def family(rule: str) -> str:
    """Return the name of a rule without its parameters.

    Examples
    --------
    >>> family("AIMD(1, 0.5)"), family("CUBIC")
    ('AIMD', 'CUBIC')
    """
    return rule.partition("(")[0].strip()


def decrease_factor(rule: str, window: float) -> float:
    """Part of a window that is left after a loss; `HALVED` where theory has no law.

    Examples
    --------
    >>> decrease_factor("AIMD(1, 0.3)", 100), decrease_factor("CUBIC", 100)
    (0.3, 0.5)
    """
    found = law(rule)
    if found is None:
        return HALVED
    after = found.controller(1).decrease(np.array([window]), np.array([0]))
    return float(after[0]) / window


def sawtooth_utilisation(factor: float, bdp: float, buffer: float) -> float:
    """Utilisation of a link by one flow whose window falls to `factor` of BDP + buffer [1]_.

    The window grows evenly in round trips; below the BDP a round trip lasts the path's delay and
    brings one window, above it the link is busy and a round trip lasts as long as its queue asks.

    Parameters
    ----------
    factor : float
        Part of the window that is left, 0 to 1.
    bdp, buffer : float
        In packets.

    Examples
    --------
    Halving needs one BDP of buffer; without buffer three quarters remain:

    >>> sawtooth_utilisation(0.5, 100, 100), sawtooth_utilisation(0.5, 100, 0)
    (1.0, 0.75)
    """
    top = bdp + buffer
    bottom = factor * top
    if bottom >= bdp:
        return 1.0
    busy = (top**2 - bdp**2) / 2
    return ((bdp**2 - bottom**2) / 2 + busy) / ((bdp - bottom) * bdp + busy)


def rounds_between(rule: str, first: float, last: float) -> int:
    """Round trips in which a rule grows from one window to another.

    A rule whose law theory does not have is to grow as the standard does, a packet a round trip.

    Examples
    --------
    >>> rounds_between("AIMD(1, 0.5)", 2, 33), rounds_between("CUBIC", 2, 33)
    (31, 31)
    >>> rounds_between("IIAD(1, 0.5)", 2, 33)
    542
    """
    found = law(rule) or theory.parse("AIMD(1, 0.5)")
    controller, flow = found.controller(1), np.array([0])
    window, rounds = np.array([first]), 0
    while window[0] < last and rounds < MOST_ROUNDS:
        grown = controller.increase(window, flow)
        controller.grew(flow, 1.0)
        window, rounds = grown, rounds + 1
    return rounds


@dataclass(frozen=True)
class Ramp:
    """A rule that has no slow start: packets that it gains per round trip from the first on."""

    gain: float
    source: str

    def utilisation(self, first: float, bdp: float, begin: float, rounds: int) -> float:
        """Mean part of the link from round trip `begin` on, at a window of `first` at 0.

        Examples
        --------
        >>> Ramp(1, "").utilisation(10, 110, 0, 100)
        0.5409...
        """
        windows = first + self.gain * (begin + np.arange(rounds))
        return float(np.minimum(1.0, windows / bdp).mean())


RAMPS = {"LEDBAT": Ramp(1.0, "RFC 6817 section 2.4: at most GAIN packets a round trip")}
"""Rules without slow start."""


def fair_s(rule: str, window: float, round_s: float) -> float | None:
    """Time in which two flows become fair in the synchronous model of Chiu and Jain.

    From 1 and `window` - 1 packets until they differ by a tenth of their mean. None if theory has
    no law of the rule, or the law never gets there.

    Examples
    --------
    >>> round(fair_s("AIMD(1, 0.5)", 66, 0.1) or 0, 1), fair_s("MIMD(1.125, 0.8)", 66, 0.1)
    (7.6, None)
    """
    found = law(rule)
    if found is None:
        return None
    course = theory.simulate(
        found.text, [1.0, window - 1], capacity=window, steps=MOST_ROUNDS, floor=1.0
    )
    rounds = course.convergence_time(tolerance=0.1)
    return None if rounds is None else rounds * round_s
