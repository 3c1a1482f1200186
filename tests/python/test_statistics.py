"""Means, intervals and scores, against arithmetic done by hand."""

from __future__ import annotations

import math

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cwndlab.columns import ESTIMATE
from cwndlab.metrics import BY_KEY
from cwndlab.scores import AXES, scores
from cwndlab.statistics import estimate


def test_interval_by_hand():
    # Values 2, 4, 4, 6: mean 4, squared distances 4 + 0 + 0 + 4 = 8, s = sqrt(8 / 3), t(3, 0.975) =
    # 3.18245 (tables), half-width 3.18245 * 1.63299 / 2 = 2.59846.
    found = estimate([2, 4, 4, 6])
    assert (found.mean, found.count) == (4.0, 4)
    assert found.half_width == pytest.approx(2.59846, abs=1e-5)
    assert (found.low, found.high) == pytest.approx((4 - 2.59846, 4 + 2.59846), abs=1e-5)


def test_interval_of_a_fraction_by_hand():
    # 0.8 and 0.9: mean 0.85, half-width 12.7062 * 0.05 = 0.63531. On the logit scale, whose slope
    # is 1 / (0.85 * 0.15) there: ln(0.85 / 0.15) = 1.73460, margin 4.98282; back by
    # 1 / (1 + exp(-x)).
    found = estimate([0.8, 0.9], bounds=(0, 1))
    assert found.mean == pytest.approx(0.85)
    assert (found.low, found.high) == pytest.approx((0.037391, 0.998792), abs=1e-5)
    # A percentage is the same.
    percent = estimate([80, 90], bounds=(0, 100))
    assert (percent.low, percent.high) == pytest.approx((3.7391, 99.8792), abs=1e-3)


def test_interval_of_a_time_by_hand():
    # 19.9 and 20.1: mean 20, half-width 1.27062; 20 exp(-0.063531) and 20 exp(0.063531).
    found = estimate([19.9, 20.1], bounds=(0, math.inf))
    assert (found.low, found.high) == pytest.approx((18.7689, 21.3118), rel=1e-5)
    below = estimate([-19.9, -20.1], bounds=(-math.inf, 0))
    assert (below.low, below.high) == pytest.approx((-found.high, -found.low))


def test_few_values_are_no_less_sure_than_their_effective_sample():
    # Half-width 12.7062 * 3.08505 = 1.95996 * 20: as sure as one event, whose interval is 0.0253 to
    # 5.572 (Garwood 1936); the logarithm's is exp(-1.95996) to exp(1.95996) = 0.141 to 7.1.
    found = estimate([20 - 3.08505, 20 + 3.08505], bounds=(0, math.inf))
    assert (found.low, found.high) == pytest.approx((20 * 0.14086, 20 * 5.5716), rel=1e-3)
    # Half-width 1.95996 * sqrt(0.9 * 0.1 / 10) = 0.185939: as sure as 9 of 10, whose interval is
    # 0.555 to 0.9975 (Clopper and Pearson 1934); the logit's margin is 0.185939 / 0.09 = 2.06599
    # about 2.19722, 0.533 to 0.986.
    found = estimate([0.9 - 0.0146337, 0.9 + 0.0146337], bounds=(0, 1))
    assert (found.low, found.high) == pytest.approx((0.55498, 0.98611), abs=1e-4)


def test_utilizations_of_nearly_one_leave_little_open():
    # The case that tables showed as 100.0 [18.5, 100.0].
    assert estimate([1.0, 0.9995], bounds=(0, 1)).low > 0.95


def test_values_at_a_bound_have_no_spread():
    assert estimate([0, 0, 0], bounds=(0, 1)) == (0.0, 0.0, 0.0, 3)
    assert estimate([1, 1], bounds=(0, 1)) == (1.0, 1.0, 1.0, 2)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=30), st.sampled_from([1.0, math.inf]))
def test_intervals_stay_within_their_bounds(values, high):
    found = estimate(values, bounds=(0.0, high))
    assert 0.0 <= found.low <= found.mean + 1e-12
    assert found.mean - 1e-12 <= found.high <= high


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=30))
def test_a_symmetric_interval_of_differences(values):
    one, other = (estimate(part, bounds=(-1, 1)) for part in (values, [-value for value in values]))
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=1e-9)


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
    assert estimate([]) == (None, None, None, 0)
    assert estimate([5.0]) == (5.0, None, None, 1)


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
        ("sack", "drop-tail", env, rule, metric, mean, None, None, 1)
        for (env, rule), mean in means.items()
    ]
    schema = {**dict.fromkeys((*AXES, "metric"), pl.String), **ESTIMATE}
    return pl.DataFrame(rows, schema=schema, orient="row")


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


def test_no_interval_is_narrower_than_the_buckets_of_a_percentile():
    """Runs whose percentiles lie in the same bucket of 1/32 do not tell them apart."""
    p95 = BY_KEY["p95_queueing_delay_s"]
    same = p95.estimate([0.064] * 10)
    assert same.high - same.low == pytest.approx(0.064 / 32)
    apart = p95.difference([0.065] * 10, [0.064] * 10)
    assert apart.low < 0 < apart.high
    # Replicates that differ by more have the interval of Student's t, and a mean is exact.
    wide = [0.05, 0.06, 0.07]
    assert p95.estimate(wide) == estimate(wide, bounds=p95.bounds)
    mean = BY_KEY["mean_queueing_delay_s"].estimate([0.064] * 10)
    assert mean.low == mean.high == 0.064
