"""Sending rates of general AIMD and of binomial rules.

Against published numbers and other derivations.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cwndlab.theory import Binomial, binomial, gaimd

ALPHAS, BETAS = st.floats(0.05, 5), st.floats(0.1, 0.95)
LOSSES, ACKS = st.floats(1e-5, 0.5), st.sampled_from([1.0, 2.0])


@given(alpha=ALPHAS, beta=BETAS, p=LOSSES, b=ACKS)
def test_window_and_rounds_solve_the_equations_they_come_from(alpha, beta, p, b):
    """Equations 21 and 22 (with 23), from which 24 and 28 are solved."""
    window, rounds = (
        float(gaimd.mean_window(alpha, beta, p, b)),
        float(gaimd.mean_rounds(alpha, beta, p, b)),
    )
    assert window == pytest.approx(alpha * rounds / ((1 - beta) * b), rel=1e-12)
    packets = (1 - p) / p + window
    assert packets == pytest.approx(
        rounds / 2 * (beta * window + window - 1) + window / 2, rel=1e-9
    )


@pytest.mark.parametrize("p", [0.001, 0.02, 0.2])
@pytest.mark.parametrize("window", [4, 7, 20])
def test_timeout_probability_is_the_sum_it_comes_from(window, p):
    """Equations 42 to 44, summed.

    K ends at w - 1, since one of the w packets is lost (the text has w).
    """

    def acked(k: int) -> float:
        return (1 - p) ** k * p / (1 - (1 - p) ** window)

    def second(n: int, m: int) -> float:
        return (1 - p) ** m * p if m <= n - 1 else (1 - p) ** n

    few = sum(acked(k) for k in range(3))
    then = sum(acked(k) * sum(second(k, m) for m in range(3)) for k in range(3, window))
    assert float(gaimd.timeout_probability(window, p)) == pytest.approx(few + then, rel=1e-12)
    assert few + then + acked(window) * sum(second(window, m) for m in range(3)) != pytest.approx(
        few + then, rel=1e-6
    )


def test_timeout_probability_for_rare_losses():
    """Equation 46: 3 / w."""
    assert gaimd.timeout_probability([2, 3, 6, 60], 1e-9) == pytest.approx(
        [1, 1, 0.5, 0.05], rel=1e-6
    )


@pytest.mark.parametrize("p", [0.01, 0.3, 0.7])
def test_timeout_series_is_the_sum_it_comes_from(p):
    """Equations 50, 52, 53: the k-th of a row lasts twice the one before, at most 64 T0."""
    lengths = np.cumsum([min(2**k, 64) for k in range(400)])
    weights = [p**k * (1 - p) for k in range(400)]
    assert float(gaimd.timeout_series(p)) == pytest.approx(
        float(np.dot(lengths, weights)), rel=1e-9
    )


@pytest.mark.parametrize(
    ("p", "b", "rate"), [(0.015, 1, 100.0), (0.0075, 2, 100.0), (0.0001, 1, 1224.744871)]
)
def test_square_root_formula(p, b, rate):
    """sqrt(3 / (2 b p)) / RTT: 10 packets a round trip at p = 0.015."""
    assert float(gaimd.square_root_rate(1, 0.5, p, rtt=0.1, b=b)) == pytest.approx(rate)


@pytest.mark.parametrize("b", [1, 2])
@pytest.mark.parametrize("p", [0.001, 0.01, 0.05, 0.2])
def test_formula_of_padhye(p, b):
    """Padhye et al. (1998), equations 13, 15, 28 to 30, written out for TCP, with their Q."""
    rtt, rto = 0.2, 1.1
    third = (2 + b) / (3 * b)
    window = third + math.sqrt(8 * (1 - p) / (3 * b * p) + third**2)
    rounds = (2 + b) / 6 + math.sqrt(2 * b * (1 - p) / (3 * p) + ((2 + b) / 6) ** 2)
    q = min(
        1,
        (1 - (1 - p) ** 3)
        * (1 + (1 - p) ** 3 * (1 - (1 - p) ** (window - 3)))
        / (1 - (1 - p) ** window),
    )
    waits = 1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6
    full = ((1 - p) / p + window + q / (1 - p)) / (rtt * (rounds + 1) + q * rto * waits / (1 - p))
    assert float(gaimd.rate(1, 0.5, p, rtt=rtt, rto=rto, b=b)) == pytest.approx(full, rel=1e-12)
    approximate = 1 / (
        rtt * math.sqrt(2 * b * p / 3)
        + rto * min(1, 3 * math.sqrt(3 * b * p / 8)) * p * (1 + 32 * p**2)
    )
    found = gaimd.rate_approximation(1, 0.5, p, rtt=rtt, rto=rto, b=b)
    assert float(found) == pytest.approx(approximate, rel=1e-12)


def test_rate_by_hand():
    """p = 1/4, (1, 1/2): E[W] = 1 + sqrt(1 + 8/3 x 3) = 4, E[X] = 1/2 x 4 = 2.

    Without timeouts (3 + 4) / (3 RTT).
    """
    assert float(gaimd.mean_window(1, 0.5, 0.25)) == pytest.approx(4)
    assert float(gaimd.mean_rounds(1, 0.5, 0.25)) == pytest.approx(2)
    assert float(gaimd.rate_without_timeouts(1, 0.5, 0.25, rtt=1)) == pytest.approx(7 / 3)
    # Q(4): (1 - 27/64)(1 + 27/64 (1 - 3/4)) / (1 - 81/256) = 37/64 x 283/256 / (175/256).
    q = 37 / 64 * 283 / 175
    waits = (1 + 1 / 4 + 2 / 16 + 4 / 64 + 8 / 256 + 16 / 1024 + 32 / 4096) * 4 / 3
    assert float(gaimd.rate(1, 0.5, 0.25, rtt=1, rto=4)) == pytest.approx(
        (7 + q * 4 / 3) / (3 + 4 * q * waits)
    )


@given(alpha=ALPHAS, beta=BETAS)
def test_full_rate_tends_to_its_leading_term(alpha, beta):
    """Equation 34."""
    p = 1e-9
    full = float(gaimd.rate_without_timeouts(alpha, beta, p, rtt=1))
    assert full == pytest.approx(float(gaimd.square_root_rate(alpha, beta, p, rtt=1)), rel=2e-3)


@given(alpha=ALPHAS, beta=BETAS, p=LOSSES, b=ACKS)
def test_rates_grow_with_alpha_and_beta_and_fall_with_loss(alpha, beta, p, b):
    path = {"rtt": 0.1, "rto": 0.4, "b": b}
    here = gaimd.rate_approximation(alpha, beta, p, **path)
    assert gaimd.rate_approximation(1.1 * alpha, beta, p, **path) > here
    assert gaimd.rate_approximation(alpha, (1 + beta) / 2, p, **path) > here
    assert gaimd.rate_approximation(alpha, beta, 1.1 * p, **path) < here


@pytest.mark.parametrize(
    "arguments",
    [(0, 0.5, 0.1), (1, 1, 0.1), (1, 0.5, 0), (1, 0.5, 1), (1, 0.5, float("nan")), (-1, 0.5, 0.1)],
)
def test_rates_refuse_what_has_no_meaning(arguments):
    with pytest.raises(ValueError, match=r"is not valid: expected a number above 0"):
        gaimd.rate(*arguments, rtt=0.1, rto=0.4)


def test_independent_losses():
    """Ott, Kemperman and Mathis: 1.3098 / sqrt(p).

    And other rules by drawing the sum that the law is derived from.
    """
    assert float(gaimd.independent_loss_rate(1, 0.5, 1e-4, rtt=1)) == pytest.approx(
        130.98, abs=0.01
    )
    draws = np.random.default_rng(1)
    for alpha, beta in [(1, 0.5), (0.31, 0.875), (2, 0.2)]:
        # Windows are w' = sqrt(beta^2 w^2 + 2 alpha E / p); the mean of 1 / w is the time per
        # packet.
        square = np.zeros(100_000)
        for _ in range(70):
            square = beta**2 * square + 2 * alpha * draws.exponential(1e4, len(square))
        inverse = 1 / np.sqrt(square)
        error = inverse.std() / inverse.mean() / math.sqrt(len(inverse))
        rate = float(gaimd.independent_loss_rate(alpha, beta, 1e-4, rtt=1))
        assert rate * inverse.mean() == pytest.approx(1, abs=4 * error)


def test_independent_losses_broadcast():
    rates = gaimd.independent_loss_rate(1, [0.5, 0.999], [[0.01], [0.0025]], rtt=0.1)
    assert rates.shape == (2, 2)
    assert rates[1] == pytest.approx(2 * rates[0])
    # Small cuts leave no difference between losses that are even and those that are not.
    assert rates[:, 1] == pytest.approx(
        gaimd.square_root_rate(1, 0.999, [0.01, 0.0025], rtt=0.1), rel=1e-3
    )


# Binomial rules


def test_binomial_rate_of_aimd_is_the_square_root_formula():
    """Windows from W/2 to W: 3/8 W^2 = 1/p packets in W/2 round trips; W = 40 at p = 1/600."""
    rule = Binomial(0, 1, 1, 0.5)
    assert binomial.peak_window(rule, 1 / 600) == pytest.approx(40)
    assert float(binomial.rate(rule, 1 / 600, rtt=0.1)) == pytest.approx(600 / 20 / 0.1)


def test_binomial_rate_by_hand():
    """IIAD subtracting 1, from 9 to 10: (1000 - 729) / 3 packets in (100 - 81) / 2 round trips."""
    rule = Binomial(1, 0, 1, 1)
    assert binomial.peak_window(rule, 3 / 271) == pytest.approx(10)
    assert float(binomial.rate(rule, 3 / 271, rtt=1)) == pytest.approx(271 / 3 / 9.5)


@given(
    k=st.floats(0, 2), alpha=st.floats(0.2, 3), beta=st.floats(0.1, 0.9), p=st.floats(1e-8, 1e-3)
)
@settings(max_examples=40)
def test_binomial_exponent_with_multiplicative_cuts(k, alpha, beta, p):
    """With l = 1 the law holds for all losses: a factor of 2^(k + 2) halves the throughput."""
    often, rarely = binomial.rate(Binomial(k, 1, alpha, beta), [p * 2 ** (k + 2), p], rtt=1)
    assert rarely / often == pytest.approx(2, rel=1e-9)


@given(k=st.floats(0, 2), l=st.floats(0, 0.5), alpha=st.floats(0.2, 3), beta=st.floats(0.1, 0.9))
@settings(max_examples=40)
def test_binomial_exponent_for_rare_losses(k, l, alpha, beta):  # noqa: E741
    """Else where the cut, beta w^(l - 1) of the window, has become small: here below a tenth."""
    rule = Binomial(k, l, alpha, beta)
    often, rarely = binomial.rate(rule, [1e-9 * 2 ** (k + l + 1), 1e-9], rtt=1)
    assert rarely / often == pytest.approx(2, rel=1e-2)
    assert rarely == pytest.approx(float(binomial.rate_approximation(rule, 1e-9, rtt=1)), rel=0.05)


def test_tcp_compatible_binomial_rules_share_a_law():
    """k + l = 1 and small cuts: the same rate for the same alpha / beta, halved where losses are
    four times as many."""
    rules = [Binomial(k, 1 - k, 1, 0.1) for k in (0, 0.3, 0.5, 1)]
    rates = [float(binomial.rate(rule, 1e-4, rtt=1)) for rule in rules]
    assert rates == pytest.approx([rates[0]] * 4, rel=0.06)
    assert [
        float(binomial.rate_approximation(rule, 1e-4, rtt=1)) for rule in rules
    ] == pytest.approx([math.sqrt(1e5)] * 4)


def test_binomial_refuses_losses_that_leave_no_window():
    with pytest.raises(ValueError, match=r'p: "0\.9" .*rarer losses'):
        binomial.rate(Binomial(1, 0, 0.1, 5), 0.9, rtt=1)
