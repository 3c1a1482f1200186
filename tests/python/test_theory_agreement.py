"""The simulator against theory where its assumptions hold.

Rates over random and periodic losses, formulas, growth.

There are two sources of error. Statistical: flows are independent samples, so three standard
errors of their mean (a false alarm in 400 by itself, and examples are fixed). Systematic:
`Expansion` in agreement.py derives what a sender of whole packets loses to first order in 1 /
window; what may remain is of second order, the square of its parts.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st

import cwndlab
from agreement import Expansion, at_random, periodic, scenario
from cwndlab import theory
from cwndlab.theory import Binomial, binomial, gaimd, growth

ERRORS = 3
"""Standard errors that are taken for chance."""

FEW = settings(max_examples=10, derandomize=True, database=None)


def _loss_rate_for(alpha: float, beta: float, window: float) -> float:
    """The p at which the mean window is `window`: rates go as 1 / sqrt(p)."""
    return float(gaimd.independent_loss_rate(alpha, beta, 0.01, rtt=1)) ** 2 * 0.01 / window**2


# GAIMD over independent losses


@FEW
@given(
    alpha=st.floats(0.1, 2), beta=st.floats(0.3, 0.9), window=st.floats(12, 60),
    rtt=st.floats(0.03, 0.3),
    seed=st.integers(1, 1000),
)  # fmt: skip
def test_rate_over_independent_losses(alpha, beta, window, rtt, seed):
    p = _loss_rate_for(alpha, beta, window)
    seen = at_random(f"AIMD({alpha}, {beta})", p, window, rtt=rtt, cycles=25, seed=seed)
    # A lost retransmission ends in a timeout whatever the recovery; with few of them their time
    # can be taken off.
    event(f"timeouts: {'none' if seen.timeouts == 0 else 'some'}")
    assume(seen.time_in_timeouts < 0.02)
    ratio, error = seen.over(lambda p: gaimd.independent_loss_rate(alpha, beta, p, rtt=rtt))
    expected = Expansion.of(alpha, beta, p)
    off = ratio - (1 + expected.first_order - seen.time_in_timeouts)
    assert abs(off) < ERRORS * error + expected.second_order + seen.time_in_timeouts**2


@pytest.mark.parametrize(("alpha", "beta"), [(1, 0.5), (0.31, 0.875), (2, 0.3)])
def test_what_separates_them_goes_as_one_over_the_window(alpha, beta):
    """A sixteenth of the losses, four times the window: a quarter of the difference."""
    off, error, expected = [], [], []
    for window in (15, 60):
        p = _loss_rate_for(alpha, beta, window)
        seen = at_random(f"AIMD({alpha}, {beta})", p, window, rtt=0.5, cycles=100, flows=30)
        ratio, one = seen.over(lambda p: gaimd.independent_loss_rate(alpha, beta, p, rtt=0.5))
        off.append(ratio - 1)
        error.append(one)
        expected.append(Expansion.of(alpha, beta, p))
    assert off[0] < -ERRORS * error[0]
    allowed = (
        ERRORS * np.hypot(error[0] / 4, error[1])
        + expected[0].second_order / 4
        + expected[1].second_order
    )
    assert abs(off[1] - off[0] / 4) < allowed


@pytest.mark.parametrize("window", [15, 60])
@pytest.mark.parametrize(("alpha", "beta"), [(1, 0.5), (0.31, 0.875), (0.58, 0.75), (2, 0.3)])
def test_rate_without_timeouts_of_yang_and_lam(alpha, beta, window):
    """Equation 33 takes squares of means for means of squares, which independent losses do not
    forgive.

    For large windows that makes it low by the ratio of the law of independent losses to equation 34
    (1.07 for (1, 1/2), 1.02 for (0.31, 0.875)); what it has of first order beside 34 and what the
    sender has are allowed for.
    """
    p, rtt = _loss_rate_for(alpha, beta, window), 0.2
    seen = at_random(f"AIMD({alpha}, {beta})", p, window, rtt=rtt, cycles=50)
    ratio, error = seen.over(lambda p: gaimd.rate_without_timeouts(alpha, beta, p, rtt=rtt))
    full, leading = (
        float(law(alpha, beta, p, rtt=rtt))
        for law in (gaimd.rate_without_timeouts, gaimd.square_root_rate)
    )
    low_by = float(gaimd.independent_loss_rate(alpha, beta, p, rtt=rtt)) / leading
    expected = Expansion.of(alpha, beta, p)
    off = ratio / low_by * (full / leading) - (1 + expected.first_order - seen.time_in_timeouts)
    assert abs(off) < ERRORS * error + expected.second_order + seen.time_in_timeouts**2
    # As a user meets it: within a tenth at 60 packets, where it is low by at most 1.1.
    assert window < 60 or 0.95 < ratio < 1.1


# Reno where losses end in timeouts


@pytest.mark.parametrize("p", [0.05, 0.1, 0.2])
def test_rate_with_timeouts(p):
    """Equation 55 beside Reno, for which it was made.

    To 20 % losses, as far as the report calls it accurate.

    With windows of 3 to 6 packets no expansion in 1 / window says how near it comes; what is asked
    is that the timeouts it adds to equation 33 explain four fifths of what that is off by. T0 is
    four round trips, as in figure 9.
    """
    seen = at_random("AIMD(1, 0.5)", p, 5, rtt=0.1, cycles=2000, recovery="reno", rto_rtts=4)
    # The round trip never varies, so a first timeout lasts as long as its floor.
    full = float(gaimd.rate(1, 0.5, p, rtt=0.1, rto=0.4))
    without = float(gaimd.rate_without_timeouts(1, 0.5, p, rtt=0.1))
    rate, error = seen.rates.mean(), seen.rates.std(ddof=1) / np.sqrt(len(seen.rates))
    assert without - rate > 10 * error
    assert abs(full - rate) < 0.2 * (without - rate) + ERRORS * error
    # The model loses the rest of a round with its first loss; with independent losses fewer end in
    # timeouts.
    found = seen.timeouts / seen.flows["window_reductions"].sum()
    assert p < found < float(gaimd.timeout_probability(gaimd.mean_window(1, 0.5, p), p))


# Binomial rules over periodic marks: their law is derived for losses that come every 1 / p packets


@pytest.mark.parametrize(
    ("text", "rule", "window"),
    [
        ("AIMD(1, 0.5)", Binomial(0, 1, 1, 0.5), 20),
        ("AIMD(1, 0.5)", Binomial(0, 1, 1, 0.5), 80),
        ("GAIMD(0.31, 0.875)", Binomial(0, 1, 0.31, 0.125), 80),
        ("SQRT(1, 0.5)", Binomial(0.5, 0.5, 1, 0.5), 20),
        ("SQRT(1, 0.5)", Binomial(0.5, 0.5, 1, 0.5), 80),
        ("IIAD(1, 0.5)", Binomial(1, 0, 1, 0.5), 40),
        # Losses as rare as 1 / w^3 and 1 / w^4: larger windows take long.
        ("Binomial(1, 1, 1, 0.5)", Binomial(1, 1, 1, 0.5), 20),
        ("Binomial(2, 0, 1, 0.5)", Binomial(2, 0, 1, 0.5), 12),
    ],
)
def test_binomial_rate_over_periodic_cuts(text, rule, window):
    """Nothing is random here; parts as in `Expansion`, with 1 / (k + l + 1) of a loss of growth
    lost from the rate.

    The delay of a cut is no part, as the next comes just as late. But cycles repeat, so the
    fractions of a packet need not average to a half: the two halves in `send` and `growth` may be
    anything from 0 to 1.
    """
    distance = _distance_for(rule, window)
    distances = [int(distance * factor) for factor in np.linspace(0.9, 1.1, 6)]
    peak = binomial.peak_window(rule, 1 / distance)
    trough = peak - rule.beta * peak**rule.l
    # A window that is off comes back by the slope of growth less decrease over a cycle.
    kept = rule.k * (peak - trough) / window + rule.l * (peak - trough) / peak
    seen = periodic(text, distances, window, rtt=0.1, cycles=40, skipped=int(4 / kept) + 10)
    assert seen.timeouts == 0
    ratios = seen.rates / [float(binomial.rate(rule, 1 / one, rtt=0.1)) for one in distances]
    share = -binomial.exponent(rule)
    grows = rule.alpha / window**rule.k
    whole_packets = (0.5 + 0.5 * share) / window
    first = -whole_packets - 1.5 * grows * share / window - share * trough / distance
    assert abs(ratios.mean() - 1 - first) < whole_packets + first**2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "window"), [("SQRT(1, 0.5)", 30), ("IIAD(1, 0.5)", 25), ("Binomial(1, 1, 1, 0.5)", 12)]
)
def test_binomial_exponent_over_independent_losses(text, window):
    """Losses rarer by 2^(k+l+1) should double the rate, whatever the constant that independence
    gives the law.

    Beside chance, the parts that go as 1 / window (whole packets, growth, recovery) are half as
    large at twice the window: half of what they are at the smaller one is allowed.
    """
    rule = theory.parse(text)
    share = -binomial.exponent(rule)
    factor = 2 ** (1 / share)
    distance = _distance_for(rule, window)
    often = at_random(text, 1 / distance, window, rtt=0.1, cycles=60)
    rarely = at_random(text, 1 / (distance * factor), 2 * window, rtt=0.1, cycles=60)
    found = rarely.rates.mean() / often.rates.mean()
    # At the loss rates that came out.
    found *= (rarely.loss_rate / often.loss_rate * factor) ** share
    chance = np.hypot(
        *(seen.rates.std(ddof=1) / seen.rates.mean() / np.sqrt(20) for seen in (often, rarely))
    )
    grows = rule.alpha / window**rule.k
    parts = (0.5 + share * (0.5 + 1.5 * grows)) / window + share * window / distance
    assert abs(found / 2 - 1) < ERRORS * chance + parts / 2
    # Small enough to tell k + l from half more: the rate would then grow by 2^((k + l + 1) / (k + l
    # + 3/2)).
    assert ERRORS * chance + parts / 2 < 2 ** (1 - 1 / (1 + share / 2)) - 1


def _distance_for(rule: Binomial, window: float) -> float:
    """Packets between losses at which the mean window is `window`, by bisection.

    The rate grows with it.
    """
    low, high = 4.0, 1e9
    for _ in range(60):
        middle = np.sqrt(low * high)
        low, high = (
            (middle, high)
            if float(binomial.rate(rule, 1 / middle, rtt=1)) < window
            else (low, middle)
        )
    return high


# Formulas, and growth


@pytest.mark.parametrize(
    ("rule", "formula"),
    [
        ("AIMD(1, 0.5)", 'Rule(inc="1", dec="0.5*w")'),
        ("AIMD(0.31, 0.875)", 'Rule(inc="0.31", dec="0.875*w")'),
        ("AIAD(1, 3)", 'Rule(inc="1", dec="w - 3")'),
        ("MIMD(1.125, 0.8)", 'Rule(inc="0.125*w", dec="0.8*w")'),
        ("AIMAD(1, 1, 0.9)", 'Rule(inc="1", dec="0.9*w - 1")'),
    ],
)
def test_a_formula_is_its_twin_to_the_last_bit(rule, formula):
    built_in, own = (_over_a_full_queue(one) for one in (rule, formula))
    assert own.trace_hash == built_in.trace_hash
    assert built_in.flows["fast_retransmits"].sum() > 10


@pytest.mark.parametrize(
    ("rule", "formula"),
    [
        ("MAIMD(1, 1.1, 0.8)", 'Rule(inc="1 + 0.1*w", dec="0.8*w")'),
        ("IIAD(1, 0.5)", 'Rule(inc="1/w", dec="w - 0.5")'),
        ("SQRT(1, 0.5)", 'Rule(inc="1/sqrt(w)", dec="w - 0.5*sqrt(w)")'),
        ("Binomial(0.3, 0.2, 1, 0.5)", 'Rule(inc="1/w^0.3", dec="w - 0.5*w^0.2")'),
    ],
)
def test_a_formula_with_other_roundings_sends_the_same_packets(rule, formula):
    """w^-k and 1 / w^k differ in the last bit.

    The hash, which has windows in it, may differ, packets must not.
    """
    built_in, own = (_over_a_full_queue(one).flows.drop("rule") for one in (rule, formula))
    counts = [name for name, kind in built_in.schema.items() if kind.is_integer()]
    assert own.select(counts).equals(built_in.select(counts))
    assert own["mean_cwnd_packets"].to_list() == pytest.approx(
        built_in["mean_cwnd_packets"].to_list(), rel=1e-12
    )
    assert built_in["fast_retransmits"].sum() > 10


def _over_a_full_queue(rule: str) -> cwndlab.Result:
    flows = [{"name": "f", "rule": rule, "count": 3, "start": ["0s", "1s"]}]
    lost = {"loss": [{"kind": "bernoulli", "p": 0.001}]}
    return cwndlab.run(
        cwndlab.dumbbell("10Mbit", "20ms", flows=flows, duration="60s", profile="rfc", link=lost)
    )


@pytest.mark.parametrize("start", [32, 128])
def test_growth_of_mr_aimd(start):
    """A round trip brings the ACKs of the window before it, fewer than the law's floor(w) by what w
    grew, and its half.

    Growth a and a' are both short by (a + 1/2) / w of themselves, so what has been gained is, by
    about twice that.
    """
    rounds, rtt = 12, 0.1
    tcp = {"initial_ssthresh": start, "initial_window": 4}
    flows = [{"name": "f", "rule": "MRAIMD(1, 0.5, 0.005, 0.5)"}]
    found = cwndlab.run(scenario(flows, [], rtt, 0, 5, tcp=tcp, trace={"cwnd": "all"}))
    trace = found.traces["cwnd"]
    time, window = trace["time_s"].to_numpy(), trace["cwnd_packets"].to_numpy()
    # 4, 8, 16 ... `start`, which slow start comes to with the last ACK of a round trip.
    begin = time[np.flatnonzero(window >= start)[0]]
    seen = np.array(
        [window[np.searchsorted(time, begin + (n + 0.5) * rtt) - 1] for n in range(rounds)]
    )
    assert seen[0] == start
    law = growth.windows(start, rounds - 1, law="per ACK")
    increases = 1 + 0.5 * np.arange(rounds)
    short = 2 * (increases + 0.5) / law
    assert (seen <= law + 1e-9).all()
    assert (seen - start >= (law - start) * (1 - short)).all()
    # Far from equation 3 as printed.
    assert growth.windows(start, rounds - 1, law="equation 3")[-1] - start > 2 * (seen[-1] - start)
