"""What an import returns: estimates, the scenario, and its window beside the recorded one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from cwndlab.captures.estimates import Estimate
from cwndlab.captures.exchange import FloatArray, at_times
from cwndlab.captures.scenarios import FLOW
from cwndlab.outputs import stamped
from cwndlab.quantities import bits_per_second, seconds
from cwndlab.result_tables import ResultTables, plotting
from cwndlab.runs.execute import run
from cwndlab.scenario import Scenario

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

POINTS = 2000
"""Times at which windows are compared."""
ROUNDING_S = 1e-8
"""Of times in traces."""
ROWS = 20
"""Rows of the table of windows."""


@dataclass(frozen=True)
class Imported(ResultTables):
    """A recorded flow as a scenario.

    Attributes
    ----------
    scenario : Scenario
        What `cwndlab.run` takes.
    estimates : dict of Estimate
        By name, such as ``rate_bps``: value, interval, and how it was estimated.
    differences : dict of float
        Candidate rules: mean distance of the simulated from the recorded window, as a fraction of
        the mean recorded one; the scenario has the rule with the least.
    window : {"flight", "cwnd"}
        What the windows are: packets sent that no ACK and no SACK block has covered, or the window
        that a qlog records.
    flows : list of str
        The flows of the file, the one with most data first.
    notes : list of str
        What may make the scenario differ from the recorded flow.

    Examples
    --------
    >>> import cwndlab, pathlib, tempfile
    >>> path = cwndlab.dumbbell("2Mbit", "20ms", flows="CUBIC", duration="3s",
    ...                         trace={"packets": True})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "flow.pcapng"
    ...     _ = cwndlab.run(path, pcap=file)
    ...     found = cwndlab.import_pcap(file, rule="CUBIC")
    >>> found
    <Imported 10.0.0.1:40001 > 10.128.0.1:5001: CUBIC, 8 estimates>
    >>> found.windows(3).columns
    ['time_s', 'recorded_packets', 'simulated_packets']
    >>> cwndlab.run(found.scenario).simulated_s == found.scenario.duration_s
    True
    """

    FILE: ClassVar[str] = "imported.json"

    scenario: Scenario
    estimates: dict[str, Estimate]
    differences: dict[str, float]
    window: str
    flows: Sequence[str]
    flow: str
    at: str
    notes: Sequence[str]
    recorded: list[tuple[float, float]] = field(repr=False)
    simulated: list[tuple[float, float]] = field(repr=False)

    @property
    def rule(self) -> str:
        """Rule of the scenario."""
        return self.scenario["flows"][0]["rule"]

    @property
    def difference(self) -> float:
        """Mean distance of the simulated from the recorded window, as a fraction of its mean."""
        return self.differences[self.rule]

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """``windows`` and ``estimates``."""
        import polars as pl

        return {
            "windows": self.windows(),
            "estimates": pl.DataFrame([asdict(each) for each in self.estimates.values()]),
        }

    def windows(self, rows: int = ROWS) -> pl.DataFrame:
        """Return mean windows in intervals of equal length.

        Parameters
        ----------
        rows : int
            Number of intervals.

        Returns
        -------
        polars.DataFrame
            Columns ``time_s`` (start of the interval), ``recorded_packets`` and
            ``simulated_packets``.
        """
        import polars as pl

        times_s = _times(self.scenario.duration_s, rows * 100)
        recorded, simulated = (
            at_times(steps, times_s).reshape(rows, -1).mean(axis=1)
            for steps in (self.recorded, self.simulated)
        )
        begun_s = times_s.reshape(rows, -1)[:, 0]
        return pl.DataFrame(
            {"time_s": begun_s, "recorded_packets": recorded, "simulated_packets": simulated}
        )

    def to_toml(self) -> str:
        """Return the scenario as TOML, with the estimates as comments."""
        lines = [
            f"{self.flow}, recorded at the {self.at}. With {self.rule} the simulated "
            f"{self.window} differs from the recorded one by {100 * self.difference:.1f} % of its "
            "mean.",
            *self.notes,
        ]
        for each in self.estimates.values():
            heading, value, interval = each.shown
            lines.append(f"{heading}: {value}, {interval} ({each.how})")
        return "".join(f"# {line}\n" for line in lines) + "\n" + self.scenario.to_toml()

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data; windows are those of `windows`."""
        return {
            "flow": self.flow, "flows": list(self.flows), "at": self.at, "window": self.window,
            "rule": self.rule, "difference": self.difference,
            "differences": dict(self.differences), "notes": list(self.notes),
            "estimates": [asdict(each) for each in self.estimates.values()],
            "windows": self.windows().to_dicts(), "scenario": self.scenario.to_dict(),
        }  # fmt: skip

    def to_json(self, indent: int | None = 2) -> str:
        """Return `to_dict` as JSON text, with its schema."""
        from cwndlab.jsontext import dumps

        return dumps(stamped("imported", self.to_dict()), indent)

    @plotting
    def plot(self, **figure: Any) -> Figure:
        """Plot the recorded and the simulated window over time (matplotlib).

        Parameters
        ----------
        **figure
            `width`, `height`, `style`, `labels`, `order` as of `cwndlab.plots.FigureStyle.of`.
        """
        from cwndlab.plots import FigureStyle, imported

        return FigureStyle.of(**figure).draw(imported, self)

    def __repr__(self) -> str:
        return f"<Imported {self.flow}: {self.rule}, {len(self.estimates)} estimates>"


def _times(duration_s: float, count: int) -> FloatArray:
    return (np.arange(count) + 0.5) * duration_s / count


def simulated_window(scenario: Scenario, window: str) -> list[tuple[float, float]]:
    """Run a scenario and return the window of its flow, as a step function."""
    if window == "cwnd":
        result = run(scenario, patch={"trace": {"cwnd": f"{scenario.duration_s / POINTS}s"}})
        return list(result.traces["cwnd"].select("time_s", "cwnd_packets").iter_rows())
    trace = run(scenario, patch={"trace": {"packets": True}}).traces["packets"]
    trace = trace.filter(flow=FLOW)
    event, sequence = trace["event"].cast(str).to_numpy(), trace["seq"].to_numpy()
    times_s = trace["time_s"].to_numpy()
    sent = np.maximum.accumulate(np.where(event == "send", sequence, 0))
    known = np.maximum.accumulate(np.where(event == "ack", sequence, 0))
    if scenario.canonical()["flows"][0]["recovery"] == "sack":
        # An ACK with its SACK blocks tells of all that arrived before it left.
        rows = trace.filter(event="receive").unique("seq", keep="first").sort("time_s")
        arrived_s = rows.filter(rows["seq"] > 0)["time_s"].to_numpy()
        link = scenario["dumbbell"]
        bits = 8 * trace["size_bytes"].to_numpy()
        back_s = (seconds(link["delay"]) or 0.0) + bits / (bits_per_second(link["rate"]) or 1.0)
        told = np.searchsorted(arrived_s, times_s - back_s + ROUNDING_S, side="right")
        known = np.maximum.accumulate(np.where(event == "ack", told, 0))
    flight = (sent - known).astype(float)
    return list(zip(times_s.tolist(), flight.tolist(), strict=True))


def distance(
    recorded: list[tuple[float, float]], simulated: list[tuple[float, float]], duration_s: float
) -> float:
    """Return the mean distance of two windows as a fraction of the mean of the first."""
    times_s = _times(duration_s, POINTS)
    first, second = at_times(recorded, times_s), at_times(simulated, times_s)
    return float(np.mean(np.abs(second - first)) / np.mean(first))
