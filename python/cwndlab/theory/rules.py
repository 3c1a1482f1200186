"""Memoryless rules: growth of the window per round trip, and decrease on congestion.

A rule acts on arrays with one entry per flow, in packets (or any other unit of load). The rule with
memory, Bimodal, is in `cwndlab.theory.bimodal`; text such as ``"AIMD(1, 0.5)"`` is read in
`cwndlab.theory.notation`.

References
----------
.. [1] D.-M. Chiu, R. Jain, "Analysis of the increase and decrease algorithms for congestion
   avoidance in computer networks", Computer Networks and ISDN Systems 17, 1989.
.. [2] D. Bansal, H. Balakrishnan, "Binomial congestion control algorithms", IEEE INFOCOM, 2001.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np


class Controller(Protocol):
    """The controller of several flows with the same rule; it may have state per flow."""

    def increase(self, loads: np.ndarray, flows: np.ndarray, /) -> np.ndarray:
        """Return loads after a round trip without congestion; `flows` are their numbers.

        Changes no state.
        """
        ...

    def grew(self, flows: np.ndarray, part: float, /) -> None:
        """Record that loads grew as `increase` returned, for this part of a round trip."""
        ...

    def decrease(self, loads: np.ndarray, flows: np.ndarray, /) -> np.ndarray:
        """Return loads after a congestion signal."""
        ...

    def calculated(self, flows: np.ndarray) -> np.ndarray:
        """Fair shares as the flows estimate them, NaN without an estimate."""
        ...


class Rule(Protocol):
    """A rule: notation, and controllers."""

    @property
    def text(self) -> str:
        """Notation, as `cwndlab.theory.notation.parse` reads it."""
        ...

    def controller(self, count: int, /) -> Controller:
        """Make the controller of `count` flows, all in their first state."""
        ...


@dataclass(frozen=True)
class Functions:
    """A rule given as two functions of an array of windows.

    Parameters
    ----------
    grow : callable
        Windows after a round trip without congestion.
    shrink : callable
        Windows after a congestion signal.
    text : str
        Name of the rule.

    Examples
    --------
    >>> rule = Functions(lambda w: w + 2, lambda w: w / 4, "two up, three quarters down")
    >>> rule.increase(np.array([8.0])), rule.decrease(np.array([8.0]))
    (array([10.]), array([2.]))
    """

    grow: Callable[[np.ndarray], np.ndarray]
    shrink: Callable[[np.ndarray], np.ndarray]
    text: str = "a rule"

    def increase(self, loads: np.ndarray) -> np.ndarray:
        """Return loads after a round trip without congestion."""
        return self.grow(loads)

    def decrease(self, loads: np.ndarray) -> np.ndarray:
        """Return loads after a congestion signal."""
        return self.shrink(loads)

    def controller(self, _count: int) -> Controller:
        """Make the controller, which has no state."""
        return Memoryless(self)


@dataclass(frozen=True)
class Linear:
    """``w <- ai + bi w`` per round trip, ``w <- ad + bd w`` on congestion ([1]_, section 2).

    Parameters
    ----------
    ai, bi : float
        Packets added, and factor, per round trip.
    ad, bd : float
        Packets added (negative: subtracted), and factor, on congestion.
    text : str
        Notation; by default ``Linear(...)``.

    Examples
    --------
    >>> halving = Linear(1, 1, 0, 0.5)
    >>> halving.increase(np.array([10.0])), halving.decrease(np.array([10.0]))
    (array([11.]), array([5.]))
    """

    ai: float
    bi: float
    ad: float
    bd: float
    text: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if not self.text:
            object.__setattr__(
                self, "text", f"Linear({self.ai:g}, {self.bi:g}, {self.ad:g}, {self.bd:g})"
            )

    def increase(self, loads: np.ndarray) -> np.ndarray:
        """Return loads after a round trip without congestion."""
        return self.ai + self.bi * loads

    def decrease(self, loads: np.ndarray) -> np.ndarray:
        """Return loads after a congestion signal."""
        return self.ad + self.bd * loads

    def controller(self, _count: int) -> Controller:
        """Make the controller; it keeps nothing."""
        return Memoryless(self)

    @property
    def gaimd(self) -> tuple[float, float] | None:
        """Pair (alpha, beta) of general AIMD, None if the rule is not of that kind."""
        return (self.ai, self.bd) if self.bi == 1 and self.ad == 0 and self.bd < 1 else None


@dataclass(frozen=True)
class Binomial:
    """``w <- w + alpha / w^k`` per round trip, ``w <- w - beta w^l`` on congestion [2]_.

    Parameters
    ----------
    k, l : float
        Exponents of increase and decrease.
    alpha, beta : float
        Constants of increase and decrease.
    text : str
        Notation; by default ``Binomial(...)``.

    Examples
    --------
    >>> inverse = Binomial(1, 0, 1, 0.5)
    >>> inverse.increase(np.array([10.0])), inverse.decrease(np.array([10.0]))
    (array([10.1]), array([9.5]))
    """

    k: float
    l: float  # noqa: E741 - as the papers call it
    alpha: float = 1.0
    beta: float = 0.5
    text: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if not self.text:
            object.__setattr__(
                self, "text", f"Binomial({self.k:g}, {self.l:g}, {self.alpha:g}, {self.beta:g})"
            )

    def increase(self, loads: np.ndarray) -> np.ndarray:
        """Return loads after a round trip without congestion."""
        with np.errstate(divide="ignore"):
            return loads + self.alpha / loads**self.k

    def decrease(self, loads: np.ndarray) -> np.ndarray:
        """Return loads after a congestion signal."""
        return loads - self.beta * loads**self.l

    def controller(self, _count: int) -> Controller:
        """Make the controller; it keeps nothing."""
        return Memoryless(self)


@dataclass(frozen=True)
class Memoryless:
    """Controller of a rule that depends on the window alone."""

    rule: Functions | Linear | Binomial

    def increase(self, loads: np.ndarray, _flows: np.ndarray) -> np.ndarray:
        """Return loads after a round trip without congestion."""
        return self.rule.increase(loads)

    def grew(self, _flows: np.ndarray, _part: float) -> None:
        """Do nothing."""

    def decrease(self, loads: np.ndarray, _flows: np.ndarray) -> np.ndarray:
        """Return loads after a congestion signal."""
        return self.rule.decrease(loads)

    def calculated(self, flows: np.ndarray) -> np.ndarray:
        """Return NaN for each: such a rule has no estimate."""
        return np.full(len(flows), np.nan)
