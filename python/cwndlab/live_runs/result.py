"""The result of a live run, with simulated runs beside it where that was asked for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from cwndlab.live_runs.ensemble import Ensemble, Judged, sentence
from cwndlab.result_tables import plotting
from cwndlab.results import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class LiveResult(Result):
    """A result like that of a simulated run, with more fields.

    ``valid`` (bool), ``reasons`` (list of str) and ``health`` say whether the emulated network kept
    up (docs/live.md, docs/quic.md).

    Attributes
    ----------
    simulated : Ensemble or None
        Simulated runs of the same scenario with several seeds, for a comparison: a tuple of
        `Result`.

    Examples
    --------
    >>> from cwndlab import dumbbell, live
    >>> found = live(dumbbell("2Mbit", "5ms", flows="AIMD(1, 0.5)", duration="1s"), "quic")
    >>> found.flows["rule"].to_list(), found.simulated is None
    (['AIMD(1, 0.5)'], True)
    """

    simulated: Ensemble | None = None

    def table(self) -> pl.DataFrame:
        """One row per flow; simulated ones follow, distinguished by ``run`` and ``seed``."""
        own = super().table()
        if self.simulated is None:
            return own
        seed = pl.lit(self.fields["seed"]).alias("seed")
        both = {"live": own.select(seed, pl.all()), "simulated": self.simulated.table()}
        return pl.concat(
            table.select(pl.lit(name).alias("run"), pl.all()) for name, table in both.items()
        )

    @property
    def verdict(self) -> str:
        """Whether the live run is inside the spread of the simulated ones, in a sentence."""
        return sentence(self.judged, len(self.simulated or ()))

    @property
    def judged(self) -> list[Judged]:
        """The live run by the spread of the simulated ones; without these empty."""
        return [] if self.simulated is None else self.simulated.judge(self)

    def to_dict(self) -> dict[str, Any]:
        """Return all runs as plain data, and where the live one is among the simulated ones.

        Without simulated runs the live one alone.
        """
        if self.simulated is None:
            return super().to_dict()
        return {
            "live": super().to_dict(),
            "simulated": [run.to_dict() for run in self.simulated],
            "judged": [one.to_dict() for one in self.judged],
        }

    @property
    def _output(self) -> str:
        return "live" if self.simulated is None else "live-beside"

    @plotting
    def plot(self, **figure: Any) -> Figure:
        """Plot windows, goodput and queue over time, also of simulated runs.

        Parameters
        ----------
        **figure
            `width`, `height`, `style`, `labels`, `order` as of `cwndlab.plots.FigureStyle.of`.
        """
        from cwndlab.plots import FigureStyle, beside

        if self.simulated is None:
            return super().plot(**figure)
        return FigureStyle.of(**figure).draw(beside, self)

    def save(self, directory: str | Path) -> Path:
        """Write the tables as `Result.save` does.

        With simulated runs into ``live`` and ``simulated/seed-N``.

        Returns
        -------
        Path
            The directory.
        """
        folder = Path(directory)
        if self.simulated is None:
            return super().save(folder)
        super().save(folder / "live")
        self.simulated.save(folder / "simulated")
        return folder
