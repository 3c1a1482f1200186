"""Executes runs of a plan: finished ones are read from the store, the others done and stored."""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from cwndlab import native
from cwndlab.errors import RunError, ScenarioError
from cwndlab.runs import cluster
from cwndlab.runs.cell_scenarios import CellScenarios
from cwndlab.runs.executors import Executor, Outcome, Threads
from cwndlab.runs.signals import uninterrupted
from cwndlab.runs.store import Record, Store, Use

if TYPE_CHECKING:
    from distributed import Client

WAIT_S = 0.2
"""Interval of checks whether another process has finished a run, seconds."""
BATCH_S, BATCH_MOST = 0.1, 100_000
"""Limits of a batch of prepared runs: seconds and count."""

Traces = dict[str, Any]
"""Frames by name."""


class Place(NamedTuple):
    """Cell, replicate and key of a run; executors take it as the run's key."""

    cell: int
    replicate: int
    key: str
    """Empty if the run cannot be stored."""


class Finished(NamedTuple):
    """A finished run, as a listener gets it."""

    run: dict[str, Any]
    """The result, as `Result.to_dict` gives it."""
    result: str
    """The result, one line of JSON."""
    scenario: str
    """Canonical scenario, one line of JSON."""
    duration_s: float
    traces: Traces | None
    is_stored: bool
    """Whether it was in the store; then it has only traces that are needed."""


class Listener(Protocol):
    """Gets the runs of an execution, in the order of finishing."""

    def finished(self, place: Place, found: Finished) -> None:
        """Take a finished run, which is stored if there is a store."""

    def failed(self, place: Place, error: str) -> None:
        """Take the error with which a run ended."""

    def tick(self) -> None:
        """Report progress, if it is time."""

    def round(self, number: int, cells: int, runs: int) -> None:
        """Take note that more replicates of some cells follow."""

    def settled(self, cell: int, replicates: int) -> None:
        """Take note that no more replicates of a cell follow."""


