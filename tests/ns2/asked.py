"""Every run of ns-2 whose output is kept: what the tests of agreement ask for."""

from __future__ import annotations

from collections.abc import Iterator

from . import laws, ns2, scenarios, statistical, today
from .reference import Run
from .statistical_scenarios import EXPERIMENTS


def everything() -> Iterator[Run]:
    for case in scenarios.everything():
        yield ns2.run_of(case.scenario, case.draw)
    for experiment in EXPERIMENTS:
        for replicate in range(statistical.REPLICATES):
            yield statistical.run_of(experiment.scenario(replicate))
    for law in laws.LAWS:
        yield today.run_of(law.side, law.network)
    for side, network, _ in laws.VEGAS:
        yield today.run_of(side, network)
    for side in laws.SHARED_SIDES:
        yield today.run_of(side, laws.SHARED)
