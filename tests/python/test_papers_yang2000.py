"""yang2000: the paper's folder, crossings and accuracy on made-up data, and what needs no
simulation."""

from __future__ import annotations

import numpy as np
import pytest

import cwndlab_papers as reproduce
from cwndlab_papers import Data, ResultsGrid
from cwndlab_papers.papers.yang2000 import measures, windows
from cwndlab_papers.papers.yang2000.crossing import crossing
from cwndlab_papers.papers.yang2000.published import published

# The catalogue of experiments has these rows, but for the last two: what the paper leaves open, and
# what it prints.
CATALOGUE = {
    *("formula", "fig2", "fig3", "fig4", "fig5", "fig6", "fig7", "fig9", "fig10", "fig11", "fig12",
    "fig13", "fig14"),
    *("fig15", "fig16", "fig17", "fig18", "fig19", "fig20", "fig21", "kernel", "assumed",
    "published"),
}  # fmt: skip
PAPER = reproduce.load("yang2000")


def _claim(id: str, name: str) -> reproduce.Claim:
    return next(claim for claim in PAPER.claims if (claim.id, claim.name) == (id, name))


def _value(data: Data, id: str, name: str) -> float:
    claim = _claim(id, name)
    return PAPER.quantity(claim)(data, claim)


def test_the_paper_is_whole():
    assert set(PAPER.experiments) == CATALOGUE
    assert {claim.id for claim in PAPER.claims} == CATALOGUE - {"assumed", "published"}
    for claim in PAPER.claims:
        # Of real kernels there is a record of shares alone.
        assert bool(claim.quantity) == ((claim.id, claim.name) != ("kernel", "accuracy"))
        assert not claim.quantity or callable(PAPER.quantity(claim))
        assert set(claim.plans) <= set(PAPER.plans_of([claim.id]))
    for experiment in PAPER.experiments.values():
        for kind, module in (("figure", "figures"), ("table", "tables")):
            name = getattr(experiment, kind)
            assert not name or callable(getattr(PAPER.module(module), name))
        assert (PAPER.folder / "README.md").is_file()


def test_plans_are_those_of_the_catalogue():
    accuracy, friendly = PAPER.sweep("accuracy"), PAPER.sweep("friendliness")
    rules = {level.label for level in accuracy.plan.axes["rule"]}
    assert rules == {
        f"GAIMD({tenth / 10:g}, {beta})" for tenth in range(1, 11) for beta in (0.5, 0.75, 0.875)
    }
    loads = [int(level.label) for level in accuracy.plan.axes["case"]]
    assert [load for load in loads if load <= 70] == [10, 20, 30, 40, 50, 60, 70]
    flows = [int(level.label) for level in friendly.plan.axes["case"]]
    assert (flows[0], flows[-1]) == (2, 128)
    # Claims name settings of the plan as it is.
    settings = {
        f"{link.label}/{other.label}"
        for link in friendly.plan.axes["link"]
        for other in friendly.plan.axes["other"]
    }
    named = {name for claim in PAPER.claims
             if claim.plans == ["friendliness"] and claim["settings"] != "all"
             for name in claim["settings"]}  # fmt: skip
    assert named == settings


def test_published_numbers_stand_in_claims():
    named = {claim.arguments["printed"] for claim in PAPER.claims if "printed" in claim.arguments}
    assert named <= {row["name"] for row in published()}
    assert len({row["name"] for row in published()}) == len(published())
    assert all(row["place"].startswith("section") and row["value"] > 0 for row in published())
    assert all(
        callable(getattr(PAPER.module("quantities"), row["quantity"])) for row in published()
    )


@pytest.mark.parametrize("true", [6.0, 24.0, 48.0, 100.0])
def test_crossing_is_found_in_noise(true):
    # A ratio that falls by a power of the number of flows, each value off by 3 %: the crossing is
    # known.
    flows = np.array([2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128])
    stream, found = np.random.default_rng(7), []
    for _ in range(200):
        ratios = (flows / true) ** -0.25 * np.exp(stream.normal(0, 0.03, len(flows)))
        found.append(crossing(flows, ratios)[0])
    # 3 % over an exponent of a quarter is 12 % of the number of flows.
    assert np.median(found) == pytest.approx(true, rel=0.04)
    assert np.percentile(found, 97.5) / true < 1.4
    assert true / np.percentile(found, 2.5) < 1.4


def test_crossing_at_the_ends_and_by_hand():
    # Beyond the ends a crossing is censored.
    assert crossing([2, 8, 32], [0.9, 0.8, 0.7]) == (-np.inf, 2)
    assert crossing([2, 8, 32], [1.3, 1.2, 1.1]) == (32, np.inf)
    # A dip below 1 that the course rises from again is averaged away: (0.96 * 1.2) ^ 0.5 > 1.
    assert crossing([2, 8, 32, 128], [1.5, 0.96, 1.2, 0.8])[0] > 32
    assert np.isnan(crossing([2, 8], [1.2, np.nan])).all()


