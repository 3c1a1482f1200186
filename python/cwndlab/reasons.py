"""Why one side got more goodput than another, in words: causes in order, and a headline."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

PHASES = {
    "timeout": "after a timeout, or waiting for it,",
    "recovery": "in recovery",
    "application": "limited by the application",
    "receiver": "limited by the receiver's window",
    "slow_start": "in slow start",
    "growth": "past slow start",
    "absent": "absent (not started, or done)",
}
"""Phases of a flow, and how a sentence names them."""
OTHERS_HOLD = ("application", "receiver")
"""Phases in which something else than cwnd holds back a flow that is there."""
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
MANY_EDGES = 0.1
"""Share of a difference from which on what is at the edges of the window is told."""
DIFFERS = 0.1
"""Part of a difference of logarithms of two windows from which on what makes it is told."""
ALSO_DIFFERS = 0.4
"""The same for a second reason."""
FEW_CUTS = 0.1
"""Sum of shares by which cwnd is cut that counts where it is cut by less."""
REDUCTIONS: dict[tuple[str, ...], str] = {
    ("loss", "ecn", "timeout", "undo"): "cut cwnd",
    ("rule",): "the rule itself lowers cwnd",
    ("idle",): "pauses lower cwnd",
}
"""Causes that lower cwnd, and how a sentence names them; losses, marks or both are put before."""
RTT_PARTS = {"propagation": "propagation", "queues": "queues", "acks": "the way of ACKs"}
"""Parts of a difference of RTTs, and how a sentence names them."""
LIKE = 0.1
"""Share by which two times differ up to which they count as alike."""
FULL = 0.97
"""Share of a link's capacity from which on it counts as full."""


