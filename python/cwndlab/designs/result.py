"""The result of a search for rules: the frontier, measured on conditions that it never saw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cwndlab import native
from cwndlab.designs.aims import SIZE, Aim
from cwndlab.designs.specification import Specification
from cwndlab.errors import ScenarioError
from cwndlab.files import write_whole
from cwndlab.message import invalid, unknown
from cwndlab.outputs import stamped
from cwndlab.result_tables import ResultTables, plotting
from cwndlab.statistics import Estimate

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from cwndlab.custom_rules import Rule

BETTER, WORSE, EQUAL, UNKNOWN = "better", "worse", "=", "-"


@dataclass(frozen=True)
class Sensitivity:
    """How an objective changes if one number of a rule is changed by 20 %."""

    change: str
    """What was changed in the rule for the largest loss."""
    value: float
    """The objective then, on the validation conditions."""
    before: float
    """The objective of the rule itself there."""


@dataclass(frozen=True)
class Designed:
    """A rule on the frontier, or one that it is compared with.

    Attributes
    ----------
    rule : str
        The rule.
    size : int
        Terms of its formula; 0 for rules of a family.
    training, validation : mapping of str to float
        Objective to its mean on the conditions of the search.
    hidden : mapping of str to Estimate
        Objective to its mean and 95 % interval on the hidden conditions.
    differences : mapping of str to mapping of str to Estimate
        Other rule to objective to the paired difference, this rule's value less the other's.
    merged : sequence of str
        Rules whose difference from this one no objective showed.
    robustness : mapping of str to Sensitivity
        Objective to the largest loss by a change of 20 %.
    """

    rule: str
    size: int
    training: Mapping[str, float]
    validation: Mapping[str, float]
    hidden: Mapping[str, Estimate]
    differences: Mapping[str, Mapping[str, Estimate]]
    merged: Sequence[str] = ()
    robustness: Mapping[str, Sensitivity] = field(default_factory=dict[str, Sensitivity])


@dataclass(repr=False)
class DesignResult(ResultTables):
    """The frontier of a search for rules.

    Attributes
    ----------
    specification : Specification
        What was searched.
    frontier : list of Designed
        The rules, the best in the first objective first.
    references : list of Designed
        The rules with which they are compared, on the same conditions and seeds.
    tried : list of dict
        Every rule that was tried, with its training values and generation.
    worst_links : list of str
        What the adversary found, one sentence each.
    runs, packets : int
        Runs, and packets simulated here.
    wall_s : float
        Seconds that it took.

    Examples
    --------
    >>> from cwndlab import design
    >>> found = design(family="AIMD(?, ?)", objectives="goodput, delay", budget=8, population=4,
    ...                replicates=1, validate=2, confirm=2, duration="5s", robustness=False)
    >>> len(found.frontier) > 0, found.pick(1) == found.frontier[0].rule
    (True, True)
    """

    FILE: ClassVar[str] = "design.json"
    specification: Specification
    frontier: list[Designed]
    references: list[Designed]
    tried: list[dict[str, Any]]
    worst_links: list[str]
    runs: int
    packets: int
    wall_s: float

    @property
    def aims(self) -> tuple[Aim, ...]:
        """What was measured: objectives, then constraints."""
        return self.specification.measured

    def pick(self, number: int) -> str:
        """Return a rule of the frontier, counted from 1.

        Raises
        ------
        ScenarioError
            If there is no such rule.
        """
        if not 1 <= number <= len(self.frontier):
            raise ScenarioError(invalid("pick", number, f"from 1 to {len(self.frontier)}"))
        return self.frontier[number - 1].rule

    def verdict(self, rule: Designed, other: str, aim: Aim) -> str:
        """Return `BETTER` or `WORSE` if the interval of the difference excludes 0."""
        found = rule.differences[other][aim.text]
        if found.low is None or found.high is None:
            return UNKNOWN
        if found.low <= 0.0 <= found.high:
            return EQUAL
        return BETTER if (found.low > 0.0) == aim.more_is_better else WORSE

    def beats(self, rule: Designed, other: str) -> bool:
        """Tell whether a rule is better than another in two objectives and worse in none."""
        aims = [aim for aim in self.specification.aims if aim.kind != SIZE]
        verdicts = [self.verdict(rule, other, aim) for aim in aims]
        return verdicts.count(BETTER) >= 2 and WORSE not in verdicts

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """``frontier``, ``differences`` and ``tried``.

        Rows of ``frontier`` are rule and objective: mean and interval on the hidden conditions,
        mean on the others. ``kind`` is ``"found"`` or ``"reference"``.
        """
        import polars as pl

        frontier = [
            {"kind": kind, "rule": one.rule, "size": one.size, "objective": aim.text,
             **one.hidden[aim.text]._asdict(), "training": one.training.get(aim.text),
             "validation": one.validation.get(aim.text)}
            for kind, rules in (("found", self.frontier), ("reference", self.references))
            for one in rules
            for aim in self.aims
        ]  # fmt: skip
        differences = [
            {"rule": one.rule, "other": other, "objective": aim.text,
             **found[aim.text]._asdict(), "verdict": self.verdict(one, other, aim)}
            for one in self.frontier
            for other, found in one.differences.items()
            for aim in self.aims
        ]  # fmt: skip
        return {
            "frontier": pl.DataFrame(frontier),
            "differences": pl.DataFrame(differences),
            "tried": pl.DataFrame(self.tried),
        }

    def differences(self, baseline: Rule | None = None) -> pl.DataFrame:
        """Return the differences of the rules found from a reference, by rule and objective.

        Parameters
        ----------
        baseline : rule, optional
            The rule to compare with, one of `Specification.against`; by default the first.

        Returns
        -------
        polars.DataFrame
            ``mean`` of the differences on the hidden conditions, its interval from ``low`` to
            ``high``, ``count`` of pairs, and ``verdict``.

        Raises
        ------
        ScenarioError
            If the baseline is none of them.

        Examples
        --------
        >>> from cwndlab import design
        >>> found = design(family="AIMD(?, ?)", objectives="goodput, delay", budget=4, population=4,
        ...                replicates=1, validate=2, confirm=2, duration="2s", robustness=False)
        >>> found.differences(baseline="CUBIC")["other"].unique().to_list()
        ['CUBIC']
        """
        known = list(self.specification.against)
        name = known[0] if baseline is None else native.rule(baseline)
        if name not in known:
            raise ScenarioError(unknown("baseline", name, known))
        return self.tables["differences"].filter(other=name)

    def table(self) -> pl.DataFrame:
        """One row per rule, those found first: mean and interval on the hidden conditions."""
        import polars as pl

        from cwndlab.designs.page import with_interval

        titles = [aim.title for aim in self.aims]
        # Objectives of equal titles differ in their texts.
        if len(set(titles)) < len(titles):
            titles = [aim.text for aim in self.aims]
        names = ("no.", "rule", *titles)
        rows: list[tuple[str, ...]] = []
        for number, one in [*enumerate(self.frontier, 1), *(("-", one) for one in self.references)]:
            cells = (with_interval(one.hidden[aim.text], aim) for aim in self.aims)
            rows.append((str(number), one.rule, *cells))
        return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data."""
        return stamped(
            "design",
            {
                "specification": self.specification.to_dict(),
                "space": self.specification.space.text,
                "frontier": [_plain(one) for one in self.frontier],
                "references": [_plain(one) for one in self.references],
                "worst_links": self.worst_links,
                "tried": len(self.tried),
                "runs": self.runs,
                "packets": self.packets,
                "wall_s": self.wall_s,
            },
        )

    @plotting
    def plot(self, **figure: Any) -> Figure:
        """Plot the first two objectives: what was tried, the frontier, and the references.

        Parameters
        ----------
        **figure
            `width`, `height`, `style`, `labels`, `order` as of `cwndlab.plots.FigureStyle.of`.
        """
        from cwndlab.plots import FigureStyle, frontier

        return FigureStyle.of(**figure).draw(frontier, self)

    def save(self, directory: str | Path) -> Path:
        """Write ``design.json``, the tables, ``plot.png`` and the page ``frontier.html``.

        Returns
        -------
        Path
            The directory, which is made if needed.
        """
        from cwndlab import plots
        from cwndlab.designs.page import page

        folder = super().save(directory)
        if self.frontier:
            plots.save(self.plot(), folder / "plot.png")
        write_whole(folder / "frontier.html", page(self).encode())
        return folder


def _plain(one: Designed) -> dict[str, Any]:
    return {
        "rule": one.rule,
        "size": one.size,
        "training": dict(one.training),
        "validation": dict(one.validation),
        "hidden": {aim: found._asdict() for aim, found in one.hidden.items()},
        "differences": {
            other: {aim: found._asdict() for aim, found in differences.items()}
            for other, differences in one.differences.items()
        },
        "merged": list(one.merged),
        "robustness": {aim: vars(found) for aim, found in one.robustness.items()},
    }