class Execution:
    """Executes runs by cell and replicate.

    Parameters
    ----------
    scenarios : callable
        Number of a cell to its scenarios.
    listener : Listener
        Gets the runs.
    executor : Executor
        Does them.
    store : Store, optional
        Keeps them.
    use : callable, optional
        Makes the entry of a run's place in the store; without it a run has none.
    again : bool
        Do runs again that are in the store.
    traces : callable, optional
        Outcome and scenario to the traces that the store keeps.
    needed : sequence of str
        Names of traces that a finished run must have: one that the store has without them is done
        again.
    """

    def __init__(
        self,
        scenarios: Callable[[int], CellScenarios],
        listener: Listener,
        executor: Executor,
        store: Store | None = None,
        *,
        use: Callable[[Place], Use] | None = None,
        again: bool = False,
        traces: Callable[[Outcome, str], Traces] | None = None,
        needed: Sequence[str] = (),
    ) -> None:
        # Runs come cell by cell.
        self._scenarios = functools.lru_cache(maxsize=1)(scenarios)
        self._listener, self._executor = listener, executor
        self._store, self._use, self._again, self._traces = store, use, again, traces
        self._needed = set(needed)
        self._claimed: set[str] = set()
        self._reading_s = 0.0
        self.unkept: int = 0
        """Runs that could not be stored: their source is not known, or changed meanwhile."""

    def rounds(
        self,
        cells: int,
        first: int,
        most: int = 0,
        needed: Callable[[int, int], int | None] | None = None,
    ) -> None:
        """Do replicates of every cell: `first` of each, then more where they are needed.

        Parameters
        ----------
        cells : int
            Number of cells.
        first : int
            Replicates of each in the first round.
        most : int
            Largest number of replicates of a cell.
        needed : callable, optional
            Cell and number of its replicates to the number that it needs, None if these are enough.
        """
        self.do((cell, range(first)) for cell in range(cells))
        if needed is None:
            return
        number = 1
        looked_at: Iterable[tuple[int, int]] = ((cell, first) for cell in range(cells))
        while True:
            more: dict[int, range] = {}
            for cell, done in looked_at:
                wanted = needed(cell, done)
                if wanted is not None and done < most:
                    more[cell] = range(done, min(wanted, most))
                else:
                    self._listener.settled(cell, done)
            if not more:
                return
            number += 1
            self._listener.round(number, len(more), sum(map(len, more.values())))
            self.do(more.items())
            looked_at = [(cell, replicates.stop) for cell, replicates in more.items()]

    def do(self, wanted: Iterable[tuple[int, range]]) -> None:
        """Do some replicates of some cells."""
        todo: Iterable[Place] = self._places(wanted)
        while True:
            waiting: list[Place] = []
            late: list[Place] = []
            with closing(self._executor(self._tasks(todo, waiting, late))) as finished:
                for place, outcome in finished:
                    self._finished(place, outcome)
            # Runs that others had claimed: finished by now, or abandoned and ours, or still
            # running.
            self._found(late)
            if not waiting:
                return
            todo = waiting if self._again else self._found(waiting)
            if not todo:
                return
            self._listener.tick()
            time.sleep(WAIT_S)

    def let_go(self) -> None:
        """Release the remaining claims."""
        while self._claimed and self._store is not None:
            self._store.give_back(self._claimed.pop())

    def _places(self, wanted: Iterable[tuple[int, range]]) -> Iterator[Place]:
        """Yield the places of some replicates of some cells, with their keys."""
        for cell, replicates in wanted:
            texts = self._scenarios(cell)
            for replicate in replicates:
                yield Place(cell, replicate, texts.key(replicate))

    def _tasks(
        self, places: Iterable[Place], waiting: list[Place], late: list[Place]
    ) -> Iterator[tuple[Place, str]]:
        """Yield the runs to do, each claimed.

        Runs that others have claimed or finished are set aside.

        Runs are prepared on demand: a sweep of millions starts at once, with few in memory.
        """
        for batch in self._batches(places):
            self._listener.tick()
            for place in batch if self._again else self._found(batch):
                if self._store is not None and place.key:
                    if not self._store.claim(place.key):
                        waiting.append(place)
                        continue
                    self._claimed.add(place.key)
                    # Another process may have finished it between the last check and the claim.
                    if not self._again and self._is_kept(place.key):
                        self._give_back(place)
                        late.append(place)
                        continue
                yield place, self._scenarios(place.cell).text(place.replicate)

    def _batches(self, places: Iterable[Place]) -> Iterator[list[Place]]:
        """Divide runs into batches; the store is read once per batch.

        Preparing a batch takes as long as the last reading of the store, so that reading a large
        store takes at most half of the time.
        """
        batch: list[Place] = []
        began_s = time.monotonic()
        for place in places:
            batch.append(place)
            if len(batch) >= BATCH_MOST or time.monotonic() - began_s >= max(
                BATCH_S, self._reading_s
            ):
                yield batch
                batch, began_s = [], time.monotonic()
        yield batch

    def _finished(self, place: Place, outcome: Outcome) -> None:
        if outcome.error:
            self._give_back(place)
            if outcome.ends:
                raise RunError(outcome.error)
            self._listener.failed(place, outcome.error)
            return
        if outcome.build != native.build():
            raise RunError(
                f"worker: {outcome.machine} has build {outcome.build} of the engine: expected "
                f"{native.build()}, as here"
            )
        text = self._scenarios(place.cell).text(place.replicate)
        run: dict[str, Any] = json.loads(outcome.result)
        with uninterrupted():  # What is kept is what is counted.
            if self._store is not None:
                self._keep(self._store, place, outcome, text, run)
            self._listener.finished(
                place,
                Finished(run, outcome.result, text, outcome.duration_s, outcome.traces, False),
            )
        self._give_back(place)

    def _keep(
        self, store: Store, place: Place, outcome: Outcome, text: str, run: dict[str, Any]
    ) -> None:
        texts = self._scenarios(place.cell)
        # A rule's file was edited during the sweep: the result may belong to either version.
        if not place.key or (texts.has_outside and texts.key_of(text) != place.key):
            self.unkept += 1
            return
        traces = ""
        if outcome.traces and self._traces is not None:
            traces = store.put_traces(place.key, self._traces(outcome, text))
        use = None if self._use is None else self._use(place)
        store.put(Record.of(place.key, text, outcome, run, traces), use)

    def _found(self, places: list[Place]) -> list[Place]:
        """Pass on the runs that the store has; return the others."""
        if self._store is None:
            return places
        wanted: dict[str, list[Place]] = {}
        for place in places:
            wanted.setdefault(place.key, []).append(place)
        unkept = wanted.pop("", [])
        began_s = time.monotonic()
        for record in self._store.records(wanted) if wanted else ():
            if not self._needed <= set(record.traces.split()):
                continue
            traces = self._store.traces(record) if self._needed else None
            found = Finished(
                record.run(), record.result, record.scenario, record.duration_s, traces, True
            )
            for place in wanted.pop(record.key):
                if self._use is not None:
                    self._store.place(self._use(place))
                self._listener.finished(place, found)
        self._reading_s = time.monotonic() - began_s
        return sorted([*unkept, *(place for places in wanted.values() for place in places)])

    def _is_kept(self, key: str) -> bool:
        """Whether the store has a run, with the traces that are needed."""
        if self._store is None or key not in self._store:
            return False
        return not self._needed or any(
            self._needed <= set(record.traces.split()) for record in self._store.records([key])
        )

    def _give_back(self, place: Place) -> None:
        if place.key in self._claimed and self._store is not None:
            self._claimed.discard(place.key)
            self._store.give_back(place.key)


@contextmanager
def opened(
    store: Store | str | Path | None,
    *,
    jobs: int | None = None,
    executor: Executor | None = None,
    on: str | Client | None = None,
    packets: Callable[[int], object] | None = None,
    workers: Callable[..., object] | None = None,
) -> Generator[tuple[Store | None, Executor]]:
    """Open a store, and what does the runs: an executor, a cluster, or threads.

    A store and an executor that are passed in stay open.

    Parameters
    ----------
    store : Store, str or Path, optional
        The store, or its directory.
    jobs : int, optional
        Number of threads.
    executor : Executor, optional
        Does the runs, instead of threads.
    on : str or distributed.Client, optional
        A cluster that does them.
    packets : callable, optional
        Gets packets delivered since the last call; threads call it.
    workers : callable, optional
        Gets the number of the cluster's workers, at first and after a change.

    Raises
    ------
    ScenarioError
        If more than one of `jobs`, `executor` and `on` is given.
    """
    if on is not None and (jobs or executor):
        raise ScenarioError(
            "`on` cannot be used with `jobs` or `executor`: the cluster performs the runs"
        )
    with ExitStack() as stack:
        if on is not None:
            executor = stack.enter_context(cluster.connect(on, workers))
        if store is not None and not isinstance(store, Store):
            store = stack.enter_context(Store(store))
        yield store, executor or Threads(jobs, packets)
