"""Executes a sweep: reads finished runs from the store, does the others, and stores them."""

from __future__ import annotations

import json
import time
from array import array
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cwndlab import native
from cwndlab.errors import RunError, ScenarioError
from cwndlab.runs import cluster
from cwndlab.runs.executors import Executor, Outcome, Threads, perform
from cwndlab.runs.store import Record, Store, Use, definition_digest
from cwndlab.sweeps.cell_scenarios import CellScenarios
from cwndlab.sweeps.definition import Sweep
from cwndlab.sweeps.events import Report
from cwndlab.sweeps.measures import measure
from cwndlab.sweeps.notes import named, notes_on_runs, same_runs, unmet
from cwndlab.sweeps.result import SweepResult
from cwndlab.sweeps.signals import uninterrupted
from cwndlab.sweeps.traces import kept_traces

if TYPE_CHECKING:
    from distributed import Client

SAME_RUNS = ("name", "replicates", "metrics", "compare", "baseline", "until", "most", "yes")
"""Keys of a sweep that do not affect its runs."""
WAIT_S = 0.2
"""Interval of checks whether another process has finished a run, seconds."""
BATCH_S, BATCH_MOST = 0.1, 100_000
"""Limits of a batch of prepared runs: seconds and count."""
CHECKED = 10_000
"""Number of cells checked before the first run; the others are checked when their runs are due."""


class Place(NamedTuple):
    """Cell, replicate and key of a run; executors take it as the run's key."""

    cell: int
    replicate: int
    key: str
    """Empty if the run cannot be stored."""


def execute(
    sweep: Sweep,
    findings: SweepResult,
    store: Store | str | Path | None = None,
    *,
    jobs: int | None = None,
    executor: Executor | None = None,
    on: str | Client | None = None,
    again: bool = False,
    progress: Callable[[dict[str, Any]], object] | None = None,
) -> SweepResult:
    """Execute a sweep as `Sweep.run` does, and fill `findings`.

    The caller keeps them after Ctrl-C.
    """
    if on is not None and (jobs or executor):
        raise ScenarioError(
            "`on` cannot be used with `jobs` or `executor`: the cluster performs the runs"
        )
    report = Report(sweep, findings, progress)
    if on is not None:
        with cluster.connect(on, report.workers) as there:
            return execute(sweep, findings, store, executor=there, again=again, progress=progress)
    opened = store if isinstance(store, Store) or store is None else Store(store)
    owned = opened if opened is not store else None
    with nullcontext() if owned is None else owned:
        work = _Work(sweep, findings, opened, executor or Threads(jobs), again, report)
        try:
            work.check()
            if opened is not None:
                asked = sweep.to_dict()
                work.definition = definition_digest(
                    {key: asked[key] for key in asked if key not in SAME_RUNS}
                )
                opened.define(sweep.name, asked, work.definition)
            work.all()
        finally:
            work.let_go()
    if owned is not None:
        # The owner of a store that was passed in reads its notes.
        findings.notes += owned.notes
    return findings


