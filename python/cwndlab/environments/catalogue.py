"""Catalogue of the environments: residual bandwidth over time, as data.

Rates are per test flow, in bit/s, and `network` turns them into a link, cross traffic and flows.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cwndlab import native
from cwndlab.arguments import listed
from cwndlab.environments.assumptions import Assumptions
from cwndlab.errors import ScenarioError
from cwndlab.message import invalid, same_name, unknown
from cwndlab.names import HOMES, TRACE, is_home

MBIT = 1e6
DRAWN = "drawn"
"""Kind of the waveforms that are drawn here from the seed, and become points of a scenario."""


@dataclass(frozen=True)
class Environment:
    """A named residual bandwidth."""

    name: str
    title: str
    """Its name in the paper, or a description."""
    summary: str
    """Residual bandwidth per test flow, in words."""
    capacity: str = ""
    """Name of the assumption that sets the link's rate; of no use if it has a rate of its own."""
    shape: dict[str, Any] = field(default_factory=dict[str, Any])
    """Waveform per test flow, rates in bit/s; empty if arriving flows are the cross traffic."""
    gaps: tuple[str, ...] = ()
    """Names of the assumptions that set the gaps between arrivals, in order.

    Empty without arriving flows.
    """
    home: str | None = None
    """Where its flows run, if its name says so."""

    @property
    def label(self) -> str:
        """Its name, with its home."""
        return self.name if self.home is None else f"{self.name} at {self.home}"

    @property
    def is_drawn(self) -> bool:
        """Whether its scenario depends on the seed; others draw their waveform at run time."""
        return self.shape.get("kind") == DRAWN

    @property
    def is_link(self) -> bool:
        """Whether its waveform is the rate of the link, which the test flows have to themselves."""
        return self.shape.get("kind") in ("trace", "cellular")

    @property
    def topology(self) -> str:
        """``simple`` (one bottleneck and CBR sources) or ``second`` (arriving flows)."""
        return "second" if self.gaps else "simple"

    def capacity_bps(self, chosen: Assumptions) -> float:
        """Rate of its link, bit/s; the mean of a link whose rate varies."""
        if self.shape.get("kind") == "trace":
            return mean_bps(self.shape["file"])
        if self.is_link:
            return self.shape["mean"] * chosen.flows
        return chosen.bps(self.capacity) * (1 if self.gaps else chosen.flows)


def _walk(start: float, spread: float) -> dict[str, Any]:
    return {"kind": "walk", "start": start, "spread": spread}


def _constrained(start: float, factor: float, add: float) -> dict[str, Any]:
    """Next rate uniform on [0, factor * rate + add].

    Scenarios have no such waveform, so `network` draws it.
    """
    return {"kind": DRAWN, "start": start, "factor": factor, "add": add}


def _uniform(high: float) -> dict[str, Any]:
    return {"kind": "uniform", "low": 0.0, "high": high}


def _square(high: float, low: float) -> dict[str, Any]:
    return {"kind": "square", "high": high, "low": low, "every": "5s"}


_DEMO = (
    Environment("constant", "constant", "1 Mb/s", "demo_share", {"kind": "constant", "rate": MBIT}),
    Environment(
        "square",
        "square wave",
        "1.5 and 0.5 Mb/s in turn, 5 s each",
        "demo_share",
        _square(1.5 * MBIT, 0.5 * MBIT),
    ),
    Environment(
        "saw-tooth",
        "saw-tooth",
        "rises from 0.5 to 1.5 Mb/s in 10 s, then drops",
        "demo_share",
        {"kind": "saw-tooth", "low": 0.5 * MBIT, "high": 1.5 * MBIT, "period": "10s"},
    ),
    Environment(
        "walk",
        "random walk",
        "from 1 Mb/s, steps up to 0.25 Mb/s, kept in 0.2 to 1.8 Mb/s",
        "demo_share",
        {**_walk(MBIT, 0.25 * MBIT), "min": 0.2 * MBIT, "max": 1.8 * MBIT},
    ),
)
_PAPER = (
    Environment("CL", "cons-low", "1 Mb/s", "low_share", {"kind": "constant", "rate": MBIT}),
    Environment(
        "CH", "cons-high", "10 Mb/s", "high_share", {"kind": "constant", "rate": 10 * MBIT}
    ),
    Environment(
        "SQL",
        "sq-low",
        "10 and 5 Mb/s in turn, 5 s each",
        "high_share",
        _square(10 * MBIT, 5 * MBIT),
    ),
    Environment(
        "SQH", "sq-high", "10 and 1 Mb/s in turn, 5 s each", "high_share", _square(10 * MBIT, MBIT)
    ),
    Environment(
        "RWL",
        "rw-low",
        "walk from B0 = 1 Mb/s: B + U[-0.5, 0.5] B0",
        "low_share",
        _walk(MBIT, 0.5 * MBIT),
    ),
    Environment(
        "RWH",
        "rw-high",
        "walk from B0 = 10 Mb/s: B + U[-0.5, 0.5] B0",
        "high_share",
        _walk(10 * MBIT, 5 * MBIT),
    ),
    Environment("RDL", "rd-low", "U[0, 1] Mb/s", "low_share", _uniform(MBIT)),
    Environment("RDH", "rd-high", "U[0, 10] Mb/s", "high_share", _uniform(10 * MBIT)),
    Environment(
        "RWA",
        "rw-additive",
        "from 1 Mb/s: U[0, B + 0.25] Mb/s",
        "low_share",
        _constrained(MBIT, 1.0, 0.25 * MBIT),
    ),
    Environment(
        "RWM",
        "rw-multiplicative",
        "from 1 Mb/s: U[0, 5/3 B]",
        "low_share",
        _constrained(MBIT, 5 / 3, 0.0),
    ),
    Environment(
        "RCL",
        "real-cons-low",
        "residual of flows that arrive every 0.03 s",
        "cross_link_rate",
        gaps=("low_gap",),
    ),
    Environment(
        "RCH",
        "real-cons-high",
        "residual of flows that arrive every 0.01 s",
        "cross_link_rate",
        gaps=("high_gap",),
    ),
    Environment(
        "RSQ",
        "real-sq",
        "residual of flows that arrive every 0.03 and 0.01 s in turn, 5 s each",
        "cross_link_rate",
        gaps=("low_gap", "high_gap"),
    ),
)

