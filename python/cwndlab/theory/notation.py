"""The text form of rules, such as ``AIMD(1, 0.5)``, ``GAIMD(0.31, 0.875)`` and ``IIAD``.

The simulator has another parser; both are independent, so that their agreement is evidence. Names
ignore case. If all parameters have defaults, the parentheses may be omitted.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from cwndlab.message import invalid, plural, unknown
from cwndlab.theory.bimodal import Bimodal
from cwndlab.theory.multirate import MultiRate
from cwndlab.theory.rules import Binomial, Linear, Rule

HUGE = 1e6


@dataclass(frozen=True)
class Parameter:
    """One number between the parentheses."""

    name: str
    expected: str
    accepts: Callable[[float], bool]
    default: float | None = None

    def or_default(self, value: float) -> Parameter:
        """Return the same parameter with a default."""
        return Parameter(self.name, self.expected, self.accepts, value)


@dataclass(frozen=True)
class Family:
    """A family of rules: name, parameters, and constructor."""

    name: str
    example: str
    parameters: tuple[Parameter, ...]
    build: Callable[[list[float], str], Rule]
    needed: int = 0
    """Number of parameters required inside parentheses; 0 means all."""


def _above_zero(name: str) -> Parameter:
    return Parameter(name, "above 0, at most 1e6", lambda x: 0 < x <= HUGE)


def _from_zero(name: str) -> Parameter:
    return Parameter(name, "from 0 to 1e6", lambda x: 0 <= x <= HUGE)


def _between(name: str) -> Parameter:
    return Parameter(name, "between 0 and 1, both excluded", lambda x: 0 < x < 1)


ADD, SUBTRACT, FACTOR = _above_zero("a"), _above_zero("d"), _between("b")
TIMES = Parameter("m", "above 1, at most 1e6", lambda x: 1 < x <= HUGE)
ALPHA, BETA = _above_zero("alpha"), _above_zero("beta")
K = Parameter("k", "from 0 to 10", lambda x: 0 <= x <= 10)
L = Parameter("l", "from 0 to 1", lambda x: 0 <= x <= 1)
# The constants of chandrayana2002 are not in the paper; 1 and 0.5 are AIMD's.
ONE, HALF = ALPHA.or_default(1.0), BETA.or_default(0.5)


def _linear(values: list[float], text: str) -> Rule:
    ai, bi, ad, bd = values
    if ai == 0 and bi == 1:
        raise ValueError(f'rule "{text}" never grows: expected ai above 0 or bi above 1')
    if ad == 0 and bd == 1:
        raise ValueError(f'rule "{text}" never shrinks: expected ad below 0 or bd below 1')
    return Linear(ai, bi, ad, bd, text)


def _binomial(values: list[float], text: str) -> Rule:
    if values[1] == 1 and values[3] >= 1:
        raise ValueError(
            invalid(f'rule "{text}": beta', values[3], "a number below 1 where l is 1")
        )
    return Binomial(*values, text=text)


FAMILIES = (
    Family("AIMD", "AIMD(1, 0.5)", (ADD.or_default(1), FACTOR.or_default(0.5)),
           lambda v, text: Linear(v[0], 1, 0, v[1], text)),
    Family("AIAD", "AIAD(1, 3)", (ADD, SUBTRACT), lambda v, text: Linear(v[0], 1, -v[1], 1, text)),
    Family("MIMD", "MIMD(1.125, 0.8)", (TIMES, FACTOR), lambda v,
    text: Linear(0, v[0], 0, v[1], text)),
    Family("MIAD", "MIAD(1.125, 3)", (TIMES, SUBTRACT), lambda v,
    text: Linear(0, v[0], -v[1], 1, text)),
    Family("AIMAD", "AIMAD(1, 1, 0.9)",
           (ADD.or_default(1), SUBTRACT.or_default(1), FACTOR.or_default(0.9)),
           lambda v, text: Linear(v[0], 1, -v[1], v[2], text)),
    Family("MAIMD", "MAIMD(1, 1.1, 0.8)",
           (ADD.or_default(1), TIMES.or_default(1.1), FACTOR.or_default(0.8)),
           lambda v, text: Linear(v[0], v[1], 0, v[2], text)),
    Family("Linear", "Linear(1, 1, -1, 0.9)",
           (Parameter("ai", "from 0 to 1e6", lambda x: 0 <= x <= HUGE),
            Parameter("bi", "from 1 to 1e6", lambda x: 1 <= x <= HUGE),
            Parameter("ad", "from -1e6 to 0", lambda x: -HUGE <= x <= 0),
            Parameter("bd", "above 0, at most 1", lambda x: 0 < x <= 1)), _linear),
    Family("GAIMD", "GAIMD(0.31, 0.875)", (ALPHA, _between("beta")), lambda v,
    text: Linear(v[0], 1, 0, v[1], text)),
    Family("Binomial", "Binomial(1, 0, 1, 0.5)", (K, L, ONE, HALF), _binomial, 2),
    Family("IIAD", "IIAD(1, 0.5)", (ONE, HALF), lambda v, text: Binomial(1, 0, *v, text=text)),
    Family("SQRT", "SQRT(1, 0.5)", (ONE, HALF), lambda v, text: Binomial(0.5, 0.5, *v, text=text)),
    Family("Bimodal", "Bimodal(1, 0.5, 0.125)",
           (ALPHA.or_default(1), _between("beta").or_default(0.5),
           _between("epsilon").or_default(0.125)),
           lambda v, text: Bimodal(v[0], v[1], v[2], text=text)),
    Family("MRAIMD", "MRAIMD(1, 0.5, 0.005, 0.5)",
           (_above_zero("a0").or_default(1), _from_zero("a'").or_default(0.5),
            _from_zero("a'_ecn").or_default(0.005),
            _between("b").or_default(0.5)),
           lambda v, text: MultiRate(*v, text=text)),
)  # fmt: skip


def parse(text: str) -> Rule:
    """Read a rule.

    Parameters
    ----------
    text : str
        Such as ``"AIMD(1, 0.5)"``.

    Returns
    -------
    Linear, Binomial, Bimodal or MultiRate
        Its `text` is the canonical notation, with all parameters.

    Raises
    ------
    ValueError
        If the text is not a rule; the message names the rule, the parameter and what is expected.

    Examples
    --------
    >>> parse("aimad").text, parse("GAIMD(0.31,0.875)").gaimd, parse("IIAD").k
    ('AIMAD(1, 1, 0.9)', (0.31, 0.875), 1)
    >>> parse("AIMD(1, 2)")
    Traceback (most recent call last):
        ...
    ValueError: rule "AIMD(1, 2)": b: 2 is not valid: expected a number between 0 and 1, both
    excluded
    """
    text = text.strip()
    name, opened, inside = text.partition("(")
    if opened and not inside.endswith(")"):
        raise ValueError(
            f'rule "{text}" has no closing parenthesis: expected a rule such as AIMD(1, 0.5)'
        )
    family = _family(name.strip())
    given = _numbers(text, inside[:-1]) if opened else []
    if len(given) > len(family.parameters) or (
        opened and len(given) < (family.needed or len(family.parameters))
    ):
        raise ValueError(_wrong_count(text, family, len(given)))
    rest = [parameter.default for parameter in family.parameters[len(given) :]]
    values = given + [default for default in rest if default is not None]
    if len(values) < len(family.parameters):
        raise ValueError(_wrong_count(text, family, len(given)))
    for parameter, value in zip(family.parameters, values, strict=True):
        if not (math.isfinite(value) and parameter.accepts(value)):
            key = f'rule "{text}": {parameter.name}'
            raise ValueError(invalid(key, value, f"a number {parameter.expected}"))
    return family.build(values, f"{family.name}({', '.join(_short(value) for value in values)})")


def parse_linear(text: str) -> Linear:
    """Read a linear rule, as `parse`; any other rule is refused.

    Examples
    --------
    >>> parse_linear("AIMD(1, 0.5)").bd
    0.5
    >>> parse_linear("SQRT")
    Traceback (most recent call last):
        ...
    ValueError: rule: "SQRT" is not valid: expected a linear rule, such as AIMD(1, 0.5)
    """
    rule = parse(text)
    if not isinstance(rule, Linear):
        raise ValueError(invalid("rule", text, "a linear rule, such as AIMD(1, 0.5)"))
    return rule


def as_rule(rule: Rule | str) -> Rule:
    """Return a rule unchanged, and parse a text."""
    return parse(rule) if isinstance(rule, str) else rule


def _short(value: float) -> str:
    return str(int(value)) if value == int(value) else repr(value)


def _family(name: str) -> Family:
    for family in FAMILIES:
        if family.name.lower() == name.lower():
            return family
    lowered = {family.name.lower(): family.name for family in FAMILIES}
    raise ValueError(unknown("rule", name, lowered.values()))


def _numbers(text: str, inside: str) -> list[float]:
    numbers: list[float] = []
    for part in inside.split(",") if inside.strip() else []:
        try:
            numbers.append(float(part))
        except ValueError:
            raise ValueError(invalid(f'rule "{text}"', part.strip(), "a number")) from None
    return numbers


def _wrong_count(text: str, family: Family, count: int) -> str:
    names = ", ".join(parameter.name for parameter in family.parameters)
    needed = plural(len(family.parameters), "parameter")
    return f'rule "{text}" takes {needed} ({names}), got {count}: for example {family.example}'
