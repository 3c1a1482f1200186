"""Intervals and paired differences of sweeps, again from what a store exports, by scipy.stats."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import polars as pl
import pytest
from scipy import stats

from cwndlab import Sweep
from cwndlab.cli import main

BASE = {
    "duration": "3s",
    "measure": ["1s", "3s"],
    "dumbbell": {
        "rate": "3Mbit",
        "delay": "5ms",
        "access_delay": ["1ms", "9ms"],
        "queue": {"kind": "drop-tail", "limit": "10pkt"},
    },
    "flows": [
        {"name": "a", "rule": "AIMD(1, 0.5)", "count": 2, "start": ["0s", "500ms"]},
        {"name": "b", "rule": "CUBIC", "start": ["0s", "500ms"]},
    ],
}
ONE = ("jain_index", "loss_rate")
"""Metrics from 0 to 1; the others are not negative."""
RULES = ["AIMD(1, 0.5)", "AIAD(1, 3)", "MIMD(1.125, 0.8)"]
# What is compared, and with what, is written out: it is not what the sweep itself says.
SHAPES = {
    "one cell": ({"replicates": 4}, [], None),
    "product": (
        {"replicates": 6,
        "axes": {"dumbbell.queue.limit": ["5pkt", "9pkt", "30pkt"], "rule": RULES}},
        ["rule"], {"rule": "AIMD(1, 0.5)"},
    ),
    "compared in the middle": (
        {
            "replicates": 3, "compare": "dumbbell.rate", "baseline": "9Mbit",
            "axes": {"rule": RULES[:2], "dumbbell.rate": ["1Mbit", "9Mbit", "4Mbit"],
            "dumbbell.delay": ["1ms", "9ms"]},
        },
        ["dumbbell.rate"], {"dumbbell.rate": "9Mbit"},
    ),
    "going together": (
        {
            "replicates": 5, "axes": {"dumbbell.queue.limit": ["5pkt", "30pkt"]},
            "zip": [{"rule": RULES, "flows.b.count": [1, 2, 3]}], "baseline": "AIAD(1, 3) & 2",
        },
        ["rule", "flows.b.count"], {"rule": "AIAD(1, 3)", "flows.b.count": "2"},
    ),
    "until": (
        {
            "replicates": 5, "until": "ci(jain_index) < 8%", "most": 25, "compare": "load",
            "axes": {"load": {"light": {"flows.a.count": 1},
            "heavy": {"flows.a.count": 9, "dumbbell.rate": "1Mbit"}}},
        },
        ["load"], {"load": "light"},
    ),
    "environments": (
        {
            "base": {}, "duration": "4s", "replicates": 3, "metrics": ["goodput", "loss_rate"],
            "axes": {"env": ["constant", "square"], "queue": ["drop-tail", "red"],
            "rule": RULES[:2]},
        },
        ["rule"], {"rule": "AIMD(1, 0.5)"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
def test_intervals_and_paired_differences_by_another_way(name, tmp_path, capsys):
    changes, compared, baseline = SHAPES[name]
    sweep = Sweep.from_dict(
        {"name": "x", "base": BASE, "metrics": ["jain_index", "flows.b.mean_rtt_s"], **changes}
    )
    found = sweep.run(tmp_path / "store")
    with pytest.raises(SystemExit):
        main(["results", str(tmp_path / "store"), "--export", str(tmp_path / "runs.csv")])
    capsys.readouterr()
    axes = [
        column
        for column in found.summary.columns
        if column not in ("metric", "mean", "ci95_low", "ci95_high", "replicates")
    ]
    runs = pl.read_csv(tmp_path / "runs.csv", schema_overrides=dict.fromkeys(axes, pl.String))
    assert runs.height == found.runs.height
    for row in found.summary.to_dicts():
        values = _values(runs, {axis: row[axis] for axis in axes}, row["metric"])
        known = [value for value in values.values() if value is not None]
        if row["metric"] in ONE:
            _agrees(
                row, known, lambda x: np.log(x / (1 - x)), lambda y: 1 / (1 + np.exp(-y)),
                cut=_of_share,
            )  # fmt: skip
        else:
            _agrees(row, known, np.log, np.exp, cut=_of_count)
    expected = 0
    for row in found.differences().to_dicts():
        cell = {axis: row[axis] for axis in axes}
        assert any(cell[axis] != baseline[axis] for axis in compared)
        own, other = (
            _values(runs, labels, row["metric"]) for labels in (cell, {**cell, **baseline})
        )
        assert own
        assert other
        both = [seed for seed in own if seed in other and None not in (own[seed], other[seed])]
        less = [own[seed] - other[seed] for seed in both]
        if row["metric"] in ONE:
            _agrees(
                row, less, lambda x: np.log((1 + x) / (1 - x)), np.tanh, 0.5,
                cut=lambda x, h: [2 * end - 1 for end in _of_share((1 + x) / 2, h / 2)],
            )  # fmt: skip
        else:
            _agrees(row, less)
        expected += 1
    cells = found.summary.select(axes).unique().height if axes else 1
    levels = runs.select(compared).unique().height if compared else 1
    assert expected == (cells - cells // levels) * len(sweep.metrics)


def _values(runs: pl.DataFrame, labels: dict[str, str], metric: str) -> dict[int, float | None]:
    """Values by seed."""
    chosen = runs.filter(*(pl.col(axis) == label for axis, label in labels.items()))
    return dict(chosen.select("seed", metric).iter_rows())


def _agrees(
    row: dict,
    values: list[float],
    there: Callable[[float], float] = lambda x: x,
    back: Callable[[float], float] = lambda y: y,
    stretch: float = 1.0,
    cut: Callable[[float, float], Sequence[float]] = lambda _mean, _half_width: (-np.inf, np.inf),
) -> None:
    """By scipy's interval of Student's t, on a scale on which the quantity has no bounds.

    The slope of that scale comes from a difference quotient. `cut` gives the ends of the interval
    of a mean and its half-width by its effective sample size.
    """
    assert row["replicates"] == len(values)
    mean, error = sum(values) / len(values), stats.sem(values)
    assert row["mean"] == pytest.approx(mean)
    if error == 0:
        assert (row["ci95_low"], row["ci95_high"]) == (mean, mean)
        return
    step = 1e-6 * min(mean, 1 - mean) if 0 < mean < 1 else 1e-6
    slope = (there(mean + step) - there(mean - step)) / (2 * step)
    ends = stats.t.interval(0.95, len(values) - 1, loc=there(mean), scale=error * slope)
    half_width = stats.t.ppf(0.975, len(values) - 1) * error
    low, high = (back(stretch * end) for end in ends)
    least, most = cut(mean, half_width)
    assert (row["ci95_low"], row["ci95_high"]) == pytest.approx(
        (max(low, least), min(high, most)), rel=1e-6, abs=1e-12
    )


def _of_share(mean: float, half_width: float) -> tuple[float, float]:
    """Ends by Clopper and Pearson's interval of the share of a sample that is known as well."""
    if not 0 < mean < 1:
        return -np.inf, np.inf
    trials = min(mean * (1 - mean) * (stats.norm.ppf(0.975) / half_width) ** 2, 1e8)
    hits, misses = trials * mean, trials * (1 - mean)
    return stats.beta.ppf(0.025, hits, misses + 1), stats.beta.ppf(0.975, hits + 1, misses)


def _of_count(mean: float, half_width: float) -> tuple[float, float]:
    """Ends by the exact interval of a count that is known as well (chi-squared)."""
    count = min((mean * stats.norm.ppf(0.975) / half_width) ** 2, 1e8)
    low, high = stats.chi2.ppf(0.025, 2 * count), stats.chi2.ppf(0.975, 2 * count + 2)
    return mean * low / (2 * count), mean * high / (2 * count)
