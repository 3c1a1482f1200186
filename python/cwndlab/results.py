"""Results: data frames whose columns carry their units, the run's own fields, and traces.

Names follow one scheme in data frames, JSON and Parquet: the unit is the last word (``_bps`` bit/s,
``_s`` seconds, ``_packets``). Goodput counts the payload of unique packets received within the
measuring window.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from cwndlab import native
from cwndlab.columns import (
    COLUMNS,
    SCHEMAS,
    TABLES,
    TRACES,
    Column,
    tables_from,
    tables_of,
    traces_of,
)
from cwndlab.files import made_folder, write_parquet, write_whole
from cwndlab.groups import Solo, groups_of
from cwndlab.jsontext import dumps
from cwndlab.message import nearest
from cwndlab.outputs import stamped
from cwndlab.result_tables import ResultTables, plotting

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _definitions(columns: Mapping[str, Column], frame: pl.DataFrame) -> dict[str, str]:
    """Return the definitions of a table's columns, as metadata of its file."""
    about = {
        name: {"unit": columns[name].unit, "meaning": columns[name].meaning}
        for name in frame.columns
        if name in columns
    }
    return {"columns": dumps(about, None)}


_OPTIONAL = ("cross", "arrivals", "connections", "subflows")
"""Saved only if they have rows, which most runs do not."""


FLOW_COLUMNS = (
    "flow",
    "rule",
    "recovery",
    "goodput_bps",
    "loss_rate",
    "mean_rtt_s",
    "mean_cwnd_packets",
    "timeouts",
)
"""Main columns of flows."""