def _flow(group: str, rule: str, **numbers) -> dict:
    usual = {
        "window_reductions": 20,
        "dropped_packets": 40,
        "timeouts": 5,
        "sent_packets": 2000,
        "mean_rtt_s": 0.1,
        "mean_rto_s": 0.4,
    }
    return {"group": group, "rule": rule, **usual, **numbers}


def test_prediction_by_hand():
    # p = 1 %, RTT 0.1 s, T0 0.4 s: equation 2 gives Reno 112.33 packets/s (the arithmetic of
    # Padhye's formula).
    flows = [
        _flow("tcp", "AIMD(1, 0.5)"),
        _flow("tcp", "AIMD(1, 0.5)"),
        _flow("gaimd", "GAIMD(0.2, 0.875)"),
    ]
    run = {"flows": flows, "measure_from_s": 20.0, "measure_to_s": 40.0}
    found = measures.prediction(run, {})
    assert found["ratio-tcp"] == pytest.approx(112.33 / 100, rel=1e-4)
    assert found["ratios-tcp"] == pytest.approx([1.1233, 1.1233], rel=1e-4)
    assert (found["loss-tcp"], found["timeouts-tcp"]) == (pytest.approx(0.01), pytest.approx(0.25))
    assert found["spread-tcp"] == pytest.approx(0)
    # 3 sqrt(3/8 x 0.01).
    assert found["probability-tcp"] == pytest.approx(0.18371, rel=1e-4)
    # Two dropped packets in a hundred give 1 / (0.011547 + 0.002105) = 73.25 packets/s.
    assert found["ratio-by-drops-tcp"] == pytest.approx(0.7325, rel=1e-3)
    # A flow that took no sample of its round trip is left out of the mean, not of the rate.
    flows[1] |= {"mean_rtt_s": None, "mean_rto_s": None}
    assert measures.prediction(run, {})["ratio-tcp"] == pytest.approx(1.1233, rel=1e-4)


def test_shares_by_hand():
    # 1.6 Mb/s over 4 flows and 10 s are 500 packets of 1000 bytes each.
    flows = [
        _flow(group, "AIMD(1, 0.5)", sent_packets=sent)
        for group, sent in (("gaimd", 600), ("gaimd", 400), ("tcp", 250), ("tcp", 750))
    ]
    run = {"flows": flows, "links": [{"link": "bottleneck", "rate_bps": 1.6e6}],
           "measure_from_s": 0.0, "measure_to_s": 10.0}  # fmt: skip
    found = measures.shares(run, {})
    assert (found["gaimd"], found["tcp"]) == (pytest.approx(1.0), pytest.approx(1.0))
    assert found["rates-tcp"] == pytest.approx([0.5, 1.5])
    # Coefficients of variation 0.2 and 0.5.
    assert found["spread"] == pytest.approx(0.35)
    assert found["loss"] == pytest.approx(80 / 2000)


def test_quantities_by_hand():
    flows, rules = ("2", "32", "128"), ("GAIMD(0.31, 0.875)", "GAIMD(0.58, 0.75)")
    reno, sack = np.array([1.3, 1.1, 0.9]), np.array([1.2, 0.9, 0.7])
    own = np.array([np.stack([course, course + 0.1], axis=-1) for course in (reno, sack)])
    values = {
        "gaimd": own[..., None].repeat(3, axis=-1),
        "tcp": (2 - own)[..., None].repeat(3, axis=-1),
    }
    board = ResultsGrid(("1.5/drop-tail/reno", "1.5/drop-tail/sack"), flows, rules, values)
    data = Data({"friendliness": board}, {})
    assert _value(data, "fig13", "friendly") == pytest.approx((0.3 + 0.1 + 0.1) / 3)
    # Only 2 and 32 flows are below 64; leads 0.6 and 0.2.
    assert _value(data, "fig13", "gaimd-at-low-loss") == pytest.approx(0.4)
    assert _value(data, "fig13", "tcp-at-high-loss") == pytest.approx(0.2)
    # log(11/9) at 32 and -log(11/9) at 128: half way.
    assert _value(data, "fig13", "crossover-64") == pytest.approx((1.0, 1.0))
    assert _value(data, "fig17", "as-reno") == pytest.approx((0.1 + 0.2 + 0.2) / 3)
    # log 1.5 at 2 and -log(11/9) at 32: 0.669 of the way from log 2 to log 32.
    assert _value(data, "fig17", "earlier")[0] == pytest.approx(64 - 12.78, abs=0.05)
    assert _value(data, "fig17", "other-pair") == pytest.approx(0.1)


def test_two_models_of_windows_hold_what_they_must():
    # Both lose at once: windows end in proportion to alpha / (1 - beta), 2.48 against 2 (Chiu and
    # Jain).
    own, other = windows.course()[-400:].max(axis=0)
    assert own / other == pytest.approx(2.48 / 2, rel=0.03)
    # One at a time: the sum never passes the capacity by more than a step, and stays above what one
    # cut leaves.
    total = windows.course(windows.ALONE)[1000:].sum(axis=1)
    assert total.max() < windows.CAPACITY + 1.31 + 1e-9
    assert total.min() > 0.5 * windows.CAPACITY
