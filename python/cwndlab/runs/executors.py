"""Executors: threads of this process, or anything with the same interface.

An **executor** is a callable that takes (key, scenario) pairs and yields (key, `Outcome`) pairs as
runs finish, in any order, each key once. It takes the next pair when it has capacity. A scenario is
text (canonical JSON) and an outcome has plain values, so that both can be sent to another process
or machine, which calls `perform`. Keys are returned unchanged. Closing the iterator stops running
simulations and drops waiting ones. An executor repeats the runs of a lost worker.

A run that fails has `Outcome.error` instead of a result; executors raise only if the whole sweep
must end.
"""

from __future__ import annotations

import functools
import json
import platform
import time
from collections.abc import Callable, Generator, Hashable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from cwndlab import native
from cwndlab.arguments import Simulated
from cwndlab.columns import tables_from
from cwndlab.errors import LiveError, RunError, ScenarioError
from cwndlab.kernel_runs import outcomes, virtual
from cwndlab.runs import solo
from cwndlab.runs.execute import side_by_side, threads_of

if TYPE_CHECKING:
    import polars as pl

Key = TypeVar("Key", bound=Hashable)


class Outcome(NamedTuple):
    """The outcome of one run, as plain values."""

    result: str
    """The core's result, as one line of JSON; `Result.from_json` reads it."""
    duration_s: float
    machine: str
    version: str
    build: str
    """Fingerprint of the engine that did the run."""
    error: str = ""
    """Why there is no result; empty if there is one."""
    traces: dict[str, pl.DataFrame] | None = None
    """The traces, if the scenario has any."""
    ends: bool = False
    """Whether its rule raised `SystemExit`: no other run is to be done then."""


class Executor(Protocol):
    """An executor, as the module defines it."""

    def __call__(self, tasks: Iterable[tuple[Key, str]], /) -> Generator[tuple[Key, Outcome]]:
        """Do every run, and yield each as it finishes."""
        ...


def perform(scenario: str, progress: Simulated | None = None) -> Outcome:
    """Do one run in this thread.

    Parameters
    ----------
    scenario : str
        As JSON.
    progress : callable, optional
        Gets (simulated seconds, packets) about twenty times a second; an exception it raises ends
        the run, and is raised.

    Examples
    --------
    >>> from cwndlab import dumbbell
    >>> scenario = dumbbell("10Mbit", "20ms", flows="AIMD(1, 0.5)", duration="1s").to_json()
    >>> wrong = scenario.replace("AIMD", "AIM")
    >>> '"trace_hash"' in perform(scenario).result, perform(wrong).error[:30]
    (True, 'flows[0].rule: "AIM" is not kn')
    """
    began_s = time.perf_counter()
    result, error, traces, ends = "", "", None, False
    try:
        document: dict[str, Any] = json.loads(scenario)
        if solo.is_asked(document):
            result, traces = _with_solo(scenario, progress)
        else:
            result, traces = _performed(scenario, progress)
    except (ScenarioError, RunError, LiveError) as raised:
        # The message of a rule's exception is part of it.
        error = " ".join(str(raised).split())
        ends = isinstance(raised.__cause__, SystemExit)
    return Outcome(
        result,
        time.perf_counter() - began_s,
        machine(),
        native.version(),
        native.build(),
        error,
        traces,
        ends,
    )


def built(document: Mapping[str, Any]) -> Outcome:
    """Do a run of no length, which builds the network: about a millisecond, a second in a kernel.

    Its error says what the scenario's home cannot run.
    """
    kept = {key: value for key, value in document.items() if key not in ("measure", "trace")}
    return perform(json.dumps({**kept, "duration": 1e-6}))


def _performed(
    scenario: str, progress: Simulated | None
) -> tuple[str, dict[str, pl.DataFrame] | None]:
    """Run the flows of a scenario together: the result, one line of JSON, and the traces."""
    checked = native.Scenario(scenario, "json")
    document: dict[str, Any] = json.loads(scenario)
    if virtual.is_simulated(document):
        run = checked.run(progress)
        return run.to_json(), _traces(run)
    asked = solo.together(document)
    found, columns = virtual.perform(asked, virtual.kernel_of(document), progress)
    traces = outcomes.traces(columns, tables_from(found)) or None
    return json.dumps(found, separators=(",", ":")), traces


def _with_solo(
    scenario: str, progress: Simulated | None
) -> tuple[str, dict[str, pl.DataFrame] | None]:
    """Run the flows of a scenario together, then each group alone."""
    each = solo.Progress(progress)
    result, traces = _performed(scenario, each)

    def perform(alone: dict[str, Any]) -> dict[str, Any]:
        each.next()
        return json.loads(_performed(json.dumps(alone), each)[0])

    canonical = json.loads(native.Scenario(scenario, "json").to_json())
    found = {**json.loads(result), "solo": solo.solo(canonical, perform)}
    return json.dumps(found, separators=(",", ":")), traces


def _traces(run: native.Run) -> dict[str, pl.DataFrame] | None:
    if not run.has_traces:
        return None
    from cwndlab.columns import tables_of, traces_of

    return traces_of(run, tables_of(run))


class Threads:
    """Executor on threads of this process.

    Parameters
    ----------
    jobs : int, optional
        Number of threads; by default one per processor that this process may use.
    packets : callable, optional
        Gets the number of packets delivered since it was last called; called on the threads.
    """

    def __init__(
        self, jobs: int | None = None, packets: Callable[[int], object] | None = None
    ) -> None:
        self.jobs: int = threads_of(jobs)
        self._packets = packets

    def __call__(self, tasks: Iterable[tuple[Any, str]], /) -> Generator[tuple[Any, Outcome]]:
        """Do every run, and give each as it finishes."""
        return side_by_side(perform, tasks, self.jobs, self._packets)


@functools.cache
def machine() -> str:
    """Name this machine: host, processor, operating system."""
    processor = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        processor = next(
            line.partition(":")[2].strip() for line in lines if line.startswith("model name")
        )
    except (OSError, StopIteration):
        pass
    return f"{platform.node()} ({processor}, {platform.system()} {platform.machine()})"
