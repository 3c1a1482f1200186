"""Why one side did better than another: parts that add up to the difference, as tables and text.

The core splits the difference (crates/sim/src/results/explanation.rs): in a phase that takes a time
t, W bits are outstanding on average, each for R, so that it contributes t W / R to the goodput
(Little's law) [1]_. What two sides differ in is then due to time, to window, or to delay.

References
----------
.. [1] J. D. C. Little, "A Proof for the Queuing Formula: L = lambda W", Operations Research 9(3),
   1961.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from cwndlab import native
from cwndlab.jsontext import dumps
from cwndlab.outputs import stamped
from cwndlab.result_tables import ResultTables, plotting

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EDGES = "edges"
"""Packets that arrived within the window, and of which the sender learned behind it."""
TITLES = {"slow_start": "slow start", "growth": "past slow start"}
"""How tables and pictures name phases that they do not name by their key."""
CAPACITY = "the link's capacity"


@dataclass(frozen=True)
class Divergence:
    """The first event after which two flows differ in cwnd, or in what is acknowledged."""

    number: int
    """Number of earlier events, which both flows have in common."""
    times_s: tuple[float, float]
    """Simulated time at each, seconds."""
    acknowledged: tuple[int, int]
    """Packets acknowledged cumulatively."""
    cwnd: tuple[float, float]
    """Congestion windows, packets."""
    packets: tuple[pl.DataFrame, pl.DataFrame]
    """The packets of each flow around it, as in the trace `packets`."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "number": self.number, "times_s": list(self.times_s),
            "acknowledged_packets": list(self.acknowledged), "cwnd_packets": list(self.cwnd),
            "packets": [frame.to_dicts() for frame in self.packets],
        }  # fmt: skip


