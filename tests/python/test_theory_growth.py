"""How MR-AIMD's window grows.

By hand, by each reading of its paper, and in the synchronous model.
"""

from __future__ import annotations

import pytest

from cwndlab import theory
from cwndlab.theory import growth


def test_growth_by_hand():
    """a = 1, a' = 1/2 from 20: + 1.5, + 2, + 2.5 ...; equation 3: + 1.5, + 2.5, + 4, + 6, + 8.5."""
    assert growth.windows(20, 7).tolist() == [20, 21.5, 23.5, 26, 29, 32.5, 36.5, 41]
    assert growth.windows(20, 5, law="equation 3").tolist() == [20, 21.5, 24, 28, 34, 42.5]
    assert growth.windows(20, 3, acceleration=0).tolist() == [20, 21, 22, 23]
    # One ACK at a window of 1: a = 1.5, w = 2.5; two ACKs: a = 1.7, w = 3.18; a = 1.7 + 0.5 / 3.18.
    first = 1.7 + 0.5 / 3.18
    assert growth.windows(1, 2, law="per ACK").tolist() == pytest.approx(
        [1, 2.5, 3.18 + first / 3.18]
    )


def test_figure_7():
    """From 20 packets the paper says 6 round trips for MR-AIMD, 20 for AIMD.

    None of its equations gives 6.
    """
    found = {law: growth.rounds_to(20, 40, law=law) for law in growth.LAWS}
    assert found == {"per round trip": 7, "per ACK": 8, "equation 3": 5}
    assert growth.rounds_to(20, 40, acceleration=0) == 20


def test_multi_rate_in_the_synchronous_model():
    """From 20: + 1.5, + 2, + 2.5; a loss halves 26 and the increase of 2.5; then + 1.75."""
    course = theory.simulate("MRAIMD(1, 0.5, 0.005, 0.5)", [20], capacity=25, steps=5)
    assert course.loads[:, 0].tolist() == [20, 21.5, 23.5, 26, 13, 14.75]
    # Half a step: half the growth of the window, and of the increase.
    course = theory.simulate(
        "MRAIMD(1, 0.5, 0.005, 0.5)", [20], capacity=20.75, steps=3, exact=True
    )
    assert course.loads[:, 0].tolist() == [20, 20.75, 10.375, 10.375 + (1 + 0.25) / 2 + 0.5]


def test_growth_after_a_mark_is_nearly_that_of_aimd():
    assert growth.rounds_to(20, 40, acceleration=0.005) == 20
