"""The result of an assessment: verdicts by criterion, their comparisons, and JSON."""

from __future__ import annotations

import functools
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from cwndlab import native
from cwndlab.assessment import calibration, judging
from cwndlab.assessment.adversary import Worst
from cwndlab.assessment.judging import Comparison
from cwndlab.assessment.suite import Criterion, Test, criteria, left_out, within
from cwndlab.kernel_runs.virtual import SIMULATOR
from cwndlab.metrics import Metric
from cwndlab.outputs import stamped
from cwndlab.result_tables import ResultTables, plotting
from cwndlab.scenario import DEFAULT_PROFILE
from cwndlab.sweeps import SweepResult
from cwndlab.tables import brief

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NAMES = {"limit": "buffer", "count": "flows", "rule": "beside"}
"""Keys of scenarios to the words for them; the rules of a cell are those of the other flows."""


@dataclass(frozen=True)
class Tested:
    """A test with its finished runs."""

    test: Test
    found: SweepResult

    @property
    def rules(self) -> list[str]:
        """The rule under test and its references here."""
        return list(self.found.sweep.plan.labels[self._axis])

    @property
    def count(self) -> int:
        """Number of intervals that hold at once: of comparisons, references and looks."""
        plan = self.found.sweep.plan
        cells = plan.count // plan.replicates // len(self.rules)
        looks = len(self.test.looks)
        return cells * len(self.test.judged) * max(1, len(self.rules) - 1) * looks

    @property
    def first_look(self) -> dict[int, range]:
        """The replicates with which every cell begins."""
        plan = self.found.sweep.plan
        return dict.fromkeys(range(plan.count // plan.replicates), range(self.test.replicates))

    def places(self, cell: Mapping[str, str], references: Sequence[str]) -> list[int]:
        """Return the numbers of a cell in the plan, of the rule and these references."""
        found = (
            self.found.sweep.cell_of({**cell, self._axis: rule})
            for rule in (self.rules[0], *references)
        )
        return [index for index in found if index is not None]

    @property
    def _axis(self) -> str:
        return self.found.sweep.compared or ""


@dataclass(frozen=True)
class Judged:
    """A criterion with its tests and its verdict."""

    criterion: Criterion
    tested: Sequence[Tested]
    comparisons: Sequence[Comparison]

    @property
    def verdict(self) -> str:
        """The verdict."""
        if not self.comparisons:
            return judging.TEXT if self.criterion.evidence == "text" else judging.NOT_RUN
        return judging.overall(self._cells)

    @property
    def _cells(self) -> list[tuple[float, str]]:
        """Weight and verdict of every cell."""
        return judging.cells_of([(one.place, one.weight, one.verdict) for one in self.comparisons])

    @property
    def counts(self) -> dict[str, int]:
        """Number of cells by verdict."""
        found = Counter(verdict for _, verdict in self._cells)
        return {name: found[name] for name in judging.JUDGED if found[name]}

    @property
    def decisive(self) -> Comparison | None:
        """Of the comparisons with the verdict, the one that is farthest off."""
        own = [one for one in self.comparisons if one.verdict == self.verdict]
        if not own:
            return None
        return (min if self.verdict == judging.BETTER else max)(own, key=lambda one: one.size)

    @property
    def reason(self) -> str:
        """The verdict's reason: how many cells have which verdict, and the decisive one."""
        if not self.comparisons:
            return self.criterion.why or "None of the chosen tests is about it."
        counted = ", ".join(f"{count} {name}" for name, count in self.counts.items())
        cells = len(self._cells)
        of = f"Of {cells} cells: {counted}" if cells > 1 else f"1 cell: {counted}"
        one = self.decisive
        if one is None or one.nearest is None:
            return f"{of}."
        # A criterion that is no worse may have a cell that is.
        worst = max(self.comparisons, key=lambda each: each.size)
        if self.verdict == judging.NO_WORSE and worst.verdict in (judging.WORSE, judging.UNDECIDED):
            return f"{of}. The worst: {sentence(worst)}."
        if self.verdict == judging.NO_WORSE and one.size <= 0:
            return f"{of}; nowhere behind."
        if self.verdict == judging.NO_WORSE:
            return f"{of}. Nearest to worse: {sentence(one)}."
        where = "ahead" if self.verdict == judging.BETTER else "behind"
        return f"{of}. Farthest {where}: {sentence(one)}."

    @property
    def calibrated(self) -> str:
        """What is known of how often the verdict is wrong."""
        found = calibration.of(self.criterion.section, [entry.test for entry in self.tested])
        if found is None or not found.holds:
            return "Not calibrated" + ("." if found is None else f": {found.text}.")
        return f"Calibrated: {found.text}."


@dataclass(frozen=True, repr=False)
class Assessment(ResultTables):
    """Verdicts on a rule by the criteria of RFC 9743.

    Examples
    --------
    >>> from cwndlab import assess
    >>> found = assess("AIAD(1, 3)", against=["Reno"], sections=["5.1.2"], quick=True, replicates=2)
    >>> found.table().columns
    ['section', 'criterion', 'must', 'verdict', 'reason']
    """

    rule: str
    references: Sequence[str]
    suites: Sequence[str]
    quick: bool
    profile: str
    home: str
    refused: Mapping[str, str]
    """Tests that the home cannot run, and why."""
    seed: int
    sections: Sequence[str]
    tested: Sequence[Tested]
    worst: Worst | None = None
    """What the adversary found, if it was asked."""
    elsewhere: Sequence[Assessment] = ()
    """The same at other homes, if they were asked for."""

    FILE: ClassVar[str] = "assessment.json"

    @property
    def rules(self) -> list[str]:
        """The rule under test and its references."""
        return [self.rule, *self.references]

    @property
    def metrics(self) -> dict[str, Metric]:
        """Every judged metric by its key."""
        return {one.metric.key: one.metric for each in self.judged() for one in each.comparisons}

    @property
    def deciding(self) -> list[str]:
        """The references that decide."""
        return judging.deciding(self.references)

    @property
    def command(self) -> str:
        """The command that makes the same assessment."""
        homes = [one.home for one in (self, *self.elsewhere)]
        options = [
            *(["--against", ",".join(self.references)]),
            *(["--suite", ",".join(self.suites)]),
            *(["--section", ",".join(self.sections)] if self.sections else []),
            *(["--quick"] if self.quick else []),
            *(["--profile", self.profile] if self.profile != DEFAULT_PROFILE else []),
            *(["--home", ",".join(homes)] if homes != [SIMULATOR] else []),
            *(["--seed", str(self.seed)] if self.seed != 1 else []),
        ]
        return shlex.join(["cwndlab", "assess", self.rule, *options])

    def judged(self) -> list[Judged]:
        """Every criterion in RFC 9743's order; with sections, those within them alone."""
        return self._judged

    @functools.cached_property
    def _judged(self) -> list[Judged]:
        found: list[Judged] = []
        for criterion in criteria().values():
            own = [entry for entry in self.tested if entry.test.section == criterion.section]
            if self.sections and not any(within(criterion.section, one) for one in self.sections):
                continue
            among = sum(entry.count for entry in own)
            compared = [
                one
                for entry in own
                for one in judging.comparisons(entry.test, entry.found, among, self.references)
            ]
            found.append(Judged(criterion, own, compared))
        return found

    @property
    def not_run(self) -> dict[str, str]:
        """Requested tests that were skipped, and why.

        Sections whose criterion simulation can show, also those where the rule has no value in any
        run, or every reference fails, too; tests that the home cannot run; suites and tests that
        the short ones leave out. No verdict is about them: they have not passed.
        """
        found: dict[str, str] = dict(self.refused)
        for one in self.judged():
            if one.verdict in (judging.NOT_RUN, judging.NOT_JUDGED):
                found[one.criterion.section] = one.reason
            elif nothing := [each for each in one.comparisons if each.is_unmeasured]:
                found[one.criterion.section] = (
                    f"the rule has no value in {len(nothing)} of {len(one.comparisons)} "
                    f"comparisons, the first: {nothing[0].metric.key} of {nothing[0].test}"
                )
        found |= left_out(self.suites, quick=self.quick, sections=self.sections)
        return found

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """``criteria`` and ``comparisons`` by name."""
        return {"criteria": self.table(), "comparisons": self.compared()}

    def table(self) -> pl.DataFrame:
        """One row per criterion: section, title, whether it is a MUST, verdict and reason."""
        rows = [
            (
                one.criterion.section,
                one.criterion.title,
                one.criterion.must,
                one.verdict,
                one.reason,
            )
            for one in self.judged()
        ]
        schema = {"section": pl.String, "criterion": pl.String, "must": pl.Boolean,
                  "verdict": pl.String, "reason": pl.String}  # fmt: skip
        return pl.DataFrame(rows, schema=schema, orient="row")

    def compared(self) -> pl.DataFrame:
        """One row per comparison and reference: means, disadvantage with its interval, margin."""
        rows = [
            {
                "section": entry.criterion.section,
                "test": one.test,
                "cell": named(one.cell),
                "metric": one.metric.key,
                "reference": name,
                "mean": one.means[self.rule].mean,
                "reference_mean": one.means[name].mean,
                "disadvantage": less.mean,
                "low": less.low,
                "high": less.high,
                "margin": one.margins[name],
                "verdict": one.verdict,
            }
            for entry in self.judged()
            for one in entry.comparisons
            for name, less in one.disadvantages.items()
        ]
        return pl.DataFrame(rows, infer_schema_length=None)

    @plotting
    def plot(self, **figure: Any) -> Figure:
        """Plot every comparison: its disadvantage in margins of relevance (matplotlib).

        Parameters
        ----------
        **figure
            `width`, `height`, `style`, `labels`, `order` as of `cwndlab.plots.FigureStyle.of`.
        """
        from cwndlab.plots import FigureStyle, verdicts

        return FigureStyle.of(**figure).draw(verdicts, self)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return stamped("assessment", {
            "build": native.build(),
            "rule": self.rule,
            "references": list(self.references),
            "deciding": self.deciding,
            "suites": list(self.suites),
            "quick": self.quick,
            "profile": self.profile,
            "home": self.home,
            "seed": self.seed,
            "criteria": [
                {
                    "section": one.criterion.section,
                    "title": one.criterion.title,
                    "must": one.criterion.must,
                    "verdict": one.verdict,
                    "reason": one.reason,
                    "calibrated": one.calibrated if one.comparisons else "",
                    "counts": one.counts,
                    "comparisons": [judging.plain(each) for each in one.comparisons],
                }
                for one in self.judged()
            ],
            "tests": [
                {"id": entry.test.id, "section": entry.test.section, "title": entry.test.title,
                 "what": entry.test.what, "sweep": entry.found.sweep.to_dict()}
                for entry in self.tested
            ],
            "not_run": self.not_run,
            "worst_link": None if self.worst is None else self.worst.to_dict(),
            "elsewhere": [one.to_dict() for one in self.elsewhere],
        })  # fmt: skip


def named(cell: Mapping[str, str]) -> str:
    """Write a cell in a few words.

    Examples
    --------
    >>> named({"dumbbell.queue.limit": "4bdp", "flows.test.count": "8"}), named({"rule": "Reno"})
    ('buffer 4bdp, flows 8', 'beside Reno')
    """
    return ", ".join(
        f"{_NAMES.get(name.rsplit('.', 1)[-1], name.rsplit('.', 1)[-1])} {label}"
        for name, label in cell.items()
    )


def sentence(one: Comparison) -> str:
    """Write a comparison: the metric, the rule's mean, and that of the nearest reference."""
    rule = next(iter(one.means))
    nearest = one.nearest or one.deciding[0]
    values = (one.means[name].mean for name in (rule, nearest))
    own, other = (brief(value, one.metric) for value in values)
    unit = f" {one.metric.unit}" if one.metric.unit else ""
    where = f" ({named(one.cell)})" if one.cell else ""
    return f"{measured(one.metric)}, {own}{unit}; {nearest} has {other}{unit}{where}"


def measured(metric: Metric) -> str:
    """Return the label of a metric, with the group of flows in quotation marks.

    Examples
    --------
    >>> from cwndlab.sweeps.measures import find
    >>> measured(find("flows.test.goodput_bps")), measured(find("loss_rate"))
    ('goodput of flow "test"', 'loss rate')
    """
    table, _, rest = metric.key.partition(".")
    group = rest.rpartition(".")[0]
    if table != "flows" or group in ("", "*"):
        return metric.label
    return f'{metric.label.removesuffix(f" of {group}")} of flow "{group}"'
