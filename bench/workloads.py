"""What `make bench` runs: every workload with its scenario, how it is measured and its target.

Targets are those of the issue that asked for speed; a target that is not met says so, and stays.
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, field
from pathlib import Path

from cwndlab import tomltext

SCENARIOS = Path(__file__).resolve().parent / "scenarios"


@dataclass(frozen=True)
class Target:
    """What a figure of a workload has to reach: at least, or at most."""

    figure: str
    least: float | None = None
    most: float | None = None

    def met(self, value: float) -> bool:
        """Tell whether the value reaches the target."""
        return (self.least is None or value >= self.least) and (
            self.most is None or value <= self.most
        )


@dataclass(frozen=True)
class Workload:
    """One line of the table: name, description, measurement, scenario and targets."""

    name: str
    what: str
    # The function of measures.py that runs it.
    measure: str
    targets: tuple[Target, ...] = ()
    # File of the scenarios' folder; the name where it is not given.
    base: str | None = None
    # Keys of the document that are not the file's.
    patch: dict = field(default_factory=dict)
    # Simulated time with --quick, seconds.
    quick_s: float = 5.0

    def scenario(self, quick: bool = False, base: str | None = None) -> dict:
        """Return the scenario's document."""
        document = {**read(base or self.base or self.name), **copy.deepcopy(self.patch)}
        document["name"] = self.name
        if quick:
            document["duration"] = f"{self.quick_s}s"
        return document


def read(name: str) -> dict:
    """Return the document of a file in the scenarios' folder."""
    try:
        import tomllib
    except ModuleNotFoundError:  # Python 3.10
        from cwndlab import native

        return json.loads(native.Scenario((SCENARIOS / f"{name}.toml").read_text()).to_json())
    return tomllib.loads((SCENARIOS / f"{name}.toml").read_text())


def text(document: dict) -> str:
    """Write a document as TOML, for a process of its own."""
    return tomltext.dumps(document)


def versus(name: str, what: str, least: float | None = None, **options) -> Workload:
    """Make a workload that ns-2 does as well; ``least``: how many times faster it has to be."""
    targets = () if least is None else (Target("ratio", least=least),)
    return Workload(name, what, "versus", targets, **options)


def ten_over(kind: str) -> Workload:
    """Ten flows over a discipline that ns-2 2.35 has not."""
    limited = {"kind": kind, "limit": "1200pkt"}
    if kind == "rio":
        limited |= {"min": "100pkt", "max": "300pkt"}
    bell = {**read("ten-mixed")["dumbbell"], "queue": limited}
    return Workload(
        f"ten-{kind}",
        f"10 flows, mixed round trips, {kind}",
        "alone",
        base="ten-mixed",
        patch={"dumbbell": bell},
    )


MIB = 2**20
WORKLOADS = (
    versus("ten-equal", "10 flows, equal round trips, drop-tail"),
    versus("ten-mixed", "10 flows, mixed round trips, drop-tail", 20),
    versus("thousand", "1000 flows, mixed round trips, drop-tail", 22),
    versus("ten-red", "10 flows, mixed round trips, RED", 15),
    versus("ten-red-ecn", "10 flows, mixed round trips, RED that marks", 15),
    versus("ten-drr", "10 flows, mixed round trips, DRR", 15),
    versus("thousand-red", "1000 flows, mixed round trips, RED", 18),
    versus("thousand-red-ecn", "1000 flows, mixed round trips, RED that marks", 18),
    versus("thousand-drr", "1000 flows, mixed round trips, DRR", 15),
    versus("parking-lot", "30 flows over two congested hops, drop-tail", 15),
    *(ten_over(kind) for kind in ("pie", "rio", "priority", "codel", "fq-codel")),
    Workload(
        "hundred-thousand", "100,000 flows on 10 Gbit/s", "hundred_thousand",
        (Target("ratio", least=15), Target("bytes_per_flow", most=700),
         Target("bytes_per_flow_python", most=1500)), quick_s=1.0,
    ),
    Workload("million", "1,000,000 flows on 100 Gbit/s", "million",
    (Target("peak_bytes", most=800 * MIB),), quick_s=0.2),
    Workload("arrivals", "short flows arrive on 1 Gbit/s at 80 % load", "arrivals"),
    Workload("formula", "a rule of two formulas", "formula", (Target("cost", most=1.15),),
    "ten-mixed"),
    Workload("python-rule", "a rule written in Python", "python_rule",
    (Target("cost", most=3),), "ten-mixed", {"duration": "20s"}),
    Workload(
        "dualpi2", "10 flows, mixed round trips, DualPI2 against PIE", "over_pie",
        (Target("classic_over_pie", most=1.5), Target("l4s_over_pie", most=1.5)),
        "ten-mixed", {"duration": "30s"},
    ),
    Workload("traced", "cwnd and queue recorded every 10 ms", "traced",
    (Target("cost", most=1.2),), "ten-mixed"),
    Workload(
        "sweep", "64 equal runs of 10 flows, 2 threads against 1", "sweep",
        (Target("speed_up", least=1.9),), "ten-mixed", {"duration": "40s"}, quick_s=1.0,
    ),
    Workload("gym", "an agent's environment, a step every RTT", "steps", base="gym"),
    Workload(
        "start-up", "processes that start", "start_up",
        (Target("version_s", most=0.3), Target("import_s", most=0.3)), "ten-mixed",
    ),
    Workload("peers", "10 flows, mixed round trips, in ns-2, ns-3, htsim and cwndlab", "peers",
    base="ten-mixed", patch={"duration": "30s"}),
    Workload("comparison", "the whole comparison of Akella et al. (2002)", "comparison",
    base="ten-mixed"),
)  # fmt: skip