class _Work:
    """One execution of a sweep."""

    def __init__(
        self,
        sweep: Sweep,
        findings: SweepResult,
        store: Store | None,
        executor: Executor,
        again: bool,
        report: Report,
    ) -> None:
        self.sweep, self.findings, self.store, self.report = sweep, findings, store, report
        self._executor, self._again = executor, again
        self._claimed: set[str] = set()
        self._texts: tuple[int, CellScenarios] | None = None
        self._unkept = 0
        self.definition = ""
        self._reading_s = 0.0
        self._digests = array("Q")
        """First digits of the key of each cell's first replicate: equal digits mean equal runs."""

    def check(self) -> None:
        """Check before the first run that every metric can be measured, and the cells.

        A sweep that is refused here leaves nothing in the store.
        """
        cell = next(self.sweep.plan.cells())
        # A run of no length builds the network, which takes about a millisecond.
        document = {**cell.document(), "duration": 1e-6, "measure": None, "trace": None}
        outcome = perform(
            json.dumps({key: value for key, value in document.items() if value is not None})
        )
        if outcome.error:
            raise ScenarioError(f"cell {named(cell.labels)}: {outcome.error}")
        measure(
            json.loads(outcome.result),
            self.sweep.measures,
            self.sweep.link,
            self.sweep.measured_group,
        )

        cells = self.sweep.plan.count // self.sweep.plan.replicates
        self.report.begin(
            cells,
            cells * self.sweep.first_replicates,
            None if self.store is None else str(self.store.path),
        )
        self._check_cells(min(cells, CHECKED))

    def all(self) -> None:
        """Do every run; with a target, in rounds until every cell meets it."""
        sweep, findings = self.sweep, self.findings
        cells = sweep.plan.count // sweep.plan.replicates
        first = sweep.first_replicates
        if cells <= CHECKED:
            self._note(same_runs(findings, self._digests))
        self._round((index, range(first)) for index in range(cells))
        number, looked_at = 1, ((index, first) for index in range(cells))
        while sweep.targets:
            more = {}
            for index, done in looked_at:
                needed = findings.needed(index, done)
                if needed is not None and done < sweep.most:
                    more[index] = range(done, min(needed, sweep.most))
                elif entry := unmet(findings, index, done):
                    findings.unmet.append(entry)
            if not more:
                break
            number += 1
            self.report.round(number, len(more), sum(map(len, more.values())))
            self._round(more.items())
            looked_at = ((index, replicates.stop) for index, replicates in more.items())
        self._note(notes_on_runs(findings))
        if cells > CHECKED:
            self._note(same_runs(findings, self._digests))
        if self._unkept:
            unkept = (
                "the source of their rule or a file they name cannot be had or changed meanwhile"
            )
            self._note([f"{self._unkept} runs are not in the store: {unkept}"])
        self.report.end()

    def _check_cells(self, many: int) -> None:
        """Check cells before they run: axes may be valid one by one, and not together."""
        for index in range(many):
            self._digest(index)
            self.report.checked(index + 1, many)

    def _digest(self, index: int) -> None:
        """Note the key of a cell's first replicate, cell after cell."""
        if index == len(self._digests):
            key = self._text(index).key(0)
            self._digests.append(int(key[:16] or "0", 16))

    def _note(self, texts: list[str]) -> None:
        self.findings.notes += texts
        for text in texts:
            self.report.note(text)

    def let_go(self) -> None:
        """Release the remaining claims."""
        while self._claimed and self.store is not None:
            self.store.give_back(self._claimed.pop())

    def _round(self, wanted: Iterable[tuple[int, range]]) -> None:
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
            if not waiting or self.store is None:
                return
            todo = waiting if self._again else self._found(waiting)
            if not todo:
                return
            self.report.tick()
            time.sleep(WAIT_S)

    def _places(self, wanted: Iterable[tuple[int, range]]) -> Iterator[Place]:
        """Yield the places of some replicates of some cells, with their keys."""
        for index, replicates in wanted:
            self._digest(index)
            texts = self._text(index)
            for replicate in replicates:
                yield Place(index, replicate, texts.key(replicate))

    def _tasks(
        self, places: Iterable[Place], waiting: list[Place], late: list[Place]
    ) -> Iterator[tuple[Place, str]]:
        """Yield the runs to do, each claimed.

        Runs that others have claimed or finished are set aside.

        Runs are prepared on demand: a sweep of millions starts at once, with few in memory.
        """
        for batch in self._batches(places):
            self.report.tick()
            for place in batch if self._again else self._found(batch):
                if self.store is not None and place.key:
                    if not self.store.claim(place.key):
                        waiting.append(place)
                        continue
                    self._claimed.add(place.key)
                    # Another process may have finished it between the last check and the claim.
                    if place.key in self.store and not self._again:
                        self._give_back(place)
                        late.append(place)
                        continue
                yield place, self._text(place.cell).text(place.replicate)

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
        labels = self.findings.labels(place.cell)
        if outcome.error:
            self._give_back(place)
            self.findings.failed.append(
                {"cell": labels, "replicate": place.replicate, "error": outcome.error}
            )
            self.report.failed(labels, place.replicate, outcome.error)
            return
        if outcome.build != native.build():
            raise RunError(
                f"worker: {outcome.machine} has build {outcome.build} of the engine: expected "
                f"{native.build()}, as here"
            )
        run = json.loads(outcome.result)
        values = measure(run, self.sweep.measures, self.sweep.link, self.sweep.measured_group)
        with uninterrupted():  # What is kept is what is counted.
            if self.store is not None:
                self._keep(place, outcome, run, labels)
            self.findings.put(place.cell, place.replicate, run["trace_hash"], values)
        self._give_back(place)
        self.report.run(place.key, labels, place.replicate, run, outcome.duration_s, values)

    def _keep(
        self, place: Place, outcome: Outcome, run: dict[str, Any], labels: dict[str, str]
    ) -> None:
        assert self.store is not None
        texts = self._text(place.cell)
        text = texts.text(place.replicate)
        # A rule's file was edited during the sweep: the result may belong to either version.
        if not place.key or (texts.has_outside and texts.key_of(text) != place.key):
            self._unkept += 1
            return
        traces = ""
        if outcome.traces and self.sweep.traces:
            traces = self.store.put_traces(place.key, kept_traces(self.sweep, outcome, text))
        use = Use.of(self.sweep.name, labels, place.replicate, place.key, self.definition)
        self.store.put(Record.of(place.key, text, outcome, run, traces), use)

    def _found(self, places: list[Place]) -> list[Place]:
        """Add the runs that the store has; return the others."""
        if self.store is None:
            return places
        wanted: dict[str, list[Place]] = {}
        for place in places:
            wanted.setdefault(place.key, []).append(place)
        unkept = wanted.pop("", [])
        began_s = time.monotonic()
        for record in self.store.records(wanted) if wanted else ():
            run = record.run()
            values = measure(run, self.sweep.measures, self.sweep.link, self.sweep.measured_group)
            for place in wanted.pop(record.key):
                labels = self.findings.labels(place.cell)
                self.store.place(
                    Use.of(self.sweep.name, labels, place.replicate, place.key, self.definition)
                )
                self.findings.put(place.cell, place.replicate, record.trace_hash, values)
            self.report.found()
        self._reading_s = time.monotonic() - began_s
        return sorted([*unkept, *(place for places in wanted.values() for place in places)])

    def _give_back(self, place: Place) -> None:
        if place.key in self._claimed and self.store is not None:
            self._claimed.discard(place.key)
            self.store.give_back(place.key)

    def _text(self, index: int) -> CellScenarios:
        """Return the scenarios of a cell; runs come cell by cell, so one cell is cached."""
        if self._texts is None or self._texts[0] != index:
            self._texts = (
                index,
                CellScenarios(self.sweep.plan.cell(index), self.sweep.count_arrivals),
            )
        return self._texts[1]
