"""Theory of window rules: models and formulas of papers, without the simulator.

Nothing here imports the simulator or its parser, so that agreement of both is evidence. Loads and
windows are in packets, times in seconds or round trips, rates in packets per second, as each
function says. docs/theory.md has every model with its equation numbers.

The synchronous model of Chiu and Jain, for any rule:

>>> from cwndlab import theory
>>> course = theory.simulate("AIMD(1, 0.5)", [8, 64], capacity=100, steps=400)
>>> course.convergence_time(), round(course.efficiency(cycles=4), 3)
(129.0, 0.75)

Linear rules in steady state, and whether they are fair:

>>> rule = theory.parse("AIMAD")
>>> theory.condition(rule).verdict, round(theory.cycle(rule, 6).window, 6)
('fair', 44.0)

The sending rate of general AIMD, and the parameters that are fair to TCP:

>>> round(float(theory.gaimd.rate(0.31, 0.875, 0.01, rtt=0.1, rto=0.4)), 1)
132.6
>>> round(float(theory.friendly.to_alpha(0.875)), 4)
0.3125
"""

from typing import TYPE_CHECKING

from cwndlab.message import no_attribute, one_of
from cwndlab.theory import binomial, friendly, gaimd, growth
from cwndlab.theory.bimodal import Bimodal, efficiency, fair_shares
from cwndlab.theory.hybrid import (
    Bounds,
    Condition,
    Cycle,
    Settled,
    chiu_jain_fair,
    condition,
    cycle,
    parameter_bounds,
    settle,
)
from cwndlab.theory.multirate import MultiRate
from cwndlab.theory.notation import parse, parse_linear
from cwndlab.theory.population import Join, Leave
from cwndlab.theory.rules import Binomial, Functions, Linear, Rule
from cwndlab.theory.sync import Phase, Trajectory, phase, simulate

__all__ = [
    "Bimodal",
    "Binomial",
    "Bounds",
    "Condition",
    "Cycle",
    "Functions",
    "Join",
    "Leave",
    "Linear",
    "MultiRate",
    "Phase",
    "Rule",
    "Settled",
    "Trajectory",
    "binomial",
    "chiu_jain_fair",
    "condition",
    "cycle",
    "efficiency",
    "fair_shares",
    "friendly",
    "gaimd",
    "growth",
    "parameter_bounds",
    "parse",
    "parse_linear",
    "phase",
    "settle",
    "simulate",
]


if not TYPE_CHECKING:  # A type checker would take every name for one of these.

    def __getattr__(name: str) -> object:
        parts = {"binomial": binomial, "gaimd": gaimd, "growth": growth}
        found = [f"{part}.{name}" for part, module in parts.items() if hasattr(module, name)]
        hint = one_of(found) if found else None
        raise AttributeError(no_attribute(__name__, name, __all__, hint))
