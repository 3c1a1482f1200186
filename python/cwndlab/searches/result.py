"""The result of a search, and its files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cwndlab.files import write_whole
from cwndlab.jsontext import dumps
from cwndlab.outputs import stamped
from cwndlab.searches.objective import Objective
from cwndlab.statistics import Estimate

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

NAME = "found.json"


@dataclass
class SearchResult:
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
    """

    objective: Objective
    family: str
    setting: str
    profile: str
    values: Mapping[str, float]
    shape: Mapping[str, Any]
    rules: Mapping[str, Estimate]
    confirmed: Estimate
    tried: int
    runs: int
    wall_s: float
    history: Sequence[Mapping[str, float]] = field(default_factory=list, repr=False)

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

    def table(self) -> pl.DataFrame:
        """One row per evaluated waveform.

        Columns are the parameters and ``margin``; rows are in the order of evaluation.
        """
        import polars as pl

        return pl.DataFrame(list(self.history))

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

    def save(self, folder: Path) -> Path:
        """Write ``found.json``, ``tried.parquet`` and ``plot.png``; returns the first."""
        from cwndlab import plots

        folder.mkdir(parents=True, exist_ok=True)
        self.table().write_parquet(folder / "tried.parquet")
        plots.save(self.plot(), folder / "plot.png")
        write_whole(folder / NAME, (dumps(self.to_dict(), 2) + "\n").encode("utf-8"))
        return folder / NAME


def _with_interval(found: Estimate) -> dict[str, float | None]:
    return {"mean": found.mean, "ci95_low": found.low, "ci95_high": found.high}