class Result(ResultTables):
    """The result of one run.

    The run's own fields (``trace_hash``, ``aggregate_goodput_bps``, ``jain_index``, ...) are
    attributes.

    Attributes
    ----------
    flows, links, cross, arrivals, connections, subflows : polars.DataFrame
        One row per flow, per link, per source of cross traffic, per group of finite flows or of
        other transfers, per connection over several paths, per subflow of these.
    groups : polars.DataFrame
        One row per group of flows, an entry of ``[[flows]]``: what it gets beside the others.
    traces : dict of polars.DataFrame
        The traces that the scenario's ``[trace]`` table selects: ``cwnd``, ``rule``, ``queue``,
        ``rate``, ``packets``; and ``transfers`` if there are finite flows.
    scenario : dict
        The scenario of the run.

    Examples
    --------
    >>> from cwndlab import dumbbell, run
    >>> result = run(dumbbell("10Mbit", "20ms", flows="AIMD(1, 0.5)", duration="5s",
    ...                       trace={"queue": "100ms"}))
    >>> result.simulated_s
    5.0
    >>> result.traces["queue"].columns
    ['time_s', 'link', 'queue_packets', 'average_queue_packets', 'drop_probability']
    >>> len(result.flows.to_pandas())
    1

    What two rules get in competition, and what a group loses to the other (harm):

    >>> both = dumbbell("10Mbit", "20ms", flows=["NewReno", "Vegas"], duration="20s")
    >>> table = run(both, patch={"trace.solo": True}).groups
    >>> table.columns[:4], table["share"].sum(), table["harm"][1] > 0.5
    (['group', 'rule', 'recovery', 'flows'], 1.0, True)
    """

    def __init__(
        self,
        run: Mapping[str, Any],
        flows: pl.DataFrame,
        links: pl.DataFrame,
        traces: Mapping[str, pl.DataFrame] | None = None,
        scenario: Mapping[str, Any] | None = None,
        *,
        cross: pl.DataFrame | None = None,
        arrivals: pl.DataFrame | None = None,
        connections: pl.DataFrame | None = None,
        subflows: pl.DataFrame | None = None,
    ) -> None:
        self._run = dict(run)
        self.flows = flows
        self.links = links
        self.cross: pl.DataFrame = pl.DataFrame(schema=SCHEMAS["cross"]) if cross is None else cross
        self.arrivals: pl.DataFrame = (
            pl.DataFrame(schema=SCHEMAS["arrivals"]) if arrivals is None else arrivals
        )
        self.connections: pl.DataFrame = (
            pl.DataFrame(schema=SCHEMAS["connections"]) if connections is None else connections
        )
        self.subflows: pl.DataFrame = (
            pl.DataFrame(schema=SCHEMAS["subflows"]) if subflows is None else subflows
        )
        self.traces: dict[str, pl.DataFrame] = dict(traces or {})
        self.scenario: dict[str, Any] = dict(scenario or {})

    @classmethod
    def from_run(cls, run: native.Run, scenario: Mapping[str, Any]) -> Result:
        """Make a result from a run of the core; its tables and traces are not copied."""
        tables = tables_of(run)
        return cls(
            json.loads(run.fields()), traces=traces_of(run, tables), scenario=scenario, **tables
        )

    @classmethod
    def from_json(
        cls,
        text: str,
        scenario: Mapping[str, Any],
        traces: Mapping[str, pl.DataFrame] | None = None,
    ) -> Result:
        """Make a result from `native.Run.to_json`."""
        run = json.loads(text)
        tables = tables_from(run)
        fields = {name: value for name, value in run.items() if name not in TABLES}
        return cls(fields, traces=traces, scenario=scenario, **tables)

    @property
    def groups(self) -> pl.DataFrame:
        """One row per group of flows, with the columns of docs/metrics.md#groups-of-flows."""
        return groups_of(self.flows, self._run.get("solo"))

    def with_solo(self, solo: Solo) -> Result:
        """Return the result with what its groups get alone, which gives `groups` their harm."""
        found = copy.copy(self)
        found._run = {**self._run, "solo": dict(solo)}
        return found

    @property
    def fields(self) -> dict[str, Any]:
        """The run's own fields."""
        return dict(self._run)

    def __getattr__(self, name: str) -> Any:
        # `_run` itself is missing during a copy.
        run = self.__dict__.get("_run", {})
        if name in run:
            return run[name]
        near = nearest(name, [*SCHEMAS, "traces", *run])
        raise AttributeError(
            f"a result has no `{name}`; it has {', '.join(SCHEMAS)}, traces, {', '.join(run)}"
            f"{f' (did you mean {near}?)' if near else ''}"
        )

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._run]

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """``flows``, ``groups``, ``links`` and the others by name."""
        return {name: getattr(self, name) for name in SCHEMAS}

    def to_dict(self) -> dict[str, Any]:
        """Return the run's fields and its tables (``flows``, ``links``, ...) as rows."""
        return {**self._run, **{name: table.to_dicts() for name, table in self.tables.items()}}

    def to_json(self, indent: int | None = 2) -> str:
        """Return `to_dict` as JSON text, with its schema; numbers that are not finite are null."""
        return dumps(stamped(self._output, self.to_dict()), indent)

    @property
    def _output(self) -> str:
        """Name of the schema of its JSON."""
        return "run"

    def table(self) -> pl.DataFrame:
        """One row per flow: names, goodput, loss rate, RTT, window, timeouts."""
        return self.flows.select(FLOW_COLUMNS)

    def save(self, directory: str | Path) -> Path:
        """Write ``flows.parquet``, ``links.parquet``, ``trace-*.parquet`` and ``run.json``.

        ``groups.parquet`` is written for other programs: `load` makes the groups from the flows.
        ``cross.parquet``, ``arrivals.parquet``, ``connections.parquet`` and ``subflows.parquet``
        are written if they have rows. ``run.json`` is written last, so that a directory with it is
        complete. Parquet files have the units and meanings of their columns as metadata
        (``columns``, JSON).

        Returns
        -------
        Path
            The directory.
        """
        folder = made_folder(directory)
        marker = folder / "run.json"
        marker.unlink(missing_ok=True)
        for stale in [
            *folder.glob("trace-*.parquet"),
            *(folder / f"{table}.parquet" for table in _OPTIONAL),
        ]:
            stale.unlink(missing_ok=True)
        for table, frame in self.tables.items():
            if frame.height > 0 or table not in _OPTIONAL:
                about = _definitions(COLUMNS[table], frame)
                write_parquet(folder / f"{table}.parquet", frame, synced=False, metadata=about)
        for table, frame in self.traces.items():
            about = _definitions(TRACES.get(table, {}), frame)
            write_parquet(folder / f"trace-{table}.parquet", frame, synced=False, metadata=about)
        record = stamped("saved-run", {"run": self._run, "scenario": self.scenario})
        write_whole(marker, f"{dumps(record)}\n".encode(), synced=False)
        return folder

    @classmethod
    def load(cls, directory: str | Path) -> Result:
        """Read a result that `save` wrote.

        Raises
        ------
        FileNotFoundError
            If the directory holds no complete result.
        """
        folder = Path(directory)
        marker = folder / "run.json"
        if not marker.is_file():
            raise FileNotFoundError(f"{folder}: holds no complete result (no run.json)")
        record = json.loads(marker.read_text(encoding="utf-8"))
        traces = {
            path.stem.removeprefix("trace-"): pl.read_parquet(path)
            for path in folder.glob("trace-*.parquet")
        }
        present = [
            table
            for table in TABLES
            if (folder / f"{table}.parquet").is_file() or table not in _OPTIONAL
        ]
        frames = {table: pl.read_parquet(folder / f"{table}.parquet") for table in present}
        return cls(record["run"], traces=traces, scenario=record["scenario"], **frames)

    @plotting
    def plot(self, **figure: Any) -> Figure:
        """Plot the traced windows, goodput and queue over time (matplotlib).

        Parameters
        ----------
        **figure
            `width`, `height`, `style`, `labels`, `order` as of `cwndlab.plots.FigureStyle.of`.
        """
        from cwndlab.plots import FigureStyle, overview

        return FigureStyle.of(**figure).draw(overview, self)

    def __repr__(self) -> str:
        goodput = (self._run.get("aggregate_goodput_bps") or 0.0) / 1e6
        others = [f"{self.flows.height} flows", f"{goodput:.3f} Mbit/s goodput"]
        if self.cross.height:
            others.append(f"{self.cross.height} cross source{'s' * (self.cross.height > 1)}")
        if self.arrivals.height:
            others.append(f"{self.arrivals['arrived_flows'].sum()} transfers")
        return f"<Result {self._run.get('name') or 'unnamed'}: {', '.join(others)}>"

    def _repr_html_(self) -> str:
        from cwndlab.plots import notebook_html

        return notebook_html(self)
