"""Counts how often verdicts are wrong: rules whose verdict is known are judged many times.

Assessments are drawn from a pool of runs, with the looks at which real ones add replicates:

- of a *twin*, a reference under another name: its runs and the reference's are from disjoint halves
  of the pool, so that they share no random numbers. What is worse in its dossier is a mistake;
- of a *violator*, a rule made to violate one criterion: it and the references have the same seeds,
  as in an assessment. Where the criterion is not worse, the violation was missed.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import resources
from typing import TYPE_CHECKING

import numpy as np

from cwndlab import custom_rules, native
from cwndlab.assessment import judging
from cwndlab.assessment.calibration import Calibration, digest
from cwndlab.assessment.result import Assessment, Tested
from cwndlab.assessment.running import Asked, AtHome
from cwndlab.assessment.suite import Test, select
from cwndlab.errors import ScenarioError
from cwndlab.scenario import DEFAULT_PROFILE
from cwndlab.sweeps import SweepResult, execute
from cwndlab.sweeps.base import parse

if TYPE_CHECKING:
    from pathlib import Path

DECIDING = ("Reno", "CUBIC")
"""The references of an assessment that decide."""
SUITE = "rfc9743"
FIRST_SEED = 100_001
"""Seeds of the pool; assessments begin with 1."""

Shown = Callable[[str, int, int], object]
"""Gets what is being done, how much of it is done, and of how much."""


@dataclasses.dataclass(frozen=True)
class Violator:
    """A rule made to violate a criterion."""

    section: str
    rule: str
    why: str


@dataclasses.dataclass(frozen=True)
class Counted:
    """What was counted."""

    sections: Sequence[Calibration]
    dossiers: Mapping[str, int]
    """Reference to the number of its twin's dossiers in which any criterion was worse."""


class Pool:
    """Runs of tests and rules, from which replicates are drawn.

    Parameters
    ----------
    size : int
        Runs of each cell and standard; of other rules, which need no disjoint halves, half of it.
    folder : Path
        The store that keeps them.
    """

    def __init__(self, size: int, folder: Path) -> None:
        self.size = size
        self._folder = folder
        self._found: dict[tuple[str, str], SweepResult] = {}
        self._values: dict[tuple[str, str, str], dict[str, list[float | None]]] = {}

    def fill(self, tests: Sequence[Test], rules: Sequence[str], size: int, show: Shown) -> None:
        """Execute so many runs of rules in tests, those of the store excepted."""
        for done, test in enumerate(tests):
            alone = dataclasses.replace(test.with_replicates(size), references=())
            for rule in rules:
                show(f"{test.id} {rule}", done, len(tests))
                sweep = alone.sweep([rule], FIRST_SEED)
                found = execute(sweep, SweepResult(sweep), self._folder)
                if found.failed:
                    raise ScenarioError(f"{test.id}: a run failed: {found.failed[0]['error']}")
                self._found[test.id, custom_rules.shown(native.rule(rule))] = found

    def values(
        self, test: Test, rule: str, cell: Mapping[str, str], run: int
    ) -> dict[str, float | None]:
        """Return the metrics of a run of the pool."""
        place = (test.id, rule, repr(sorted(cell.items())))
        if place not in self._values:
            found = self._found[test.id, rule]
            index = found.sweep.cell_of({**cell, found.sweep.compared or "": rule})
            assert index is not None, "the pool has the tests' cells"
            self._values[place] = {key: found.values(index, key) for key in found.sweep.metrics}
        # The last runs may have no value.
        return {
            key: values[run] if run < len(values) else None
            for key, values in self._values[place].items()
        }


def violators() -> list[Violator]:
    """Return the violators, one for every criterion that simulation judges."""
    text = resources.files("cwndlab.assessment").joinpath("suites", "violators.toml")
    return [Violator(**entry) for entry in parse(text.read_text("utf-8"))["violators"]]


def count(pool: Pool, draws: int, show: Shown, seed: int = 1) -> Counted:
    """Draw assessments of twins and violators, and count the wrong verdicts.

    Parameters
    ----------
    pool : Pool
        Where runs come from; what it lacks is executed.
    draws : int
        Assessments of each.
    show : callable
        Gets progress.
    seed : int
        Of the draws.
    """
    tests = [test.with_profile(DEFAULT_PROFILE) for test in select([SUITE], quick=True)]
    rng = np.random.default_rng(seed)
    dossiers: dict[str, int] = {}
    false: dict[str, dict[str, int]] = {}
    undecided: dict[str, dict[str, int]] = {}
    for rule, own in _twins(tests).items():
        name = custom_rules.shown(native.rule(rule))
        pool.fill(own, [rule], pool.size, show)
        # Whoever else decides is no twin.
        bare = [dataclasses.replace(test, references=()) for test in own]
        count = 0
        for test in own:
            false.setdefault(test.section, {})[name] = 0
            undecided.setdefault(test.section, {})[name] = 0
        for done in range(draws):
            show(f"twin of {name}", done, draws)
            drawn = twin(pool, bare, name, rng)
            worse = _with(drawn, judging.WORSE)
            count += bool(worse)
            for section in worse:
                false[section][name] += 1
            for section in _with(drawn, judging.UNDECIDED):
                undecided[section][name] += 1
        if rule in DECIDING:
            dossiers[name] = count
    found = [
        _of_violator(
            pool, one, tests, draws, show, rng, false[one.section], undecided[one.section],
        )
        for one in violators()
    ]  # fmt: skip
    return Counted(found, dossiers)


