"""Means, intervals and scores, against arithmetic done by hand."""

from __future__ import annotations

import math

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwndlab.comparison import _SUMMARY_SCHEMA
from cwndlab.scores import scores
from cwndlab.statistics import estimate


def test_interval_by_hand():
    # Values 2, 4, 4, 6: mean 4, squared distances 4 + 0 + 0 + 4 = 8, s = sqrt(8 / 3), t(3, 0.975) =
    # 3.18245 (tables), half-width 3.18245 * 1.63299 / 2 = 2.59846.
    mean, half_width, count = estimate([2, 4, 4, 6])
    assert (mean, count) == (4.0, 4)
    assert half_width == pytest.approx(2.59846, abs=1e-5)


@pytest.mark.parametrize(
    # Quantiles of Student's t as printed in tables; two values 0 and 2 have s = sqrt(2), so the
    # half-width is t.
    ("level", "quantile"),
    [(0.95, 12.706), (0.90, 6.314), (0.99, 63.657)],
)
def test_levels(level, quantile):
    assert estimate([0, 2], level).half_width == pytest.approx(quantile, abs=1e-3)


def test_spreads_beyond_what_a_number_holds():
    assert estimate([-1e200, 1e200]).half_width == math.inf


def test_missing_values_are_left_out():
    assert estimate([1.0, None, math.nan, 3.0]).mean == 2.0
    assert estimate([1.0, None, math.nan, 3.0]).count == 2
    assert estimate([]) == (None, None, 0)
    assert estimate([5.0]) == (5.0, None, 1)


def test_level_is_checked():
    with pytest.raises(ValueError, match=r"level: 95 .* between 0 and 1"):
        estimate([1, 2], 95)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30), st.floats(-1e6, 1e6))
def test_shifting_the_values_shifts_the_mean_only(values, shift):
    here, there = estimate(values), estimate([value + shift for value in values])
    assert there.mean == pytest.approx(here.mean + shift, abs=1e-6)
    assert there.half_width == pytest.approx(here.half_width, abs=1e-4)


def _summary(metric: str, means: dict[tuple[str, str], float | None]) -> pl.DataFrame:
    rows = [
        ("sack", "drop-tail", env, rule, metric, mean, None, 1)
        for (env, rule), mean in means.items()
    ]
    return pl.DataFrame(rows, schema=_SUMMARY_SCHEMA, orient="row")


def _by_rule(frame: pl.DataFrame) -> dict[str, tuple[float | None, float | None]]:
    return {row["rule"]: (row["C_a"], row["D_a"]) for row in frame.to_dicts()}


# Distances from the best: env 1: A 0, B .2, C .4; env 2: A .3, B 0, C .1; env 3: all equal.
MEANS = {
    ("1", "A"): 0.9, ("1", "B"): 0.7, ("1", "C"): 0.5,
    ("2", "A"): 0.3, ("2", "B"): 0.6, ("2", "C"): 0.5,
    ("3", "A"): 0.8, ("3", "B"): 0.8, ("3", "C"): 0.8,
}  # fmt: skip


def test_scores_where_more_is_better():
    found = _by_rule(scores(_summary("goodput", MEANS)))
    assert found["A"] == pytest.approx((0.3, 0.3))
    assert found["B"] == pytest.approx((0.2, 0.2))
    assert found["C"] == pytest.approx((0.4, 0.5))


def test_scores_where_less_is_better():
    # Own minus best: env 1: A .4, B .2, C 0; env 2: A 0, B .3, C .2; env 3: 0.
    found = _by_rule(scores(_summary("loss_rate", MEANS)))
    assert found["A"] == pytest.approx((0.4, 0.4))
    assert found["B"] == pytest.approx((0.3, 0.5))
    assert found["C"] == pytest.approx((0.2, 0.2))


def test_settings_are_ranked_apart():
    first = _summary("goodput", {("1", "A"): 0.9, ("1", "B"): 0.5})
    second = _summary("goodput", {("1", "A"): 0.1, ("1", "B"): 0.2}).with_columns(
        recovery=pl.lit("reno")
    )
    rows = scores(pl.concat([first, second])).to_dicts()
    found = {(row["recovery"], row["rule"]): row["C_a"] for row in rows}
    assert found == pytest.approx(
        {("sack", "A"): 0, ("sack", "B"): 0.4, ("reno", "A"): 0.1, ("reno", "B"): 0}
    )


def test_a_rule_without_a_mean_is_not_ranked():
    found = _by_rule(scores(_summary("goodput", {("1", "A"): None, ("1", "B"): 0.5})))
    assert found == {"A": (None, None), "B": (0.0, 0.0)}
