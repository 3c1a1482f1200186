"""Run scenarios, one or many on threads; the native core releases the interpreter lock."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from cwndlab.arguments import MOST_JOBS, Simulated, keywords, whole
from cwndlab.columns import tables_from
from cwndlab.documents import is_mapping
from cwndlab.errors import ScenarioError
from cwndlab.files import written_whole
from cwndlab.kernel_runs import outcomes, virtual
from cwndlab.message import invalid
from cwndlab.names import KEYS
from cwndlab.results import Result
from cwndlab.runs import solo
from cwndlab.scenario import Scenario, Source

Key = TypeVar("Key")
Task = TypeVar("Task")
Done = TypeVar("Done")


def _instead() -> dict[str, str]:
    repeated = "cwndlab.sweep(scenario, axes={}, replicates=...)"
    changed = {name: f'patch={{"{key}": ...}}, or cwndlab.dumbbell' for name, key in KEYS.items()}
    return {"replicates": repeated, "jobs": repeated, "flows": "cwndlab.dumbbell", **changed}


@keywords(instead=_instead)
def run(
    scenario: Source,
    *,
    seed: int | None = None,
    profile: str | None = None,
    home: str | None = None,
    patch: Mapping[str, Any] | None = None,
    progress: Simulated | None = None,
    pcap: str | Path | None = None,
) -> Result:
    """Run one scenario, in the simulator unless `home` is set.

    Parameters
    ----------
    scenario : Scenario, mapping, str or Path
        What to run; a path or text is loaded with `Scenario.load`.
    seed : int, optional
        Seed that replaces the scenario's.
    profile : str, optional
        Profile of the TCP endpoints that replaces the scenario's.
    home : {"simulator", "linux", "linux:NAME"}, optional
        Where the run executes, instead of the scenario's home: the simulator, or TCP of a Linux
        kernel in virtual time (``cwndlab virtual-kernel build``), the default one or one by name.
    patch : mapping, optional
        Dotted keys of the scenario to set.
    progress : callable, optional
        Called with (simulated seconds, packets) about ten times a second. An exception it raises
        ends the run.
    pcap : str or Path, optional
        File to write every packet to, as pcapng.

    Returns
    -------
    Result

    Raises
    ------
    ScenarioError
        If the scenario is not valid.
    RunError
        If its traces would exceed their memory limit.
    OSError
        If a file cannot be read or written.

    Examples
    --------
    >>> from cwndlab import dumbbell
    >>> scenario = dumbbell("10Mbit", "20ms", flows="AIMD(1, 0.5)", duration="5s")
    >>> run(scenario, seed=3).trace_hash == run(scenario.with_seed(3)).trace_hash
    True
    """
    found = Scenario.of(scenario)
    given = {"profile": profile, "home": home}
    changes = {**(patch or {}), **{key: text for key, text in given.items() if text is not None}}
    if changes:
        found = found.patch(changes)
    if seed is not None:
        found = found.with_seed(seed)
    if not solo.is_asked(found.to_dict()):
        return _performed(found, progress, pcap)
    each = solo.Progress(progress)
    result = _performed(found, each, pcap)

    def perform(alone: Mapping[str, Any]) -> dict[str, Any]:
        each.next()
        return _performed(Scenario(alone), each).to_dict()

    return result.with_solo(solo.solo(found.canonical(), perform))


def _performed(
    found: Scenario, progress: Simulated | None, pcap: str | Path | None = None
) -> Result:
    """Run one scenario, of all its flows together."""
    document = found.to_dict()
    if not virtual.is_simulated(document):
        if pcap is not None:
            raise ScenarioError("`pcap` cannot be used with `home`: only the simulator writes it")
        asked = solo.together(document)
        run, columns = virtual.perform(asked, virtual.kernel_of(document), progress)
        tables = tables_from(run)
        traces = outcomes.traces(columns, tables)
        return Result(outcomes.fields(run), traces=traces, scenario=document, **tables)
    if pcap is None:
        done = found.core.run(progress)
    else:
        with written_whole(Path(pcap)) as part:
            done = found.core.run(progress, str(part))
    return Result.from_run(done, found.to_dict())


@keywords()
def run_many(
    scenarios: Iterable[tuple[Key, Source]] | Mapping[Key, Source],
    *,
    jobs: int | None = None,
    progress: Callable[[int], object] | None = None,
) -> Iterator[tuple[Key, Result]]:
    """Simulate many scenarios on threads, and yield each result as it finishes.

    Parameters
    ----------
    scenarios : iterable of (key, scenario), or mapping
        The key is returned with the result; scenarios start in order, as threads become free.
    jobs : int, optional
        Number of threads; by default one for each processor that this process may use.
    progress : callable, optional
        Called on the threads with the number of packets delivered since the last call, over all
        runs.

    Yields
    ------
    (key, Result)
        In the order of finishing. On Ctrl-C, or when the caller stops early, running simulations
        stop within a fraction of a second; the caller keeps the results yielded so far.

    Examples
    --------
    >>> from cwndlab import dumbbell
    >>> base = dumbbell("10Mbit", "20ms", flows="AIMD(1, 0.5)", duration="1s")
    >>> sorted(key for key, _ in run_many([("a", base), ("b", base.set("seed", 2))], jobs=2))
    ['a', 'b']
    """
    given: Any = scenarios
    pairs: Any = given.items() if is_mapping(given) else given
    return side_by_side(_run, _checked(pairs), threads_of(jobs), progress)


def _checked(pairs: Iterable[tuple[Key, Source]]) -> Iterator[tuple[Key, Source]]:
    for pair in pairs:
        if not isinstance(pair, tuple | list) or len(pair) != 2:  # pyright: ignore
            raise ScenarioError(
                invalid("scenarios", repr(pair), "pairs of a key, which comes back, and a scenario")
            )
        yield pair


def _run(scenario: Source, progress: Simulated) -> Result:
    return run(scenario, progress=progress)


def side_by_side(
    work: Callable[[Task, Simulated], Done],
    tasks: Iterable[tuple[Key, Task]],
    threads: int,
    packets: Callable[[int], object] | None = None,
) -> Generator[tuple[Key, Done]]:
    """Run keyed tasks on threads, and yield each outcome as it finishes.

    Parameters
    ----------
    work : callable
        Gets a task, and a function to call about ten times a second; its exception ends the task.
    tasks : iterable of (key, task)
        Started in order, on the caller's thread, as threads become free.
    threads : int
        Number of threads.
    packets : callable, optional
        Gets the number of packets delivered since it was last called; called on the threads.
    """
    stop = threading.Event()
    waiting = iter(tasks)
    finished: queue.SimpleQueue[tuple[Key, Done | None, BaseException | None]] = queue.SimpleQueue()
    pool = ThreadPoolExecutor(threads, thread_name_prefix="cwndlab")
    running = 0

    def do(key: Key, task: Task) -> None:
        try:
            finished.put((key, _stoppable(work, task, stop, packets), None))
        except BaseException as error:
            finished.put((key, None, error))

    def start_next() -> int:
        for key, task in waiting:
            pool.submit(do, key, task)
            return 1
        return 0

    try:
        for _ in range(threads):
            running += start_next()
        while running:
            key, done, error = finished.get()
            running -= 1
            if error is not None:
                raise error
            running += start_next()
            yield key, done  # type: ignore[misc]
    finally:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)


def default_jobs() -> int:
    """Return the number of processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def threads_of(jobs: int | None) -> int:
    """Return the number of threads that was asked for, by default one for each processor.

    Raises
    ------
    ScenarioError
        If it is no whole number from 1 to 1024.

    Examples
    --------
    >>> threads_of(3)
    3
    """
    return default_jobs() if jobs is None else whole("jobs", jobs, 1, MOST_JOBS)


class _Stopped(Exception):
    """Raised in a run's progress call to end it; signals reach the main thread only."""


def _stoppable(
    work: Callable[[Task, Simulated], Done],
    task: Task,
    stop: threading.Event,
    report: Callable[[int], object] | None,
) -> Done:
    if stop.is_set():
        raise _Stopped
    seen = 0

    def progress(_simulated_s: float, packets: int) -> None:
        nonlocal seen
        if stop.is_set():
            raise _Stopped
        if report is not None:
            report(packets - seen)
            seen = packets

    return work(task, progress)
