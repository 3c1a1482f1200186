"""cwndlab sends what ns-2 2.35 sends: every packet's time, number, size, congestion window and
threshold.

What ns-2 sends is kept (`reference.py`); `test_reference.py` compares that with ns-2 where it is
installed."""

from __future__ import annotations

from collections import Counter

import pytest

from . import compare, ns2, product, reference, scenarios
from .case import RECOVERIES

CASES = scenarios.everything()


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_same_packets_as_ns2(case):
    theirs = ns2.flows(reference.output(ns2.run_of(case.scenario, case.draw)))
    assert all(len(flow.sends) > 1 for flow in theirs), (
        "ns-2 sent nothing: the scenario tests nothing"
    )
    ours = product.run(case.scenario, [flow.timer_phase_s for flow in theirs])
    for a, b in zip(ours, theirs, strict=True):
        message = compare.describe(a, b, case.scenario["duration"])
        assert message is None, f"{case.name}: {message}"


def test_the_list_covers_what_it_should():
    """The counts that the agreement is claimed for; a case removed by accident must not go
    unnoticed."""
    old = [case for case in CASES if case.scenario["profile"] == "ns2-2000"]
    assert sum(len(case.scenario["flows"]) == 1 for case in CASES) - len(old) >= 40
    assert len(old) >= 10
    assert {case.scenario["flows"][0]["recovery"] for case in old} == set(RECOVERIES)
    kinds = Counter(case.scenario["dumbbell"]["queue"]["kind"] for case in CASES)
    assert kinds["red"] >= 40
    assert kinds["drr"] >= 25
    marked = [
        case
        for case in CASES
        if any(loss["kind"] == "marks" for loss in case.scenario["dumbbell"].get("loss", []))
    ]
    assert {case.scenario["flows"][0]["recovery"] for case in marked} == set(RECOVERIES)
    rules = Counter(
        flow["rule"].partition("(")[0] for case in CASES for flow in case.scenario["flows"]
    )
    assert min(rules[name] for name in ("GAIMD", "IIAD", "SQRT", "Binomial")) >= 30