_LINKS = (
    Environment(
        "cellular",
        "synthetic cellular link",
        "the link's own rate, with a mean of 1 Mb/s per test flow",
        shape={"kind": "cellular", "mean": MBIT},
    ),
)

DEMO = tuple(environment.name for environment in _DEMO)
"""The four of the demo, around 1 Mb/s a flow on a link twice as fast."""
PAPER = tuple(environment.name for environment in _PAPER)
"""The thirteen of Akella et al. (2002), table 2."""
ENVIRONMENTS = {environment.name: environment for environment in (*_DEMO, *_PAPER, *_LINKS)}
"""Every environment by its name, in the order they are shown."""
GROUPS = {"all": PAPER, "demo": DEMO}
"""Names of groups of environments."""


def environment(name: str) -> Environment:
    """Find an environment by its name, whatever the case; ``trace:FILE`` is a recorded link.

    ``NAME at HOME`` is the same environment with its flows in that home.

    Raises
    ------
    ScenarioError
        If there is no such environment. The file is read later.

    Examples
    --------
    >>> environment("SQH").summary
    '10 and 1 Mb/s in turn, 5 s each'
    >>> environment("sqh at linux").label
    'SQH at linux'
    """
    place, home = split_home(name)
    if home is not None:
        return replace(environment(place), home=home)
    if name.startswith(TRACE):
        return _recorded(name)
    found = ENVIRONMENTS.get(same_name(name, ENVIRONMENTS))
    if found is None:
        raise ScenarioError(unknown("env", name, [*GROUPS, *ENVIRONMENTS, f"{TRACE}FILE"]))
    return found


def split_home(name: str) -> tuple[str, str | None]:
    """Split the name of an environment from its home.

    Examples
    --------
    >>> split_home("SQH at linux:patched"), split_home("SQH")
    (('SQH', 'linux:patched'), ('SQH', None))
    """
    place, at, home = name.rpartition(" at ")
    return (place, home) if at and is_home(home) else (name, None)


def at_homes(chosen: Sequence[str], homes: Sequence[str]) -> list[str]:
    """Return names of environments at every home; without several homes, as they are.

    Raises
    ------
    ScenarioError
        If a home is not known, or the name of an environment has one already.

    Examples
    --------
    >>> at_homes(["CL"], ["simulator", "linux"]), at_homes(["CL"], ["linux"])
    (['CL at simulator', 'CL at linux'], ['CL'])
    """
    for home in homes:
        if not is_home(home):
            raise ScenarioError(invalid("home", home, HOMES))
    for name in chosen if homes else ():
        if split_home(name)[1] is not None:
            raise ScenarioError(f"env: `{name}` has a home already: leave out `home`")
    if len(homes) < 2:
        return list(chosen)
    return [f"{name} at {home}" for name in chosen for home in homes]


def _recorded(name: str) -> Environment:
    """Return the environment of a trace, which starts at random in each replicate."""
    file = str(Path(name.removeprefix(TRACE)).resolve())
    shape = {"kind": "trace", "file": file, "start": "random"}
    return Environment(name, "recorded link", "the link's own rate", shape=shape)


def mean_bps(file: str) -> float:
    """Return the mean rate of a file in mahimahi's format, bit/s.

    Raises
    ------
    ScenarioError
        If the file cannot be read or is not valid.
    """
    document = {
        "duration": "1s",
        "dumbbell": {"rate": {"kind": "trace", "file": file}, "delay": "1ms"},
        "flows": [{"rule": "AIMD(1, 0.5)"}],
    }
    try:
        return float(native.Scenario(json.dumps(document), "json").bottleneck_bps() or 0)
    except ScenarioError as error:
        raise ScenarioError(str(error).replace("dumbbell.rate.file", "env")) from None


def names(chosen: str | Iterable[str]) -> list[str]:
    """Return names of environments, groups expanded, each once.

    Raises
    ------
    ScenarioError
        If there is no environment or group of that name.

    Examples
    --------
    >>> len(names("all")), names(["CL", "demo", "CL"])
    (13, ['CL', 'constant', 'square', 'saw-tooth', 'walk'])
    """
    found: dict[str, None] = {}
    for given in listed(chosen):
        if not isinstance(given, str):
            raise ScenarioError(invalid("env", given, "names of environments"))
        place, home = split_home(given)
        for name in GROUPS.get(same_name(place, GROUPS), (place,)):
            found[replace(environment(name), home=home).label] = None
    return list(found)
