"""Results: data frames whose columns carry their units, the run's own fields, and traces.

Names follow one scheme in data frames, JSON and Parquet: the unit is the last word (``_bps`` bit/s, ``_s``
seconds, ``_packets``). Goodput counts the payload of unique packets received within the measuring window.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from cwndlab import native
from cwndlab.jsontext import dumps

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PACKET_EVENTS = ("send", "receive", "ack", "drop", "timeout")
"""Meaning of the native module's event codes: 0 sent, 1 arrives at the sink, 2 its ACK arrives at the sender, ..."""


_TEXT = ("flow", "group", "rule", "recovery", "link", "queue")
_FLOATS = (
    "loss_rate",
    "mean_rtt_s",
    "mean_rto_s",
    "mean_cwnd_packets",
    "rate_cov",
    "base_rtt_s",
    "finish_s",
    "utilization",
    "mean_queue_packets",
)
_COLUMNS = {
    "flows": [
        "flow",
        "group",
        "rule",
        "recovery",
        "goodput_bps",
        "delivered_packets",
        "sent_packets",
        "retransmitted_packets",
        "dropped_packets",
        "timeouts",
        "fast_retransmits",
        "ecn_reductions",
        "window_reductions",
        "loss_rate",
        "mean_rtt_s",
        "mean_rto_s",
        "mean_cwnd_packets",
        "rate_cov",
        "base_rtt_s",
        "finish_s",
        "total_sent_packets",
        "total_delivered_packets",
        "total_dropped_packets",
        "in_flight_packets",
    ],
    "links": [
        "link",
        "rate_bps",
        "delay_s",
        "queue",
        "limit_packets",
        "arrived_packets",
        "dropped_packets",
        "marked_packets",
        "departed_packets",
        "utilization",
        "mean_queue_packets",
        "mean_queueing_delay_s",
        "p95_queueing_delay_s",
        "cross_bps",
        "available_bps",
        "total_arrived_packets",
        "total_dropped_packets",
        "total_departed_packets",
        "queued_packets",
    ],
}


def _dtype(column: str) -> type[pl.DataType]:
    if column in _TEXT:
        return pl.String
    return pl.Float64 if column in _FLOATS or column.endswith(("_bps", "_s")) else pl.Int64


SCHEMAS = {table: {column: _dtype(column) for column in columns} for table, columns in _COLUMNS.items()}
"""Columns and types of the frames: the same for every run, also where a run has no flows or a column no values."""