@dataclass(frozen=True)
class Reasons:
    """The reasons for a difference between two sides, from the fields of `Explanation`."""

    names: tuple[str, str]
    """The two sides."""
    accounts: tuple[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]]
    """Accounts of their flows; none of the second for a capacity."""
    parts: Mapping[str, Any]
    """What the core found: goodput, RTT, loss and queued packets, split."""
    others_bps: float
    """What other traffic gets of the link that one side is explained against, bit/s."""

    @property
    def is_of_capacity(self) -> bool:
        """Whether one side is explained against its link."""
        return not self.accounts[1]

    @property
    def causes(self) -> list[tuple[str, str, float]]:
        """Causes of the difference of goodputs: phase, factor, and bit/s; the largest first.

        The factor is ``"time"``, of all phases together and of the phase that takes most from the
        side that loses by it;
        ``"window"`` or ``"delay"`` of a phase; or ``"rate"``, both where they cancel in part.
        Causes in the direction of the difference come before those against it.
        """
        goodput = self.parts["goodput_bps"]
        phases = goodput["phases"]
        by_time = sum(part["by_time"] for part in phases)
        gains = math.copysign(1.0, by_time)
        # Growth takes the time that no other phase does.
        others = [part for part in phases if part["phase"] != "growth"]
        # What costs a side its time is a phase that it has more of, and is slow in. Where there is
        # none, the other side has more of a phase that it is fast in.
        slow = [
            part for part in others
            if gains * (part["time"][0] - part["time"][1]) < 0
            and gains * part["by_time"] > CANCELS * abs(by_time)
        ]  # fmt: skip
        most = max(slow or others, key=lambda part: gains * part["by_time"])
        found = [(most["phase"], "time", by_time)]
        for part in phases:
            parts: tuple[float, float] = part["by_window"], part["by_delay"]
            small, large = sorted(abs(value) for value in parts)
            ratio = small / max(large, 1e-9)
            cancels = min(parts) < 0 < max(parts)
            # Flows that use one queue in turn see delays that differ a little: no cause by itself.
            if ratio > CANCELS and (cancels or self._has_like_delays(part["phase"])):
                found.append((part["phase"], "rate", part["by_window"] + part["by_delay"]))
            else:
                found += [(part["phase"], factor, part[f"by_{factor}"])
                          for factor in ("window", "delay")]  # fmt: skip
        sign = math.copysign(1.0, goodput["difference"])
        return sorted(found, key=lambda cause: -sign * cause[2])

    @property
    def edges_share(self) -> float:
        """Ratio of what is at the edges of the measurement window to the difference of goodputs."""
        found = self.parts["goodput_bps"]
        return abs(found["edges"] / found["difference"]) if found["difference"] else 0.0

    @property
    def headline(self) -> str:
        """The difference of goodputs and its largest cause, in one sentence."""
        found = self.parts["goodput_bps"]
        is_small = abs(found["difference"]) < 0.01 * max(*found["sides"], 1.0)
        if is_small or self.edges_share <= MANY_EDGES:
            return self._reasons()
        return (
            f"{self._reasons()}; {_megabits(abs(found['edges']))} of the difference are packets at "
            "the edges of the measurement: measure for longer"
        )

    def _reasons(self) -> str:
        found = self.parts["goodput_bps"]
        first, second = (self._counted(side) for side in (0, 1))
        difference = found["difference"]
        more = "more" if difference >= 0 else "less"
        is_equal = abs(difference) < 0.01 * max(*found["sides"], 1.0)
        if is_equal and self.is_of_capacity:
            what = "the link's capacity" if len(self.accounts[0]) == 1 else "its part of the link"
            return f"{first} gets {what} within 1 %{self._above_base()}"
        if is_equal:
            return f"{first} and {second} get the same goodput within 1 %{self._beside()}"
        head = f"{first} gets {_megabits(abs(difference))} Mbit/s {more} than {second}"
        if self.is_of_capacity and difference > 0:
            return f"{head}: a queue or a token bucket was full as the measurement began"
        if self.is_of_capacity:
            return f"{head}: {self._missing()}"
        if full := self._full():
            return f"{head}: {full}"
        phase, factor, part = self.causes[0]
        text = f"{head}: {_megabits(abs(part))} because {self.reason(phase, factor)}"
        back = abs(part) - abs(difference)
        is_told = back > 0.05 * abs(difference)
        return f"{text}; other parts take back {_megabits(back)}" if is_told else text

    def _called(self, side: int) -> str:
        """Name of a side in a sentence: of several flows, one."""
        return self.names[side] if len(self.accounts[side]) < 2 else f"a flow of {self.names[side]}"

    def _counted(self, side: int) -> str:
        """Name it so where the sentence begins: of several flows, their mean counts."""
        flows = len(self.accounts[side])
        return self._called(side) if flows < 2 else f"{self._called(side)} (mean of {flows})"

    def _beside(self) -> str:
        """Say what else differs where goodput does not, and what holds back both."""
        if found := self._held_back():
            return found
        rtt, loss = self.parts["rtt_s"], self.parts["loss_rate"]["sides"]
        losses = f"loss {100 * loss[0]:.3g} against {100 * loss[1]:.3g} %"
        if rtt is None:
            return f"; {losses}"
        first, second = (1e3 * value for value in rtt["sides"])
        return f"; RTT {first:.4g} against {second:.4g} ms, {losses}"

    def _above_base(self) -> str:
        """Say by how much a mean RTT is above that without queues, and where it comes from."""
        rtt = self.parts["rtt_s"]
        if rtt is None or rtt["difference"] < LIKE * rtt["sides"][0]:
            return ""
        mean, above = (_figure(1e3 * rtt["sides"][0]), _figure(1e3 * rtt["difference"]))
        return f"; its RTT is {mean} ms, {above} above that of the empty path{self._due_to(1.0)}"

    def _due_to(self, sign: float) -> str:
        """Say which part makes most of a difference of RTTs in a direction, or which two do."""
        rtt = self.parts["rtt_s"]
        parts = sorted(((sign * rtt[part], text) for part, text in RTT_PARTS.items()), reverse=True)
        (most, first), (next_most, second) = parts[:2]
        if next_most > 0.5 * most:
            return f", due to {first} and {second}"
        return f", mainly due to {first}"

    def _rtts(self, waits: Sequence[float]) -> str:
        """Say by how much and why RTTs differ, where times until an ACK differ likewise."""
        rtt = self.parts["rtt_s"]
        if rtt is None or abs(rtt["difference"]) < LIKE * max(rtt["sides"]):
            return ""
        if (rtt["difference"] > 0) != (waits[0] > waits[1]):
            return ""
        which = "longer" if rtt["difference"] > 0 else "shorter"
        due = self._due_to(math.copysign(1.0, rtt["difference"]))
        return f"; its RTT is {_figure(1e3 * abs(rtt['difference']))} ms {which}{due}"

    def _has_like_delays(self, phase: str) -> bool:
        """Whether packets of both sides are outstanding for nearly as long, over like paths."""
        rtt = self.parts["rtt_s"]
        if self.is_of_capacity or rtt is None:
            return False
        waits = [self._outstanding(side, phase)[1] for side in (0, 1)]
        is_like = abs(waits[0] - waits[1]) < LIKE * max(waits)
        return is_like and abs(rtt["propagation"]) < 0.1 * LIKE * max(rtt["sides"])

    def _held_back(self) -> str | None:
        """Say what else than cwnd holds back both sides, or that they are there for other times."""
        for part in self.parts["goodput_bps"]["phases"]:
            if part["phase"] in OTHERS_HOLD and min(part["time"]) > 0.5:
                first, second = (100 * share for share in part["time"])
                phase = PHASES[part["phase"]]
                return f": both are {phase}, {first:.3g} and {second:.3g} % of the time"
        first_s, second_s = (self._present_s(side) for side in (0, 1))
        if abs(first_s - second_s) > 0.01 * max(first_s, second_s):
            return f"; they are there for {first_s:.3g} and {second_s:.3g} s"
        return None

    def _present_s(self, side: int) -> float:
        """Time for which a mean flow of a side is there, seconds."""
        return mean(
            account["window_s"] - account["phases"][-1]["seconds"]
            for account in self.accounts[side]
        )  # fmt: skip

    def _missing(self) -> str:
        """Say in which phase most of the link's capacity is not used."""
        phases = self.parts["goodput_bps"]["phases"]
        lost = max(phases, key=lambda part: part["sides"][1] - part["sides"][0])
        phase, share = lost["phase"], f"{100 * lost['time'][0]:.3g} % of the time"
        missing = _megabits(lost["sides"][1] - lost["sides"][0])
        why = f"{missing} are missing while it is {PHASES[phase]} {share}"
        full = mean(
            row["capacity_bits"] / row["seconds"] / account["packet_bits"] * account["base_rtt_s"]
            for account in self.accounts[0] for row in account["phases"]
            if row["phase"] == phase and row["seconds"] > 0
        ) / len(self.accounts[0])  # fmt: skip
        outstanding, wait_s = self._outstanding(0, phase)
        if phase != "absent" and outstanding < full:
            counts = f"{_figure(outstanding)} packets outstanding"
            why += f", with {counts} where the link takes {_figure(full)}"
        elif phase == "growth":
            why += f", though {_figure(outstanding)} packets are outstanding"
            why += f", each for {_figure(1e3 * wait_s)} ms" if math.isfinite(wait_s) else ""
            why += self._above_base()
        found = self.parts["goodput_bps"]
        others = f"other traffic gets {_megabits(self.others_bps)}"
        if self.others_bps / len(self.accounts[0]) > 0.5 * abs(found["difference"]):
            return f"{others}; {why}"
        return f"{why}; {others}" if self.others_bps > 0.01 * found["sides"][1] else why

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
        rows = self.parts["goodput_bps"]["phases"]
        part = next(row for row in rows if row["phase"] == phase)
        where = f"while {PHASES[phase].rstrip(',')}"
        if factor == "time":
            # The side that is longer in it is the subject.
            who, other = (first, second) if part["time"][0] > part["time"][1] else (second, first)
            most, least = sorted((100 * share for share in part["time"]), reverse=True)
            rest = f"{other} {least:.3g} %" if least >= 0.05 else f"{other} never"
            gains = first if sum(row["by_time"] for row in rows) > 0 else second
            faster = "and faster then; " if who == gains else ""
            return f"{who} is {PHASES[phase]} {most:.3g} % of the time, {faster}{rest}"
        outstanding, waits = zip(*(self._outstanding(side, phase) for side in (0, 1)), strict=True)
        if factor == "window":
            return f"{self._windows(phase)} {where}{self._changes(phase)}"
        if factor == "rate":
            rate = part["by_window"] + part["by_delay"]
            which = "faster" if rate > 0 else "slower"
            # What makes a window large says little where a longer delay takes most of it back.
            is_by_window = rate * part["by_window"] > 0 and abs(rate) > 0.5 * abs(part["by_window"])
            is_by_delay = rate * part["by_delay"] > 0
            return (
                f"it is {which} {where} ({_figure(outstanding[0])} packets outstanding for "
                f"{_figure(1e3 * waits[0])} ms against {_figure(outstanding[1])} for "
                f"{_figure(1e3 * waits[1])} ms)"
                f"{self._rtts(waits) if is_by_delay else ''}"
                f"{self._changes(phase) if is_by_window else ''}"
            )
        which = "sooner" if waits[0] < waits[1] else "later"
        times = [f"{_figure(1e3 * wait)} ms" for wait in waits]
        return f"its packets are acknowledged {which} {where} ({times[0]} against {times[1]})" + (
            self._rtts(waits)
        )

    def _windows(self, phase: str) -> str:
        """Say on which side more is outstanding in a phase: in bytes where packets differ."""
        packets = [self._outstanding(side, phase)[0] for side in (0, 1)]
        sizes = [mean(account["packet_bits"] / 8 for account in side) for side in self.accounts]
        if sizes[0] == sizes[1]:
            which = "more" if packets[0] > packets[1] else "fewer"
            counts = f"{_figure(packets[0])} against {_figure(packets[1])}"
            return f"{which} packets are outstanding ({counts})"
        first, second = (1e-3 * one * size for one, size in zip(packets, sizes, strict=True))
        which = "more" if first > second else "less"
        return (
            f"{which} is outstanding ({_figure(first)} against {_figure(second)} kB, in packets of "
            f"{sizes[0]:.4g} against {sizes[1]:.4g} bytes)"
        )

    def _changes(self, phase: str) -> str:
        """Say what keeps cwnd larger on the side with more packets outstanding, if anything does.

        A window is large that is cut less, grows faster, or is lowered less by its rule.
        """
        if phase in OTHERS_HOLD:
            return ""
        packets = [self._outstanding(side, phase)[0] for side in (0, 1)]
        large = 0 if packets[0] > packets[1] else 1
        found = self._cut_less(large)
        rules = {account["rule"] for side in self.accounts for account in side}
        # Of one rule, a window that is cut less may grow by more for being larger (MIMD, CUBIC).
        by_cuts = len(rules) == 1 and max(found)[0] > DIFFERS
        growth = ""
        rates = [self._growth(side) for side in (0, 1)]
        if min(rates) > 0:
            told = f"{_figure(rates[0])} packets a second against {_figure(rates[1])}"
            by = math.log(rates[large] / rates[1 - large])
            growth = f"cwnd grows by {told}"
            found.append((by, growth))
        starts = [self._packets(side, "slow_start") for side in (0, 1)]
        # Slow start after timeouts only gives back what these took.
        taken = [-self._packets(side, "timeout") for side in (0, 1)]
        is_first = all(took <= 0.5 * start for took, start in zip(taken, starts, strict=True))
        if is_first and starts[large] > self._packets(large, "growth"):
            told = f"{_figure(starts[0])} packets against {_figure(starts[1])}"
            by = math.log((1 + starts[large]) / (1 + starts[1 - large]))
            found.append((by, f"slow start raises cwnd by {told}"))
        reasons = [reason for reason in found if reason[0] > DIFFERS]
        reasons.sort(key=lambda reason: (by_cuts and reason[1] == growth, -reason[0]))
        return "".join(
            f"; {text}" for place, (by, text) in enumerate(reasons[:2])
            if place == 0 or by > ALSO_DIFFERS
        )  # fmt: skip

    def _cut_less(self, large: int) -> list[tuple[float, str]]:
        """Return by how much each kind of reduction makes the larger window larger, and its text.

        While a window of W packets neither rises nor falls on average, its growth g per second is
        what n cuts a second by a share s take, g = n s W. So the logarithm of the ratio of two
        windows is that of their growths less that of their sums of shares, which is divided among
        kinds of reductions as the difference of the sums is.
        """
        cuts = {
            causes: [self._cuts(side, causes) for side in (0, 1)] for causes in REDUCTIONS
        }  # fmt: skip
        sums = [
            max(
                FEW_CUTS,
                sum(times * share for times, share in (pair[side] for pair in cuts.values())),
            )
            for side in (0, 1)
        ]
        more = sums[1 - large] - sums[large]
        # 1 / S is the limit for equal sums S.
        by_sum = math.log(sums[1 - large] / sums[large]) / more if more else 1 / sums[large]
        found: list[tuple[float, str]] = []
        for causes, verb in REDUCTIONS.items():
            (times, share), (other_times, other_share) = (
                cuts[causes][side] for side in (1 - large, large)
            )
            told = f"{self._losses_or_marks()} {verb}" if "loss" in causes else verb
            by = by_sum * (times * share - other_times * other_share)
            found.append((by, f"{told} {_times(cuts[causes])}"))
        return found

    def _cuts(self, side: int, causes: tuple[str, ...]) -> tuple[float, float]:
        """Return how often a mean flow's cwnd is reduced, less undone times, and its mean share."""
        times = packets = of = 0.0
        for account in self.accounts[side]:
            for row in account["cwnd_changes"]:
                if row["cause"] in causes:
                    sign = -1 if row["cause"] == "undo" else 1
                    times += sign * row["times"]
                    packets -= row["packets"]
                    of += sign * row["of_packets"]
        share = packets / of if of > 0 else 0.0
        return times / len(self.accounts[side]), min(max(share, 0.0), 1.0)

    def _losses_or_marks(self) -> str:
        """Name what cuts cwnd of either side."""
        times = {cause: sum(self._times(side, cause) for side in (0, 1)) for cause in CWND_CAUSES}
        found = {"losses": times["loss"] + times["timeout"], "marks": times["ecn"]}
        return " and ".join(name for name, count in found.items() if count > 0)

    def _times(self, side: int, cause: str) -> int:
        """Return how often a cause changes cwnd of the flows of a side."""
        return sum(
            row["times"] for account in self.accounts[side] for row in account["cwnd_changes"]
            if row["cause"] == cause
        )  # fmt: skip

    def _packets(self, side: int, cause: str) -> float:
        """Return by how much a cause changes cwnd of a mean flow, packets."""
        return sum(
            row["packets"] for account in self.accounts[side] for row in account["cwnd_changes"]
            if row["cause"] == cause
        ) / len(self.accounts[side])  # fmt: skip

    def _growth(self, side: int) -> float:
        """Return by how much cwnd grows after slow start, packets per second of that phase."""
        packets = seconds = 0.0
        for account in self.accounts[side]:
            rows = {row["cause"]: row["packets"] for row in account["cwnd_changes"]}
            packets += rows["growth"]
            seconds += sum(
                row["seconds"] for row in account["phases"] if row["phase"] == "growth"
            )  # fmt: skip
        return packets / seconds if seconds else 0.0

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


def mean(values: Iterator[float]) -> float:
    """Return the mean of at least one value."""
    found = list(values)
    return sum(found) / len(found)


def _times(sides: Sequence[tuple[float, float]]) -> str:
    """Say how often each side reduces cwnd, and by which share on average."""
    first, second = (
        f"{_figure(times)} times by {100 * share:.2g} %" if times > 0 else "0 times"
        for times, share in sides
    )
    return f"{first} against {second}"


def _figure(value: float) -> str:
    """Write a number with three significant digits, and never with an exponent above 1."""
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _megabits(bps: float) -> str:
    return _figure(bps / 1e6)
