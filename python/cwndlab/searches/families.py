"""Families of waveforms of the residual bandwidth, with the parameters that a search varies."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cwndlab.arguments import listed
from cwndlab.errors import ScenarioError
from cwndlab.message import invalid, one_of, unknown
from cwndlab.quantities import bits_per_second, seconds

RATE, TIME, SHARE = "rate", "time", "share"
READERS: dict[str, Callable[[Any], float | None]] = {
    RATE: bits_per_second,
    TIME: seconds,
    SHARE: lambda text: _number(text),
}
WORDS = {
    RATE: "a rate such as 2Mbit",
    TIME: "a length of time such as 5s",
    SHARE: "a number between 0 and 1",
}


class Parameter(NamedTuple):
    """A parameter of a waveform, with its default bounds.

    Rates are bit/s per test flow and times seconds, both on a logarithmic scale; shares are linear.
    """

    name: str
    kind: str
    low: float
    high: float
    meaning: str


@dataclass(frozen=True)
class Family:
    """A shape with parameters.

    Examples
    --------
    >>> square = FAMILIES["square"]
    >>> values = square.values([1.0, 0.0, 0.5, 0.5])
    >>> {name: round(value, 3) for name, value in values.items()}
    {'high': 10000000.0, 'low': 100000.0, 'period': 3.162, 'duty': 0.5}
    >>> square.shape(values)["points"]
    [[0.0, 10000000.0], [1.581138830084, 100000.0]]
    """

    name: str
    meaning: str
    parameters: tuple[Parameter, ...]
    shape: Callable[[Mapping[str, float]], dict[str, Any]]
    """Makes a scenario's waveform of the parameters, rates in bit/s per test flow."""

    def values(self, position: Sequence[float] | np.ndarray) -> dict[str, float]:
        """Return the parameters at a position in the unit cube.

        A low rate never exceeds the high rate, so that every position is a waveform.
        """
        found: dict[str, float] = {}
        for parameter, at in zip(self.parameters, map(float, position), strict=True):
            most = (
                min(parameter.high, found.get("high", math.inf))
                if parameter.name == "low"
                else parameter.high
            )
            least = min(parameter.low, most)
            if parameter.kind == SHARE:
                found[parameter.name] = least + at * (most - least)
            else:
                found[parameter.name] = least * (most / least) ** at
        return found

    def bounded(self, bounds: Mapping[str, tuple[float, float]]) -> Family:
        """Return the family with other bounds of some parameters.

        Raises
        ------
        ScenarioError
            If there is no such parameter.
        """
        names = [parameter.name for parameter in self.parameters]
        for name in bounds:
            if name not in names:
                raise ScenarioError(unknown("bound", name, names))
        chosen = tuple(
            parameter._replace(low=bounds[parameter.name][0], high=bounds[parameter.name][1])
            if parameter.name in bounds
            else parameter
            for parameter in self.parameters
        )
        return Family(self.name, self.meaning, chosen, self.shape)


def _number(text: Any) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _square(given: Mapping[str, float]) -> dict[str, Any]:
    change_s = round(given["duty"] * given["period"], 12)
    points = [[0.0, given["high"]], [change_s, given["low"]]]
    return {"kind": "points", "points": points, "repeat": round(given["period"], 12)}


def _saw_tooth(given: Mapping[str, float]) -> dict[str, Any]:
    return {
        "kind": "saw-tooth",
        "low": given["low"],
        "high": given["high"],
        "period": round(given["period"], 12),
    }


def _walk(given: Mapping[str, float]) -> dict[str, Any]:
    return {
        "kind": "walk", "start": math.sqrt(given["low"] * given["high"]),
        "spread": given["spread"] * given["high"],
        "every": round(given["step"], 12), "min": given["low"], "max": given["high"],
    }  # fmt: skip


def _uniform(given: Mapping[str, float]) -> dict[str, Any]:
    return {
        "kind": "uniform",
        "low": given["low"],
        "high": given["high"],
        "every": round(given["step"], 12),
    }


_HIGH = Parameter("high", RATE, 0.5e6, 10e6, "highest residual bandwidth, per test flow")
_LOW = Parameter("low", RATE, 0.1e6, 5e6, "lowest")
_PERIOD = Parameter("period", TIME, 0.5, 20.0, "length of a period")
_STEP = Parameter("step", TIME, 0.1, 10.0, "time between changes")

FAMILIES = {
    family.name: family
    for family in (
        Family(
            "square",
            "high, then low",
            (
                _HIGH,
                _LOW,
                _PERIOD,
                Parameter("duty", SHARE, 0.1, 0.9, "share of a period at the high rate"),
            ),
            _square,
        ),
        Family(
            "saw-tooth",
            "rises from low to high over a period, then drops",
            (_HIGH, _LOW, _PERIOD),
            _saw_tooth,
        ),
        Family(
            "walk",
            "random walk between low and high",
            (
                _HIGH,
                _LOW,
                _STEP,
                Parameter("spread", SHARE, 0.02, 0.5, "largest change, in shares of high"),
            ),
            _walk,
        ),
        Family("uniform", "drawn anew from low to high", (_HIGH, _LOW, _STEP), _uniform),
    )
}
"""Families by name, with the shapes of the environments (`cwndlab.environments`)."""


def family(name: str) -> Family:
    """Find a family by its name.

    Raises
    ------
    ScenarioError
        If there is no such family.
    """
    if name not in FAMILIES:
        raise ScenarioError(unknown("family", name, FAMILIES))
    return FAMILIES[name]


def bounds_of(
    name: str, bound: Mapping[str, str | float | tuple[float, float]]
) -> dict[str, tuple[float, float]]:
    """Return bounds of a family's parameters, given as texts, numbers or pairs of numbers.

    Examples
    --------
    >>> bounds_of("square", {"period": "500ms..6s", "duty": 0.5, "low": (1e6, 2e6)})
    {'low': (1000000.0, 2000000.0), 'period': (0.5, 6.0), 'duty': (0.5, 0.5)}
    """
    pairs = {key: value for key, value in bound.items() if isinstance(value, tuple)}
    texts = [f"{key}={value}" for key, value in bound.items() if key not in pairs]
    return {**pairs, **read_bounds(name, texts)}


def read_bounds(name: str, texts: str | Sequence[str]) -> dict[str, tuple[float, float]]:
    """Read bounds such as ``high=2Mbit..8Mbit`` for a family; one value alone fixes the parameter.

    Raises
    ------
    ScenarioError
        If a text is not a bound, or names no parameter.

    Examples
    --------
    >>> read_bounds("square", ["high=2Mbit..8Mbit", "duty=0.5"])
    {'high': (2000000.0, 8000000.0), 'duty': (0.5, 0.5)}
    """
    known = {parameter.name: parameter for parameter in family(name).parameters}
    found: dict[str, tuple[float, float]] = {}
    for text in listed(texts):
        key, equals, span = (part.strip() for part in text.partition("="))
        if not equals or key not in known:
            raise ScenarioError(
                invalid("bound", text, f"NAME=LOW..HIGH, NAME being {one_of(known)}")
            )
        low_text, dots, high_text = span.partition("..")
        reader = READERS[known[key].kind]
        low, high = reader(low_text.strip()), reader((high_text if dots else low_text).strip())
        above = known[key].kind == SHARE
        if low is None or high is None or not 0 < low <= high or (above and high >= 1):
            raise ScenarioError(
                invalid(f"bound.{key}", span, f"LOW..HIGH, each {WORDS[known[key].kind]}")
            )
        found[key] = (low, high)
    return found
