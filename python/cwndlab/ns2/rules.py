"""Window rules as variables of ns-2's agents.

``windowOption_`` 1 is AIMD, 6 a binomial rule (Bansal and Balakrishnan 2001), which expresses the
linear families too: an ACK adds ``increase_num_``/(w w^``k_parameter_``), a loss leaves w - (1 -
``decrease_num_``) w^``l_parameter_``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cwndlab import native
from cwndlab.errors import ScenarioError
from cwndlab.ns2.refusals import refused
from cwndlab.ns2.tcl import Variable, number

if TYPE_CHECKING:
    from cwndlab.custom_rules import Rule

EXPRESSED = (
    "AIMD, AIAD, MIMD, MIAD, a Linear of one of them, GAIMD, Binomial, IIAD, SQRT, NewReno or CUBIC"
)


HALF, NEARLY_HALF = "0.5", "0.49999999999999994"
"""ns-2 halves the window where ``decrease_num_`` is exactly 0.5, whatever the rule."""


def rule_variables(rule: Rule, key: str = "rule", *, halves_if_half: bool = True) -> list[Variable]:
    """Return the variables of a sender with this rule.

    Parameters
    ----------
    rule : rule
        Its notation, its class, or an instance.
    key : str
        Key of the scenario that has it, for errors.
    halves_if_half : bool
        Whether a rule with ``decrease_num_`` 0.5 halves the window, as ns-2 does; if not, the
        double below 0.5 makes ns-2 apply the rule's own decrease.

    Raises
    ------
    ScenarioError
        If ns-2 has no such rule.

    Examples
    --------
    >>> [(variable.name, variable.value) for variable in rule_variables("AIMD(1, 0.5)")]
    [('windowOption_', '1'), ('increase_num_', '1'), ('decrease_num_', '0.5')]
    """
    variables = _of(native.rule(rule), key)
    is_binomial = variables["windowOption_"] == "6"
    if is_binomial and not halves_if_half and variables["decrease_num_"] == HALF:
        variables["decrease_num_"] = NEARLY_HALF
    first = next(iter(variables))
    return [
        Variable(name, value, f"rule = {rule}" if name == first else "")
        for name, value in variables.items()
    ]


def _of(rule: str, key: str) -> dict[str, str]:
    name, values = _parsed(rule, key)
    if name == "NewReno":
        name, values = "AIMD", [1.0, 0.5]
    if name in ("AIMD", "GAIMD"):
        return _variables(1, *values)
    if name == "Binomial":
        k, power, alpha, beta = values
    elif name == "IIAD":
        k, power, (alpha, beta) = 1.0, 0.0, values
    elif name == "SQRT":
        k, power, (alpha, beta) = 0.5, 0.5, values
    else:
        return _linear(name, values, rule, key)
    return _binomial(k, power, alpha, 1.0 - beta)


def _linear(name: str, values: list[float], rule: str, key: str) -> dict[str, str]:
    """Return the variables of a rule that either adds or multiplies, on increase and on loss."""
    if name in ("AIAD", "MIMD", "MIAD"):
        first, second = values
        increase = (0.0, first) if name[0] == "A" else (-1.0, first - 1.0)
        decrease = (1.0, second) if name[2] == "M" else (0.0, 1.0 - second)
    elif name == "Linear":
        add, factor, added_on_loss, factor_on_loss = values
        if (add and factor != 1) or (added_on_loss and factor_on_loss != 1):
            raise refused(key, rule, EXPRESSED)
        increase = (0.0, add) if factor == 1 else (-1.0, factor - 1.0)
        decrease = (0.0, 1.0 + added_on_loss) if factor_on_loss == 1 else (1.0, factor_on_loss)
    else:
        raise refused(key, rule, EXPRESSED)
    if increase[0] == 0.0 and decrease[0] == 1.0:
        return _variables(1, increase[1], decrease[1])
    return _binomial(increase[0], decrease[0], increase[1], decrease[1])


def _binomial(k: float, power: float, increase: float, decrease: float) -> dict[str, str]:
    own = {"k_parameter_": number(k), "l_parameter_": number(power)}
    option, *rest = _variables(6, increase, decrease).items()
    return dict([option, *own.items(), *rest])


def _variables(option: int, increase: float, decrease: float) -> dict[str, str]:
    return {
        "windowOption_": str(option),
        "increase_num_": number(increase),
        "decrease_num_": number(decrease),
    }


def _parsed(rule: str, key: str) -> tuple[str, list[float]]:
    """Return name and values of a rule, with the defaults of its parameters."""
    try:
        written = native.rule(rule)
    except ScenarioError:
        raise refused(key, rule, EXPRESSED) from None
    found = re.fullmatch(r"(\w+)(?:\((.*)\))?", written)
    if found is None:
        raise refused(key, rule, EXPRESSED)
    name, inside = found[1], found[2] or ""
    try:
        return name, [float(value) for value in inside.split(",") if value.strip()]
    except ValueError:
        raise refused(key, rule, EXPRESSED) from None
