"""Runs in ns-2: an executor, and keys under which a store keeps them beside those of the core."""

from __future__ import annotations

import functools
import hashlib
import time
from collections.abc import Callable, Generator, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from cwndlab import native
from cwndlab.arguments import Simulated
from cwndlab.errors import RunError, ScenarioError
from cwndlab.ns2 import Ns2, export
from cwndlab.ns2.results import perform
from cwndlab.runs.cell_scenarios import CellScenarios
from cwndlab.runs.execute import side_by_side, threads_of
from cwndlab.runs.executors import Outcome, machine
from cwndlab.runs.plan import named
from cwndlab.scenario import Scenario

if TYPE_CHECKING:
    from cwndlab.runs.plan import Cell

SCHEME = "ns-2 run 3"
"""Version of the keys and of the reading of what scripts print."""


class Ns2Runs:
    """Executor of runs in ns-2, and maker of their keys.

    Parameters
    ----------
    program : Ns2
        The program.
    jobs : int, optional
        Runs side by side; by default one per processor that this process may use.
    packets : callable, optional
        Gets 0 several times a second while runs are going; called on threads.
    """

    def __init__(
        self,
        program: Ns2,
        jobs: int | None = None,
        packets: Callable[[int], object] | None = None,
    ) -> None:
        self.program: Ns2 = program
        self.jobs: int = threads_of(jobs)
        self._packets = packets

    @property
    def name(self) -> str:
        """ns-2 and its version."""
        return f"ns-2 {self.program.version}"

    def __call__(self, tasks: Iterable[tuple[Any, str]], /) -> Generator[tuple[Any, Outcome]]:
        """Do every run, and give each as it finishes; those still going end with the iterator."""
        work = functools.partial(_perform, self.program)
        return side_by_side(work, tasks, self.jobs, self._packets)

    def scenarios(
        self,
        cell: Cell,
        count_arrivals: str | float | None = None,
        trace: Mapping[str, Any] | None = None,
    ) -> CellScenarios:
        """Return the scenarios of a cell, with the keys of its runs in ns-2.

        Raises
        ------
        ScenarioError
            If ns-2 cannot express them.
        """
        if count_arrivals is not None or trace is not None:
            raise ScenarioError("ns-2 supports neither `count_arrivals` nor added traces")
        return _Ns2Scenarios(cell, self.name)


class _Ns2Scenarios(CellScenarios):
    """Scenarios of a cell, whose runs are known by the version of ns-2 and their script."""

    def __init__(self, cell: Cell, version: str) -> None:
        super().__init__(cell)
        self._version = version
        try:
            export(Scenario(cell.document()))
        except ScenarioError as error:
            raise type(error)(f"cell {named(cell.labels)}: {error}") from None

    def key(self, replicate: int) -> str:
        return self.key_of(self.text(replicate))

    def key_of(self, text: str) -> str:
        parts = (SCHEME, self._version, export(Scenario.from_text(text, "json")))
        return hashlib.blake2b("\0".join(parts).encode(), digest_size=16).hexdigest()


def _perform(program: Ns2, text: str, progress: Simulated | None = None) -> Outcome:
    """Do one run in this thread, as `cwndlab.runs.executors.perform` does."""
    began_s = time.perf_counter()
    result, error, traces = "", "", None
    try:
        scenario = Scenario.from_text(text, "json")
        result, traces = perform(scenario, export(scenario), program, progress)
    except (ScenarioError, RunError) as raised:
        error = " ".join(str(raised).split())
    elapsed_s = time.perf_counter() - began_s
    version = f"ns-2 {program.version}"
    return Outcome(result, elapsed_s, machine(), version, native.build(), error, traces)
