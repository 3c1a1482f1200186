"""Records of a witness: what each program measured in every cell, so that verdicts need no run.

A folder has two files for each paper: ``PAPER.parquet``, a row for each program, cell, replicate
and metric, and ``PAPER.json``, what is known of each plan. Plans that are run again replace their
records; the others stay.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from cwndlab.plugins import dumps, write_parquet, write_whole
from cwndlab_papers.results_grid import ResultsGrid

if TYPE_CHECKING:
    import polars as pl

PROGRAMS = ("cwndlab", "ns2")
COMPUTED = "computed_s"
PLACE = ("setting", "case", "rule")


@dataclass
class PlanRecord:
    """A plan as both programs ran it.

    Attributes
    ----------
    profile : str
        The ns-2 whose endpoints and routers the runs had.
    version : str
        Name and version of ns-2.
    replicates : int
        Replicates of each cell.
    left_out : dict
        Levels that ns-2 lacks, with reasons.
    refused : str
        Why there are no runs: what ns-2 lacks.
    grids : dict
        Program to its results; the metric `COMPUTED` is the time of each run, seconds.
    """

    profile: str
    version: str
    replicates: int
    left_out: dict[str, str] = field(default_factory=dict[str, str])
    refused: str = ""
    grids: dict[str, ResultsGrid] = field(default_factory=dict[str, ResultsGrid])

    @property
    def runs(self) -> int:
        """Runs of each program."""
        return next(iter(self.grids.values())).values[COMPUTED].size if self.grids else 0

    @property
    def computed_s(self) -> dict[str, float]:
        """Sum of the times of each program's runs, seconds."""
        return {side: float(np.nansum(grid.values[COMPUTED])) for side, grid in self.grids.items()}

    def merged(self, later: PlanRecord) -> PlanRecord:
        """Return a later record, with the settings that only this one has, if they are alike."""
        alike = (self.profile, self.version, self.replicates) == (
            later.profile, later.version, later.replicates
        )  # fmt: skip
        if not (alike and self.grids and later.grids):
            return later
        grids = {side: _joined(grid, later.grids[side]) for side, grid in self.grids.items()}
        return dataclasses.replace(
            later,
            left_out={**self.left_out, **later.left_out},
            grids={side: grid for side, grid in grids.items() if grid is not None} or later.grids,
        )


def read(folder: Path, key: str) -> dict[str, PlanRecord]:
    """Read the records of a paper by plan; there are none without its files."""
    about, table = folder / f"{key}.json", folder / f"{key}.parquet"
    if not about.exists():
        return {}
    import polars as pl

    frame = pl.read_parquet(table) if table.exists() else None
    plans: dict[str, PlanRecord] = {}
    for plan, fields in json.loads(about.read_text(encoding="utf-8")).items():
        plans[plan] = PlanRecord(**fields)
        if frame is not None and not fields["refused"]:
            rows = frame.filter(plan=plan)
            plans[plan].grids = {program: _grid(rows.filter(program=program))
                                 for program in PROGRAMS}  # fmt: skip
    return plans


def write(folder: Path, key: str, plans: Mapping[str, PlanRecord]) -> None:
    """Add the records of some plans of a paper to those of a folder.

    Examples
    --------
    >>> import tempfile
    >>> grid = ResultsGrid(("sack",), ("few", "many"), ("AIMD",),
    ...                    {"goodput": np.array([[[[0.5, 0.75]], [[0.25, 1.0]]]]),
    ...                     COMPUTED: np.full((1, 2, 1, 2), 0.5)})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     record = PlanRecord("ns2-2002", "ns-2 2.35", 2, grids={"ns2": grid, "cwndlab": grid})
    ...     write(Path(folder), "a2000", {"one": record})
    ...     found = read(Path(folder), "a2000")["one"]
    >>> found.grids["ns2"].values["goodput"].tolist(), found.runs, found.computed_s["ns2"]
    ([[[[0.5, 0.75]], [[0.25, 1.0]]]], 4, 2.0)
    """
    import polars as pl

    folder.mkdir(parents=True, exist_ok=True)
    before = read(folder, key)
    merged = {plan: before[plan].merged(record) if plan in before else record
              for plan, record in plans.items()}  # fmt: skip
    known = {**before, **merged}
    frames = [
        _frame(grid).select(pl.lit(plan).alias("plan"), pl.lit(program).alias("program"), pl.all())
        for plan, record in known.items()
        for program, grid in record.grids.items()
    ]
    if frames:
        write_parquet(
            folder / f"{key}.parquet", pl.concat(frames), compression="zstd", compression_level=19
        )
    about = {plan: _fields(record) for plan, record in known.items()}
    write_whole(folder / f"{key}.json", (dumps(about, 1) + "\n").encode())


def _fields(record: PlanRecord) -> dict[str, Any]:
    """Return what is known of a plan beside its results."""
    return {name: value for name, value in vars(record).items() if name != "grids"}


def _frame(grid: ResultsGrid) -> pl.DataFrame:
    """Return a row for each cell and replicate, and a column for each metric."""
    import polars as pl

    shape = (len(grid.settings), len(grid.cases), len(grid.rules), grid.replicates)
    at = [axis.ravel() for axis in np.indices(shape)]
    labels = (grid.settings, grid.cases, grid.rules)
    columns: dict[str, Any] = {
        name: [known[place] for place in places]
        for name, known, places in zip(PLACE, labels, at, strict=False)
    }
    columns["replicate"] = at[-1]
    wide = pl.DataFrame({**columns, **{name: table.ravel() for name, table in grid.values.items()}})
    return wide.unpivot(index=[*PLACE, "replicate"], variable_name="metric", value_name="value")


def _grid(rows: pl.DataFrame) -> ResultsGrid:
    """Return the results of a plan; the inverse of `_frame`."""
    labels = [tuple(rows[name].unique(maintain_order=True)) for name in PLACE]
    shape = (*map(len, labels), rows["replicate"].n_unique())
    values = {
        str(metric): part["value"].to_numpy().reshape(shape)
        for (metric,), part in rows.partition_by(
            "metric", as_dict=True, maintain_order=True
        ).items()
    }
    return ResultsGrid(labels[0], labels[1], labels[2], values)


def _joined(before: ResultsGrid, later: ResultsGrid) -> ResultsGrid | None:
    """Return later results, then those of settings that only the earlier ones have.

    None if they are about other cases, rules or metrics.
    """
    same = (before.cases, before.rules) == (later.cases, later.rules)
    if not same or list(before.values) != list(later.values):
        return None
    kept = [at for at, name in enumerate(before.settings) if name not in later.settings]
    values = {name: np.concatenate([table, before.values[name][kept]])
              for name, table in later.values.items()}  # fmt: skip
    settings = (*later.settings, *(before.settings[at] for at in kept))
    return ResultsGrid(settings, later.cases, later.rules, values)
