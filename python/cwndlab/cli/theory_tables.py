"""Tables and JSON of `cwndlab theory phase`, `fair` and `bimodal`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import click
import numpy as np

from cwndlab import theory
from cwndlab.cli.output import print_line, print_table
from cwndlab.jsontext import dumps
from cwndlab.outputs import stamped

WITHIN = 0.02
"""Relative error below which a fair share counts as found."""


def phase(found: theory.Phase, as_json: bool) -> None:
    """Print the end state of each start."""
    rows: list[dict[str, Any]] = []
    for course in found.trajectories:
        signals = course.signals
        last = signals[-1] if len(signals) else len(course.loads) - 1
        rows.append(
            {
                "rules": list(course.rules),
                "start": course.loads[0].tolist(),
                "at_last_signal": course.loads[last].tolist(),
                "signals": len(signals),
                "jain_index": float(course.jain_index()[last]),
                "fairness_spread": float(course.spread()[last]),
                "convergence_time_rtts": course.convergence_time(),
                "efficiency": course.efficiency(cycles=max(1, len(signals) // 2)),
            }
        )
    if as_json:
        click.echo(
            dumps(
                stamped("theory-phase", {"capacity": found.trajectories[0].capacity, "runs": rows})
            )
        )
        return
    names = " against ".join(dict.fromkeys(found.trajectories[0].rules))
    table = [
        [
            _pair(row["start"]),
            _pair(row["at_last_signal"]),
            str(row["signals"]),
            f"{row['jain_index']:.4f}",
            f"{row['fairness_spread']:.3f}",
            "never"
            if row["convergence_time_rtts"] is None
            else f"{row['convergence_time_rtts']:.0f}",
            f"{row['efficiency']:.3f}",
        ]
        for row in rows
    ]
    columns = [
        "start",
        "at the last signal",
        "signals",
        "Jain's index",
        "spread",
        "fair after\n[RTTs]",
        "efficiency",
    ]
    print_table(
        f"{names}, capacity {found.trajectories[0].capacity:g} packets",
        columns,
        table,
        text_columns=2,
    )
    print_line("fair: spread (largest - smallest) / mean at most 0.05 from then on")


def _pair(loads: list[float]) -> str:
    return ", ".join(f"{load:.4g}" for load in loads)


def fair(rule: theory.Linear, found: theory.Settled, as_json: bool) -> None:
    """Print whether a linear rule is fair, and its steady state."""
    verdict = theory.condition(rule)
    closed = found.cycle
    last = found.trajectory
    entry = {
        "rule": rule.text,
        "ai": rule.ai, "bi": rule.bi, "ad": rule.ad, "bd": rule.bd,
        "verdict": verdict.verdict, "reason": verdict.reason,
        "chiu_jain_sufficient": theory.chiu_jain_fair(rule),
        "flows": last.loads.shape[1], "capacity": last.capacity,
        "pattern": [{"increases": up, "decreases": down} for up, down in found.pattern],
        "alpha": closed.alpha if closed else None,
        "beta": closed.beta if closed else None,
        "steady_window": closed.window if closed and closed.beta < 1 else None,
        "iterated_windows": found.windows.tolist(),
        "iterated_spread": float(last.spread()[-1]),
        "efficiency": last.efficiency(cycles=100),
    }  # fmt: skip
    if as_json:
        click.echo(dumps(stamped("theory-fair", entry)))
        return
    pattern = ", ".join(f"{up} up {down} down" for up, down in found.pattern[:4])
    more = f" and {len(found.pattern) - 4} more" if len(found.pattern) > 4 else ""
    rows = [
        ["verdict", verdict.verdict, verdict.reason],
        [
            "Chiu and Jain's conditions",
            "met" if entry["chiu_jain_sufficient"] else "not met",
            "sufficient, not necessary",
        ],
        ["cycles that repeat", f"{len(found.pattern) or '-'}", pattern + more or "none"],
        [
            "alpha of the closed form",
            f"{closed.alpha:.6g}" if closed else "-",
            "w <- alpha + beta w over these cycles",
        ],
        [
            "beta of the closed form",
            f"{closed.beta:.6g}" if closed else "-",
            "differences between flows per turn",
        ],
        [
            "steady window, closed form",
            f"{closed.window:.6g}" if closed and closed.beta < 1 else "-",
            "packets, after the decreases",
        ],
        [
            "steady window, iterated",
            f"{found.windows.min():.6g}",
            f"smallest of {entry['flows']} flows",
        ],
        ["", f"{found.windows.max():.6g}", "largest"],
        ["efficiency", f"{entry['efficiency']:.4f}", "mean load / capacity, last 100 cycles"],
    ]
    title = (
        f"{rule.text}: w <- {rule.ai:g} + {rule.bi:g} w, on congestion {rule.ad:g} + {rule.bd:g} w"
    )
    print_table(
        f"{title}; {entry['flows']} flows on {last.capacity:g} packets",
        ["", "value", ""],
        rows,
        text_columns=3,
    )


@dataclass(frozen=True)
class BimodalCase:
    """Bimodal flows from unequal starts; others may join or leave once they are in equilibrium."""

    flows: int
    join: int
    leave: int
    share: float
    beta: float
    epsilon: float
    band: float
    cycles: int
    exact: bool

    @property
    def change_step(self) -> int:
        """Step before which flows join or leave: after many cycles, in the middle of one."""
        return int(20 * self.share)

    @property
    def shown_change(self) -> float | None:
        """The change in the plot's time, which begins shortly before."""
        return 0.0 if self.join or self.leave else None

    def courses(self) -> dict[str, theory.Trajectory]:
        """Step the flows with either comparison."""
        found: dict[str, theory.Trajectory] = {}
        for compare, name in (("fair", "compared with the fair share (pseudo-code)"),
                              ("margin", "compared with (1 - epsilon) of it (prose)")):  # fmt: skip
            rule = theory.Bimodal(1.0, self.beta, self.epsilon, compare, self.band)
            capacity = self.share * (self.flows + self.join - self.leave)
            starts = (
                0.9 * capacity * np.arange(1, self.flows + 1) * 2 / (self.flows * (self.flows + 1))
            )
            changes: list[theory.Join | theory.Leave] = []
            if self.join:
                changes.append(theory.Join(self.change_step, np.zeros(self.join)))
            if self.leave:
                changes.append(theory.Leave(self.change_step, range(self.leave)))
            # A cycle of the unknown mode is the longest.
            steps = int(
                (self.change_step if changes else 0)
                + self.cycles * (self.beta * self.share * 2 + 3)
            )
            found[name] = theory.simulate(
                rule, starts, capacity=capacity, steps=steps, changes=changes, exact=self.exact
            )
        return found

    def signals(self, course: theory.Trajectory) -> tuple[np.ndarray, np.ndarray]:
        """Share of the flows that know their fair share, and the largest error, by signal."""
        known, errors = course.share_errors()
        since = course.signals[: len(known)] >= (self.change_step if self.join or self.leave else 0)
        return known[since][: self.cycles], errors[since][: self.cycles]

    def drawn(self, courses: Mapping[str, theory.Trajectory]) -> dict[str, theory.Trajectory]:
        """Cut the courses to the time around the change, which is time 0."""
        changed = self.shown_change is not None
        shown: dict[str, theory.Trajectory] = {}
        for name, course in courses.items():
            begin = self.change_step - int(self.share) if changed else 0
            zero = course.times[self.change_step] if changed else 0.0
            piece = slice(begin, begin + int(12 * self.share))
            shown[name] = theory.Trajectory(
                course.times[piece] - zero, course.loads[piece], course.congested[piece],
                course.calculated[piece],
                course.rules, course.capacity, course.exact,
            )  # fmt: skip
        return shown


