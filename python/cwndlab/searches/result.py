"""The result of a search, and its files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cwndlab.columns import ESTIMATE
from cwndlab.kernel_runs.virtual import SIMULATOR
from cwndlab.metrics import BY_KEY
from cwndlab.outputs import stamped
from cwndlab.result_tables import ResultTables, plotting
from cwndlab.searches.objective import Objective
from cwndlab.statistics import Estimate
from cwndlab.tables import by_cell

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure


@dataclass(repr=False)
class SearchResult(ResultTables):
    """The best waveform of a search, and its margins on seeds that the search did not use.

    Attributes
    ----------
    objective : Objective
        The objective.
    family : str
        The family of waveforms.
    setting : str
        ``recovery/queue``.
    profile : str
        Profile of the TCP endpoints.
    home : str
        Where the runs went.
    values : mapping of str to float
        Its parameters: rates in bit/s per test flow, times in seconds.
    shape : mapping
        The waveform as in a scenario, rates in bit/s per test flow.
    rules : mapping of str to Estimate
        The metric by rule, over the confirming seeds.
    confirmed : Estimate
        The margin over those seeds, with its 95 % interval.
    tried : int
        Number of evaluated waveforms.
    history : list of dict
        Every evaluated waveform, with its margin over the search's seeds.

    Examples
    --------
    >>> from cwndlab import search
    >>> found = search(best="AIAD(1, 3)", rules=["AIMD(1, 0.8)", "AIAD(1, 3)"], budget=5,
    ...                duration="5s", replicates=1, confirm=2)
    >>> found.confirmed.count, found.tables["tried"].height
    (2, 5)
    """

    FILE: ClassVar[str] = "found.json"
    objective: Objective
    family: str
    setting: str
    profile: str
    home: str
    values: Mapping[str, float]
    shape: Mapping[str, Any]
    rules: Mapping[str, Estimate]
    confirmed: Estimate
    tried: int
    runs: int
    wall_s: float
    history: Sequence[Mapping[str, float]] = field(
        default_factory=list[Mapping[str, float]], repr=False
    )

    @property
    def endpoints(self) -> str:
        """The endpoints in words: a kernel has its own, whatever the profile."""
        return f"profile {self.profile}" if self.home == SIMULATOR else self.home

    @property
    def is_met(self) -> bool:
        """Whether the whole interval of the margin is above 0."""
        return self.confirmed.low is not None and self.confirmed.low > 0

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain data."""
        found = {
            "best": self.objective.best,
            "worst": self.objective.worst,
            "metric": self.objective.metric,
            "family": self.family,
            "setting": self.setting,
            "profile": self.profile,
            "home": self.home,
            "values": dict(self.values),
            "waveform": dict(self.shape),
            "met": self.is_met,
            "margin": _with_interval(self.confirmed),
            "rules": {rule: _with_interval(found) for rule, found in self.rules.items()},
            "replicates": self.confirmed.count,
            "waveforms_tried": self.tried,
            "runs": self.runs,
            "wall_s": self.wall_s,
        }
        return stamped("search", found)

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """``rules``, the confirmed metric of each rule, and ``tried``, every evaluated waveform.

        Columns of ``tried`` are the parameters and ``margin``; rows are in the order of evaluation.
        """
        import polars as pl

        rules = pl.DataFrame(
            [(rule, self.objective.metric, *found) for rule, found in self.rules.items()],
            schema={"rule": pl.String, "metric": pl.String, **ESTIMATE}, orient="row",
        )  # fmt: skip
        return {"rules": rules, "tried": pl.DataFrame(list(self.history))}

    def table(self) -> pl.DataFrame:
        """One row per rule, the best first: mean ± 95 % CI in the units of the terminal."""
        metric = BY_KEY[self.objective.metric]
        rules = self.tables["rules"].sort("mean", descending=metric.more_is_better is not False)
        return by_cell(rules, ["rule"], "metric", [metric])

    @plotting
    def plot(self, **figure: Any) -> Figure:
        """Plot the waveform, and below it the metric of each rule (matplotlib).

        Parameters
        ----------
        **figure
            `width`, `height`, `style`, `labels`, `order` as of `cwndlab.plots.FigureStyle.of`.
        """
        from cwndlab.plots import FigureStyle, waveform

        return FigureStyle.of(**figure).draw(
            waveform,
            self.shape,
            self.rules,
            title=f"{self.family}: {self.objective.text}",
            metric=self.objective.metric,
        )

    def save(self, directory: str | Path) -> Path:
        """Write ``found.json``, ``rules.parquet``, ``tried.parquet`` and ``plot.png``.

        Returns
        -------
        Path
            The directory, which is made if needed.
        """
        from cwndlab import plots

        folder = super().save(directory)
        plots.save(self.plot(), folder / "plot.png")
        return folder


def _with_interval(found: Estimate) -> dict[str, float | None]:
    return {"mean": found.mean, "ci95_low": found.low, "ci95_high": found.high}
