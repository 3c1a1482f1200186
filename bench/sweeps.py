"""What a sweep adds to its runs: many short ones alone, and as a sweep with a store.

``python bench/sweeps.py`` prints time a run of either, their difference, and the memory of the
process on the way. CPU time is that of all threads; it is what the difference is judged by, because
a busy machine spoils the other.

``python bench/sweeps.py --cells 1000000`` does a sweep of so many cells (or the next lower cube)
with an executor that answers without simulating, and prints when the first run was begun, and the
memory of the process at its highest.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from cwndlab import Sweep
from cwndlab.runs import execute, executors
from cwndlab.runs.store import Store, canonical

BASE = {
    "duration": "500ms",
    "dumbbell": {"rate": "1Mbit", "delay": "5ms"},
    "flows": [{"name": "flow", "rule": "AIMD(1, 0.5)"}],
}
MOST_CPU_MS = 1.0
"""What a sweep may add to a run."""
MOST_STORE_CPU_MS = 0.3
"""What the store may add to a run of a sweep."""
RULES = ("AIMD(1, 0.5)", "AIAD(1, 3)", "MIMD(1.125, 0.8)", "MIAD(1.125, 3)")


class Cost(NamedTuple):
    """Time a run."""

    wall_ms: float
    cpu_ms: float


class Measured(NamedTuple):
    """What was found."""

    alone: Cost
    unstored: Cost
    """As a sweep without a store."""
    sweep: Cost
    put: Cost
    """Nothing but claims of these runs, and what is put into a store."""
    again: Cost
    """The same sweep once more, when the store has every run."""
    memory: list[tuple[int, float]]
    """Runs done, and MiB that the process then had resident."""

    @property
    def overhead_cpu_ms(self) -> float:
        """CPU time a run that store and scheduling take."""
        return self.sweep.cpu_ms - self.alone.cpu_ms


def measure(runs: int, jobs: int) -> Measured:
    """Do `runs` runs alone, then as a sweep, then find them in the store."""
    axes = {"rule": RULES}
    sweep = Sweep(
        name="short", base=BASE, axes={"rule": list(RULES)}, replicates=runs // len(RULES)
    )
    texts = [
        canonical(run.document)
        for run in Sweep(base=BASE, axes={"rule": list(axes["rule"])}, replicates=1).plan
    ]

    def alone() -> None:
        for _ in executors.Threads(jobs)(
            (index, texts[index % len(texts)]) for index in range(runs)
        ):
            pass

    memory: list[tuple[int, float]] = []

    def look(event: dict[str, Any]) -> None:
        if event["event"] == "run" and event["done"] % (runs // 10) == 0:
            memory.append((event["done"], _resident_mib()))

    # Once, so that what is imported on first use is not counted.
    executors.perform(texts[0])
    with tempfile.TemporaryDirectory() as folder:
        Sweep(base=BASE, replicates=2).run(f"{folder}/first")
        return Measured(
            _cost(alone, runs),
            _cost(lambda: sweep.run(jobs=jobs), runs),
            _cost(lambda: sweep.run(f"{folder}/store", jobs=jobs, progress=look), runs),
            _put_again(f"{folder}/store", f"{folder}/put"),
            _cost(lambda: sweep.run(f"{folder}/store", jobs=jobs), runs),
            memory,
        )


def _put_again(of: str, into: str) -> Cost:
    """Claim and put the runs of one store into another."""
    with Store(of) as store:
        runs = list(zip(store.records(), store.uses(), strict=True))

    def put() -> None:
        with Store(into) as store:
            for record, use in runs:
                store.claim(record.key)
                assert record.key not in store
                store.put(record, use)
                store.give_back(record.key)

    return _cost(put, len(runs))


class Many(NamedTuple):
    """What a sweep of many cells took that simulates nothing."""

    cells: int
    begun_s: float
    """From the call to the first run."""
    cost: Cost
    before_mib: float
    peak_mib: float


def measure_many(cells: int) -> Many:
    """Do a sweep of about `cells` cells, of one run each, whose runs all have the same answer."""
    side = round(cells ** (1 / 3))
    axes = {
        "dumbbell.rate": [f"{number}Mbit" for number in range(1, side + 1)],
        "dumbbell.delay": [f"{number}ms" for number in range(1, side + 1)],
        "flows.0.count": list(range(1, side + 1)),
    }
    sweep = Sweep(name="many", base=BASE, axes=axes, replicates=1)
    answer = executors.perform(canonical(BASE))
    begun: list[float] = []

    def answers(tasks: Iterable[tuple[Any, str]]) -> Iterator[tuple[Any, executors.Outcome]]:
        for place, _ in tasks:
            if not begun:
                begun.append(time.perf_counter())
            yield place, answer

    before_mib, began_s = _peak_mib(), time.perf_counter()
    cost = _cost(lambda: sweep.run(executor=answers, progress=lambda _event: None), side**3)
    return Many(side**3, begun[0] - began_s, cost, before_mib, _peak_mib())


def _cost(what: Any, runs: int) -> Cost:
    wall_s, cpu_s = time.perf_counter(), time.process_time()
    what()
    return Cost(
        (time.perf_counter() - wall_s) / runs * 1e3, (time.process_time() - cpu_s) / runs * 1e3
    )


def _resident_mib() -> float:
    try:
        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 (as cheap as can be)
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    except OSError:
        # The highest so far, where there is nothing better.
        return _peak_mib()


def _peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2 ** (
        10 if sys.platform == "linux" else 20
    )


def main() -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=execute.default_jobs())
    parser.add_argument(
        "--cells",
        type=int,
        metavar="N",
        help="do a sweep of N cells that simulates nothing, instead",
    )
    given = parser.parse_args()
    if given.cells:
        many = measure_many(given.cells)
        print(f"{many.cells} cells: the first run was begun after {many.begun_s:.2f} s")
        print(f"{many.cost.cpu_ms:.3f} ms of CPU time a run")
        print(f"memory: {many.before_mib:.0f} MiB before, {many.peak_mib:.0f} MiB at most")
        return
    found = measure(given.runs, given.jobs)
    for name in ("alone", "unstored", "sweep", "put", "again"):
        cost = getattr(found, name)
        print(f"{name:8} {cost.wall_ms:7.3f} ms a run, {cost.cpu_ms:7.3f} ms of CPU time")
    for what, cpu_ms, most_ms in (
        ("store and scheduling", found.overhead_cpu_ms, MOST_CPU_MS),
        (
            "store, beside threads that simulate",
            found.sweep.cpu_ms - found.unstored.cpu_ms,
            MOST_STORE_CPU_MS,
        ),
        ("store alone", found.put.cpu_ms, MOST_STORE_CPU_MS),
        ("found in the store", found.again.cpu_ms, MOST_CPU_MS),
    ):
        verdict = "met" if cpu_ms < most_ms else "NOT MET"
        print(f"{what}: {cpu_ms:.3f} ms of CPU time a run; at most {most_ms:g} ms: {verdict}")
    print(f"{given.runs} runs, {given.jobs} threads")
    print("memory: " + ", ".join(f"{mib:.1f} MiB after {done}" for done, mib in found.memory))


if __name__ == "__main__":
    main()
