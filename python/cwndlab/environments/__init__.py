"""Network environments: the available bandwidths that rules are compared on, as data.

All share one 20 Mbit/s dumbbell with 10 flows of about 120 ms round trip and a buffer of one bandwidth-delay
product. A constant-bit-rate source takes what the environment does not leave available, so that the four differ
only in how the bandwidth left for the flows moves around its mean of 10 Mbit/s.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from cwndlab.errors import ScenarioError
from cwndlab.plan import Level
from cwndlab.scenario import Scenario

# No window limit may bind: rules with multiplicative increase reach thousands of packets.
UNBOUNDED_PACKETS = 1_000_000


@dataclass(frozen=True)
class Environment:
    """One named available bandwidth."""

    name: str
    summary: str
    patch: dict[str, Any]
    """Dotted keys it sets in `base()`."""


def _available(waveform: dict[str, Any]) -> dict[str, Any]:
    return {"cross": [{"name": "cross", "available": waveform}]}


_ENVIRONMENTS = (
    Environment("constant", "10 Mbit/s throughout", _available({"kind": "constant", "rate": "10Mbit"})),
    Environment(
        "square",
        "15 and 5 Mbit/s in turn, 5 s each",
        _available({"kind": "square", "high": "15Mbit", "low": "5Mbit", "every": "5s"}),
    ),
    Environment(
        "saw-tooth",
        "rises from 5 to 15 Mbit/s in 10 s, then drops",
        _available({"kind": "saw-tooth", "low": "5Mbit", "high": "15Mbit", "period": "10s"}),
    ),
    Environment(
        "walk",
        "random walk from 10 Mbit/s, steps up to 2.5 Mbit/s every 1 s, kept in 2 to 18 Mbit/s",
        _available(
            {
                "kind": "walk",
                "start": "10Mbit",
                "spread": "2.5Mbit",
                "every": "1s",
                "min": "2Mbit",
                "max": "18Mbit",
            }
        ),
    ),
)

ENVIRONMENTS: dict[str, Environment] = {environment.name: environment for environment in _ENVIRONMENTS}
"""Every environment by its name, in the order they are shown."""


def base(rule: str = "AIMD(1, 0.5)", *, flows: int = 10, duration_s: float = 100.0) -> Scenario:
    """Scenario that every environment patches.

    Parameters
    ----------
    rule : str
        Rule of all flows.
    flows : int
        Number of flows.
    duration_s : float
        Length of a run in seconds; the first fifth is left out of the measurements.

    Examples
    --------
    >>> base("AIAD(1, 3)").set("seed", 2)["measure"]
    [20.0, 100.0]
    """
    return Scenario(
        {
            "name": "environment",
            "duration": duration_s,
            "measure": [duration_s / 5, duration_s],
            "profile": "ns2-2.35",
            "dumbbell": {
                "rate": "20Mbit",
                "delay": "50ms",
                "queue": {"kind": "drop-tail", "limit": "1bdp"},
                "access_rate": "100Mbit",
                "access_delay": ["9ms", "11ms"],
            },
            "bdp": {"rate": "20Mbit", "rtt": "120ms"},
            "flows": [{"name": "flow", "count": flows, "rule": rule, "recovery": "sack", "start": ["0s", "1s"]}],
            "tcp": {"window": UNBOUNDED_PACKETS, "initial_ssthresh": UNBOUNDED_PACKETS},
        }
    )


def levels(names: Iterable[str] | None = None) -> list[Level]:
    """Turn environments into the levels of a plan's axis; all of them by default.

    Raises
    ------
    ScenarioError
        If there is no environment of that name.

    Examples
    --------
    >>> [level.label for level in levels(["constant", "walk"])]
    ['constant', 'walk']
    """
    chosen = list(ENVIRONMENTS) if names is None else list(names)
    for name in chosen:
        if name not in ENVIRONMENTS:
            raise ScenarioError(f"env: `{name}` is not an environment; allowed: {', '.join(ENVIRONMENTS)}")
    return [Level(name, ENVIRONMENTS[name].patch) for name in chosen]
