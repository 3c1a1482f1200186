"""Every run of ns-2 whose output is kept: what the tests of agreement ask for."""

from __future__ import annotations

from collections.abc import Iterator

from . import exported, modern_rules, ns2, scenarios, statistical, window_equations
from .reference import Run
from .statistical_scenarios import EXPERIMENTS


def everything() -> Iterator[Run]:
    for case in scenarios.everything():
        yield ns2.run_of(case.scenario, case.draw)
    for experiment in EXPERIMENTS:
        for replicate in range(statistical.REPLICATES):
            yield statistical.run_of(experiment.scenario(replicate))
    for name in exported.WITHOUT_CHANCE:
        yield ns2.exported(exported.example(name, duration="12s"))
    for law in window_equations.LAWS:
        yield modern_rules.run_of(law.side, law.network)
    for side, network, _ in window_equations.VEGAS:
        yield modern_rules.run_of(side, network)
    for side in window_equations.SHARED_SIDES:
        yield modern_rules.run_of(side, window_equations.SHARED)