class Result:
    """What one run gave.

    The run's own fields (``trace_hash``, ``aggregate_goodput_bps``, ``jain_index``, ...) are attributes.

    Attributes
    ----------
    flows, links : polars.DataFrame
        One row per flow, per link.
    traces : dict of polars.DataFrame
        Those the scenario's ``[trace]`` table asked for: ``cwnd``, ``queue``, ``rate``, ``packets``.
    scenario : dict
        The scenario that was run.

    Examples
    --------
    >>> from cwndlab import dumbbell, run
    >>> result = run(dumbbell("10Mbit", "20ms", flows="AIMD(1, 0.5)", duration="5s", trace={"queue": "100ms"}))
    >>> result.simulated_s
    5.0
    >>> result.traces["queue"].columns
    ['time_s', 'link', 'queue_packets']
    >>> len(result.flows.to_pandas())
    1
    """

    def __init__(
        self,
        run: Mapping[str, Any],
        flows: pl.DataFrame,
        links: pl.DataFrame,
        traces: Mapping[str, pl.DataFrame] | None = None,
        scenario: Mapping[str, Any] | None = None,
    ) -> None:
        self._run = dict(run)
        self.flows = flows
        self.links = links
        self.traces = dict(traces or {})
        self.scenario = dict(scenario or {})

    @classmethod
    def from_native(cls, text: str, traces: Mapping[str, Any], scenario: Mapping[str, Any]) -> Result:
        """Give the native module's answer (JSON text, and buffers of columns) its shape."""
        run = json.loads(text)
        flows = pl.DataFrame(run.pop("flows"), schema=SCHEMAS["flows"])
        links = pl.DataFrame(run.pop("links"), schema=SCHEMAS["links"])
        names = {
            "flow": flows["flow"].to_list(),
            "link": links["link"].to_list(),
            "event": list(PACKET_EVENTS),
        }
        frames = {table: _frame(columns, names) for table, columns in traces.items()}
        return cls(run, flows, links, frames, scenario)

    @property
    def fields(self) -> dict[str, Any]:
        """The run's own fields."""
        return dict(self._run)

    def __getattr__(self, name: str) -> Any:
        # `_run` itself is missing while a copy is being made.
        run = self.__dict__.get("_run", {})
        if name in run:
            return run[name]
        raise AttributeError(f"a result has no `{name}`; it has flows, links, traces, {', '.join(run)}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._run]

    def to_dict(self) -> dict[str, Any]:
        """Return the run's fields with ``flows`` and ``links`` as lists of rows; traces are left out."""
        return {**self._run, "flows": self.flows.to_dicts(), "links": self.links.to_dicts()}

    def to_json(self, indent: int | None = 2) -> str:
        """Return `to_dict` as JSON text; what is not finite is null."""
        return dumps(self.to_dict(), indent)

    def save(self, directory: str | Path) -> Path:
        """Write the result: ``flows.parquet``, ``links.parquet``, ``trace-*.parquet`` and ``run.json``.

        ``run.json`` is written last, so that a directory that has one is complete.

        Returns
        -------
        Path
            The directory.
        """
        folder = Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        marker = folder / "run.json"
        marker.unlink(missing_ok=True)
        for stale in folder.glob("trace-*.parquet"):
            stale.unlink()
        self.flows.write_parquet(folder / "flows.parquet")
        self.links.write_parquet(folder / "links.parquet")
        for table, frame in self.traces.items():
            frame.write_parquet(folder / f"trace-{table}.parquet")
        record = {"cwndlab_version": native.version(), "run": self._run, "scenario": self.scenario}
        unfinished = folder / "run.json.part"
        unfinished.write_text(dumps(record) + "\n", encoding="utf-8")
        unfinished.replace(marker)
        return folder

    @classmethod
    def load(cls, directory: str | Path) -> Result:
        """Read what `save` wrote.

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
        traces = {path.stem.removeprefix("trace-"): pl.read_parquet(path) for path in folder.glob("trace-*.parquet")}
        return cls(
            record["run"],
            pl.read_parquet(folder / "flows.parquet"),
            pl.read_parquet(folder / "links.parquet"),
            traces,
            record["scenario"],
        )

    def plot(self) -> Figure:
        """Draw windows, goodput and queue over time, as far as they were traced (matplotlib)."""
        from cwndlab.plots import overview

        return overview(self)

    def __repr__(self) -> str:
        goodput = (self._run.get("aggregate_goodput_bps") or 0.0) / 1e6
        return f"<Result {self._run.get('name') or 'unnamed'}: {self.flows.height} flows, {goodput:.3f} Mbit/s goodput>"

    def _repr_html_(self) -> str:
        from cwndlab.plots import notebook_html

        return notebook_html(self)


def _frame(columns: Mapping[str, tuple[str, bytes]], names: Mapping[str, list[str]]) -> pl.DataFrame:
    """Make one trace table of the native module's columns; indices become the names they stand for."""
    series = []
    for column, (dtype, buffer) in columns.items():
        values = pl.Series(column, np.frombuffer(buffer, dtype=dtype))
        if column in names:
            labels = pl.Series(column, names[column], dtype=pl.Enum(names[column]))
            values = labels.gather(values)
        elif values.dtype.is_float():
            # Not a number means not known: null, as in JSON.
            values = values.fill_nan(None)
        elif column == "retransmission":
            values = values.cast(pl.Boolean)
        series.append(values)
    return pl.DataFrame(series)
