"""The result of a live run, with its simulation beside it where that was asked for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from cwndlab.results import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class LiveResult(Result):
    """A result as of a simulated run, with more fields.

    ``valid`` (bool), ``reasons`` (list of str) and ``health`` say whether the emulated network kept
    up (docs/live.md, docs/quic.md).

    Attributes
    ----------
    simulated : Result or None
        The same scenario simulated, for a comparison.

    Examples
    --------
    >>> from cwndlab import dumbbell, live
    >>> found = live(dumbbell("2Mbit", "5ms", flows="AIMD(1, 0.5)", duration="1s"), "quic")
    >>> found.flows["rule"].to_list(), found.simulated is None
    (['AIMD(1, 0.5)'], True)
    """

    simulated: Result | None = None

    def table(self) -> pl.DataFrame:
        """One row per flow; the flows of the simulation follow, with ``run`` to tell them apart."""
        if self.simulated is None:
            return super().table()
        both = {"live": super().table(), "simulated": self.simulated.table()}
        return pl.concat(
            table.select(pl.lit(name).alias("run"), pl.all()) for name, table in both.items()
        )

    def to_dict(self) -> dict[str, Any]:
        """Return both runs as plain data; without a simulation the live run alone."""
        if self.simulated is None:
            return super().to_dict()
        return {"live": super().to_dict(), "simulated": self.simulated.to_dict()}

    @property
    def _output(self) -> str:
        return "live" if self.simulated is None else "live-beside"

    def plot(self, **figure: Any) -> Figure:
        """Plot windows, goodput and queue over time; both runs, if there is a simulation.

        Parameters
        ----------
        **figure
            `width`, `height`, `style`, `labels`, `order` as of `cwndlab.plots.FigureStyle.of`.
        """
        from cwndlab.plots import FigureStyle, beside

        if self.simulated is None:
            return super().plot(**figure)
        return FigureStyle.of(**figure).draw(beside, self.simulated, self)

    def save(self, directory: str | Path) -> Path:
        """Write the tables as `Result.save` does; of two runs, into ``live`` and ``simulated``.

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