@dataclass(repr=False)
class Explanation(ResultTables):
    """An account of the difference between two sides, of the first less the second.

    `tables` has each part as a data frame: ``goodput``, ``rtt``, ``loss``,
    ``cwnd_changes``, ``predictions``.

    Examples
    --------
    >>> from cwndlab import dumbbell, explain
    >>> flows = [{"rule": "AIMD(1, 0.5)", "name": "a", "tcp": {"window": 20}},
    ...          {"rule": "AIMD(1, 0.5)", "name": "b", "tcp": {"window": 10}}]
    >>> why = explain(dumbbell("100Mbit", "40ms", flows=flows, duration="10s"))
    >>> print(why.headline)
    a gets 1.42 Mbit/s more than b: 1.41 because more packets are outstanding (20 against 10) \
while limited by the receiver's window
    """

    FILE: ClassVar[str] = "explanation.json"

    names: tuple[str, str]
    """The two sides."""
    accounts: tuple[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]]
    """Accounts of their flows; none of the second for a capacity."""
    parts: Mapping[str, Any]
    """What the core found: goodput, RTT, loss and queued packets, split."""
    divergence: Divergence | None = None
    """Where the two first differ; none for several flows, for a capacity, or if they never do."""
    predictions: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=PREDICTED))
    """Goodput by theory beside the measured one, of the sides whose rule has a formula."""
    others_bps: float = 0.0
    """What other traffic gets of the link that one side is explained against, bit/s."""

    @property
    def reasons(self) -> Mapping[str, Any]:
        """The difference of goodputs in words, as `native.reasons` has them."""
        return native.reasons(self.names, self.accounts, self.others_bps)

    @property
    def is_of_capacity(self) -> bool:
        """Whether one side is explained against its link."""
        return not self.accounts[1]

    @property
    def causes(self) -> list[tuple[str, str, float]]:
        """Causes of the difference of goodputs: phase, factor, and bit/s; the largest first.

        The factor is ``"time"``, of all phases together and of the phase that takes most from the
        side that loses by it; ``"window"`` or ``"delay"`` of a phase; or ``"rate"``, both where
        they cancel in part. Causes in the direction of the difference come before those against it.
        """
        return [(one["phase"], one["factor"], one["bps"]) for one in self.reasons["causes"]]

    @property
    def headline(self) -> str:
        """The difference of goodputs and its largest cause, in one sentence."""
        return self.reasons["headline"]

    @property
    def goodput(self) -> pl.DataFrame:
        """One row per phase, and the edges: goodput in bit/s, and the parts of the difference."""
        found = self.parts["goodput_bps"]
        rows = [
            {
                "part": part["phase"],
                "first_time": part["time"][0],
                "second_time": part["time"][1],
                "first_bps": part["sides"][0],
                "second_bps": part["sides"][1],
                "by_time_bps": part["by_time"],
                "by_window_bps": part["by_window"],
                "by_delay_bps": part["by_delay"],
                "difference_bps": part["by_time"] + part["by_window"] + part["by_delay"],
            }
            for part in found["phases"]
        ]
        rows.append({"part": EDGES, "difference_bps": found["edges"]})
        return pl.DataFrame(rows, schema=_GOODPUT)

    @property
    def rtt(self) -> pl.DataFrame:
        """Parts of the difference of mean RTTs, seconds."""
        found: Mapping[str, Any] = self.parts["rtt_s"] or {}
        rows = [(part, found.get(part)) for part in ("propagation", "queues", "acks")]
        return pl.DataFrame(rows, {"part": pl.String, "difference_s": pl.Float64}, orient="row")

    @property
    def loss(self) -> pl.DataFrame:
        """Parts of the difference of loss rates, by the flow's phase at the drop."""
        found = self.parts["loss_rate"]
        rows = [*found["phases"], ["others", found["others"]]]
        return pl.DataFrame(rows, {"part": pl.String, "difference": pl.Float64}, orient="row")

    @property
    def cwnd_changes(self) -> pl.DataFrame:
        """Changes of cwnd of a mean flow of each side by cause: how many, and packets in sum."""
        rows: list[tuple[Any, ...]] = []
        for side, accounts in zip(self.names, self.accounts, strict=True):
            of_causes = zip(*(account["cwnd_changes"] for account in accounts), strict=True)
            rows += [
                (side, changes[0]["cause"], fmean(one["times"] for one in changes),
                 fmean(one["packets"] for one in changes))
                for changes in of_causes
            ]  # fmt: skip
        return pl.DataFrame(rows, _CWND_CHANGES, orient="row")

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """Every table by its name."""
        return {
            "goodput": self.goodput, "rtt": self.rtt, "loss": self.loss,
            "cwnd_changes": self.cwnd_changes, "predictions": self.predictions,
        }  # fmt: skip

    def labelled(self, labels: Mapping[str, str]) -> Explanation:
        """Return the same with other names of the sides.

        Examples
        --------
        >>> from cwndlab import dumbbell, explain
        >>> flows = [{"rule": "AIMD(1, 0.5)", "name": name} for name in "ab"]
        >>> why = explain(dumbbell("10Mbit", "20ms", flows=flows, duration="1s"))
        >>> why.labelled({"a": "Alice"}).names
        ('Alice', 'b')
        """
        first, second = (labels.get(name, name) for name in self.names)
        sides = self.predictions["side"].replace(dict(labels))
        return replace(
            self, names=(first, second), predictions=self.predictions.with_columns(side=sides)
        )

    def table(self) -> pl.DataFrame:
        """One row per phase that matters: goodput of both sides in Mbit/s, and its parts."""
        shown = self.goodput.filter(
            (pl.col("first_time").fill_null(0) > 0) | (pl.col("second_time").fill_null(0) > 0)
            | (pl.col("part") == EDGES)
        )  # fmt: skip
        megabits = {
            f"{self.names[0]} [Mbit/s]": "first_bps",
            f"{self.names[1]} [Mbit/s]": "second_bps",
            "difference": "difference_bps",
            "by time": "by_time_bps",
            "by window": "by_window_bps",
            "by delay": "by_delay_bps",
        }
        return shown.select(
            pl.col("part").replace(TITLES),
            *((100 * pl.col(key)).alias(f"{name} [% of time]")
              for name, key in zip(self.names, ("first_time", "second_time"), strict=True)),
            *((pl.col(key) / 1e6).alias(title) for title, key in megabits.items()),
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "sides": list(self.names),
            "headline": self.headline,
            **self.parts,
            "accounts": [list(accounts) for accounts in self.accounts],
            "predictions": self.predictions.to_dicts(),
            "divergence": None if self.divergence is None else self.divergence.to_dict(),
        }

    def to_json(self, indent: int | None = 2) -> str:
        """Return `to_dict` as JSON text, with its schema; numbers that are not finite are null."""
        return dumps(stamped("explanation", self.to_dict()), indent)

    @plotting
    def plot(self, **figure: Any) -> Figure:
        """Draw the parts of the difference, and the phases of each side over time (matplotlib).

        Parameters
        ----------
        **figure
            `width`, `height`, `style`, `labels`, `order` as of `cwndlab.plots.FigureStyle.of`.
        """
        from cwndlab.plots import FigureStyle, explained

        return FigureStyle.of(**figure).draw(explained, self)

    def __repr__(self) -> str:
        difference = self.parts["goodput_bps"]["difference"] / 1e6
        return f"<Explanation: {' and '.join(self.names)}, {difference:+.3g} Mbit/s>"


_GOODPUT: dict[str, Any] = {
    "part": pl.String,
    **dict.fromkeys(
        ("first_time", "second_time", "first_bps", "second_bps", "by_time_bps", "by_window_bps",
         "by_delay_bps", "difference_bps"),
        pl.Float64,
    ),
}  # fmt: skip
_CWND_CHANGES: dict[str, Any] = {
    "side": pl.String, "cause": pl.String, "times": pl.Float64, "packets": pl.Float64,
}  # fmt: skip
PREDICTED: dict[str, Any] = {
    "side": pl.String,
    "formula": pl.String,
    **dict.fromkeys(("loss_event_rate", "rtt_s", "predicted_bps", "measured_bps"), pl.Float64),
}
"""Columns of `Explanation.predictions`."""