def _twins(tests: Sequence[Test]) -> dict[str, list[Test]]:
    """Return the rules that decide, each with its tests."""
    found = {rule: [*tests] for rule in DECIDING}
    for test in tests:
        for rule in test.references:
            found.setdefault(rule, []).append(test)
    return found


def _of_violator(
    pool: Pool, one: Violator, tests: Sequence[Test], draws: int, show: Shown,
    rng: np.random.Generator, false: Mapping[str, int], undecided: Mapping[str, int],
) -> Calibration:  # fmt: skip
    own = [test for test in tests if test.section == one.section]
    pool.fill(own, [one.rule], pool.size // 2, show)
    for test in own:
        pool.fill([test], test.references, pool.size // 2, show)
    count = 0
    for done in range(draws):
        show(f"{one.section} {one.rule}", done, draws)
        count += one.section in _with(violating(pool, own, one.rule, rng), judging.WORSE)
    return Calibration(
        section=one.section, digest=digest(own), twins=false, undecided=undecided,
        violator=one.rule, why=one.why, found=count, draws=draws,
    )  # fmt: skip


def _with(found: Assessment, verdict: str) -> list[str]:
    return [one.criterion.section for one in found.judged() if one.verdict == verdict]


def twin(pool: Pool, tests: Sequence[Test], standard: str, rng: np.random.Generator) -> Assessment:
    """Draw the assessment of a reference's twin beside the reference alone."""
    order = rng.permutation(pool.size)
    halves = {TWIN: order[: pool.size // 2], standard: order[pool.size // 2 :]}
    return _drawn(pool, tests, TWIN, [standard], halves, {TWIN: standard})


TWIN = "AIMD(1, 0.5)"
"""The name of the rule in a twin's dossier; its runs are those of the reference."""


def violating(pool: Pool, tests: Sequence[Test], rule: str, rng: np.random.Generator) -> Assessment:
    """Draw the assessment of a violator beside the standards."""
    order = rng.permutation(pool.size // 2)
    names = [custom_rules.shown(native.rule(one)) for one in (rule, *DECIDING)]
    known = {custom_rules.shown(native.rule(one)) for test in tests for one in test.references}
    return _drawn(pool, tests, rule, DECIDING, dict.fromkeys([*names, *known], order), {})


def _drawn(
    pool: Pool, tests: Sequence[Test], rule: str, references: Sequence[str],
    order: Mapping[str, np.ndarray], runs_of: Mapping[str, str],
) -> Assessment:  # fmt: skip
    asked = Asked(
        rule=native.rule(rule), against=None, suites=[SUITE], sections=[], quick=True,
        replicates=None, profile=DEFAULT_PROFILE, seed=1, vectors=None,
    )  # fmt: skip
    rules = [asked.rule, *references]
    tested = [Tested(test, SweepResult(test.sweep(rules))) for test in tests]
    names = [custom_rules.shown(native.rule(one)) for one in references]

    def run(one: Tested, more: Mapping[int, range]) -> None:
        for cell, replicates in more.items():
            labels = one.found.labels(cell)
            name = labels.pop(one.found.sweep.compared or "")
            source = runs_of.get(name, name)
            for replicate in replicates:
                at = int(order[name][replicate])
                values = pool.values(one.test, source, labels, at)
                # The hash only says that a run has finished.
                one.found.put(cell, replicate, f"{1 + at:016x}", values, [])

    return AtHome(asked, "simulator", names, {}, tested).judged(run)


COLUMNS = [
    "section",
    "twins worse by mistake",
    "twins undecided",
    "violator",
    "found",
    "calibrated",
]
"""Of a table of what was counted (`rows`)."""


def rows(found: Iterable[Calibration]) -> Iterator[list[str]]:
    """Yield a row for each criterion: section, violator, and what was counted."""
    for one in found:
        false, undecided = (
            ", ".join(f"{name} {count}" for name, count in counts.items())
            for counts in (one.twins, one.undecided)
        )
        violator = f"`{one.violator}`: {one.why}"
        holds = "yes" if one.holds else "no"
        yield [one.section, false, undecided, violator, str(one.found), holds]
