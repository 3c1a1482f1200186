"""Bimodal in the synchronous model, against its claims.

The share within two cycles, joins, leaves, whole steps.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cwndlab import theory
from cwndlab.theory import Bimodal, Join, Leave, simulate

LOADS = st.floats(0.01, 1.0)
WEIGHTS = st.lists(st.sampled_from([0.5, 1.0, 1.5, 2.0, 3.0]), min_size=1, max_size=12)


def _spread_over(starts: list[float], capacity: float) -> np.ndarray:
    loads = np.array(starts)
    return loads / loads.sum() * 0.9 * capacity


@pytest.mark.slow
@settings(max_examples=60)
@given(
    starts=st.lists(LOADS, min_size=1, max_size=12),
    share=st.floats(5, 500),
    beta=st.sampled_from([0.125, 0.25, 0.5, 0.75]),
    epsilon=st.sampled_from([0.01, 0.125, 0.5]),
    compare=st.sampled_from(["fair", "margin"]),
)
def test_fair_share_is_found_within_two_cycles(starts, share, beta, epsilon, compare):
    """Congestion exactly at B: the second signal ends the search, whatever the starts."""
    capacity = share * len(starts)
    rule = Bimodal(1, beta, epsilon, compare)
    course = simulate(
        rule,
        _spread_over(starts, capacity),
        capacity=capacity,
        steps=int(6 * share) + 60,
        exact=True,
    )
    assert len(course.signals) >= 3
    after = course.signals[1] + 1
    assert course.calculated[after] == pytest.approx(np.full(len(starts), share), rel=1e-9)
    assert course.loads[after] == pytest.approx(
        np.full(len(starts), (1 - epsilon) * share), rel=1e-9
    )
    known, errors = course.share_errors()
    assert (known[1:] == 1).all()
    assert errors[1:].max() < 1e-9


@settings(max_examples=40)
@given(weights=WEIGHTS, seed=st.integers(0, 1000), epsilon=st.sampled_from([0.05, 0.125, 0.5]))
def test_proportional_share_is_found_within_two_cycles(weights, seed, epsilon):
    capacity = 50.0 * sum(weights)
    starts = _spread_over(
        np.random.default_rng(seed).uniform(0.01, 1, len(weights)).tolist(), capacity
    )
    rules = [Bimodal(weight, 0.5, epsilon) for weight in weights]
    course = simulate(rules, starts, capacity=capacity, steps=400, exact=True)
    # A flow of weight w has 50 w of the 50 sum(w).
    expected = [50.0 * weight for weight in weights]
    assert course.calculated[course.signals[1] + 1] == pytest.approx(expected, rel=1e-9)
    assert theory.fair_shares(weights, capacity) == pytest.approx(expected)
    assert course.share_errors(weights)[1][1:].max() < 1e-9
    assert course.jain_index(weights)[-1] == pytest.approx(1.0)


@pytest.mark.slow
@settings(max_examples=30)
@given(flows=st.integers(2, 12), data=st.data(), compare=st.sampled_from(["fair", "margin"]))
def test_after_flows_leave_from_equilibrium_the_next_signal_gives_the_share(flows, data, compare):
    leaving = data.draw(st.integers(1, flows - 1))
    step = data.draw(st.integers(400, 500))
    capacity = 40.0 * flows
    starts = _spread_over(list(range(1, flows + 1)), capacity)
    rule = Bimodal(1, 0.5, 0.125, compare)
    changes = [Leave(step, range(leaving))]
    course = simulate(rule, starts, capacity=capacity, steps=1500, changes=changes, exact=True)
    after = course.signals[course.signals >= step]
    assert len(after) > 3
    expected = 40.0 * flows / (flows - leaving)
    for signal in after[:-1]:
        assert course.calculated[signal + 1, leaving:] == pytest.approx(
            np.full(flows - leaving, expected), rel=1e-9
        )


@pytest.mark.slow
@settings(max_examples=60)
@given(
    starts=st.lists(LOADS, min_size=1, max_size=12),
    share=st.floats(20, 500),
    alpha=st.sampled_from([0.5, 1.0, 2.0]),
    beta=st.sampled_from([0.25, 0.5, 0.75]),
)
def test_with_whole_steps_the_error_is_below_alpha_over_beta(starts, share, alpha, beta):
    """Congestion falls up to n alpha after B, at both ends of the cycle that is measured."""
    capacity = share * len(starts)
    rule = Bimodal(alpha, beta, 0.125)
    course = simulate(
        rule, _spread_over(starts, capacity), capacity=capacity, steps=int(4 * share / alpha) + 60
    )
    calculated = course.calculated[course.signals[1] + 1]
    assert np.isfinite(calculated).all()
    assert np.abs(calculated - share).max() < alpha / beta


@pytest.mark.parametrize(("rule", "efficiency"), [
    ("AIMD(1, 0.5)", 0.75), ("Bimodal(1, 0.5, 0.5)", 0.75), ("Bimodal(1, 0.5, 0.125)", 0.9375),
])  # fmt: skip
def test_efficiency_in_equilibrium(rule, efficiency):
    """1 - epsilon / 2: eight flows climb from (1 - epsilon) B to B in a straight line."""
    course = simulate(rule, np.arange(1, 9) * 2.0, capacity=640, steps=3000, exact=True)
    assert course.efficiency(cycles=10) == pytest.approx(efficiency, rel=1e-9)
    # Whole steps: 70, 71, ... 80 of each flow's 80 have the same mean.
    whole = simulate(rule, np.full(8, 70.0), capacity=640, steps=3000)
    assert whole.efficiency(cycles=10) == pytest.approx(efficiency, rel=1e-9)


def _after_join(
    compare: str, band: float = 0.0, epsilon: float = 0.125
) -> tuple[np.ndarray, np.ndarray, float]:
    rule = Bimodal(1, 0.5, epsilon, compare, band)
    starts = _spread_over(list(range(1, 9)), 900)
    course = simulate(
        rule, starts, capacity=900, steps=5500, changes=[Join(1500, [0.0])], exact=True
    )
    known, errors = course.share_errors()
    since = course.signals[: len(known)] >= 1500
    return known[since], errors[since], course.efficiency(cycles=40)


def test_after_a_join_the_printed_algorithm_stays_wrong():
    """Eight flows and one more: some know and fall by epsilon, some do not and fall by beta.

    Equation 3 is gone.
    """
    known, errors, efficiency = _after_join("fair")
    assert len(known) > 100
    assert not ((known == 1) & (errors < 0.02)).any()
    assert np.nanmax(errors[50:]) > 0.3
    assert efficiency < 0.9


def test_after_a_join_the_comparison_of_the_prose_finds_the_share():
    """Every signal is 'too late'.

    Each flow takes its load for its share, and unfairness shrinks by 1 - epsilon.
    """
    known, errors, efficiency = _after_join("margin")
    assert (known[3:] == 1).all()
    assert errors[28] > 0.02 > errors[32]
    later = errors[10:40]
    assert later[1:] / later[:-1] == pytest.approx(np.full(29, 0.875), abs=1e-6)
    assert efficiency == pytest.approx(0.9375, abs=1e-3)


def test_with_epsilon_equal_to_beta_a_join_is_survived():
    known, errors, _ = _after_join("fair", epsilon=0.5)
    good = (known == 1) & (errors < 0.02)
    assert good[-10:].all()
    assert not good[:10].all()


def test_whole_steps_unsettle_the_printed_comparison_and_a_dead_band_helps():
    starts = np.array([10.0, 20, 30, 40, 50, 60, 70, 80])
    printed, banded = (
        simulate(Bimodal(1, 0.5, 0.125, band=band), starts, capacity=805, steps=4000)
        for band in (0.0, 3.0)
    )
    assert printed.share_errors()[0][2:].mean() < 0.9
    assert (banded.share_errors()[0][2:] == 1).all()
