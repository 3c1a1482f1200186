"""Rules that ns-2 has as modules of Linux: ``Agent/TCP/Linux`` and its congestion control.

That endpoint (Wei and Cao 2006) runs the modules of Linux 2.6.22 behind a loss recovery of its own,
in whole packets, with timestamps.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cwndlab import native
from cwndlab.errors import ScenarioError

SENDER = "Agent/TCP/Linux"
AFTER_SYN = 2
"""Its window after the ACK of a SYN, packets."""


@dataclass(frozen=True)
class Module:
    """A congestion module and the values of its parameters, by their names there."""

    name: str
    parameters: dict[str, int]

    def lines(self, sender: str, sink: str, knobs: Mapping[str, Any]) -> list[str]:
        """Write what makes a sender and a sink, both as Tcl, use it, in a flow with these knobs.

        The endpoint needs timestamps; without them in the scenario, packets get no longer. It sends
        its first window at once, and the ACK of a SYN opens it as any does.
        """
        return [
            f"{sender} set timestamps_ true",
            *([] if knobs["timestamps"] else [f"{sender} set ts_option_size_ 0"]),
            *([f"{sender} set windowInit_ {AFTER_SYN - 1}"] if knobs["syn"] else []),
            f"{sink} set ts_echo_rfc1323_ true",
            f"{sender} select_ca {self.name}",
            *(f"{sender} set_ca_param {self.name} {name} {value}"
              for name, value in self.parameters.items()),
        ]  # fmt: skip


def module(rule: str) -> Module | None:
    """Return the module of a rule, or None if it has none that is compared.

    Examples
    --------
    >>> module("CUBIC(beta=0.8)")
    Module(name='cubic', parameters={'bic_scale': 41, 'beta': 819, 'fast_convergence': 1})
    >>> module("AIMD(1, 0.5)")
    """
    try:
        found = re.fullmatch(r"CUBIC(?:\((.*)\))?", native.rule(rule))
    except ScenarioError:
        return None
    if found is None:
        return None
    given = (pair.split("=") for pair in (found[1] or "").replace(" ", "").split(",") if pair)
    family = next(family for family in native.rules() if family["name"] == "CUBIC")
    values = {each["name"]: each["default"] for each in family["parameters"]} | dict(given)
    return Module("cubic", {
        # tcp_cubic.c: the curve is 10 bic_scale/1024, the factor on loss beta/1024.
        "bic_scale": round(float(values["C"]) * 102.4),
        "beta": round(float(values["beta"]) * 1024),
        "fast_convergence": int(values["convergence"] == "fast"),
    })  # fmt: skip
