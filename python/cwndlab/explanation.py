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

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from cwndlab.jsontext import dumps
from cwndlab.outputs import stamped
from cwndlab.result_tables import ResultTables

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EDGES = "edges"
"""Packets that arrived within the window, and of which the sender learned behind it."""
PHASES = {
    "timeout": "after a timeout, or waiting for it,",
    "recovery": "in recovery",
    "application": "limited by the application",
    "receiver": "limited by the receiver's window",
    "slow_start": "in slow start",
    "growth": "in growth after slow start",
    "absent": "absent",
}
"""Phases of a flow, and how a sentence names them."""
CWND_CAUSES = {
    "slow_start": "slow start",
    "growth": "growth after slow start",
    "loss": "loss",
    "ecn": "ECN",
    "timeout": "timeout",
    "undo": "undone reductions",
    "idle": "idle periods",
    "rule": "the rule's own decrease",
}
"""Why cwnd changes, and how a table names it."""
CANCELS = 0.1
"""Ratio of two opposite parts from which on they are told together."""
FULL = 0.97
"""Share of a link's capacity from which on it counts as full."""
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
    a gets 1.43 Mbit/s more than b: 1.41 because more packets are outstanding while limited by the \
receiver's window (20 against 9.99)
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
    """What other flows of the run get, bit/s, where one side is explained against its link."""

    @property
    def is_of_capacity(self) -> bool:
        """Whether one side is explained against its link."""
        return not self.accounts[1]

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
            for index, cause in enumerate(CWND_CAUSES):
                changes = [account["cwnd_changes"][index] for account in accounts]
                if changes:
                    rows.append(
                        (side, cause, _mean(one["times"] for one in changes),
                         _mean(one["packets"] for one in changes))
                    )  # fmt: skip
        return pl.DataFrame(rows, _CWND_CHANGES, orient="row")

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """Every table by its name."""
        return {
            "goodput": self.goodput, "rtt": self.rtt, "loss": self.loss,
            "cwnd_changes": self.cwnd_changes, "predictions": self.predictions,
        }  # fmt: skip

    @property
    def causes(self) -> list[tuple[str, str, float]]:
        """Causes of the difference of goodputs: phase, factor, and bit/s; the largest first.

        The factor is ``"time"``, of all phases together and of the phase whose time differs most;
        ``"window"`` or ``"delay"`` of a phase; or ``"rate"``, both where they cancel in part.
        Causes in the direction of the difference come before those against it.
        """
        goodput = self.parts["goodput_bps"]
        phases = goodput["phases"]
        # Growth takes the time that no other phase does.
        others = [part for part in phases if part["phase"] != "growth"]
        most = max(others, key=lambda part: abs(part["time"][0] - part["time"][1]))
        found = [(most["phase"], "time", sum(part["by_time"] for part in phases))]
        for part in phases:
            parts = part["by_window"], part["by_delay"]
            if min(parts) < 0 < max(parts) and CANCELS < -min(parts) / max(parts) < 1 / CANCELS:
                found.append((part["phase"], "rate", part["by_window"] + part["by_delay"]))
            else:
                found += [(part["phase"], factor, part[f"by_{factor}"])
                          for factor in ("window", "delay")]  # fmt: skip
        sign = math.copysign(1.0, goodput["difference"])
        return sorted(found, key=lambda cause: -sign * cause[2])

    @property
    def headline(self) -> str:
        """The difference of goodputs and its largest cause, in one sentence."""
        found = self.parts["goodput_bps"]
        first, second = (self._called(side) for side in (0, 1))
        difference = found["difference"]
        more = "more" if difference >= 0 else "less"
        if abs(difference) < 0.01 * max(*found["sides"], 1.0):
            return f"{first} and {second} get the same goodput within 1 %{self._beside()}"
        head = f"{first} gets {_megabits(abs(difference))} Mbit/s {more} than {second}"
        if self.is_of_capacity:
            return f"{head}: {self._missing()}"
        if full := self._full():
            return f"{head}: {full}"
        phase, factor, part = self.causes[0]
        cancels = ", of parts that cancel" if abs(part) > 1.05 * abs(difference) else ""
        return f"{head}: {_megabits(abs(part))}{cancels} because {self.reason(phase, factor)}"

    def _called(self, side: int) -> str:
        """Name of a side in a sentence: of several flows, their mean counts."""
        flows, name = len(self.accounts[side]), self.names[side]
        return name if flows < 2 else f"a flow of {name} (mean of {flows})"

    def _beside(self) -> str:
        """Say what else differs where goodput does not."""
        rtt, loss = self.parts["rtt_s"], self.parts["loss_rate"]["sides"]
        losses = f"loss {100 * loss[0]:.3g} against {100 * loss[1]:.3g} %"
        if rtt is None:
            return f"; {losses}"
        first, second = (1e3 * value for value in rtt["sides"])
        return f"; RTT {first:.4g} against {second:.4g} ms, {losses}"

    def _missing(self) -> str:
        """Say in which phase most of the link's capacity is not used."""
        phases = self.parts["goodput_bps"]["phases"]
        lost = max(phases, key=lambda part: part["sides"][1] - part["sides"][0])
        phase, share = lost["phase"], f"{100 * lost['time'][0]:.3g} % of the time"
        missing = _megabits(lost["sides"][1] - lost["sides"][0])
        why = f"{missing} are missing while it is {PHASES[phase]} {share}"
        full = _mean(
            account["capacity_bps"] / account["packet_bits"] * account["base_rtt_s"]
            for account in self.accounts[0]
        ) / len(self.accounts[0])
        outstanding = self._outstanding(0, phase)[0]
        if phase != "absent" and outstanding < full:
            why += f", with {outstanding:.3g} packets outstanding where the link takes {full:.3g}"
        if self.others_bps > 0.01 * self.parts["goodput_bps"]["sides"][1]:
            why += f"; other flows get {_megabits(self.others_bps)}"
        return why

    def _full(self) -> str | None:
        """Say that the side with less fills its slowest link, if the other has a faster one."""
        sides = self.parts["goodput_bps"]["sides"]
        less = 0 if sides[0] < sides[1] else 1
        capacity = [
            account["capacity_bps"] for side in (less, 1 - less) for account in self.accounts[side]
        ]
        if len(capacity) == 2 and sides[less] > FULL * capacity[0] and capacity[1] > capacity[0]:
            return f"{self.names[less]} fills its slowest link, {_megabits(capacity[0])} Mbit/s"
        return None

    def reason(self, phase: str, factor: str) -> str:
        """Say in words what one cause of the difference of goodputs is.

        Parameters
        ----------
        phase : str
            One of `PHASES`.
        factor : {"time", "window", "delay", "rate"}
            What differs in it.
        """
        first, second = (self._called(side) for side in (0, 1))
        part = next(row for row in self.parts["goodput_bps"]["phases"] if row["phase"] == phase)
        where = f"while {PHASES[phase].rstrip(',')}"
        if factor == "time":
            # The side that is longer in it is the subject.
            who, other = (first, second) if part["time"][0] > part["time"][1] else (second, first)
            most, least = sorted((100 * share for share in part["time"]), reverse=True)
            rest = f"{other} {least:.3g} %" if least >= 0.05 else f"{other} never"
            return f"{who} is {PHASES[phase]} {most:.3g} % of the time, {rest}"
        outstanding, waits = zip(*(self._outstanding(side, phase) for side in (0, 1)), strict=True)
        if factor == "window":
            which = "more" if outstanding[0] > outstanding[1] else "fewer"
            return (
                f"{which} packets are outstanding {where} "
                f"({outstanding[0]:.3g} against {outstanding[1]:.3g}){self._reductions()}"
            )
        if factor == "rate":
            which = "faster" if part["by_window"] + part["by_delay"] > 0 else "slower"
            return (
                f"it is {which} {where} ({outstanding[0]:.3g} packets outstanding for "
                f"{1e3 * waits[0]:.3g} ms against {outstanding[1]:.3g} for {1e3 * waits[1]:.3g} ms)"
            )
        which = "sooner" if waits[0] < waits[1] else "later"
        times = [f"{1e3 * wait:.3g} ms" for wait in waits]
        return f"its packets are acknowledged {which} {where} ({times[0]} against {times[1]})"

    def _reductions(self) -> str:
        """Say how often and by how much cwnd is reduced on both sides, where that differs."""
        cuts = self.cwnd_changes.filter(pl.col("cause").is_in(["loss", "ecn", "timeout"]))
        sums = [
            (float(own["times"].sum()), -float(own["packets"].sum()))
            for own in (cuts.filter(side=name) for name in self.names)
        ]
        if sums[0][0] == sums[1][0]:
            return ""
        means = [packets / times if times else 0.0 for times, packets in sums]
        return (
            f"; losses and marks reduce cwnd {sums[0][0]:.3g} times against {sums[1][0]:.3g}, by "
            f"{means[0]:.3g} packets each against {means[1]:.3g}"
        )

    def _outstanding(self, side: int, phase: str) -> tuple[float, float]:
        """Return packets outstanding in a phase, and the time that each is, seconds."""
        rows = [
            row for account in self.accounts[side] for row in account["phases"]
            if row["phase"] == phase
        ]  # fmt: skip
        area = sum(row["outstanding_packet_s"] for row in rows)
        seconds = sum(row["seconds"] for row in rows)
        packets = sum(row["delivered_packets"] for row in rows)
        return area / seconds if seconds else 0.0, area / packets if packets else math.nan

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
            pl.col("part").str.replace_all("_", " "),
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


def _mean(values: Iterator[float]) -> float:
    found = list(values)
    return sum(found) / len(found)


def _megabits(bps: float) -> str:
    return f"{bps / 1e6:.3g}"


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
