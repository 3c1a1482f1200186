"""The simulator against theory where flows share a link.

Common signals, steady states, fair shares, friendliness.

The synchronous model signals to all at once when the sum of windows reaches the capacity. Here a
queue marks every packet from a length on. Flows hear of it a round trip later, at different moments
of it: each has by then grown by up to two steps more than in the model (one in the round trip of
the signal, one in that of its echo).
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cwndlab
from agreement import with_common_signals
from cwndlab import theory
from cwndlab.theory import friendly, gaimd

FEW = settings(max_examples=4, derandomize=True, database=None)
ROUNDS_LATE = 2


@FEW
@given(low=st.integers(20, 60), high=st.integers(120, 150))
def test_under_aimd_differences_halve_with_each_signal(low, high):
    """Each flow's window is off by at most the steps by which it is late.

    The difference by two of one packet.
    """
    cuts = with_common_signals(["AIMD(1, 0.5)"] * 2, [low, high], 400, seconds=90)
    differences = _differences(cuts)
    assert differences[0] > 50
    halved = differences[:-1] / 2
    assert np.abs(differences[1:] - halved).max() <= ROUNDS_LATE
    # They add up to 2 (1 + 1/2 + ...).
    assert np.abs(differences[-1]) <= 2 * ROUNDS_LATE


@FEW
@given(low=st.integers(20, 60), high=st.integers(120, 150))
def test_under_aiad_differences_stay(low, high):
    """In the model they stay exactly.

    What remains to be allowed is one signal's lateness, not a sum of many.
    """
    differences = _differences(
        with_common_signals(["AIAD(1, 20)"] * 2, [low, high], 400, seconds=90)
    )
    assert len(differences) > 20
    assert differences[0] > 50
    assert np.abs(differences / differences[0] - 1).max() < ROUNDS_LATE / differences[0] * 2


@FEW
@given(low=st.integers(20, 60), high=st.integers(120, 150))
def test_under_mimd_ratios_stay(low, high):
    """One hundredth a round trip: two round trips' lateness of either flow is 4 %."""
    small, large = with_common_signals(["MIMD(1.01, 0.8)"] * 2, [low, high], 400, seconds=90)
    count = min(len(small), len(large))
    assert count > 20
    ratios = large[:count, 1] / small[:count, 1]
    assert ratios[0] > 2
    assert ratios == pytest.approx(np.full(count, ratios[0]), rel=2 * ROUNDS_LATE * 0.01)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["AIMD(1, 0.5)", "AIMAD", "Linear(2, 1, -4, 0.8)"])
def test_steady_state_of_linear_rules(text):
    """Akella et al., section 5.1.

    The window after the decreases is alpha / (1 - beta) of the steady cycle.

    Each flow is cut from up to two increases above the model's window: bD aI times that after the
    cut.
    """
    rule = theory.parse(text)
    starts = [30.0, 70.0, 130.0]
    closed = theory.settle(rule, starts, capacity=500).cycle.window
    cuts = with_common_signals([text] * 3, starts, 500, seconds=240)
    after = np.array([cut[-3:, 2] for cut in cuts])
    assert (np.abs(cuts[0][0, 1] - cuts[2][0, 1])) > 50
    late = ROUNDS_LATE * rule.ai * rule.bd
    # The steady cycle itself ends up to one increase above the capacity, or exactly there.
    assert after.min() > closed - rule.ai
    assert after.max() < closed + late + rule.ai
    assert np.ptp(after) < late + rule.ai


@pytest.mark.parametrize("flows", [2, 3, 4])
def test_fair_share_of_bimodal(flows):
    """The second signal gives the share.

    (a - bc) / beta, off by up to the lateness at both ends over beta.
    """
    capacity, beta, epsilon = 150 * flows, 0.5, 0.125
    starts = np.linspace(20, 80, flows)
    cuts = with_common_signals(
        [f"Bimodal(1, {beta}, {epsilon})"] * flows, list(starts), capacity, seconds=60
    )
    shares = []
    for cut in cuts:
        (_, load, halved), (_, again, _) = cut[:2]
        assert halved == pytest.approx(beta * load)
        shares.append(again - halved)
        shown = cut[1, 2] / (1 - epsilon)
        # What the window became is (1 - epsilon) of what the loads say.
        assert shown == pytest.approx((again - halved) / beta, rel=1e-6)
    assert np.abs(np.array(shares) / beta - capacity / flows).max() <= ROUNDS_LATE / beta
    # Before it, the windows at the first signal were far apart.
    assert np.ptp([cut[0, 1] for cut in cuts]) > 20


