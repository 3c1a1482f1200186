"""TCP-friendly parameters of general AIMD.

Against published pairs and figures, and the terms they are named after.
"""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cwndlab.theory import friendly, gaimd

BETAS = st.floats(0.1, 0.95)


def test_published_friendly_pairs():
    """Section 1 and 4: (0.31, 0.875), (0.58, 0.75); TCP itself by every criterion."""
    assert float(friendly.to_alpha(0.875)) == pytest.approx(0.31, abs=0.005)
    assert float(friendly.to_alpha(0.75)) == pytest.approx(0.58, abs=0.005)
    assert float(friendly.td_alpha(0.5)) == float(friendly.to_alpha(0.5)) == 1
    assert friendly.minimising_alpha(0.5, 0.3) == pytest.approx(1, abs=1e-4)


@given(beta=BETAS, d=st.floats(0.2, 5), p=st.floats(1e-6, 1e-2))
def test_curves_match_the_term_they_are_named_after(beta, d, p):
    td, to = friendly.td_alpha(beta, d), friendly.to_alpha(beta, d)
    general, standard = (gaimd.duplicate_term(*rule, p, rtt=1) for rule in ((td, beta), (1, 0.5)))
    assert float(standard / general) == pytest.approx(d, rel=1e-9)
    general, standard = (gaimd.timeout_term(*rule, p, rto=1) for rule in ((to, beta), (1, 0.5)))
    if 3 * math.sqrt(0.375 * p) / min(d, 1) < 1:
        assert float(standard / general) == pytest.approx(d, rel=1e-9)


def test_minimiser_with_the_text_s_own_parameters():
    """Figure 9's text: 0.26 up to 0.1, about 0.30 up to 0.3, T0 = 4 RTT.

    Equation 2 gives the rise, a tenth lower.
    """
    low, high = (friendly.minimising_alpha(0.875, up_to) for up_to in (0.1, 0.3))
    assert low == pytest.approx(0.233, abs=0.001)
    assert high == pytest.approx(0.2665, abs=0.001)
    assert high - low == pytest.approx(0.04, abs=0.01)


def test_minimiser_as_published():
    """Equation 55 with 47 and T0 = 8 RTT gives figure 9's numbers to 0.005, and 'close to TO'
    beyond 0.4."""
    path = {"rto_over_rtt": 8.0, "formula": "55, 47"}
    found = [friendly.minimising_alpha(0.875, up_to, **path) for up_to in (0.1, 0.2, 0.3, 0.4, 0.7)]
    assert found[0] == pytest.approx(0.26, abs=0.005)
    assert found[2] == pytest.approx(0.30, abs=0.005)
    assert found == sorted(found)
    assert found[3] == pytest.approx(float(friendly.to_alpha(0.875)), rel=0.03)


@pytest.mark.parametrize("formula", list(friendly.FORMULAS))
def test_order_of_the_curves(formula):
    """Figure 10: TO is the upper bound above beta = 1/2, TD below it."""
    for beta in (0.6, 0.75, 0.875, 0.95):
        least = friendly.minimising_alpha(beta, 0.3, formula=formula)
        assert float(friendly.td_alpha(beta)) < least < float(friendly.to_alpha(beta))
    for beta in (0.2, 0.35, 0.45):
        least = friendly.minimising_alpha(beta, 0.3, formula=formula)
        assert float(friendly.to_alpha(beta)) < least < float(friendly.td_alpha(beta))


def test_ratio_over_loss():
    """Figure 11: TO about 1.2 at low loss, TD below 1, all to 1 where losses are many."""
    losses = [1e-6, 0.01, 0.05, 0.1, 0.9]
    to, td = (friendly.rate_ratio(alpha, 0.875, losses) for alpha in (0.3125, 0.2))
    # sqrt(0.3125 / 0.2).
    assert to[0] == pytest.approx(1.25, abs=1e-3)
    assert to[1:4] == pytest.approx([1.2, 1.2, 1.2], abs=0.1)
    assert td[0] == pytest.approx(1, abs=1e-3)
    assert (td[1:4] < 1).all()
    assert to[4] == pytest.approx(1, abs=0.01)
    assert td[4] == pytest.approx(1, abs=0.01)


@settings(max_examples=25)
@given(beta=BETAS, p=st.floats(1e-4, 0.2), d=st.floats(0.5, 2))
def test_alpha_at_one_loss_rate(beta, p, d):
    alpha = friendly.alpha_at(beta, p, d=d)
    assert float(friendly.rate_ratio(alpha, beta, p)) == pytest.approx(d, rel=1e-9)


def test_service_ratio():
    """d = 2: four times the alpha on both curves."""
    assert friendly.td_alpha(0.875, 2) == pytest.approx(0.8)
    assert friendly.to_alpha(0.875, 2) == pytest.approx(1.25)