def bimodal(case: BimodalCase, courses: Mapping[str, theory.Trajectory], as_json: bool) -> None:
    """Print how soon and how exactly the flows know their fair shares."""
    rows: list[dict[str, Any]] = []
    for name, course in courses.items():
        known, errors = case.signals(course)
        good = (known == 1) & (errors <= WITHIN)
        bad = np.flatnonzero(~good)
        lasting = 0 if len(bad) == 0 else int(bad[-1]) + 1
        rows.append(
            {
                "comparison": name,
                "signals": len(known),
                "found_after_signals": int(np.argmax(good)) + 1 if good.any() else None,
                "for_good_after_signals": lasting + 1 if lasting < len(good) else None,
                "known": float(known.mean()),
                "largest_error_in_second_half": float(
                    np.nanmax(errors[len(errors) // 2 :], initial=0.0)
                ),
                "efficiency": course.efficiency(cycles=max(1, case.cycles // 2)),
            }
        )
    if as_json:
        click.echo(
            dumps(stamped("theory-bimodal", {**case.__dict__, "within": WITHIN, "rows": rows}))
        )
        return
    what = (
        f", {case.join} join"
        if case.join
        else f", {case.leave} leave"
        if case.leave
        else " from unequal starts"
    )
    where = "congestion exactly at B" if case.exact else "whole steps"
    title = (
        f"Bimodal(1, {case.beta:g}, {case.epsilon:g}), {case.flows} flows{what}, fair share "
        f"{case.share:g}, {where}"
    )
    columns = [
        "load at congestion", "signals", f"within {WITHIN:.0%}\nafter signal",
        "for good\nafter signal",
        "shares known\n[% of flows]", "largest error,\n2nd half [%]", "efficiency",
    ]  # fmt: skip
    table = [
        [
            row["comparison"],
            str(row["signals"]),
            "never" if row["found_after_signals"] is None else str(row["found_after_signals"]),
            "never"
            if row["for_good_after_signals"] is None
            else str(row["for_good_after_signals"]),
            f"{100 * row['known']:.0f}",
            f"{100 * row['largest_error_in_second_half']:.2f}",
            f"{row['efficiency']:.3f}",
        ]
        for row in rows
    ]
    print_table(title, columns, table)