@pytest.mark.parametrize(
    ("alpha", "beta"), [(0.3125, 0.875), (0.2, 0.875), (0.08, 0.875), (0.5833, 0.75), (2, 0.5)]
)
def test_friendliness_on_a_marking_queue(alpha, beta):
    """Ten flows of a rule beside ten of TCP.

    Rates as equation 34 has them, or as the law of independent losses.

    RED's marks are neither evenly spaced nor independent, so the ratio is expected between the two
    (with (2, 1/2) they agree). Beside chance, the parts of first order in 1 / window that differ
    between the two rules are allowed for: at about 20 packets (1 + 3 alpha) / 4w each for whole
    packets and growth, and the round trip without it.
    """
    ratios, losses, windows = [], [], []
    for seed in range(1, 5):
        standard, general = _side_by_side(alpha, beta, seed)
        ratios.append(general["goodput_bps"].sum() / standard["goodput_bps"].sum())
        losses.append(standard["window_reductions"].sum() / standard["sent_packets"].sum())
        windows.append(standard["mean_cwnd_packets"].mean())
        assert standard["timeouts"].sum() == general["timeouts"].sum() == 0
    p, found = float(np.mean(losses)), float(np.mean(ratios))
    even = float(
        gaimd.square_root_rate(alpha, beta, p, rtt=1) / gaimd.square_root_rate(1, 0.5, p, rtt=1)
    )
    random = float(
        gaimd.independent_loss_rate(alpha, beta, p, rtt=1)
        / gaimd.independent_loss_rate(1, 0.5, p, rtt=1)
    )
    window = float(np.mean(windows))
    chance = 3 * np.std(ratios, ddof=1) / np.sqrt(len(ratios))
    parts = found * (abs(_parts(1, 0.5, window, p) - _parts(alpha, beta, window * found, p)))
    assert min(even, random) - chance - parts < found < max(even, random) + chance + parts
    # And on the side of one that theory has it, where it takes a side.
    theirs = float(friendly.rate_ratio(alpha, beta, p))
    if abs(theirs - 1) > 0.1:
        assert (found > 1) == (theirs > 1)
        assert abs(found - 1) > chance


def _parts(alpha: float, beta: float, window: float, p: float) -> float:
    """Whole packets, growth and recovery of `Expansion`, at this mean window."""
    return 0.5 / window + (1.5 * alpha + 0.5) / 2 / window + beta / 2 * p * window


def _side_by_side(alpha: float, beta: float, seed: int):
    flows = [
        {"name": "tcp", "rule": "AIMD(1, 0.5)", "count": 10, "start": ["0s", "1s"]},
        {"name": "general", "rule": f"AIMD({alpha}, {beta})", "count": 10, "start": ["0s", "1s"]},
    ]
    scenario = cwndlab.dumbbell(
        "40Mbit",
        "40ms",
        flows=flows,
        duration="130s",
        profile="rfc",
        measure=["30s", "130s"],
        seed=seed,
        queue={
            "kind": "red",
            "limit": "400pkt",
            "min": "40pkt",
            "max": "160pkt",
            "max_p": 0.1,
            "ecn": True,
        },
        link={"access_delay": ["0s", "2ms"], "back_rate": "unlimited"},
        tcp={"ecn": True},
    )
    found = cwndlab.run(scenario).flows
    return found.filter(group="tcp"), found.filter(group="general")


def _differences(cuts: list[np.ndarray]) -> np.ndarray:
    """Larger less smaller window at each signal that both heard."""
    small, large = cuts
    count = min(len(small), len(large))
    # Both hear of a signal within two round trips, of a tenth of a second and the queue.
    assert np.abs(small[:count, 0] - large[:count, 0]).max() < 0.5
    return large[:count, 1] - small[:count, 1]


def test_the_capacity_is_what_the_model_takes_for_it():
    """AIMD's windows add up to the capacity at a signal, and to at most two packets each more when
    they are cut.

    Less one each, because only whole packets of a window are sent.
    """
    cuts = with_common_signals(["AIMD(1, 0.5)"] * 2, [60, 80], 400, seconds=90)
    totals = sum(cut[:4, 1] for cut in cuts)
    assert totals.min() >= 400 - 2
    assert totals.max() <= 400 + 2 * ROUNDS_LATE
