"""Do a sweep: what the store has is read, the rest is done and kept as it finishes."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cwndlab import cluster, native
from cwndlab.errors import RunError, ScenarioError
from cwndlab.plan import Cell
from cwndlab.store import Record, Store, Use, canonical, has_outside, run_key, scenario_digest
from cwndlab.store.keys import seeded_key
from cwndlab.sweep.definition import Sweep
from cwndlab.sweep.events import Report
from cwndlab.sweep.findings import Findings
from cwndlab.sweep.measures import measure
from cwndlab.work import Executor, Outcome, Threads, perform

if TYPE_CHECKING:
    from distributed import Client

WAIT_S = 0.2
"""Between looks whether another process has finished a run that it has under way."""


class Place(NamedTuple):
    """A run's place: it stands for the run in an executor, and may travel."""

    cell: int
    replicate: int
    key: str
    """Empty where the run cannot be stored."""


def execute(
    sweep: Sweep,
    findings: Findings,
    store: Store | str | Path | None = None,
    *,
    jobs: int | None = None,
    executor: Executor | None = None,
    on: str | Client | None = None,
    again: bool = False,
    progress: Callable[[dict[str, Any]], object] | None = None,
) -> Findings:
    """Do a sweep as `Sweep.run` does, filling `findings`: the caller still has them after Ctrl-C."""
    if on is not None and (jobs or executor):
        raise ScenarioError("on: the cluster does the runs; allowed: without `jobs` and `executor`")
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
                opened.define(sweep.name, sweep.to_dict())
            work.all()
        finally:
            work.let_go()
    if owned is not None:
        # Of a store that was passed in they are its owner's to read.
        findings.notes += owned.notes
    return findings


class _Work:
    """One execution of a sweep."""

    def __init__(
        self, sweep: Sweep, findings: Findings, store: Store | None, executor: Executor, again: bool, report: Report
    ) -> None:
        self.sweep, self.findings, self.store, self.report = sweep, findings, store, report
        self._executor, self._again = executor, again
        self._claimed: set[str] = set()
        self._texts: tuple[int, _Texts] | None = None
        self._unkept = 0

    def check(self) -> None:
        """Find out before the first run whether what is measured is there to be measured."""
        cell = next(self.sweep.plan.cells())
        # Builds the network and measures nothing; that takes a millisecond, whatever the scenario.
        document = {**cell.document(), "duration": 1e-6, "measure": None, "trace": None}
        outcome = perform(json.dumps({key: value for key, value in document.items() if value is not None}))
        if outcome.error:
            raise ScenarioError(f"cell {_named(cell.labels)}: {outcome.error}")
        measure(json.loads(outcome.result), self.sweep.measures, self.sweep.link, self.sweep.measured_group)

    def all(self) -> None:
        """Do every run; with a target, in rounds until every cell has met it."""
        cells = self.sweep.plan.count // self.sweep.plan.replicates
        first = min(self.sweep.replicates, self.sweep.most) if self.sweep.targets else self.sweep.replicates
        self.report.begin(cells, cells * first, None if self.store is None else str(self.store.path))
        self._round((index, range(first)) for index in range(cells))
        number, have = 1, dict.fromkeys(range(cells), first) if self.sweep.targets else {}
        while have:
            wanted = {index: min(self._needed(index), self.sweep.most) for index in have}
            more = {index: range(have[index], count) for index, count in wanted.items() if count > have[index]}
            if not more:
                break
            number += 1
            self.report.round(number, len(more), sum(map(len, more.values())))
            self._round(more.items())
            have.update({index: reps.stop for index, reps in more.items()})
        for index in have:
            if self._needed(index) > self.sweep.most:
                self.findings.unmet.append({"cell": self._labels(index), "replicates": self.findings.count(index)})
        if self._unkept:
            self.findings.notes.append(
                f"{self._unkept} runs are not in the store: the source of their rule or a file they name cannot be had"
                " or changed meanwhile"
            )
        self.report.end()

    def let_go(self) -> None:
        """Give back what is still claimed."""
        while self._claimed and self.store is not None:
            self.store.give_back(self._claimed.pop())

    def _needed(self, cell: int) -> int:
        """Replicates that a cell needs; those it has are enough where it is 0."""
        needed = (target.needed(self.findings.values(cell, target.metric)) for target in self.sweep.targets)
        return max((count for count in needed if count is not None), default=0)

    def _round(self, wanted: Iterable[tuple[int, range]]) -> None:
        """Do some replicates of some cells."""
        places = [
            Place(index, replicate, self._text(index).key(replicate))
            for index, replicates in wanted
            for replicate in replicates
        ]
        if self.store is not None:
            self.store.refresh()
        todo = places if self._again else self._found(places)
        waiting: list[Place] = []
        late: list[Place] = []
        while todo:
            with closing(self._executor(self._tasks(todo, waiting, late))) as finished:
                for place, outcome in finished:
                    self._finished(place, outcome)
            # What others had under way: it is there by now, or they have gone and it is ours, or it takes its time.
            self._found(late)
            todo, waiting, late = waiting, [], []
            if todo and self.store is not None:
                self.store.refresh()
                todo = todo if self._again else self._found(todo)
                self.report.tick()
                time.sleep(WAIT_S if todo else 0)

    def _tasks(self, todo: list[Place], waiting: list[Place], late: list[Place]) -> Iterator[tuple[Place, str]]:
        """Give the runs to be done, each claimed; what others have under way or have done is put aside."""
        for place in todo:
            if self.store is not None and place.key:
                if not self.store.claim(place.key):
                    waiting.append(place)
                    continue
                self._claimed.add(place.key)
                # Between the last look and the claim somebody may have finished it.
                self.store.refresh()
                if place.key in self.store and not self._again:
                    self._give_back(place)
                    late.append(place)
                    continue
            yield place, self._text(place.cell).text(place.replicate)

    def _finished(self, place: Place, outcome: Outcome) -> None:
        labels = self._labels(place.cell)
        if outcome.error:
            self._give_back(place)
            self.findings.failed.append({"cell": labels, "replicate": place.replicate, "error": outcome.error})
            self.report.failed(labels, place.replicate, outcome.error)
            return
        if outcome.build != native.build():
            raise RunError(
                f"worker: {outcome.machine} has build {outcome.build} of the engine; allowed: {native.build()}, as here"
            )
        run = json.loads(outcome.result)
        if self.store is not None:
            self._keep(place, outcome, labels)
        self._give_back(place)
        values = measure(run, self.sweep.measures, self.sweep.link, self.sweep.measured_group)
        self.findings.put(place.cell, place.replicate, run["trace_hash"], values)
        self.report.run(place.key, labels, place.replicate, run, outcome.duration_s, values)

    def _keep(self, place: Place, outcome: Outcome, labels: dict[str, str]) -> None:
        assert self.store is not None
        text = self._text(place.cell).text(place.replicate)
        # A rule's file that was edited while the sweep runs: the result is that of neither version for certain.
        if not place.key or (has_outside(text) and run_key(text) != place.key):
            self._unkept += 1
            return
        traces = ""
        if outcome.traces and self.sweep.traces:
            from cwndlab.results import Result

            result = Result.from_native(outcome.result, outcome.traces, json.loads(text))
            traces = self.store.put_traces(place.key, result.traces)
        use = Use.of(self.sweep.name, labels, place.replicate, place.key)
        self.store.put(Record.of(place.key, text, outcome, traces), use)

    def _found(self, places: list[Place]) -> list[Place]:
        """Take in what the store has; return the rest."""
        if self.store is None:
            return places
        known: dict[str, list[Place]] = {}
        rest = []
        for place in places:
            if place.key and place.key in self.store:
                known.setdefault(place.key, []).append(place)
            else:
                rest.append(place)
        for record in self.store.records(known) if known else ():
            run = record.run()
            values = measure(run, self.sweep.measures, self.sweep.link, self.sweep.measured_group)
            for place in known.pop(record.key):
                self.store.place(Use.of(self.sweep.name, self._labels(place.cell), place.replicate, place.key))
                self.findings.put(place.cell, place.replicate, record.trace_hash, values)
            self.report.found()
        # Known, and yet not there: damaged since. They are done again.
        return sorted([*rest, *(place for places in known.values() for place in places)])

    def _labels(self, cell: int) -> dict[str, str]:
        return self.sweep.columns(self.sweep.plan.cell(cell).labels)

    def _give_back(self, place: Place) -> None:
        if place.key in self._claimed and self.store is not None:
            self._claimed.discard(place.key)
            self.store.give_back(place.key)

    def _text(self, index: int) -> _Texts:
        """Texts of a cell; runs come cell by cell, so that one at a time will do."""
        if self._texts is None or self._texts[0] != index:
            self._texts = index, _Texts(self.sweep.plan.cell(index))
        return self._texts[1]


class _Texts:
    """Canonical scenarios of a cell's replicates, and their keys."""

    def __init__(self, cell: Cell) -> None:
        self._cell = cell
        self._document = self._canonical(0)
        self._digest = scenario_digest(self._document)

    def text(self, replicate: int) -> str:
        """Return the scenario of a replicate."""
        if self._cell.is_drawn:
            return canonical(self._cell.document(replicate))
        seed = self._cell.document(replicate)["seed"]
        return json.dumps({**self._document, "seed": seed}, separators=(",", ":"))

    def key(self, replicate: int) -> str:
        """Return the key of a replicate; empty where it has none."""
        if self._cell.is_drawn:
            return run_key(self.text(replicate)) or ""
        return "" if self._digest is None else seeded_key(self._digest, self._cell.document(replicate)["seed"])

    def _canonical(self, replicate: int) -> dict[str, Any]:
        try:
            return json.loads(canonical(self._cell.document(replicate)))
        except ScenarioError as error:
            raise type(error)(f"cell {_named(self._cell.labels)}: {error}") from None


def _named(labels: dict[str, str]) -> str:
    return ", ".join(f"{axis} = {label}" for axis, label in labels.items()) or "of the base scenario"
